// The HTTP API: requests, their errors, and the answers that an exported file carries in their place.

const DATA = document.getElementById("explorer-data");
export const snapshot = DATA ? JSON.parse(DATA.textContent) : null;

// What the current page has asked for, so that it can be exported.
export const recorded = new Map();

export class ApiError extends Error {
  constructor(status, code, message, wait) {
    super(message);
    this.status = status;
    this.code = code;
    this.wait = wait; // seconds after which the server wants to be asked again, if it says so
  }
}

function queryOf(params) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params || {}).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, one);
  }
  return search.toString();
}

function keyOf(user, method, path, params, body) {
  if (method === "GET") return `${user} GET ${path}?${queryOf(params)}`;
  return `${user} ${method} ${path} ${JSON.stringify([body?.query ?? null, (body?.as_of ?? "").slice(0, 10), body ?? null])}`;
}

// A header holds bytes; ids may hold any letter.
function headerBytes(text) {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

// An answer to the same question; `agent-memory quickstart` asks with the settings of its own.
function alike(key) {
  if (!/ POST \/v1\/(search|context) \[/.test(key)) return undefined;
  const start = key.indexOf("[", key.indexOf(" POST "));
  const question = JSON.stringify(JSON.parse(key.slice(start)).slice(0, 2)).slice(0, -1);
  const found = Object.keys(snapshot.answers).find((one) => one.startsWith(key.slice(0, start) + question));
  return found && snapshot.answers[found];
}

function fromSnapshot(key) {
  const found = snapshot.answers[key] ?? snapshot.answers[key.replace(/\?.*$/, "")] ?? alike(key);
  if (found === undefined) throw new ApiError(404, "not_exported", "This file does not contain it. Open the explorer on the store to see it.");
  if (found === null) throw new ApiError(404, "not_found", "It does not exist.");
  return found;
}

// Browsers resolve `.` and `..` in a path, also as %2E. The server decodes the paths of the page twice.
function encodedAgain(path) {
  const segment = (text) => (/^\.\.?$/.test(text) ? text.replaceAll(".", "%2E") : text).replaceAll("%", "%25");
  return path.split("/").map(segment).join("/");
}

async function ask(user, method, path, { params, body, headers } = {}) {
  const key = keyOf(user || "", method, path, params, body);
  if (snapshot) return fromSnapshot(key);
  const query = queryOf(params);
  const sent = { ...headers };
  if (user) sent["x-user-id"] = headerBytes(user);
  if (body !== undefined) sent["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(`.${encodedAgain(path)}` + (query ? `?${query}` : ""), {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
    });
  } catch {
    throw new ApiError(0, "unreachable", "The server does not respond. Is it still running?");
  }
  const text = await response.text();
  let answer = null;
  try {
    answer = text ? JSON.parse(text) : null;
  } catch {
    throw new ApiError(response.status, "no_json", "The response is not JSON.");
  }
  if (!response.ok) {
    if (response.status === 404 && method === "GET") recorded.set(key, null);
    const problem = answer?.error || {};
    throw new ApiError(response.status, problem.code || "error", problem.message || `The server answered with status ${response.status}.`, Number(response.headers.get("retry-after")) || null);
  }
  if (path !== "/session" && path !== "/v1/admin/users") recorded.set(key, answer);
  return answer;
}

export const session = {
  read: () => ask("", "GET", "/session"),
  signIn: (key) => ask("", "POST", "/session", { headers: key ? { "x-api-key": headerBytes(key) } : {} }),
  lock: (locked) => ask("", "PATCH", "/session", { body: { locked } }),
  signOut: () => ask("", "DELETE", "/session"),
};

const part = encodeURIComponent;

// One user's memory, and what the operator sees.
export function memoryOf(user) {
  const get = (path, params) => ask(user, "GET", path, { params });
  const post = (path, body = {}) => ask(user, "POST", path, { body });
  return {
    user,
    memories: (params) => get("/v1/memories", params),
    memory: (id) => get(`/v1/memories/${part(id)}`),
    why: (id) => get(`/v1/memories/${part(id)}/why`),
    correct: (id, content, reason) => ask(user, "PATCH", `/v1/memories/${part(id)}`, { body: { content, ...(reason ? { reason } : {}) } }),
    pin: (id, pinned) => ask(user, "PATCH", `/v1/memories/${part(id)}`, { body: { pinned } }),
    approve: (id) => post(`/v1/memories/${part(id)}/approve`),
    reject: (id) => post(`/v1/memories/${part(id)}/reject`),
    remember: (content) => post("/v1/memories", { content }),
    review: () => get("/v1/review"),
    threads: (params) => get("/v1/threads", params),
    turns: (thread, params) => get(`/v1/threads/${part(thread)}/turns`, params),
    threadMemories: (thread, params) => get(`/v1/threads/${part(thread)}/memories`, params),
    summary: (thread) => get(`/v1/threads/${part(thread)}/summary`),
    profile: () => get("/v1/profile"),
    stats: () => get("/v1/stats"),
    search: (body) => post("/v1/search", body),
    context: (body) => post("/v1/context", body),
    forget: (body) => post("/v1/memory/forget", body),
    audit: (params) => get("/v1/audit", params),
    add: (thread, turns) => post(`/v1/threads/${part(thread)}/turns`, { turns }),
    process: (step, thread) => post(`/v1/process/${part(step)}`, thread ? { thread_id: thread } : {}),
    entities: (params) => get("/v1/entities", params),
    entity: (name) => get("/v1/entities/by-name", { name }),
    health: () => get("/v1/admin/health"),
    deadLetters: () => get("/v1/admin/dead-letters"),
    replay: (id) => post(`/v1/admin/dead-letters/${part(id)}/replay`),
  };
}

const RETRY = 2000;
const SLOWER = 5000;

// Calls `changed` whenever a user's memory may have changed: after each event, and when a stream begins, since events may
// have been missed. A server that cannot stream ends each stream at once; then this is polling. Tells `state` whether a
// stream is open. Returns what ends it.
export function follow(user, changed, state) {
  const stop = new AbortController();
  const run = async () => {
    let last = "";
    while (!stop.signal.aborted) {
      let wait = RETRY;
      try {
        const headers = { "x-user-id": headerBytes(user), accept: "text/event-stream", ...(last ? { "last-event-id": last } : {}) };
        const response = await fetch("./v1/events?cursor=now", { headers, signal: stop.signal, credentials: "same-origin", cache: "no-store" });
        if (!response.ok) throw new ApiError(response.status, "error", "no stream");
        changed();
        const begun = Date.now();
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        const open = setTimeout(() => state(true), 500);
        let text = "";
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          const events = (text + part.value).split("\n\n");
          text = events.pop();
          last = events.map((one) => (/^id: (.+)$/m.exec(one) || [])[1]).filter(Boolean).pop() || last;
          if (events.some((one) => one.includes("\ndata: "))) changed();
        }
        clearTimeout(open);
        if (Date.now() - begun < 500) state(false);
      } catch {
        if (stop.signal.aborted) return;
        state(false);
        changed();
        wait = SLOWER;
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  };
  run();
  return () => stop.abort();
}

export const listUsers = () => ask("", "GET", "/v1/admin/users");
