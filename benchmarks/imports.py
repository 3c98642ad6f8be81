"""What it costs to import the library and to start the command line: processor time and modules of fresh processes.

`python benchmarks/imports.py [--repeats 5] [--json]`. Each figure is the least of several runs, since anything else
that the machine does only adds to it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

_COMMAND = """
import sys
sys.argv = ["agent-memory", {argument!r}]
from agent_memory.cli.main import main
try:
    main()
except SystemExit:
    pass
"""
PROGRAMS = {
    "python alone": "",
    "import agent_memory": "import agent_memory",
    "from agent_memory import Memory": "from agent_memory import Memory",
    "agent-memory --version": _COMMAND.format(argument="--version"),
    "agent-memory --help": _COMMAND.format(argument="--help"),
    "the first context of a new store": """
from agent_memory import Memory
with Memory.local("memory.db") as memory:
    memory.user("alice").thread("t").context("What's my budget?")
""",
}
_CLOUD = """
import asyncio, os, sys
sys.modules["agents"] = None  # the SDK of Durable Functions loads it if it is there; a deployed app does not have it
sys.path.insert(0, {root!r})
os.environ |= {{"COSMOS_DB_ENDPOINT": "https://x.invalid/", "COSMOS_DB_KEY": "a2V5", "AZURE_OPENAI_API_KEY": "key"}}
os.environ |= {{"AZURE_OPENAI_ENDPOINT": "https://y.invalid"}}
import function_app
"""
_ROOT = str(Path(__file__).parents[1])
_OPENED = """
from agent_memory import AsyncMemory
memory = AsyncMemory.from_env()
"""
PROGRAMS |= {
    "the function app": _CLOUD.format(root=_ROOT),
    "and its memory": _CLOUD.format(root=_ROOT) + _OPENED,
    "and its HTTP API": _CLOUD.format(root=_ROOT) + _OPENED + "import agent_memory.api",
    "and its models and tokenizers": _CLOUD.format(root=_ROOT)
    + _OPENED
    + """
import agent_memory.api
asyncio.run(memory.warm())
""",
}
_AFTER = """
import json, sys, time
print(json.dumps([time.process_time(), len(sys.modules)]))
"""


def main() -> int:
    """Runs the benchmark; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--repeats", type=int, default=5, help="processes for each figure")
    options.add_argument("--json", action="store_true", help="print JSON only")
    arguments = options.parse_args()
    found = {name: measured(code, arguments.repeats) for name, code in PROGRAMS.items()}
    if arguments.json:
        print(json.dumps(found))
        return 0
    print(f"{'':36}{'seconds':>8}{'modules':>9}")
    for name, figures in found.items():
        print(f"{name:36}{figures['seconds']:8.2f}{figures['modules']:9.0f}")
    return 0


def measured(code: str, repeats: int) -> dict[str, float]:
    """The least processor time of several processes, and the modules that they load."""
    runs = [_run(code) for _ in range(repeats)]
    return {"seconds": round(min(seconds for seconds, _ in runs), 3), "modules": runs[0][1]}


def _run(code: str) -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", code + _AFTER]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(folder))
    seconds, modules = json.loads(done.stdout.splitlines()[-1])
    return seconds, modules


if __name__ == "__main__":
    sys.exit(main())
