import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import {
  AgentMemoryError,
  type ClientOptions,
  ConfigurationError,
  InvalidInput,
  MemoryClient,
  ModelError,
  QuotaExceeded,
  StoreUnavailable,
} from "durable-agent-memory";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server that gives these answers one after the other, the last one again and again; what it was asked. */
async function scripted(
  answers: Answer[],
  work: (memory: MemoryClient, seen: Seen[]) => Promise<void>,
  options: Partial<ClientOptions> = {},
): Promise<void> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      const answer = answers[Math.min(seen.length, answers.length - 1)]!;
      seen.push({ method: request.method!, url: request.url!, headers: request.headers, body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await work(new MemoryClient({ url: `http://127.0.0.1:${port}`, ...options }), seen);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function says(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

const refuses = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  says(status, { error: { code, message: `this is ${code}` } }, headers);
const hangsUp: Answer = (request) => request.socket.destroy();
const done = says(200, { cleared: 1 });
const soon = { "retry-after": "0" };

for (const [what, answer] of [
  ["429", refuses(429, "rate_limited", soon)],
  ["503", refuses(503, "store_unavailable", soon)],
  ["a retryable error of a model", refuses(503, "model", soon)],
  ["a 502 of a proxy", says(502, "<html>Bad Gateway</html>", soon)],
  ["504", says(504, "", soon)],
  ["a connection that breaks", hangsUp],
] as const) {
  test(`after ${what} the request is sent again, under the same key`, async () => {
    await scripted([answer, answer, done], async (memory, seen) => {
      assert.equal(await memory.user("a").thread("t").clear(), 1);
      const keys = seen.map((one) => one.headers["idempotency-key"]);
      assert.equal(keys.length, 3);
      assert.match(keys[0] as string, /^[0-9a-f-]{36}$/);
      assert.deepEqual(new Set(keys).size, 1);
    });
  });
}

for (const [status, code, kind] of [
  [400, "invalid_input", InvalidInput],
  [401, "unauthenticated", ConfigurationError],
  [402, "quota_exceeded", QuotaExceeded],
  [500, "internal", AgentMemoryError],
  [502, "model", ModelError],
] as const) {
  test(`${status} ${code} is final`, async () => {
    await scripted([refuses(status, code), done], async (memory, seen) => {
      await assert.rejects(memory.user("a").thread("t").clear(), (error) => {
        assert(error instanceof kind);
        assert.equal(error.name, kind.name);
        assert.deepEqual(
          [error.status, error.code, error.message, error.retryable],
          [status, code, `this is ${code}`, false],
        );
        return (error.hint !== undefined) === (code === "unauthenticated");
      });
      assert.equal(seen.length, 1);
    });
  });
}

test("Retry-After is waited for, and says how long in the error", async () => {
  await scripted([refuses(429, "rate_limited", { "retry-after": "1" }), done], async (memory) => {
    const start = performance.now();
    await memory.user("a").thread("t").clear();
    assert(performance.now() - start >= 990);
  });
  const at = new Date(Date.now() + 3_600_000).toUTCString();
  await scripted([refuses(503, "store_unavailable", { "retry-after": at }), done], async (memory, seen) => {
    await assert.rejects(memory.user("a").thread("t").clear(), (error) => {
      assert(error instanceof StoreUnavailable && error.retryable);
      return error.retryAfter! > 3_500 && error.retryAfter! < 3_700;
    });
    assert.equal(seen.length, 1); // nobody waits for an hour
  });
});

test("a server that stays away is given up on", async () => {
  await scripted([refuses(503, "store_unavailable", soon)], async (memory, seen) => {
    await assert.rejects(memory.users(), StoreUnavailable);
    assert.equal(seen.length, 4);
    await assert.rejects(memory.users({ retries: 1 }), StoreUnavailable);
    assert.equal(seen.length, 6);
    await assert.rejects(memory.users({ retries: NaN }), StoreUnavailable);
    assert.equal(seen.length, 7);
  });
  const nobody = new MemoryClient({ url: "http://127.0.0.1:9", retries: 0 });
  await assert.rejects(nobody.users(), (error) => {
    assert(error instanceof StoreUnavailable);
    assert.match(error.message, /127\.0\.0\.1:9 does not answer: \S+/);
    assert.match(error.hint!, /serve/);
    return error.status === undefined && error.cause instanceof Error;
  });
});

test("an attempt may take only so long", async () => {
  let attempts = 0;
  const counted: typeof fetch = (...asked) => {
    attempts++;
    return fetch(...asked);
  };
  await scripted(
    [() => {}],
    async (memory) => {
      await assert.rejects(memory.users(), { name: "StoreUnavailable", message: /no answer within 50 ms/ });
      assert.equal(attempts, 2);
    },
    { timeoutMs: 50, retries: 1, fetch: counted },
  );
});

test("a signal ends a call, while it is asked and while it waits", async () => {
  const stop = new Error("the user went away");
  for (const answer of [() => {}, refuses(503, "store_unavailable", { "retry-after": "20" })]) {
    const controller = new AbortController();
    const { signal } = controller;
    const asked: Answer = (request, response) => {
      answer(request, response);
      setTimeout(() => controller.abort(stop), 20);
    };
    await scripted([asked], async (memory, seen) => {
      await assert.rejects(memory.user("a").context("anything", { signal }), stop);
      await assert.rejects(memory.user("a").search("anything", { signal }), stop);
      assert.equal(seen.length, 1);
    });
  }
});

test("a context is empty when the service fails, and says why", async () => {
  await scripted([refuses(401, "unauthenticated")], async (memory) => {
    const context = await memory.user("a").thread("t").context("anything");
    assert.deepEqual([context.text, context.degraded], ["", ["memory: this is unauthenticated"]]);
  });
  const credential = () => Promise.reject(new Error("the vault is shut"));
  const { degraded } = await new MemoryClient({ url: "http://127.0.0.1:9", credential }).user("a").context("anything");
  assert.deepEqual(degraded, ["memory: the function `credential` failed: the vault is shut"]);
});

test("the stream of a context ends with why it is empty, too", async () => {
  const state = { name: "state", text: "", messages: [], used: [], context: null };
  for (const body of ["<html>Sign in</html>\n", `${JSON.stringify(state)}\n`, ""]) {
    await scripted([says(200, body)], async (memory) => {
      const sections = [];
      for await (const section of memory.user("a").contextStream("anything")) sections.push(section);
      assert.match(sections.at(-1)!.context!.degraded[0]!, /not in the form of this API|ended before/);
    });
  }
});

test("what is no answer of this API is named", async () => {
  for (const [answer, status] of [
    [says(200, "<html>Sign in</html>"), 200],
    [says(200, ""), 200],
    [says(302, "", { location: "http://127.0.0.1:9/elsewhere" }), 302],
    [says(404, { detail: "Not Found" }), 404],
    [says(404, { error: "no" }), 404],
    [says(400, "null"), 400],
  ] as const) {
    await scripted([answer], async (memory, seen) => {
      await assert.rejects(memory.users(), (error) => {
        assert(error instanceof ConfigurationError);
        assert.match(error.hint!, /url/);
        return error.status === status && error.message.includes(`answered ${status}`);
      });
      assert.equal(seen.length, 1);
    });
  }
});

test("credentials go along, and are asked for anew at each attempt", async () => {
  let calls = 0;
  await scripted(
    [refuses(503, "store_unavailable", soon), says(200, { users: [] })],
    async (memory, seen) => {
      await memory.users();
      assert.deepEqual(
        seen.map((one) => [one.headers.authorization, one.headers["x-functions-key"]]),
        [
          ["Bearer token-1", "key"],
          ["Bearer token-2", "key"],
        ],
      );
    },
    { credential: async () => `token-${++calls}`, functionKey: "key" },
  );
});

test("a credential that cannot be sent is not told to the log", async () => {
  await scripted(
    [done],
    async (memory, seen) => {
      await assert.rejects(memory.users(), (error) => {
        assert(error instanceof ConfigurationError);
        return !JSON.stringify([error.message, error.hint, error.stack, error.cause]).includes("sesame");
      });
      assert.equal(seen.length, 0);
    },
    { credential: "sesame\nopen" },
  );
});

test("ids and values arrive as they are", async () => {
  await scripted([says(200, { memories: [], next: null, cleared: 0 })], async (memory, seen) => {
    const user = memory.user("Zoë & 東京");
    await user.thread("a thread %2e").clear();
    const since = new Date("2026-03-15T10:00:00Z");
    await user
      .memories({ types: ["fact", "episodic"], filters: { tags: { contains: "a&b" } }, as_of: since, limit: 7 })
      .toArray();
    assert.equal(Buffer.from(seen[0]!.headers["x-user-id"] as string, "latin1").toString(), "Zoë & 東京");
    assert.equal(seen[0]!.url, "/v1/threads/a%20thread%20%252e/clear");
    const query = new URL(seen[1]!.url, "http://x").searchParams;
    assert.deepEqual(query.getAll("types"), ["fact", "episodic"]);
    assert.deepEqual(JSON.parse(query.get("filters")!), { tags: { contains: "a&b" } });
    assert.equal(query.get("as_of"), since.toJSON());
    assert.equal(query.get("limit"), "7");
    assert.equal(seen[1]!.headers["idempotency-key"], undefined);
  });
});

test("ids that would mean something else are refused", async () => {
  await scripted([done], async (memory, seen) => {
    const bad = ["", " a", "a/b", "..\\b", "a?b", "a#b", "a\nb", "__user__", "a\ud800", "x".repeat(256)];
    for (const id of bad) assert.throws(() => memory.user(id), { code: "invalid_input" }, id);
    for (const id of [...bad.filter((one) => one !== " a"), ".", ".."]) {
      assert.throws(() => memory.user("a").thread(id), { code: "invalid_input" }, id);
      assert.throws(() => memory.user("a").get(id), { code: "invalid_input" }, id);
    }
    assert.throws(() => memory.user(7 as unknown as string), { code: "invalid_input" });
    assert.equal(seen.length, 0);
  });
  for (const url of ["", "127.0.0.1:8900", "ftp://x", "http://", "http://x?y=1", "http://x/#y", "http://?x"]) {
    assert.throws(() => new MemoryClient({ url }), ConfigurationError, url);
  }
});

test("what JSON cannot say is refused, and not sent as null, which means no limit", async () => {
  await scripted([done], async (memory, seen) => {
    const [user, never] = [memory.user("a"), new Date("no date")];
    const loop: Record<string, unknown> = {};
    loop["loop"] = loop;
    for (const [asked, message] of [
      [() => user.forget({ query: "jam", until: never }), /until is an invalid date/],
      [() => user.thread("t").forget({ since: never }), /since is an invalid date/],
      [() => user.thread("t").forget({ query: undefined }), /query is undefined/],
      [() => user.forget({ project_id: "p", until: undefined }), /until is undefined/],
      [() => user.thread("t").add("user", "x", { created_at: never }), /created_at is an invalid date/],
      [() => user.memories({ as_of: never }).toArray(), /invalid date/],
      [() => user.memories({ filters: { created_at: { lt: never } } }).toArray(), /lt is an invalid date/],
      [() => user.search("x", { min_confidence: NaN }), /min_confidence is NaN/],
      [() => user.remember("x", { ttl: Infinity }), /ttl is Infinity/],
      [() => user.remember("x", { metadata: { size: 1n } }), /BigInt/],
      [() => user.thread("t").addMany([{ role: "user", content: "x", metadata: loop }]), /circular/],
      [() => user.remember("x", { idempotencyKey: "a\nb" }), /header/],
      [() => user.updateSettings({ ifMatch: "Schlüssel 鍵" }), /header/],
      [() => user.stats({ timeoutMs: NaN }), /timeoutMs/],
      [() => user.stats({ timeoutMs: 2 ** 31 }), /timeoutMs/],
    ] as const) {
      await assert.rejects(asked(), { name: "InvalidInput", message });
    }
    assert.equal(seen.length, 0);
  });
});

test("many turns go in requests of at most 1,000 turns and 3 MB, each under a key of its own", async () => {
  const receipt = { ids: ["1"], created: 1, skipped_reason: null, forgotten: [], usage: { request_units: 2 } };
  await scripted([says(201, receipt)], async (memory, seen) => {
    const chat = memory.user("a").thread("t", { project_id: "p" });
    const turns = [
      ...Array.from({ length: 1001 }, () => ({ role: "user", content: "x" }) as const),
      ...Array.from({ length: 4 }, () => ({ role: "user", content: "é".repeat(500_000), project_id: "q" }) as const),
    ];
    const all = await chat.addMany(turns, { idempotencyKey: "k" });
    const sent = seen.map((one) => (JSON.parse(one.body) as { turns: { project_id: string }[] }).turns);
    assert.deepEqual(sent.map((one) => one.length), [1000, 3, 2]);
    assert.deepEqual([sent[0]![0]!.project_id, sent[2]![0]!.project_id], ["p", "q"]);
    assert.deepEqual(seen.map((one) => one.headers["idempotency-key"]), ["k", "k:1", "k:2"]);
    assert.deepEqual([all.ids, all.created, all.usage], [["1", "1", "1"], 3, { request_units: 6 }]);
  });
});

test("turns have ids of their own, so that they can be sent again without a key", async () => {
  const receipt = { ids: [], created: 0, skipped_reason: null, forgotten: [], usage: {} };
  await scripted([hangsUp, says(201, receipt)], async (memory, seen) => {
    await memory.user("a").thread("t").addMany([
      { role: "user", content: "x" },
      { role: "user", content: "y", id: "mine" },
      { role: "user", content: "z", id: null },
    ]);
    assert.equal(seen[0]!.body, seen[1]!.body);
    assert.equal(seen[1]!.headers["idempotency-key"], undefined);
    const [first, second, third] = (JSON.parse(seen[1]!.body) as { turns: { id: string }[] }).turns;
    assert.match(first!.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert(Math.abs(parseInt(first!.id.replace("-", "").slice(0, 12), 16) - Date.now()) < 600_000);
    assert.equal(second!.id, "mine");
    assert.notEqual(third!.id, first!.id);
  });
});

test("a run that goes on is asked about until it ends", async () => {
  const run = { id: "run-1", step: "extract" };
  const result = { step: "extract", turns: 2 };
  await scripted(
    [says(202, { ...run, status: "running" }), says(200, { ...run, status: "completed", result })],
    async (memory, seen) => {
      assert.equal((await memory.user("a").thread("t").process("extract")).turns, 2);
      assert.deepEqual(seen.map((one) => `${one.method} ${one.url}`), ["POST /v1/process/extract", "GET /v1/process/run-1"]);
    },
  );
  await scripted([says(200, { ...run, status: "failed", error: "no words", code: "model" })], async (memory) => {
    await assert.rejects(memory.user("a").thread("t").process("extract"), { name: "ModelError", message: "no words" });
  });
});

test("a listing is read no further than it is looked at", async () => {
  const page = (ids: number[], next: string | null) => says(200, { threads: ids.map((id) => ({ thread_id: id })), next });
  await scripted([page([1, 2], "b"), page([3, 4], "c"), page([5], null)], async (memory, seen) => {
    const found: unknown[] = [];
    for await (const thread of memory.user("a").threads()) {
      found.push(thread.thread_id);
      if (found.length === 3) break;
    }
    assert.deepEqual([found, seen.length], [[1, 2, 3], 2]);
    assert.match(seen[1]!.url, /continuation=b/);
  });
  await scripted([page([1, 2], "b"), page([3, 4], "c"), page([5], null)], async (memory, seen) => {
    assert.deepEqual((await memory.user("a").threads({ limit: 3 }).toArray()).map((one) => one.thread_id), [1, 2, 3]);
    assert.equal(seen.length, 2);
    const rest = await memory.user("a").threads({ cursor: "c" }).page();
    assert.deepEqual([rest.items.length, rest.next], [1, null]);
  });
});
