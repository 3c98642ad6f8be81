"""Runs each adapter with its real framework, in a separate environment in .integrations/NAME.

    make integrations                    # all
    make integrations ARGS=langchain     # one or several

Frameworks hold shared packages at different versions, so they cannot all be installed together.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".integrations"
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OTEL_SDK_DISABLED": "true",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
}
"""Keeps frameworks from asking servers of their makers."""
SERVER = {"AGENT_MEMORY_COMMAND": str(Path(sys.executable).parent / "agent-memory")}
"""The server that clients of MCP talk to is that of this environment: theirs may hold an older protocol."""
TESTING = ("pytest>=9", "anyio")


class Framework(NamedTuple):
    """A framework: the distribution whose version is shown, the extra of its adapter, and what else its tests need.

    A client of MCP needs no adapter. `npm` says that it is a package of Node, whose tests run in this environment.
    """

    distribution: str
    extra: str | None = None
    beside: tuple[str, ...] = ()
    npm: bool = False


FRAMEWORKS = {
    "agent_framework": Framework("agent-framework-core", "agent-framework", ("agent-framework-openai",)),
    "langchain": Framework("langchain", "langchain", ("langchain-openai",)),
    "langgraph": Framework("langgraph", "langchain", ("langchain-openai", "langgraph-checkpoint-sqlite")),
    "azure_cosmos_memory": Framework(
        "agent-framework-azure-cosmos-memory",
        None,
        # Pre-releases are listed explicitly, because the installer takes none of them otherwise.
        (
            "agent-framework-azure-cosmos-memory>=1.0.0a1",
            "azure-cosmos-agent-memory>=0.3.0b2",
            "agent-framework-openai",
        ),
    ),
    "openai_agents": Framework("openai-agents", "openai-agents"),
    "pydantic_ai": Framework("pydantic-ai-slim", "pydantic-ai", ("pydantic-ai-slim[openai]",)),
    "anthropic": Framework("anthropic", "anthropic"),
    "claude_agent": Framework("claude-agent-sdk", "claude-agent"),
    "litellm": Framework("litellm", "litellm"),
    "google_adk": Framework("google-adk", "google-adk"),
    "crewai": Framework("crewai", "crewai"),
    "llama_index": Framework("llama-index-core", "llama-index", ("llama-index-llms-openai-like",)),
    "smolagents": Framework("smolagents", None, ("smolagents[openai]",)),
    "dspy": Framework("dspy"),
    "semantic_kernel": Framework("semantic-kernel"),
    "autogen": Framework("autogen-agentchat", None, ("autogen-ext[openai]",)),
    "haystack": Framework("haystack-ai"),
    "strands": Framework("strands-agents", None, ("strands-agents[openai]",)),
    "pipecat": Framework("pipecat-ai", None, ("pipecat-ai[openai]",)),
    "livekit": Framework("livekit-agents", None, ("livekit-agents[openai]",)),
    "mcp_fastmcp": Framework("fastmcp"),
    "mcp_langchain": Framework("langchain-mcp-adapters"),
    "mcp_openai_agents": Framework("openai-agents"),
    "mcp_pydantic_ai": Framework("pydantic-ai-slim", None, ("pydantic-ai-slim[mcp]",)),
    "mcp_agent_framework": Framework("agent-framework-core", None, ("agent-framework-core", "mcp")),
    "mcp_inspector": Framework("@modelcontextprotocol/inspector", npm=True),
    "mcp_node_sdk": Framework("@modelcontextprotocol/sdk", npm=True),
    "mcp_copilot": Framework("@github/copilot", npm=True),
}


class Row(NamedTuple):
    """A line of the table."""

    name: str
    version: str
    ran: str
    passed: bool
    seconds: float


def main() -> int:
    """Runs the frameworks that are named, or all; 0 if all passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FRAMEWORKS))
    parser.add_argument("--uv", default="uv", help="the program uv")
    given = parser.parse_args()
    names = [name.replace("-", "_") for name in given.names] or list(FRAMEWORKS)
    unknown = [name for name in names if name not in FRAMEWORKS]
    if unknown:
        parser.error(f"no framework {', '.join(unknown)}: there are {', '.join(FRAMEWORKS)}")
    rows = []
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name}", file=sys.stderr, flush=True)
        rows.append(run(name, FRAMEWORKS[name], given.uv))
    print("| framework | version | what ran | passed | seconds |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row.name} | {row.version} | {row.ran} | {'yes' if row.passed else 'NO'} | {row.seconds:.0f} |")
    return 0 if all(row.passed for row in rows) else 1


