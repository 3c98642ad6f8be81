"""The threads of a user, in pages from the one that was written last."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.store import threads

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("read_ahead", [1, 3, 100])
async def test_pages_hold_every_thread_once_however_their_turns_are_mixed(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, read_ahead: int
):
    monkeypatch.setattr(threads, "READ_AHEAD", read_ahead)
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
