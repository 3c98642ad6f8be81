import { patient, sleep, type CallOptions, type WriteOptions } from "./http.js";
import { segment } from "./ids.js";
import { checkRestrictions } from "./json.js";
import { Listing, type ListingOptions } from "./listing.js";
import { Scope } from "./scope.js";
import type * as api from "./schema.js";
import { type MemoriesOptions, type ThreadOptions, ThreadScope } from "./thread.js";
import { piecesOf } from "./transfer.js";

/** Milliseconds between two looks at what changed. */
const FOLLOW_MS = 2000;

/** All that is kept of one user. */
export class UserScope extends Scope {
  /** A conversation. */
  thread(threadId: string, options: ThreadOptions = {}): ThreadScope {
    return new ThreadScope(this.http, this.owner, threadId, options);
  }

  /** The conversations, the last written first. */
  threads(options: ListingOptions & CallOptions = {}): Listing<api.ThreadInfo> {
    return this.listed<api.ThreadInfo, "threads">("/v1/threads", "threads", "limit", options);
  }

  /** Memories for a question, best first. */
  async search(
    query: string,
    options: Omit<api.SearchRequest, "query" | "thread_id"> & CallOptions = {},
  ): Promise<api.Hit[]> {
    return (await this.send<api.SearchAnswer>("POST", "/v1/search", options, { query })).hits;
  }

  /**
   * The sections of a context as soon as they are known, and last the whole of it; that one has a `context`.
   * `agent-memory serve` sends each when it is known, the function app all at the end.
   */
  contextStream(
    query: string,
    options: Omit<api.ContextRequest, "query" | "thread_id"> & Pick<CallOptions, "signal" | "timeoutMs"> = {},
  ): AsyncGenerator<api.ContextSection, void> {
    return this.sectionsOf(options, { query });
  }

  /** What to know before the next answer. It is empty when the service fails; see `degraded`. */
  context(
    query: string,
    options: Omit<api.ContextRequest, "query" | "thread_id"> & CallOptions = {},
  ): Promise<api.Context> {
    return this.contextOf(this.send("POST", "/v1/context", options, { query }));
  }

  /** An answer to a question about the user, with the memories that each sentence rests on. Asks the chat model. */
  reflect(question: string, options: Omit<api.ReflectRequest, "question"> & CallOptions = {}): Promise<api.Reflection> {
    return this.send("POST", "/v1/reflect", options, { question });
  }

  /** What is known about the user; null until there is a profile. */
  profile(options: CallOptions = {}): Promise<api.UserProfile | null> {
    return this.orNull(this.send<api.UserProfile>("GET", "/v1/profile", options));
  }

  /** The memories, newest first. */
  memories(options: MemoriesOptions = {}): Listing<api.Memory> {
    return this.listed<api.Memory, "memories">("/v1/memories", "memories", "limit", options);
  }

  /** Keeps a memory that was not said in a conversation. */
  remember(content: string, options: Omit<api.RememberRequest, "content"> & WriteOptions = {}): Promise<api.Memory> {
    return this.send("POST", "/v1/memories", options, { content });
  }

  /** One memory. */
  get(id: string, options: CallOptions = {}): Promise<api.Memory> {
    return this.send("GET", `/v1/memories/${segment(id, "id")}`, options);
  }

  /** Corrects a memory. The new version has an id of its own; the old one stays in the history. */
  update(id: string, options: api.UpdateRequest & WriteOptions): Promise<api.Memory> {
    return this.send("PATCH", `/v1/memories/${segment(id, "id")}`, options);
  }

  /** The versions of a memory, oldest first. */
  async history(id: string, options: CallOptions = {}): Promise<api.Memory[]> {
    return (await this.send<api.HistoryAnswer>("GET", `/v1/memories/${segment(id, "id")}/history`, options)).versions;
  }

  /** The evidence for a memory, and what was made from it. */
  why(id: string, options: CallOptions = {}): Promise<api.Provenance> {
    return this.send("GET", `/v1/memories/${segment(id, "id")}/why`, options);
  }

  /** The people, places and things that memories mention, the most mentioned first. */
  async entities(options: api.UserEntitiesQuery & CallOptions = {}): Promise<api.Entity[]> {
    return (await this.send<api.EntitiesAnswer>("GET", "/v1/entities", options)).entities;
  }

  /** One of them, with its timeline. */
  entity(name: string, options: CallOptions = {}): Promise<api.EntityView> {
    return this.send("GET", "/v1/entities/by-name", options, { name });
  }

  /**
   * Deletes for good: a memory (`id`), a topic (`query`), a conversation, a project, a time, or everything. With
   * `dry_run` it only reports what would go. A restriction that is undefined is refused.
   */
  async forget(options: api.ForgetRequest & WriteOptions): Promise<api.ForgetReceipt> {
    return this.send("POST", "/v1/memory/forget", checkRestrictions(options));
  }

  /** The memories that wait for a decision. */
  async review(options: CallOptions = {}): Promise<api.Memory[]> {
    return (await this.send<api.ReviewAnswer>("GET", "/v1/review", options)).memories;
  }

