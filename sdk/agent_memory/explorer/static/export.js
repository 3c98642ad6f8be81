// Export: this page with its answers as one file that needs no server.

import { ApiError, recorded } from "./api.js";
import { download } from "./text.js";

const MARK = "EXPLORER-DATA";

export async function exportPage(user, route, title) {
  const response = await fetch("./explorer.html", { cache: "no-store", credentials: "same-origin" }).catch(() => {
    throw new ApiError(0, "unreachable", "The server does not respond. Is it still running?");
  });
  if (!response.ok) throw new ApiError(response.status, "error", `The server answered with status ${response.status}.`);
  const data = { title, single: true, at: new Date().toISOString(), route, users: [user], answers: Object.fromEntries(recorded) };
  const text = JSON.stringify(data).replace(/</g, "\\u003c").replace(/\u2028/g, "\\u2028").replace(/\u2029/g, "\\u2029");
  const [before, after] = (await response.text()).split(`>${MARK}<`);
  download("agent-memory.html", "text/html", `${before}>${text}<${after}`);
}
