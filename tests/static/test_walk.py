"""The files that the page of the architecture names are those that a turn meets, from `add` to a context."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import agent_memory
from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings

ROOT = Path(__file__).parents[2]
PACKAGE = f"{Path(agent_memory.__file__).parent}/"
MARK = "4711"
MOST_FILES = 25
"""How many files a turn may take. A longer walk is harder to follow."""
DEEP = 3
"""How far into its arguments a function is looked at."""
WIDE = 60
"""How many members of a container are looked at: vectors are longer."""
MACHINERY = ("Async", "Runtime", "Store", "Searcher", "Recaller", "Tools", "Worker", "Settings")
"""How the names of what carries no talk begin."""
IDLE = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


def holds(value: Any, depth: int = 0) -> bool:
    """Whether a value has the mark in it: a text, a container of texts, or an object of ours."""
    if isinstance(value, str):
        return MARK in value
    if depth > DEEP:
        return False
    if isinstance(value, dict):
        return any(holds(one, depth + 1) for one in list(value.values())[:WIDE])
    if isinstance(value, list | tuple | set):
        return any(holds(one, depth + 1) for one in list(value)[:WIDE] if not isinstance(one, float))
    kind = type(value)
    if not kind.__module__.startswith("agent_memory.") or kind.__name__.startswith(MACHINERY):
        return False
    names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
    return any(holds(getattr(value, name, None), depth + 1) for name in names)


@contextmanager
def followed(met: set[str]) -> Iterator[None]:
    """Notes the modules of the library whose functions are called with the mark in an argument."""
    looking = threading.local()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        path = code.co_filename
        if event != "call" or not path.startswith(PACKAGE) or getattr(looking, "now", False):
            return
        looking.now = True
        try:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if any(holds(frame.f_locals.get(name)) for name in names):
                met.add(path.removeprefix(PACKAGE))
        finally:
            looking.now = False

    before = sys.getprofile(), threading.getprofile()
    sys.setprofile(note)
    threading.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])


def named() -> set[str]:
    """The files in the table of the page."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = page.partition("### The same path, in files")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    return {path for row in rows for path in re.findall(r"`([a-z_]+/[a-z_0-9]+\.py)`", row)}


async def test_a_turn_meets_every_file_that_the_page_names():
    met: set[str] = set()
    async with AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=IDLE) as memory:
        alice = memory.user("alice")
        await alice.thread("t0").add("user", "I own a boat.")
        await alice.thread("t0").process("extract")  # loads what is loaded late
        with followed(met):
            await alice.thread("t1").add("user", f"My locker code is {MARK}.")
            assert (await alice.thread("t1").process("extract")).created == 1
            context = await alice.thread("t2").context("What is my locker code?")
    assert MARK in context.text
    assert any(path.startswith("language/offline/") for path in met)
    assert len(named()) <= MOST_FILES
    assert sorted(named() - met) == []