def run(name: str, framework: Framework, uv: str) -> Row:
    """Makes the environment of a framework, or brings it up to date, and runs its tests there."""
    started = time.monotonic()
    place = HOME / name
    if framework.npm:
        place.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-audit", "--no-fund", "--silent", "--no-save"]
        done = subprocess.run(["npm", "install", *quiet, "--prefix", str(place), framework.distribution], cwd=place)
        if done.returncode:
            return Row(name, "?", "could not be installed", False, time.monotonic() - started)
        return tested(name, framework, place, Path(sys.executable), started)
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    extras = ",".join(["local", *([framework.extra] if framework.extra else [])])
    beside = (*framework.beside, *(() if framework.extra else (framework.distribution,)))
    made = [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(place)]
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    for command in (made, [*install, "-e", "sdk/embedded_cosmos", "-e", f".[{extras}]", *TESTING, *beside]):
        done = subprocess.run(command, cwd=ROOT, stdout=sys.stderr)
        if done.returncode:
            return Row(name, "?", "could not be installed", False, time.monotonic() - started)
    return tested(name, framework, place, python, started)


def tested(name: str, framework: Framework, place: Path, python: Path, started: float) -> Row:
    """Runs the tests of a framework with an interpreter."""
    report = place / "report.xml"
    report.unlink(missing_ok=True)
    own = [f"tests/integrations/test_{name}.py"] if (ROOT / f"tests/integrations/test_{name}.py").exists() else []
    speaks_mcp = name.startswith("mcp_") or name == "claude_agent"
    files = ("promises", "pages", *(("mcp_clients",) if speaks_mcp else ()))
    shared = [f"tests/integrations/test_{one}.py" for one in files]
    tests = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *shared, *own, "-k", name, f"--junitxml={report}"]
    done = subprocess.run(tests, cwd=ROOT, stdout=sys.stderr, env=os.environ | QUIET | SERVER)
    ran, skipped = counts(report) if report.exists() else ({}, 0)
    told = ", ".join(f"{count} {what}" for what, count in ran.items()) or "nothing"
    if skipped:
        told += f", {skipped} skipped"
    passed = done.returncode == 0 and bool(ran) and not skipped
    return Row(name, version(place, framework.distribution), told, passed, time.monotonic() - started)


def counts(report: Path) -> tuple[dict[str, int], int]:
    """How many tests of each kind ran, and how many were skipped."""
    kinds = {"test_promises": "promises", "test_pages": "program"}
    ran: dict[str, int] = {}
    skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("skipped") is not None:
            skipped += 1
            continue
        kind = kinds.get(case.get("classname", "").rpartition(".")[2], "of its own")
        ran[kind] = ran.get(kind, 0) + 1
    return ran, skipped


def version(place: Path, distribution: str) -> str:
    """The version of a distribution in an environment."""
    if (package := place / "node_modules" / distribution / "package.json").exists():
        return str(json.loads(package.read_text())["version"])
    paths = [str(path) for path in place.glob("[Ll]ib/**/site-packages")]
    found = {one.metadata["Name"].lower(): one.version for one in distributions(path=paths)}
    return found.get(distribution.lower(), "?")


if __name__ == "__main__":
    sys.exit(main())
