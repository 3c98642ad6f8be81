// Words and times: pure functions.

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const TO_MINUTE = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };
const MINUTE = new Intl.DateTimeFormat("en-GB", TO_MINUTE);
const UTC_MINUTE = new Intl.DateTimeFormat("en-GB", { ...TO_MINUTE, timeZone: "UTC" });

function formatted(format, time) {
  const date = new Date(time);
  return time && !Number.isNaN(date.getTime()) ? format.format(date) : "";
}

// A day as the memory counts it, in UTC.
export function day(time) {
  return formatted(DAY, time);
}

// A moment in the time zone of the browser.
export function minute(time) {
  return formatted(MINUTE, time);
}

export function utcMinute(time) {
  return `${formatted(UTC_MINUTE, time)} UTC`;
}

export function isoDay(milliseconds) {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

export function endOfDay(text) {
  return `${text}T23:59:59Z`;
}

export function counted(number, one, many) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many || `${one}s`}`;
}

// Characters that reorder a text, or hide letters in it.
export const UNSEEN = /[\u202d\u202e\u2066-\u2069]|[\u{e0020}-\u{e007f}]+/u;

// A text with these spelled out.
export function revealed(text) {
  return text.replace(new RegExp(UNSEEN, "gu"), (one) => (one < "\u3000" ? `[U+${one.charCodeAt(0).toString(16).toUpperCase()}]` : `[hidden: ${Array.from(one, (letter) => String.fromCharCode(letter.codePointAt(0) - 0xe0000)).join("")}]`));
}

// Characters that nobody sees, and blanks beside another or at an end. Joiners and variation selectors belong to emoji
// and to scripts that join their letters, and not beside ASCII.
const BLANK = /(?![\u200c\u200d\ufe0e\ufe0f])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]|[^\S ]|(?<=^| ) | $|(?<=^|[ -~\u200c\u200d])[\u200c\u200d\ufe0e\ufe0f]|[\u200c\u200d](?=[ -~]|$)/gu;

// Whose memory it is, with the characters spelled out that nobody sees.
export function nameOf(user) {
  return revealed(user).replace(BLANK, (one) => `[U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

// A part of a text without the half of a letter at its ends: an emoji has two halves.
export function whole(part) {
  return part.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}

export function short(text, length = 90) {
  const line = String(text).replace(/\s+/g, " ").trim();
  return line.length > length ? `${whole(line.slice(0, length - 1))}…` : line;
}

// What a memory says, in one line: of a session, its summary without the headings.
export function lineOf(memory, length = 240) {
  const said = memory.kind === "session" || memory.type === "episodic" ? memory.content.replace(/^# Conversation Summary[^]*?## Summary:\s*/, "Summary: ") : memory.content;
  return short(said, length);
}

// An error of the server, as a sentence.
export function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}` : "";
}

export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

// Where a quote stands in a text: [before, quote, after], or null.
export function split(text, quote) {
  if (!quote) return null;
  let at = text.indexOf(quote);
  if (at < 0) at = text.toLowerCase().indexOf(quote.toLowerCase());
  return at < 0 ? null : [text.slice(0, at), text.slice(at, at + quote.length), text.slice(at + quote.length)];
}

const MOST_COMPARED = 1200;

// The differences between two texts by words: a list of { kind: same | gone | new, text }.
export function difference(before, after) {
  const [a, b] = [before.split(/(\s+)/), after.split(/(\s+)/)];
  const apart = [{ kind: "gone", text: before }, { kind: "same", text: " " }, { kind: "new", text: after }];
  if (Math.max(a.length, b.length) > MOST_COMPARED) return apart;
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  const found = [];
  const add = (kind, text) => {
    const last = found[found.length - 1];
    if (last && last.kind === kind) last.text += text;
    else found.push({ kind, text });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i]);
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1])) add("gone", a[i++]);
    else add("new", b[j++]);
  }
  const same = found.reduce((sum, one) => sum + (one.kind === "same" ? one.text.trim().length : 0), 0);
  // Two sentences with little in common are easier to read one after the other.
  return same * 2 >= Math.min(before.length, after.length) ? found : apart;
}

const REASONS = {
  update: "replaced by a newer value",
  contradict: "contradicted by a later statement",
  duplicate: "merged with a duplicate",
  rederived: "extracted again from the same conversation",
  expired: "expired",
  revoked: "withdrawn",
  evicted: "removed: rarely used",
};

export function reasonOf(memory) {
  return memory.supersede_reason ? REASONS[memory.supersede_reason] || memory.supersede_reason : "replaced";
}

// From when to when a memory held, in milliseconds; `to` is null for what still holds.
export function span(memory) {
  const from = Date.parse(memory.valid_from || memory.created_at);
  const ended = memory.valid_to || memory.superseded_at;
  return { from, to: ended ? Math.max(from, Date.parse(ended)) : null };
}

// Whether it was true then; what was merged or derived again stands in its other version.
export function held(memory, at) {
  if (["duplicate", "rederived", "revoked"].includes(memory.supersede_reason)) return false;
  const { from, to } = span(memory);
  return from <= at && (to === null || to > at);
}

// Whether it is true now. The server's clock may be ahead of the browser's.
export function current(memory) {
  const { from, to } = span(memory);
  return !memory.superseded_by && from <= Date.now() + 3_600_000 && (to === null || to > Date.now());
}

// Puts a text on the machine as a file.
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
