import { AgentMemoryError, NotFound, StoreUnavailable, errorOf } from "./errors.js";
import { patient, sleep } from "./http.js";
import type { Asked, CallOptions, Http, WriteOptions } from "./http.js";
import { segment } from "./ids.js";
import { Listing, type ListingOptions } from "./listing.js";
import type { Context, ContextSection, ProcessResult, ProcessRun } from "./schema.js";

const POLL_MS = 500;
/** Options of a call that are not fields of the request. */
type Apart = WriteOptions & { ifMatch?: string | undefined };

/** What users and threads have in common: whom their requests name, and how options become a request. */
export abstract class Scope {
  constructor(
    protected readonly http: Http,
    /** The headers that say whose memory it is. */
    protected readonly owner: Record<string, string>,
  ) {}

  /** A request. Its fields travel as the query of a GET or DELETE, and else as the body. */
  protected send<Answer>(verb: Asked["verb"], path: string, given: object = {}, fixed: object = {}): Promise<Answer> {
    const { signal, timeoutMs, retries, idempotencyKey, ifMatch, ...fields } = given as Apart;
    const asked = { ...fields, ...fixed };
    const headers = ifMatch === undefined ? this.owner : { ...this.owner, "if-match": ifMatch };
    const place = verb === "GET" || verb === "DELETE" ? "query" : "body";
    return this.http.send({ verb, path, headers, [place]: asked }, { signal, timeoutMs, retries, idempotencyKey });
  }

  /** A listing whose pages an endpoint gives, `size` naming the parameter that sets how many items a page has. */
  protected listed<Item, Noun extends string>(
    path: string,
    noun: Noun,
    size: string,
    given: ListingOptions & CallOptions,
  ): Listing<Item> {
    const { limit, cursor, ...fields } = given;
    const ask = async (items: number, continuation: string | undefined) => {
      type Answer = Record<Noun, Item[]> & { next: string | null };
      const answer = await this.send<Answer>("GET", path, fields, { [size]: items, continuation });
      return { items: answer[noun], next: answer.next };
    };
    return new Listing(ask, { limit, cursor });
  }

  /** What there may be none of yet. */
  protected async orNull<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  }

  /** A context never breaks a conversation: an error of the service is named in `degraded`. */
  protected async contextOf(asked: Promise<Context>): Promise<Context> {
    try {
      return await asked;
    } catch (error) {
      if (!(error instanceof AgentMemoryError)) throw error;
      return { ...NO_CONTEXT, degraded: [`memory: ${error.message}`] };
    }
  }

  /** The sections of a context as they arrive. An error of the service is named in `degraded` of the last one. */
  protected async *sectionsOf(given: object, fixed: object): AsyncGenerator<ContextSection, void> {
    const { signal, timeoutMs, ...fields } = given as CallOptions;
    const asked = { verb: "POST", path: "/v1/context/stream", headers: this.owner, body: { ...fields, ...fixed } } as const;
    try {
      for await (const line of this.http.lines(asked, { signal, timeoutMs })) {
        const section = line as ContextSection;
        yield section;
        if (section.context !== null) return;
      }
      throw new StoreUnavailable("store_unavailable", "the stream ended before the context arrived", { retryable: true });
    } catch (error) {
      if (!(error instanceof AgentMemoryError)) throw error;
      const context = { ...NO_CONTEXT, degraded: [`memory: ${error.message}`] };
      yield { name: "context", text: "", messages: [], used: [], context };
    }
  }

  /** Starts a run, and waits until it is done. */
  protected async run(path: string, given: CallOptions, fixed: object = {}): Promise<ProcessResult> {
    const { signal, timeoutMs, retries } = given;
    let run = await this.send<ProcessRun>("POST", path, patient(given), fixed);
    while (run.status === "running") {
      await sleep(POLL_MS, signal);
      const status = `/v1/process/${segment(run.id, "run")}`;
      run = await this.send<ProcessRun>("GET", status, { signal, timeoutMs, retries });
    }
    if (!run.result) throw errorOf(run.code ?? "agent_memory_error", run.error ?? `${run.step} ended ${run.status}`);
    return run.result;
  }
}

const NO_CONTEXT: Context = {
  text: "",
  messages: [],
  used: [],
  left_out: [],
  tokens: 0,
  relevance: null,
  milliseconds: 0,
  degraded: [],
  skipped_reason: null,
  query: null,
  decisions: {},
};
