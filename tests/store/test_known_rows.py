"""Rows that a process knows are as new as those in the store."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.store import known as known_module
from agent_memory.store.known import LARGEST_ROWS, MOST_ROWS, KnownRows

OWNER = ("memories_turns", "ann")


def answering(*answers: list[Any]) -> Callable[[], Awaitable[list[Any]]]:
    given = iter(answers)

    async def read() -> list[Any]:
        return next(given)

    return read


async def test_rows_are_read_once_until_something_of_the_user_is_written():
    rows, read = KnownRows(), answering([{"n": 1}], [{"n": 2}])
    assert await rows.get("a", OWNER, read) == [{"n": 1}]
    assert await rows.get("a", OWNER, read) == [{"n": 1}]
    rows.drop(("memories_turns", "bob"))
    assert await rows.get("a", OWNER, read) == [{"n": 1}]
    rows.drop(OWNER)
    assert await rows.get("a", OWNER, read) == [{"n": 2}]


async def test_who_changes_rows_changes_their_own():
    rows, read = KnownRows(), answering([{"tags": ["old"]}])
    for _ in range(2):
        (await rows.get("a", OWNER, read))[0]["tags"].append("new")
    assert await rows.get("a", OWNER, read) == [{"tags": ["old"]}]


async def test_rows_that_were_read_during_a_write_are_not_kept():
    rows, written, reads = KnownRows(), asyncio.Event(), []

    async def read() -> list[Any]:
        reads.append(1)
        await written.wait()
        return [len(reads)]

    reading = asyncio.create_task(rows.get("a", OWNER, read))
    await asyncio.sleep(0)
    rows.drop(OWNER)
    written.set()
    assert await reading == [1]
    assert await rows.get("a", OWNER, read) == [2]


async def test_a_read_that_fails_is_repeated():
    rows = KnownRows()

    async def fails() -> list[Any]:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 (any)
        await rows.get("a", OWNER, fails)
    assert await rows.get("a", OWNER, answering([1])) == [1]


async def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch):
    rows, large = KnownRows(), ["x" * LARGEST_ROWS]
    assert await rows.get("large", OWNER, answering(large, [])) == large
    assert await rows.get("large", OWNER, answering([])) == []
    for number in range(MOST_ROWS + 1):
        await rows.get(f"{number}", ("memories_turns", f"user {number}"), answering([number]))
    assert await rows.get("0", ("memories_turns", "user 0"), answering(["again"])) == ["again"]
    monkeypatch.setattr(known_module, "SETTINGS_SECONDS", -1.0)
    assert await rows.get("0", ("memories_turns", "user 0"), answering(["later"])) == ["later"]


async def test_a_context_shows_what_was_written_just_before(memory: AsyncMemory):
    thread = memory.user("ann").thread("t")
    for number in range(3):
        await thread.add("user", f"The gate code is {number}{number}{number}9.")
        shown = [message["content"] for message in (await thread.context("What is the gate code?")).messages]
        assert f"The gate code is {number}{number}{number}9." in shown
        assert (await thread.context("What is the gate code?")).messages[-1]["content"] in shown
    await memory.user("ann").update_settings(enabled=False)
    assert not (await thread.context("What is the gate code?")).text
    await memory.user("ann").update_settings(enabled=True)
    assert (await thread.context("What is the gate code?")).messages
