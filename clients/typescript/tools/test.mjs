// Runs the compiled tests against `agent-memory serve` on this machine. AGENT_MEMORY_COMMAND names another command.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
const bin = join(here, "../../.venv", process.platform === "win32" ? "Scripts" : "bin");
const installed = join(bin, process.platform === "win32" ? "agent-memory.exe" : "agent-memory");
const command = process.env.AGENT_MEMORY_COMMAND ?? (existsSync(installed) ? installed : "agent-memory");

// The tests set what the server needs; what the environment says of other stores and models is left out.
const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("AGENT_MEMORY_")));
const folder = mkdtempSync(join(tmpdir(), "agent-memory-"));
const server = spawn(command, ["serve", "--store", join(folder, "memory.db"), "--port", "0"], {
  stdio: ["ignore", "pipe", "inherit"],
  // No model and no network: the tests are about the client.
  env: { ...plain, AGENT_MEMORY_CHAT: "local:rules", AGENT_MEMORY_EMBEDDINGS: "local:hashing" },
});
const stopped = new Promise((resolve) => server.once("close", resolve));
server.once("error", (error) => {
  console.error(`${command} does not start: ${error.message}`);
  process.exitCode = 1;
});

try {
  const url = await new Promise((resolve) => {
    createInterface({ input: server.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) resolve(line.slice("ready ".length));
    });
    stopped.then(() => resolve(undefined));
  });
  if (url === undefined) throw new Error("the server stopped before it was ready");
  const tests = readdirSync(join(here, "build/test")).filter((name) => name.endsWith(".test.js"));
  const files = tests.map((name) => join("build/test", name));
  const run = spawn(process.execPath, ["--enable-source-maps", "--test", ...files], {
    cwd: here,
    stdio: "inherit",
    env: { ...process.env, MEMORY_URL: url },
  });
  process.exitCode = await new Promise((resolve) => run.once("close", (code) => resolve(code ?? 1)));
} finally {
  server.kill();
  await stopped;
  rmSync(folder, { recursive: true, force: true });
}
