"""An event is an episodic memory without a kind: neither raw talk nor an archived conversation."""

import pytest

from agent_memory import AsyncMemory

EVENT = "The move to the new mail server failed and was rolled back"


@pytest.mark.req("S1-64", "S0-062")
async def test_an_event_is_listed_counted_found_exported_and_forgotten(memory: AsyncMemory):
    alice = memory.user("alice")
    made = await alice.remember(EVENT, type="episodic")
    await alice.remember("Lives in Lisbon")
    assert [one.id for one in await alice.memories(types=["episodic"])] == [made.id]
    assert [one.id for one in await alice.memories(types=["event"])] == [made.id]
    assert len(await alice.memories()) == 2
    assert (await alice.stats()).memories == 2
    assert [hit.memory.id for hit in await alice.search("mail server move", types=["event"])] == [made.id]
    assert (await alice.remember(EVENT, type="episodic")).id == made.id
    lines: list[str] = []
    await alice.export(lines.append)
    assert any(made.id in line for line in lines)
    receipt = await alice.forget(query="the move to the new mail server")
    assert receipt.deleted["episodic"] == [made.id]
    assert len(await alice.memories()) == 1
    kept = await alice.remember(EVENT + " again", type="episodic")
    assert (await alice.forget(kept.id)).deleted["episodic"] == [kept.id]


async def test_a_name_for_events_leaves_raw_talk_and_other_types_out(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("t1").add("user", "The move to the new mail server, how did it go?")
    await alice.thread("t1").process("index")
    await alice.remember("To move a mail server: stop it, copy it, start it", type="procedural")
    made = await alice.remember(EVENT, type="episodic")
    assert [hit.memory.id for hit in await alice.search("mail server move", types=["event"])] == [made.id]
