import type { CallOptions, Http, WriteOptions } from "./http.js";
import { newTurnId, segment } from "./ids.js";
import { checkRestrictions, jsonOf } from "./json.js";
import { Listing, type ListingOptions } from "./listing.js";
import { Scope } from "./scope.js";
import type * as api from "./schema.js";

/** Which memories a listing has. */
export type MemoriesOptions = Omit<api.UserMemoriesQuery, "limit" | "cursor" | "continuation" | "filters"> & {
  /** Only memories that match. */
  filters?: api.Filter | undefined;
} & ListingOptions &
  CallOptions;

/** What all turns have that are written through a handle, unless they say otherwise. */
export interface ThreadOptions {
  agent_id?: string | undefined;
  project_id?: string | undefined;
}

/** The turns of one request have at most this many bytes; the server reads 4 MB. */
const REQUEST_BYTES = 3_000_000;
/** Most turns of one request. */
const MOST_TURNS = 1000;

/** One conversation of one user. */
export class ThreadScope extends Scope {
  private readonly path: string;

  constructor(
    http: Http,
    owner: Record<string, string>,
    readonly threadId: string,
    private readonly about: ThreadOptions = {},
  ) {
    super(http, owner);
    this.path = `/v1/threads/${segment(threadId, "threadId")}`;
  }

  /** Keeps one turn. Processing follows in the background. */
  add(
    role: api.TurnBody["role"],
    content: string,
    options: Omit<api.TurnBody, "role" | "content"> & WriteOptions = {},
  ): Promise<api.Receipt> {
    const { signal, timeoutMs, retries, idempotencyKey, ...turn } = options;
    return this.addMany([{ ...turn, role, content }], { signal, timeoutMs, retries, idempotencyKey });
  }

  /** Keeps any number of turns in their order. Turns with ids that are there already add nothing. */
  async addMany(
    turns: readonly api.TurnBody[],
    options: Omit<api.AddTurns, "turns"> & WriteOptions = {},
  ): Promise<api.Receipt> {
    const { signal, timeoutMs, retries, idempotencyKey, ...fields } = options;
    // With ids of their own, turns can be sent again. That is cheaper for the store than a key.
    const repeatable = idempotencyKey === undefined;
    const named = turns.map((turn) => ({ ...this.about, ...turn, ...(repeatable && { id: turn.id ?? newTurnId() }) }));
    const receipts: api.Receipt[] = [];
    for (const [place, part] of partsOf(named).entries()) {
      const body = { ...fields, turns: part };
      const asked = { verb: "POST", path: `${this.path}/turns`, headers: this.owner, body, repeatable } as const;
      // One key stands for one request.
      const key = repeatable || place === 0 ? idempotencyKey : `${idempotencyKey}:${place}`;
      receipts.push(await this.http.send(asked, { signal, timeoutMs, retries, idempotencyKey: key }));
    }
    return receipts.length === 1 ? receipts[0]! : together(receipts);
  }

  /** The turns of the conversation, or the `last` ones, oldest first. */
  async turns(options: { last?: number | undefined } & CallOptions = {}): Promise<api.Turn[]> {
    const { last, ...rest } = options;
    return (await this.turnsBackwards({ ...rest, limit: last }).toArray()).reverse();
  }

  /** The turns from the newest to the oldest. */
  turnsBackwards(options: ListingOptions & CallOptions = {}): Listing<api.Turn> {
    const forwards = this.listed<api.Turn, "turns">(`${this.path}/turns`, "turns", "last", options);
    return forwards.map((items) => items.reverse());
  }

  /** Takes the newest turn back, while nothing was derived from it; null if there is none. */
  pop(options: WriteOptions = {}): Promise<api.Turn | null> {
    return this.orNull(this.send<api.Turn>("POST", `${this.path}/pop`, options));
  }

  /** The turns that still fit into a model's window. */
  view(options: CallOptions = {}): Promise<api.LiveView> {
    return this.send("GET", `${this.path}/view`, options);
  }

  /**
   * Empties the live view. How many turns left it. The turns and what was learned from them stay; summary and state are
   * deleted.
   */
  async clear(options: WriteOptions = {}): Promise<number> {
    return (await this.send<api.ThreadClearAnswer>("POST", `${this.path}/clear`, options)).cleared;
  }

  /** Takes turns out of the live view, up to one of them, once steps have covered them. How many left it. */
  async retire(
    through: string,
    options: Omit<api.ThreadRetireRequest, "through"> & WriteOptions = {},
  ): Promise<number> {
    return (await this.send<api.ThreadRetireAnswer>("POST", `${this.path}/retire`, options, { through })).retired;
  }

  /** Memories of this conversation for a question, best first. */
  async search(
    query: string,
    options: Omit<api.SearchRequest, "query" | "thread_id"> & CallOptions = {},
  ): Promise<api.Hit[]> {
    const fixed = { query, thread_id: this.threadId };
    return (await this.send<api.SearchAnswer>("POST", "/v1/search", options, fixed)).hits;
  }

