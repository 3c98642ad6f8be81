import { AgentMemoryError, ConfigurationError, StoreUnavailable, errorOf, invalid } from "./errors.js";
import { jsonOf } from "./json.js";

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, its retries included; the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take. */
  timeoutMs?: number | undefined;
  /** How often the request is repeated if it may succeed later. */
  retries?: number | undefined;
}

/** What every call that writes takes. */
export interface WriteOptions extends CallOptions {
  /**
   * Asked again with the same key within ten minutes, the server does it once and answers alike. Without one, the
   * client sees to it that its own retries write once.
   */
  idempotencyKey?: string | undefined;
}

/** How to reach a server. */
export interface ClientOptions {
  /** The address of the server, such as `https://memory.example`. */
  url: string;
  /** An API key or a token; a function is asked before each attempt, for tokens that expire. */
  credential?: string | (() => string | Promise<string>) | undefined;
  /** The function key of an Azure function app. */
  functionKey?: string | undefined;
  /** Milliseconds that one attempt may take; 60,000 by default. */
  timeoutMs?: number | undefined;
  /** How often a request is repeated that may succeed later; 3 by default. */
  retries?: number | undefined;
  /** Stands in for the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** One request. */
export interface Asked {
  verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  query?: object | undefined;
  body?: object | undefined;
  /** Lines of JSON, in place of a body. */
  lines?: string | undefined;
  /** Whether doing it twice is the same as once, so that it needs no key. */
  repeatable?: boolean;
}

interface Request {
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

const TIMEOUT_MS = 60_000;
/** Node's `fetch` waits no longer for the beginning of an answer. */
const WORK_TIMEOUT_MS = 300_000;
/** A timer of Node that is to wait longer does not wait at all. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const RETRIES = 3;
const FIRST_WAIT_MS = 250;
/** A server that wants to be left alone for longer is given up on at once. */
const LONGEST_WAIT_MS = 30_000;
const LATER = new Set([429, 502, 503, 504]);

/** Options of a call whose work the server does before it answers. */
export function patient<Options extends CallOptions>(call: Options): Options {
  return { ...call, timeoutMs: call.timeoutMs ?? WORK_TIMEOUT_MS };
}

/** Requests to one server: credentials, time limits, retries, and errors. */
export class Http {
  private readonly base: string;

  constructor(private readonly options: ClientOptions) {
    // After a `?` or a `#` a path would be lost, and every request would get the answer of another one.
    if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(options.url) || !URL.canParse(options.url)) {
      throw new ConfigurationError("configuration", `${JSON.stringify(options.url)} is no URL of a server`);
    }
    this.base = options.url.replace(/\/+$/, "");
  }

  /** The JSON of the answer. A request that may succeed later is repeated. */
  async send<Answer>(asked: Asked, call: WriteOptions = {}): Promise<Answer> {
    const headers: Record<string, string> = { accept: "application/json", ...asked.headers };
    const key = call.idempotencyKey ?? (asked.repeatable || asked.verb === "GET" ? undefined : crypto.randomUUID());
    if (key !== undefined) headers["idempotency-key"] = key;
    if (asked.body !== undefined) headers["content-type"] = "application/json";
    if (asked.lines !== undefined) headers["content-type"] = "application/x-ndjson";
    const body = asked.body === undefined ? (asked.lines ?? null) : jsonOf(asked.body);
    const url = this.base + asked.path + queryOf(asked.query);
    const retries = call.retries ?? this.options.retries ?? RETRIES;
    for (let attempt = 0; ; attempt++) {
      try {
        return (await this.once(url, { method: asked.verb, headers, body }, call)) as Answer;
      } catch (error) {
        if (!(error instanceof AgentMemoryError) || !isRepeated(error) || !(attempt < retries)) throw error;
        const backoff = FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random());
        const wait = error.retryAfter === undefined ? backoff : error.retryAfter * 1000;
        if (wait > LONGEST_WAIT_MS) throw error;
        await sleep(wait, call.signal);
      }
    }
  }

