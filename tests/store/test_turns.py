"""Turns are written once and read in order."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from agent_memory import AsyncMemory
from agent_memory.errors import Conflict, InvalidInput, StoreUnavailable
from agent_memory.models import TurnInput
from agent_memory.store.turns import answers_to

SAID = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.req("S1-01", "S1-02", "S1-04", "S1-05", "S1-07")
async def test_a_turn_keeps_what_it_was_given(memory: AsyncMemory, local: AsyncMemory):
    chat = memory.user("alice").thread("t1", agent_id="helper", project_id="trip")
    metadata = {"tool_name": "search", "tool_call_id": "call-1", "edit": {"reason": "typo"}}
    when = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
    receipt = await chat.add("tool", "3 hotels found", metadata=metadata, created_at=when, name="hotels", run_id="r1")
    (turn,) = await chat.turns()
    assert turn.id == receipt.ids[0]
    assert (turn.user_id, turn.thread_id, turn.role, turn.content) == ("alice", "t1", "tool", "3 hotels found")
    assert (turn.agent_id, turn.project_id, turn.run_id, turn.name) == ("helper", "trip", "r1", "hotels")
    assert turn.metadata == metadata
    assert turn.created_at == when
    stored = await local.runtime.store.read("memories_turns", turn.id, ("alice", "t1"))
    assert stored is not None
    assert stored["type"] == "turn"
    assert stored["created_at"] == "2026-03-01T12:30:15.123456Z"


@pytest.mark.req("S1-02")
@pytest.mark.parametrize(("given", "kept"), [("assistant", "agent"), ("function", "tool"), ("user", "user")])
async def test_other_systems_roles_are_understood(memory: AsyncMemory, given: str, kept: str):
    await memory.user("alice").thread("t1").add(given, "hello")
    assert (await memory.user("alice").thread("t1").turns())[0].role == kept


@pytest.mark.req("S1-02")
@pytest.mark.parametrize(
    "turn",
    [
        {"role": "wizard", "content": "x"},
        {"role": "user", "content": ""},
        {"role": "user", "content": "   "},
        {"role": "user"},
        {"role": "user", "content": "x", "id": "a/b"},
        {"role": "user", "content": "x", "surprise": 1},
        {"role": "user", "content": "x", "metadata": {"n": object()}},
        {"role": "user", "content": "x", "metadata": "no mapping"},
        {"role": "user", "content": "\ud800"},
        ("user", "x"),
        {"role": "user", "content": "x", "created_at": "yesterday"},
        {"role": "user", "content": "x" * 1_800_000},
    ],
)
async def test_bad_input_is_refused_and_nothing_is_written(memory: AsyncMemory, turn: dict[str, object]):
    chat = memory.user("alice").thread("t1")
    with pytest.raises(InvalidInput):
        await chat.add_many([{"role": "user", "content": "good"}, turn])
    assert await chat.turns() == []


async def test_writing_again_adds_nothing_and_another_content_is_a_conflict(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    first = await chat.add("user", "hello", id="one")
    again = await chat.add("user", "hello", id="one")
    assert (first.created, again.created, again.ids) == (1, 0, ["one"])
    with pytest.raises(Conflict, match="one"):
        await chat.add("user", "goodbye", id="one")
    assert [turn.content for turn in await chat.turns()] == ["hello"]


@pytest.mark.req("S1-08")
async def test_a_bulk_write_can_be_repeated_after_it_stopped_half_way(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    turns = [{"role": "user", "content": f"line {n}", "id": f"id-{n}"} for n in range(250)]
    await chat.add_many(turns[:130])
    receipt = await chat.add_many(turns)
    assert receipt.created == 120
    assert [turn.content for turn in await chat.turns()] == [f"line {n}" for n in range(250)]
    assert (await chat.add_many(turns)).created == 0


async def test_one_new_turn_beside_a_repeated_one_is_written(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    old, new = ({"role": "user", "content": text, "id": text} for text in ("old", "new"))
    await chat.add_many([old])
    assert (await chat.add_many([old, new])).created == 1
    assert [turn.content for turn in await chat.turns()] == ["old", "new"]


async def test_one_id_twice_in_one_call(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    same = {"role": "user", "content": "x", "id": "one"}
    assert (await chat.add_many([same, same])).created == 1
    with pytest.raises(Conflict):
        await chat.add_many([{**same, "id": "two"}, {**same, "id": "two", "content": "y"}])
    picture = {"type": "image", "url": "https://example.com/a.png"}
    with pytest.raises(Conflict):
        await chat.add_many([{**same, "id": "two"}, {**same, "id": "two", "parts": [picture]}])
    assert [turn.id for turn in await chat.turns()] == ["one"]


@pytest.mark.req("S1-19")
async def test_turns_come_oldest_first_and_the_last_k_on_request(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    start = datetime(2026, 3, 1, tzinfo=UTC)
    for n in (3, 1, 2):
        await chat.add("user", f"day {n}", created_at=start + timedelta(days=n))
    assert [turn.content for turn in await chat.turns()] == ["day 1", "day 2", "day 3"]
    assert [turn.content for turn in await chat.turns(last=2)] == ["day 2", "day 3"]
    with pytest.raises(InvalidInput):
        await chat.turns(last=0)


async def test_turns_without_times_keep_their_order(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await chat.add_many([{"role": "user", "content": str(n)} for n in range(60)])
    assert [turn.content for turn in await chat.turns()] == [str(n) for n in range(60)]


async def test_large_turns_are_spread_over_batches(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    assert (await chat.add_many([{"role": "user", "content": "é" * 200_000} for _ in range(5)])).created == 5
    assert len(await chat.turns()) == 5


async def test_a_closed_memory_says_so(memory: AsyncMemory):
    await memory.close()
    with pytest.raises(StoreUnavailable, match="not open"):
        await memory.user("alice").thread("t1").add("user", "hello")


async def test_the_oldest_date_there_is_can_be_kept(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await chat.add("user", "long ago", created_at=datetime(1, 1, 1, tzinfo=UTC))
    assert (await chat.turns())[0].created_at == datetime(1, 1, 1, tzinfo=UTC)


def test_inputs_are_typed():
    with pytest.raises(ValidationError):
        TurnInput.model_validate({"role": "user", "content": 7})


@pytest.mark.parametrize("again", [SAID + timedelta(microseconds=1), SAID - timedelta(days=1)])
async def test_a_time_of_the_callers_own_belongs_to_a_turn(memory: AsyncMemory, again: datetime):
    chat = memory.user("alice").thread("t1")
    await chat.add("user", "hello", id="a", created_at=SAID)
    with pytest.raises(Conflict, match="turn a exists in this thread with other content"):
        await chat.add("user", "hello", id="a", created_at=again)
    assert (await chat.add("user", "hello", id="a", created_at=SAID)).created == 0
    assert (await chat.add("user", "hello", id="a")).created == 0  # no time is no other time
    assert [turn.created_at for turn in await chat.turns()] == [SAID]


async def test_what_the_system_says_is_no_answer(memory: AsyncMemory, local: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    said = [("user", "q1"), ("system", "s"), ("assistant", "a1"), ("tool", "t"), ("user", "q2"), ("assistant", "a2")]
    await chat.add_many([{"role": role, "content": id, "id": id} for role, id in said])
    asked = [turn for turn in await chat.turns() if turn.id == "q1"]
    assert await answers_to(local.runtime.store, asked) == {"a1": "q1", "t": "q1"}