  /** Accepts a memory that waits; with `content`, in other words. */
  approve(id: string, options: api.ApproveRequest & WriteOptions = {}): Promise<api.Memory> {
    return this.send("POST", `/v1/memories/${segment(id, "id")}/approve`, options);
  }

  /** Deletes a memory that waits. */
  reject(id: string, options: WriteOptions = {}): Promise<api.ForgetReceipt> {
    return this.send("POST", `/v1/memories/${segment(id, "id")}/reject`, options);
  }

  /** Who read and changed these memories, newest first. */
  async audit(options: api.UserAuditQuery & CallOptions = {}): Promise<api.AuditEntry[]> {
    return (await this.send<api.AuditAnswer>("GET", "/v1/audit", options)).entries;
  }

  /** What changed in the memories, the oldest change first, a page from a cursor on. */
  changes(options: api.UserChangesQuery & CallOptions = {}): Promise<api.Changes> {
    return this.send("GET", "/v1/changes", options);
  }

  /**
   * Tells what changes in the memories as it happens, until you leave the loop or the signal ends it. Keep the `cursor`
   * of the last change that you have dealt with, and give it to go on after a stop.
   */
  async *follow(
    options: { cursor?: string | null | undefined; everyMs?: number | undefined } & CallOptions = {},
  ): AsyncGenerator<api.MemoryChange, void, undefined> {
    const { everyMs = FOLLOW_MS, ...asked } = options;
    let { cursor } = asked;
    for (;;) {
      const page = await this.changes({ ...asked, cursor });
      yield* page.changes;
      cursor = page.cursor;
      if (!page.more) await sleep(everyMs, asked.signal);
    }
  }

  /** Keeps a document, in pieces, to be looked up; in place of an earlier one with this id. */
  addDocument(
    id: string,
    content: string,
    options: Omit<api.AddDocumentRequest, "content"> & WriteOptions = {},
  ): Promise<api.Receipt> {
    return this.send("PUT", `/v1/documents/${segment(id, "id")}`, options, { content });
  }

  /** Deletes a document. How many pieces it had. */
  async deleteDocument(id: string, options: WriteOptions = {}): Promise<number> {
    const path = `/v1/documents/${segment(id, "id")}`;
    return (await this.send<api.DeleteDocumentAnswer>("DELETE", path, options)).deleted;
  }

  /** Runs a step of the user, such as `profile` or `reconcile`, and waits for it. */
  process(
    step: string,
    options: Pick<api.ProcessQuery, "n" | "recent_k" | "memory_ids" | "project_id"> & CallOptions = {},
  ): Promise<api.ProcessResult> {
    return this.run(`/v1/process/${segment(step, "step")}`, options);
  }

  /** Derives memories again that another prompt or model made, and waits for it. */
  reprocess(
    options: Pick<api.ProcessQuery, "prompt_version" | "thread_id"> & CallOptions = {},
  ): Promise<api.ProcessResult> {
    return this.run("/v1/process/reprocess", options);
  }

  /** Counts of what is kept. */
  stats(options: CallOptions = {}): Promise<api.Stats> {
    return this.send("GET", "/v1/stats", options);
  }

  /** The user's switches. */
  settings(options: CallOptions = {}): Promise<api.ScopeSettings> {
    return this.send("GET", "/v1/settings", options);
  }

  /** Changes switches; with the `etag` of settings as `ifMatch`, only if nobody else did since. */
  updateSettings(
    options: api.UpdateSettingsRequest & WriteOptions & { ifMatch?: string | undefined },
  ): Promise<api.ScopeSettings> {
    return this.send("PATCH", "/v1/settings", options);
  }

  /** Everything that the user owns, one record for each line of an export. `import` takes the records in again. */
  async *export(options: CallOptions = {}): AsyncGenerator<Record<string, unknown>, void, undefined> {
    let part: string | null | undefined;
    do {
      const found: api.ExportPart = await this.send("GET", "/v1/export", options, { part });
      yield* found.records;
      part = found.next;
    } while (part !== null);
  }

  /** Takes in the records of an export, in pieces that a request can hold. What is there already stays as it is. */
  async import(
    records: Iterable<Record<string, unknown>> | AsyncIterable<Record<string, unknown>>,
    options: CallOptions = {},
  ): Promise<api.ImportReceipt> {
    const total: api.ImportReceipt = {
      created: {},
      existing: {},
      forgotten: {},
      refused: {},
      screened: {},
      unwanted: {},
    };
    for await (const lines of piecesOf(records)) {
      const asked = { verb: "POST", path: "/v1/import", headers: this.owner, lines } as const;
      const receipt = await this.http.send<api.ImportReceipt>(asked, patient(options));
      for (const [place, counts] of Object.entries(receipt) as [keyof api.ImportReceipt, Record<string, number>][]) {
        for (const [type, count] of Object.entries(counts)) total[place][type] = (total[place][type] ?? 0) + count;
      }
    }
    return total;
  }
}

/** Everything that a group shares. */
export class GroupScope extends UserScope {
  /** What one member has contributed. */
  contributions(member: string, options: CallOptions = {}): Promise<api.Contributions> {
    return this.send("GET", "/v1/contributions", options, { member });
  }
}
