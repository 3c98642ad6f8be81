"""MCP by the clients of others: each lists the tools, remembers, searches, and reads an error.

Those that install beside the library run in the suite, over HTTP. `make integrations` runs each over stdio too, in an
environment of its own; there the server is the command of the library's environment, because some clients hold the
protocol's package at an older version. Claude Code and Copilot's command line take the lines of the page for them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "use-with-mcp.md").read_text()
INSTALLED = Path(sys.executable).parent / "agent-memory"
COMMAND = os.environ.get("AGENT_MEMORY_COMMAND") or (str(INSTALLED) if INSTALLED.exists() else "")
ALONE = "AGENT_MEMORY_COMMAND" in os.environ
"""Whether this is an environment of `make integrations`."""
TOOLS = {"context", "search", "remember", "update", "add_turns", "history", "why", "forget"}
FACT = "Ann prefers green tea"
QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"}

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not COMMAND, reason="the command agent-memory is not installed"),
]


class Target(NamedTuple):
    """A server: its address and headers, or the arguments of the command that starts it."""

    url: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def headers(self) -> dict[str, str]:
        return {"x-user-id": "ann"}


Call = Callable[..., Awaitable[str]]
"""Calls a tool and gives what a model reads, also of an error."""


async def fastmcp(target: Target, stack: AsyncExitStack) -> tuple[set[str], Call]:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    transport: Any = (
        StreamableHttpTransport(f"{target.url}/mcp", headers=target.headers)
        if target.url
        else StdioTransport(COMMAND, list(target.arguments))
    )
    client: Any = await stack.enter_async_context(Client(transport))

    async def call(name: str, **arguments: Any) -> str:
        return text((await client.call_tool(name, arguments, raise_on_error=False)).content)

    return {tool.name for tool in await client.list_tools()}, call


async def langchain(target: Target, stack: AsyncExitStack) -> tuple[set[str], Call]:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    server: Any = (
        {"transport": "streamable_http", "url": f"{target.url}/mcp", "headers": target.headers}
        if target.url
        else {"transport": "stdio", "command": COMMAND, "args": list(target.arguments)}
    )
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"memory": server}).get_tools()}

    async def call(name: str, **arguments: Any) -> str:
        try:
            return str(await tools[name].ainvoke(arguments))
        except Exception as error:  # the adapter raises what a tool refuses
            return str(error)

    return set(tools), call


async def openai_agents(target: Target, stack: AsyncExitStack) -> tuple[set[str], Call]:
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    server: Any = (
        MCPServerStreamableHttp({"url": f"{target.url}/mcp", "headers": target.headers, "timeout": 60})
        if target.url
        else MCPServerStdio({"command": COMMAND, "args": list(target.arguments)}, client_session_timeout_seconds=60)
    )
    await stack.enter_async_context(server)

    async def call(name: str, **arguments: Any) -> str:
        return text((await server.call_tool(name, arguments)).content)

    return {tool.name for tool in await server.list_tools()}, call


async def pydantic_ai(target: Target, stack: AsyncExitStack) -> tuple[set[str], Call]:
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    from pydantic_ai.mcp import MCPToolset

    transport: Any = (
        StreamableHttpTransport(f"{target.url}/mcp", headers=target.headers)
        if target.url
        else StdioTransport(COMMAND, list(target.arguments))
    )
    toolset: Any = await stack.enter_async_context(MCPToolset(transport, tool_error_behavior="error", init_timeout=60))

    async def call(name: str, **arguments: Any) -> str:
        try:
            return str(await toolset.direct_call_tool(name, arguments))
        except Exception as error:  # what the model is told to do better
            return str(error)

    return {tool.name for tool in await toolset.list_tools()}, call


async def agent_framework(target: Target, stack: AsyncExitStack) -> tuple[set[str], Call]:
    from agent_framework import MCPStdioTool, MCPStreamableHTTPTool

    tool: Any = (
        MCPStreamableHTTPTool("memory", f"{target.url}/mcp", header_provider=lambda _: target.headers)
        if target.url
        else MCPStdioTool("memory", COMMAND, args=list(target.arguments))
    )
    await stack.enter_async_context(tool)

    async def call(name: str, **arguments: Any) -> str:
        try:
            return text(await tool.call_tool(name, **arguments))
        except Exception as error:
            return str(error)

    return {function.name for function in tool.functions}, call


async def inspector(target: Target, stack: AsyncExitStack) -> tuple[set[str], Call]:
    program = str(node_modules("mcp_inspector") / ".bin" / "mcp-inspector")

    def ask(*arguments: str) -> Any:
        command = [program, "--cli", COMMAND, *target.arguments, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    async def call(name: str, **arguments: Any) -> str:
        given = [part for one, value in arguments.items() for part in ("--tool-arg", f"{one}={value}")]
        return str(ask("--method", "tools/call", "--tool-name", name, *given)["content"][0]["text"])

    return {tool["name"] for tool in ask("--method", "tools/list")["tools"]}, call


async def node_sdk(target: Target, stack: AsyncExitStack) -> tuple[set[str], Call]:
    program = """
    import { Client } from "@modelcontextprotocol/sdk/client/index.js";
    import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
    import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
    const { url, headers, command, args, calls } = JSON.parse(process.argv[2]);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(url
      ? new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } })
      : new StdioClientTransport({ command, args }));
    const tools = (await client.listTools()).tools.map((tool) => tool.name);
    const said = [];
    for (const call of calls) said.push((await client.callTool(call)).content[0].text);
    await client.close();
    console.log(JSON.stringify({ tools, said }));
    """
    file = node_modules("mcp_node_sdk").parent / "probe.mjs"
    file.write_text(program)

    def ask(*calls: dict[str, Any]) -> Any:
        given = {"url": target.url, "headers": target.headers, "command": COMMAND, "args": target.arguments}
        asked = json.dumps(given | {"calls": calls})
        done = subprocess.run(["node", str(file), asked], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().split("\n")[-1])

    async def call(name: str, **arguments: Any) -> str:
        return str(ask({"name": name, "arguments": arguments})["said"][0])

    return set(ask()["tools"]), call


class McpClient(NamedTuple):
    """A client: what connects it, and the module without which it is not there; none for programs of Node."""

    connect: Callable[[Target, AsyncExitStack], Awaitable[tuple[set[str], Call]]]
    module: str | None = None


CLIENTS = {
    "mcp_fastmcp": McpClient(fastmcp, "fastmcp"),
    "mcp_langchain": McpClient(langchain, "langchain_mcp_adapters"),
    "mcp_openai_agents": McpClient(openai_agents, "agents.mcp"),
    "mcp_pydantic_ai": McpClient(pydantic_ai, "fastmcp"),
    "mcp_agent_framework": McpClient(agent_framework, "agent_framework"),
    "mcp_inspector": McpClient(inspector),
    "mcp_node_sdk": McpClient(node_sdk),
}


def node_modules(name: str) -> Path:
    return ROOT / ".integrations" / name / "node_modules"


def is_there(name: str) -> bool:
    module = CLIENTS[name].module
    if module is None:
        return ALONE and node_modules(name).exists()
    if name == "mcp_pydantic_ai" and importlib.util.find_spec("pydantic_ai") is None:
        return False
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(getattr(block, "text", "")) for block in content)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `agent-memory serve`."""
    store = tmp_path_factory.mktemp("served") / "memory.db"
    command = [COMMAND, "serve", "--port", "0", "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield next(line.split()[1] for line in process.stdout if line.startswith("ready "))
        finally:
            process.terminate()


WAYS = [(name, over) for name in CLIENTS for over in ("http", "stdio") if (name, over) != ("mcp_inspector", "http")]
"""The inspector's command line sends no headers (0.15), so the server would not know whose memory it is."""


@pytest.mark.parametrize(("name", "over"), WAYS)
async def test_a_client_of_others_uses_the_memory(name: str, over: str, request: pytest.FixtureRequest, tmp_path: Path):
    if not is_there(name):
        pytest.skip(f"not installed: make integrations ARGS={name}")
    if over == "stdio" and not ALONE:
        pytest.skip(f"starts a process for each: make integrations ARGS={name}")
    stdio = ("mcp", "--store", str(tmp_path / "memory.db"), "--user", "ann")
    target = Target(url=request.getfixturevalue("served")) if over == "http" else Target(arguments=stdio)
    async with AsyncExitStack() as stack:
        tools, call = await CLIENTS[name].connect(target, stack)
        assert tools >= TOOLS
        fact = f"{FACT}, says {name}"
        assert fact in await call("remember", content=fact)
        assert fact in await call("search", query=fact)
        assert "not_found" in await call("history", id="no-such-memory")


def lines_for(section: str) -> dict[str, Any]:
    """The first block of a section of the page, with our command in the place of the example's."""
    block = re.search(rf"^## {section}\n.*?^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert block
    return json.loads(block[1].replace("/home/ann/.venv/bin/agent-memory", COMMAND))  # type: ignore[no-any-return]


def run(*command: str, home: Path, **more: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(home)} | QUIET | more
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=env, cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_claude_agent_takes_the_lines_for_claude_code(tmp_path: Path):
    """The Agent SDK brings the program. It starts the server, and connects."""
    found = importlib.util.find_spec("claude_agent_sdk")
    claude = found and found.origin and Path(found.origin).parent / "_bundled" / "claude"
    if not claude or not claude.exists() or not ALONE:
        pytest.skip("not installed: make integrations ARGS=claude_agent")
    (typed,) = re.findall(r"^claude (mcp add .*-- )agent-memory (mcp .+)$", PAGE, re.MULTILINE)
    arguments = typed[1].replace("~", str(tmp_path)).split()
    run(str(claude), *typed[0].split(), COMMAND, *arguments, home=tmp_path)
    assert re.search(r"^memory: .*Connected", run(str(claude), "mcp", "list", home=tmp_path), re.MULTILINE)
    (tmp_path / ".mcp.json").write_text(json.dumps(lines_for("Claude Code")))
    told = run(str(claude), "mcp", "get", "memory", home=tmp_path, MEMORY_KEY="amk_1")
    assert "memory" in told


def test_mcp_copilot_takes_the_lines_for_copilot(tmp_path: Path):
    copilot = node_modules("mcp_copilot") / ".bin" / "copilot"
    if not ALONE or not copilot.exists():
        pytest.skip("not installed: make integrations ARGS=mcp_copilot")
    lines = lines_for("Copilot")
    (tmp_path / ".copilot").mkdir()
    (tmp_path / ".copilot" / "mcp-config.json").write_text(json.dumps(lines))
    taken = json.loads(run(str(copilot), "mcp", "get", "memory", "--json", home=tmp_path))["memory"]
    assert taken.items() >= lines["mcpServers"]["memory"].items()
    assert taken["enabled"]


def test_the_clients_are_those_that_make_integrations_knows():
    program = (ROOT / "tools" / "integrations.py").read_text()
    assert [name for name in CLIENTS if f'"{name}": Framework(' not in program] == []