  /** The JSON of each line of an answer as it arrives. The request is sent once. */
  async *lines(asked: Asked, call: CallOptions = {}): AsyncGenerator<unknown, void> {
    call.signal?.throwIfAborted();
    const given = { accept: "application/x-ndjson", "content-type": "application/json", ...asked.headers };
    const headers = await this.withCredentials(given);
    const timeout = AbortSignal.timeout(this.limitOf(call));
    const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]);
    const body = jsonOf(asked.body);
    const decoder = new TextDecoder();
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    try {
      const send = this.options.fetch ?? fetch;
      const answer = await send(this.base + asked.path, { method: asked.verb, headers, body, signal, redirect: "manual" });
      if (!answer.ok) throw refusal(answer, await answer.text());
      reader = answer.body!.getReader();
      for (let rest = ""; ; ) {
        const { done, value } = await reader.read();
        if (done) return;
        const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
        rest = parts.pop()!;
        for (const part of parts) yield parsed(part, answer.status);
      }
    } catch (cause) {
      call.signal?.throwIfAborted();
      if (cause instanceof AgentMemoryError) throw cause;
      const message = `${this.base} does not answer: ${timeout.aborted ? "not in time" : reasonOf(cause)}`;
      throw new StoreUnavailable("store_unavailable", message, { retryable: true, cause });
    } finally {
      await reader?.cancel().catch(() => undefined);
    }
  }

  private async once(url: string, request: Request, call: CallOptions): Promise<unknown> {
    call.signal?.throwIfAborted();
    const headers = await this.withCredentials(request.headers);
    const milliseconds = this.limitOf(call);
    const timeout = AbortSignal.timeout(milliseconds);
    const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]);
    const send = this.options.fetch ?? fetch;
    let answer: Response;
    let content: string;
    try {
      // A redirect would take the credentials elsewhere.
      answer = await send(url, { ...request, headers, signal, redirect: "manual" });
      content = await answer.text();
    } catch (cause) {
      call.signal?.throwIfAborted();
      const why = timeout.aborted ? `no answer within ${milliseconds} ms` : reasonOf(cause);
      const hint = "check that the server runs, and that this machine reaches it; `agent-memory serve` starts one";
      const facts = { retryable: true, hint, cause };
      throw new StoreUnavailable("store_unavailable", `${this.base} does not answer: ${why}`, facts);
    }
    if (!answer.ok) throw refusal(answer, content);
    return answer.status === 204 ? undefined : parsed(content, answer.status);
  }

  private limitOf(call: CallOptions): number {
    const milliseconds = call.timeoutMs ?? this.options.timeoutMs ?? TIMEOUT_MS;
    if (Number.isInteger(milliseconds) && milliseconds >= 0 && milliseconds <= LONGEST_TIMEOUT_MS) return milliseconds;
    throw invalid(`timeoutMs must be a whole number of at most ${LONGEST_TIMEOUT_MS}, not ${milliseconds}`);
  }

  private async withCredentials(given: Record<string, string>): Promise<Headers> {
    const { credential, functionKey } = this.options;
    const token = typeof credential === "function" ? await askedFor(credential) : credential;
    const headers = headersOf(given);
    try {
      if (functionKey !== undefined) headers.set("x-functions-key", functionKey);
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    } catch {
      // The error that was caught quotes the credential.
      throw new ConfigurationError("configuration", "the credential has characters that a header cannot carry", {
        hint: "take line breaks and spaces away from it",
      });
    }
    return headers;
  }
}

async function askedFor(credential: () => string | Promise<string>): Promise<string> {
  try {
    return await credential();
  } catch (cause) {
    throw new ConfigurationError("configuration", `the function \`credential\` failed: ${reasonOf(cause)}`, {
      hint: "see `cause`",
      cause,
    });
  }
}

function headersOf(given: Record<string, string>): Headers {
  try {
    return new Headers(given);
  } catch {
    throw invalid("idempotencyKey and ifMatch must be texts that a header can carry: ASCII in one line");
  }
}

/** Waits, unless the signal ends it. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Whether a request is sent again: no answer came, or one that says "later". */
function isRepeated(error: AgentMemoryError): boolean {
  return error.retryable && (error.status === undefined || LATER.has(error.status));
}

/** Lists are repeated names, objects JSON. */
function queryOf(query: object = {}): string {
  const pairs = Object.entries(query)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one: unknown) => ({ name, one })))
    .filter(({ one }) => one !== undefined && one !== null)
    .map(({ name, one }) => [name, textOf(one)]);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

function textOf(value: unknown): string {
  if (value instanceof Date) return JSON.parse(jsonOf(value)) as string;
  return typeof value === "object" ? jsonOf(value) : String(value);
}

function parsed(content: string, status: number): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw foreign(status);
  }
}

function refusal(answer: Response, content: string): AgentMemoryError {
  const { status } = answer;
  const retryAfter = secondsOf(answer.headers.get("retry-after"));
  let told: { code: unknown; message: unknown };
  try {
    told = (JSON.parse(content) as { error: typeof told }).error;
    if (typeof told.code !== "string") throw new TypeError("an error has a code");
  } catch {
    return foreign(status, retryAfter);
  }
  // The API answers 502 when a model gave something unusable, which asking again does not mend.
  const retryable = LATER.has(status) && status !== 502;
  return errorOf(told.code as string, String(told.message), { status, retryable, retryAfter });
}

/** An answer that is not from this API: of a proxy, perhaps, which has lost its server. */
function foreign(status: number, retryAfter?: number): AgentMemoryError {
  const message = `the server answered ${status}, and not in the form of this API`;
  if (status >= 500 || status === 429) {
    return new StoreUnavailable("store_unavailable", message, { status, retryable: true, retryAfter });
  }
  return new ConfigurationError("configuration", message, { status });
}

/** `Retry-After` in seconds: it is a number, or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  if (!(inner instanceof Error)) return String(inner);
  return inner.message || (inner as { code?: string }).code || inner.name;
}
