"""The threads of a user, in pages from the one that was written last."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.store import threads

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(("read_ahead", "most_known"), [(1, 1), (1, 500), (3, 2), (100, 500)])
async def test_pages_hold_every_thread_once_however_their_turns_are_mixed(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, read_ahead: int, most_known: int
):
    monkeypatch.setattr(threads, "READ_AHEAD", read_ahead)
    monkeypatch.setattr(threads, "MOST_KNOWN", most_known)
    rng = random.Random(7)
    user, last = memory.user("alice"), dict[str, int]()
    for number in range(12):
        seconds = sorted(rng.sample(range(12), 4))  # so that some threads end at the same second
        await user.thread(f"t{number}").add_many(
            [{"role": "user", "content": f"{at}", "created_at": START + timedelta(seconds=at)} for at in seconds]
        )
        last[f"t{number}"] = seconds[-1]
    await memory.user("bob").thread("t0").add("user", "not Alice's")
    expected = sorted(last, key=lambda name: (last[name], name), reverse=True)
    everything = await user.threads()
    assert [info.thread_id for info in everything] == expected
    assert [info.last_turn_at for info in everything] == [START + timedelta(seconds=last[name]) for name in expected]
    assert {(info.turns, info.unprocessed_turns) for info in everything} == {(4, 4)}

    found: list[str] = []
    before = None
    while page := await user.threads(limit=2, before=before):
        assert len(page) >= 2 or len(found) + len(page) == len(expected)
        found += [info.thread_id for info in page]
        before = page[-1].last_turn_at
    assert found == expected
    assert await memory.user("nobody").threads(limit=2) == []
    with pytest.raises(InvalidInput):
        await user.threads(limit=0)


async def test_a_late_page_costs_as_little_as_an_early_one(local: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    user = local.user("alice")
    for number in range(60):
        at = START + timedelta(hours=number)
        await user.thread(f"t{number:02}").add_many(
            [{"role": "user", "content": "hello", "created_at": at + timedelta(minutes=n)} for n in range(10)]
        )
    await local.drain()
    store, names, rows = local.runtime.store, list[int](), list[int]()
    query = store.query

    async def noted(container: str, sql: str, partition: Sequence[str] | None = None, **given: Any) -> list[Any]:
        found = await query(container, sql, partition, **given)
        names.append(max((len(value) for value in given.values() if isinstance(value, list)), default=0))
        rows.append(len(found))
        return found

    monkeypatch.setattr(store, "query", noted)
    before, found = None, list[str]()
    for _ in range(6):
        names.clear()
        rows.clear()
        page = await user.threads(limit=10, before=before)
        found += [info.thread_id for info in page]
        assert {(info.turns, info.unprocessed_turns) for info in page} == {(10, 10)}
        assert len(rows) <= 2 + 2 + 10  # turns, and which threads were written since; what waits of all; the counts
        assert max(names) <= 11  # with the thread that the page before ended with
        assert sum(rows) <= 101 + 1 + 10 + 10 + 10
        before = page[-1].last_turn_at
    assert found == [f"t{number:02}" for number in range(59, -1, -1)]
