import { Http, patient, sleep, type CallOptions, type ClientOptions, type WriteOptions } from "./http.js";
import { headerValue, segment } from "./ids.js";
import type * as api from "./schema.js";
import { GroupScope, UserScope } from "./user.js";

/** Seconds that one request to drain waits. Proxies close longer ones. */
const DRAIN_SECONDS = 20;
const DRAIN_PAUSE_MS = 100;

/** The memory behind one server. It holds no connection open, so there is nothing to close. */
export class MemoryClient {
  private readonly http: Http;

  constructor(options: ClientOptions) {
    this.http = new Http(options);
  }

  /** The memory of one user. The credential must be theirs, or may act for users. */
  user(userId: string): UserScope {
    return new UserScope(this.http, { "x-user-id": headerValue(userId, "userId") });
  }

  /** The memory that a group shares. `member` says who acts. */
  group(groupId: string, options: { member?: string | undefined } = {}): GroupScope {
    const group = { "x-group-id": headerValue(groupId, "groupId") };
    const { member } = options;
    return new GroupScope(
      this.http,
      member === undefined ? group : { ...group, "x-user-id": headerValue(member, "member") },
    );
  }

  /** How the server and its parts are. For the operator, like all that follows. */
  health(options: CallOptions = {}): Promise<api.Health> {
    return this.http.send({ verb: "GET", path: "/v1/admin/health" }, options);
  }

  /**
   * Waits until the server has processed what was written so far, at most `seconds` (60 by default). How many turns are
   * left.
   */
  async drain(options: { seconds?: number | undefined } & CallOptions = {}): Promise<number> {
    const { seconds = 60, ...call } = options;
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const timeout = Math.min(DRAIN_SECONDS, Math.max(0, (end - performance.now()) / 1000));
      const asked = { verb: "POST", path: "/v1/admin/drain", query: { timeout } } as const;
      const { left } = await this.http.send<api.Drained>(asked, patient(call));
      if (left === 0 || performance.now() >= end) return left;
      await sleep(DRAIN_PAUSE_MS, call.signal);
    }
  }

  /** Every user of whom something is kept. */
  async users(options: CallOptions = {}): Promise<string[]> {
    return (await this.http.send<api.Users>({ verb: "GET", path: "/v1/admin/users" }, options)).users;
  }

  /** Every group of which something is kept, or to which a user has contributed. */
  async groups(options: api.AdminGroupsQuery & CallOptions = {}): Promise<string[]> {
    const { contributor, ...call } = options;
    const asked = { verb: "GET", path: "/v1/admin/groups", query: { contributor } } as const;
    return (await this.http.send<api.Groups>(asked, call)).groups;
  }

  /** Puts a user into a tier, or (null) back into the default one. */
  async assignTier(userId: string, tier: string | null, options: WriteOptions = {}): Promise<void> {
    const path = `/v1/admin/users/${segment(userId, "userId")}/tier`;
    await this.http.send({ verb: "PUT", path, body: { tier } }, options);
  }

  /** The custom extraction of the store or of a group; null if none is set. */
  async extraction(options: api.AdminExtractionQuery & CallOptions = {}): Promise<api.Extraction | null> {
    const { group, ...call } = options;
    const asked = { verb: "GET", path: "/v1/admin/extraction", query: { group } } as const;
    return (await this.http.send<api.CustomExtraction>(asked, call)).extraction;
  }

  /** Sets instructions, custom kinds and categories, for the store or for a group; null removes them. */
  async setExtraction(
    extraction: api.Extraction | null,
    options: api.AdminSetExtractionQuery & WriteOptions = {},
  ): Promise<api.Extraction | null> {
    const { group, ...call } = options;
    const asked = { verb: "PUT", path: "/v1/admin/extraction", query: { group }, body: { extraction } } as const;
    return (await this.http.send<api.CustomExtraction>(asked, call)).extraction;
  }

  /** The ranges of turns that processing gave up on, oldest first. */
  async deadLetters(options: CallOptions = {}): Promise<api.DeadLetter[]> {
    const asked = { verb: "GET", path: "/v1/admin/dead-letters" } as const;
    return (await this.http.send<api.DeadLetters>(asked, options)).dead_letters;
  }

  /** Processes the range of a dead letter again, and deletes the letter if that succeeds. */
  replay(deadLetterId: string, options: WriteOptions = {}): Promise<api.ProcessResult> {
    const path = `/v1/admin/dead-letters/${segment(deadLetterId, "deadLetterId")}/replay`;
    return this.http.send({ verb: "POST", path }, patient(options));
  }

  /** Keeps knowledge that holds for every user: an `id` and a `content` each. Seeding the same again adds nothing. */
  seed(facts: api.StaticFacts["facts"], options: WriteOptions = {}): Promise<api.Receipt> {
    return this.http.send({ verb: "POST", path: "/v1/admin/static", body: { facts } }, options);
  }

  /** The knowledge that all users share. */
  async staticFacts(options: CallOptions = {}): Promise<api.Memory[]> {
    return (await this.http.send<api.StaticKnowledge>({ verb: "GET", path: "/v1/admin/static" }, options)).facts;
  }
}
