"""The page about MCP: each program would take its lines, and our command would take the arguments.

The schemas are written after the programs' documentation, as it was in November 2026:

- Claude Desktop: modelcontextprotocol.io/quickstart/user; a server with a URL is skipped (anthropics/claude-ai-mcp#120)
- Claude Code: code.claude.com/docs/en/mcp
- VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration
- Cursor: cursor.com/docs/mcp
- Copilot: docs.github.com/en/copilot, "Configure MCP servers" and "Extend Copilot cloud agent with MCP"
"""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer

from agent_memory.cli.main import app
from agent_memory.mcp import make_server

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "use-with-mcp.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))

TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT}
NAMED_TEXTS = {"type": "object", "additionalProperties": TEXT}
HTTPS = {"type": "string", "pattern": "^https://"}
STARTED = {"command": {"type": "string", "pattern": "^/"}, "args": TEXTS, "env": NAMED_TEXTS}
ASKED = {"url": HTTPS, "headers": NAMED_TEXTS}


def server(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def file_of(key: str, *servers: dict[str, Any], **beside: Any) -> dict[str, Any]:
    named = {"type": "object", "minProperties": 1, "additionalProperties": {"anyOf": list(servers)}}
    return server([key], **{key: named}, **beside)


def kind(*names: str) -> dict[str, Any]:
    return {"enum": list(names)}


INPUTS = {
    "type": "array",
    "items": server(
        ["type", "id", "description"],
        type=kind("promptString"),
        id=TEXT,
        description=TEXT,
        password={"type": "boolean"},
        default=TEXT,
    ),
}
SCHEMAS = {
    "Claude Desktop": file_of("mcpServers", server(["command"], **STARTED)),
    "Claude Code": file_of(
        "mcpServers",
        server(["command"], type=kind("stdio"), **STARTED),
        server(["type", "url"], type=kind("http", "streamable-http", "sse"), **ASKED),
    ),
    "VS Code": file_of(
        "servers",
        server(["type", "command"], type=kind("stdio"), cwd=TEXT, envFile=TEXT, **STARTED),
        server(["type", "url"], type=kind("http", "sse"), **ASKED),
        inputs=INPUTS,
    ),
    "Cursor": file_of(
        "mcpServers", server(["command"], type=kind("stdio"), envFile=TEXT, **STARTED), server(["url"], **ASKED)
    ),
    "Copilot": file_of(
        "mcpServers",
        server(["type", "command", "args", "tools"], type=kind("local", "stdio"), tools=TEXTS, **STARTED),
        server(["type", "url", "tools"], type=kind("http", "sse"), tools=TEXTS, **ASKED),
    ),
    "Models and keys": file_of("mcpServers", server(["command"], **STARTED)),
}
VARIABLES = {
    "Claude Desktop": r"\$",
    "Claude Code": r"\$(?!\{[A-Z_]+(?::-[^}]*)?\})",
    "VS Code": r"\$(?!\{(?:input:memory-key|userHome|workspaceFolder|env:[A-Z_]+)\})",
    "Cursor": r"\$(?!\{(?:env:[A-Z_]+|userHome|workspaceFolder)\})",
    "Copilot": r"\$(?!\{?COPILOT_MCP_[A-Z_]+\}?)",
    "Models and keys": r"\$",
}
"""What a program would leave as it stands: a reference of another form than its own."""
BLOCKS = [
    (name, json.loads(block))
    for name, section in SECTIONS.items()
    for block in re.findall(r"^```json\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
]


def servers() -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, one)
        for name, block in BLOCKS
        for key in ("mcpServers", "servers")
        for one in block.get(key, {}).values()
    ]


def test_every_program_has_lines():
    assert {name for name, _ in BLOCKS} == set(SCHEMAS)


@pytest.mark.parametrize(("name", "block"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_a_program_takes_its_lines(name: str, block: dict[str, Any]):
    jsonschema.Draft202012Validator(SCHEMAS[name]).validate(block)
    assert not re.search(VARIABLES[name], json.dumps(block, ensure_ascii=False))


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("Claude Desktop", {"mcpServers": {"memory": {"url": "https://memory.example/mcp"}}}),
        ("VS Code", {"mcpServers": {"memory": {"command": "/bin/agent-memory"}}}),
        ("VS Code", {"servers": {"memory": {"command": "/bin/agent-memory"}}}),
        ("Copilot", {"mcpServers": {"memory": {"type": "http", "url": "https://memory.example/mcp"}}}),
        ("Cursor", {"servers": {"memory": {"command": "/bin/agent-memory"}}}),
    ],
)
def test_the_schemas_refuse_what_the_programs_refuse(name: str, block: dict[str, Any]):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMAS[name]).validate(block)


def test_our_command_takes_the_arguments():
    lines = [one["args"] for _, one in servers() if "args" in one]
    typed = re.findall(r"-- agent-memory (.+)", PAGE)
    assert typed
    command = typer.main.get_command(app).commands["mcp"]  # type: ignore[attr-defined]  # a group has them
    for line in [*lines, *map(shlex.split, typed)]:
        assert line[0] == "mcp"
        assert command.make_context("mcp", line[1:], resilient_parsing=False).params["user"] == "ann"


async def test_the_tools_that_are_named_exist():
    class Nobody:
        async def ask(self, work: Any) -> Any:
            raise AssertionError("nobody asks")

    known = {tool.name for tool in await make_server(Nobody()).list_tools()}
    named = {tool for _, one in servers() for tool in one.get("tools", ["*"])} - {"*"}
    assert named <= known
    table = SECTIONS["What an agent gets"].partition("|---|---|")[2].partition("\n\n")[0]
    first_cells = [row.split("|")[1] for row in table.split("\n") if row]
    assert {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)} == known