  /** The sections of a context as soon as they are known, and last the whole of it; that one has a `context`. */
  contextStream(
    query: string,
    options: Omit<api.ContextRequest, "query" | "thread_id"> & Pick<CallOptions, "signal" | "timeoutMs"> = {},
  ): AsyncGenerator<api.ContextSection, void> {
    return this.sectionsOf(options, { query, thread_id: this.threadId });
  }

  /** What to know before the next answer in this conversation. It is empty when the service fails; see `degraded`. */
  context(
    query: string,
    options: Omit<api.ContextRequest, "query" | "thread_id"> & CallOptions = {},
  ): Promise<api.Context> {
    const fixed = { query, thread_id: this.threadId };
    return this.contextOf(this.send("POST", "/v1/context", options, fixed));
  }

  /** The summary; null until there is one. */
  summary(options: CallOptions = {}): Promise<api.ThreadSummary | null> {
    return this.orNull(this.send<api.ThreadSummary>("GET", `${this.path}/summary`, options));
  }

  /** The state as data: topic, decisions, open questions; null until there is one. */
  state(options: CallOptions = {}): Promise<api.ThreadState | null> {
    return this.orNull(this.send<api.ThreadState>("GET", `${this.path}/state`, options));
  }

  /** The memories of this conversation, newest first. */
  memories(options: MemoriesOptions = {}): Listing<api.Memory> {
    return this.listed<api.Memory, "memories">(`${this.path}/memories`, "memories", "limit", options);
  }

  /**
   * Deletes this conversation for good, with all that was made of it, or only a topic (`query`) or a time of it. With
   * `dry_run` it only reports what would go. A restriction that is undefined is refused.
   */
  async forget(options: api.ThreadForgetRequest & WriteOptions): Promise<api.ForgetReceipt> {
    return this.send("POST", `${this.path}/forget`, checkRestrictions(options));
  }

  /** Deletes the turns, the summary and the state; with `include_memories` also what was learned from them. */
  delete(options: api.ThreadDeleteQuery & WriteOptions = {}): Promise<api.ForgetReceipt> {
    return this.send("DELETE", this.path, options);
  }

  /** Deletes the raw talk from the index, so that no search finds it; the turns stay. How many entries there were. */
  async deleteIndex(options: WriteOptions = {}): Promise<number> {
    return (await this.send<api.ThreadDeleteIndexAnswer>("DELETE", `${this.path}/index`, options)).deleted;
  }

  /** Runs a step of this conversation, such as `extract` or `summarize`, and waits for it. */
  process(
    step: string,
    options: Pick<api.ProcessQuery, "retired" | "recent_k"> & CallOptions = {},
  ): Promise<api.ProcessResult> {
    return this.run(`/v1/process/${segment(step, "step")}`, options, { thread_id: this.threadId });
  }

  /** Ends the conversation, and waits until its turns are processed. */
  end(options: CallOptions = {}): Promise<api.ProcessResult> {
    return this.run(`${this.path}/end`, options);
  }

  /** Counts of what is kept of this conversation. */
  stats(options: CallOptions = {}): Promise<api.Stats> {
    return this.send("GET", `${this.path}/stats`, options);
  }

  /** The switches of this conversation. */
  settings(options: CallOptions = {}): Promise<api.ScopeSettings> {
    return this.send("GET", `${this.path}/settings`, options);
  }

  /** Changes switches; with the `etag` of settings as `ifMatch`, only if nobody else did since. */
  updateSettings(
    options: api.ThreadUpdateSettingsRequest & WriteOptions & { ifMatch?: string | undefined },
  ): Promise<api.ScopeSettings> {
    return this.send("PATCH", `${this.path}/settings`, options);
  }
}

/** Turns in pieces that a request can hold. No turns at all are one piece, which the server refuses. */
function partsOf(turns: api.TurnBody[]): api.TurnBody[][] {
  const parts: api.TurnBody[][] = [[]];
  let room = REQUEST_BYTES;
  for (const turn of turns) {
    const size = new TextEncoder().encode(jsonOf(turn)).length;
    if (parts.at(-1)!.length > 0 && (size > room || parts.at(-1)!.length === MOST_TURNS)) {
      parts.push([]);
      room = REQUEST_BYTES;
    }
    parts.at(-1)!.push(turn);
    room -= size;
  }
  return parts;
}

function together(receipts: api.Receipt[]): api.Receipt {
  const usage: Record<string, number> = {};
  for (const receipt of receipts) {
    for (const [name, value] of Object.entries(receipt.usage)) usage[name] = (usage[name] ?? 0) + (value as number);
  }
  return {
    ids: receipts.flatMap((receipt) => receipt.ids),
    created: receipts.reduce((sum, receipt) => sum + receipt.created, 0),
    skipped_reason: receipts.find((receipt) => receipt.skipped_reason !== null)?.skipped_reason ?? null,
    forgotten: receipts.flatMap((receipt) => receipt.forgotten),
    usage,
  };
}
