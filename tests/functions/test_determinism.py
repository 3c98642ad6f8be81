"""Replayed code touches no clock, no chance, no environment and no I/O: checked by reading it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REPLAYED = [
    ROOT / "sdk/agent_memory/processing/workflows.py",
    *(ROOT / "azure_functions" / f"{name}.py" for name in ("orchestrators", "sweeps")),
]

ALLOWED = {
    "__future__",
    "collections.abc",
    "dataclasses",
    "datetime",
    "functools",
    "operator",
    "typing",
    "azure.durable_functions",
    "agent_memory.errors",
    "agent_memory.processing.workflows",
    "agent_memory.steps.step",
    "agent_memory.steps.table",
    "azure_functions.orchestrators",
}
"""What replayed code may import; of the last one and the SDK, names and types only."""
NAMES = {"azure.durable_functions": {"DurableOrchestrationContext", "RetryOptions", "Blueprint"}}
TAKEN = {
    "datetime": {"timedelta"},
    "functools": {"partial"},
    "operator": {"itemgetter"},
    "azure_functions.orchestrators": {"RETRY"},
    "agent_memory.errors": {"ModelError"},
    "agent_memory.steps.step": {"Step"},
    "agent_memory.steps.table": {"steps", "those"},
}
BUILTINS = {"open", "input", "print", "id", "hash", "eval", "exec", "__import__", "globals", "breakpoint"}
"""Built in, but I/O, or not the same in the next process."""
LOOPS = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Global, ast.Nonlocal)


def faults(source: str) -> list[str]:
    """What replayed code does that it may not."""
    found = []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [f"imports {alias.name}" for alias in node.names if alias.name not in ALLOWED]
        elif isinstance(node, ast.ImportFrom):
            if node.module not in ALLOWED:
                found.append(f"imports {node.module}")
            allowed = TAKEN.get(node.module or "")
            found += [f"takes {one.name}" for one in node.names if allowed is not None and one.name not in allowed]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "df":
            if node.attr not in NAMES["azure.durable_functions"]:
                found.append(f"uses df.{node.attr}")
        elif isinstance(node, ast.Name) and node.id in BUILTINS:
            found.append(f"calls {node.id}")
        elif isinstance(node, ast.Attribute) and node.attr in ("new_uuid", "new_guid", "is_replaying"):
            found.append(f"uses {node.attr}")
        elif isinstance(node, LOOPS):
            found.append(f"has {type(node).__name__}")
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Set | ast.SetComp):
            found.append("goes over a set")
    return found


@pytest.mark.parametrize("path", REPLAYED, ids=lambda path: path.name)
def test_replayed_code_is_pure(path: Path):
    assert faults(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from datetime import datetime",
        "import os",
        "import random",
        "from agent_memory.models import now",
        "from agent_memory.settings import Environment",
        "from azure_functions.activities import run",
        "import azure.durable_functions as df\ndf.DurableOrchestrationClient",
        "def f(context):\n    open('x')",
        "def f(context):\n    yield context.call(hash('x'))",
        "def f(context):\n    if not context.is_replaying:\n        yield",
        "async def f(context):\n    await x",
        "def f(context):\n    for x in {1, 2}:\n        yield x",
        "seen = 0\ndef f(context):\n    global seen",
    ],
)
def test_what_may_not_be_is_found(source: str):
    assert faults(source)
