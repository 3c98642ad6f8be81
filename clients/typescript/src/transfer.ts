type ExportRecord = Record<string, unknown>;

/** The lines of one request have at most this many bytes; the server reads 4 MB. */
const REQUEST_BYTES = 3_000_000;

/**
 * An export in pieces of lines that stand alone. Each begins with the header, and with the line of the thread that the
 * turns in it belong to.
 */
export async function* piecesOf(
  records: Iterable<ExportRecord> | AsyncIterable<ExportRecord>,
): AsyncGenerator<string, void, undefined> {
  let head: string | undefined;
  let thread: string | undefined;
  let piece: string[] = [];
  let size = 0;
  for await (const record of records) {
    const line = JSON.stringify(record);
    const bytes = new TextEncoder().encode(line).length + 1;
    if (piece.length > 0 && size + bytes > REQUEST_BYTES) {
      yield piece.join("\n");
      piece = [head, thread].filter((one) => one !== undefined);
      size = piece.reduce((sum, one) => sum + one.length, 0);
    }
    head ??= line;
    if (record["type"] === "thread") thread = line;
    piece.push(line);
    size += bytes;
  }
  if (piece.length > 0) yield piece.join("\n");
}
