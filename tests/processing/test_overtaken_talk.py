"""Raw talk that tells what has been replaced since is marked so, in whatever order talk and replacement come."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import StoreUnavailable
from agent_memory.models import iso
from agent_memory.processing import worker
from agent_memory.remembering.replacing import outdate_chunks, outdate_new_chunks
from agent_memory.settings import Cadence
from agent_memory.store.chunks import chunk_id
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import to_document

NEW_YEAR, DAY_AFTER, FEBRUARY = (datetime(2026, month, day, tzinfo=UTC) for month, day in ((1, 1), (1, 2), (2, 1)))


async def end_of_chunk(memory: AsyncMemory, turn_id: str) -> list[str | None]:
    sql = "SELECT VALUE c FROM c WHERE c.kind = 'chunk' AND c.source_turn_ids[0] = @turn"
    rows = await memory.runtime.store.query(MEMORIES, sql, ("alice",), turn=turn_id)
    return [row.get("valid_to") for row in rows]


@pytest.mark.parametrize("late", [False, True])
async def test_talk_that_repeats_an_old_figure_is_out_of_date_whenever_it_comes(late: bool) -> None:
    async with AsyncMemory.local(cadence=Cadence(idle_seconds=0)) as memory:
        chat = memory.user("alice").thread("hawaii")
        echo = {"id": "echo", "role": "assistant", "content": "Noted, $10,000 then.", "created_at": DAY_AFTER}
        await chat.add("user", "My budget for the Hawaii trip is $10,000.", created_at=NEW_YEAR, id="old")
        if not late:
            await chat.add_many([echo])
        await chat.add("user", "My budget for the Hawaii trip is $15,000 now.", created_at=FEBRUARY, id="new")
        assert await memory.drain(timeout=300) == 0
        if late:
            await chat.add_many([echo])
            assert await memory.drain(timeout=300) == 0
        assert await end_of_chunk(memory, "old") == [iso(FEBRUARY)]
        assert await end_of_chunk(memory, "echo") == [iso(FEBRUARY)]
        assert await end_of_chunk(memory, "new") == [None]


async def test_talk_that_says_more_or_shares_a_small_number_is_not_out_of_date() -> None:
    """Contexts leave out what is marked, so a mark must be sure."""
    said = {
        "more": "My gym fee is $45. Also my sister Clara moved to Turin with both kids and works at the clinic.",
        "other": "By the way, our team ran 12 laps around the old stadium, and Theo carried the flag for all of us.",
    }
    async with AsyncMemory.local(cadence=Cadence(idle_seconds=0)) as memory:
        chat = memory.user("alice").thread("gym")
        for turn_id, text in said.items():
            await chat.add("user", text, created_at=DAY_AFTER, id=turn_id)
        await chat.add("user", "My gym class is at 12.", created_at=NEW_YEAR, id="old")
        await chat.add("user", "My gym class is at 18 now.", created_at=FEBRUARY, id="new")
        assert await memory.drain(timeout=300) == 0
        replaced = [
            one.content for one in await memory.user("alice").memories(include_superseded=True) if one.superseded_by
        ]
        ends = {turn_id: await end_of_chunk(memory, turn_id) for turn_id in ("old", "more", "other", "new")}
    assert replaced
    assert ends["more"] == ends["other"] == ends["new"] == [None], (replaced, ends)


async def test_a_long_statement_is_not_out_of_date_because_one_thing_of_it_changed() -> None:
    text = (
        "My plan for the Hawaii trip is a budget of $10,000, two weeks in March with Clara, Theo and both kids, surfing"
        " lessons near Hanalei, a rented van, a cabin without stairs, and no flights before noon."
    )
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        await alice.thread("hawaii").add("user", text, created_at=NEW_YEAR, id="plan")
        await alice.thread("hawaii").process("index")
        plan = await alice.get(chunk_id("alice", "hawaii", "plan"))
        loser = plan.model_copy(update={"content": text, "kind": "fact"})
        winner = loser.model_copy(update={"id": "winner", "content": "My budget for the Hawaii trip is $15,000 now."})
        await outdate_chunks(memory.runtime.store, loser, winner, FEBRUARY)
        assert await end_of_chunk(memory, "plan") == [None]
        short = loser.model_copy(update={"content": "My budget for the Hawaii trip is $10,000.", "quote": text})
        await outdate_chunks(memory.runtime.store, short, winner, FEBRUARY)
        assert await end_of_chunk(memory, "plan") == [iso(FEBRUARY)]


async def test_talk_that_comes_late_ended_with_the_first_of_the_memories_that_it_repeats() -> None:
    async with AsyncMemory.local() as memory:
        alice, store = memory.user("alice"), memory.runtime.store
        thread = alice.thread("hawaii")
        await thread.add("user", "My budget for the Hawaii trip is $10,000.", created_at=NEW_YEAR, id="old")
        await thread.process("index")
        old = await alice.get(chunk_id("alice", "hawaii", "old"))
        for name, end in (("first", FEBRUARY), ("second", FEBRUARY.replace(month=3))):
            fact = old.model_copy(
                update={"id": name, "type": "fact", "kind": "fact", "content": old.quote, "valid_to": end}
            )
            await store.create(MEMORIES, to_document(fact) | {"superseded_by": "winner"})
        await outdate_new_chunks(store, ("alice", "hawaii"), [old.id])
        assert await end_of_chunk(memory, "old") == [iso(FEBRUARY)]


async def test_talk_that_was_overtaken_leads_to_the_last_turn_of_what_replaced_it() -> None:
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        thread = alice.thread("hawaii")
        await thread.add("user", "My budget for the Hawaii trip is $10,000.", created_at=NEW_YEAR, id="old")
        await thread.process("index")
        old = await alice.get(chunk_id("alice", "hawaii", "old"))
        loser = old.model_copy(update={"id": "loser", "kind": "fact", "content": old.quote})
        winner = loser.model_copy(
            update={"id": "winner", "content": "Now it is $15,000.", "source_turn_ids": ["1", "2"]}
        )
        await outdate_chunks(memory.runtime.store, loser, winner, FEBRUARY)
        assert (await alice.get(old.id)).near_ids == [chunk_id("alice", "hawaii", "2")]


async def test_a_question_in_the_words_of_the_old_value_leads_to_the_new_one() -> None:
    async with AsyncMemory.local(cadence=Cadence(idle_seconds=0)) as memory:
        alice = memory.user("alice")
        await alice.thread("then").add("user", "Hello, I live in Leipzig and it rains.", created_at=NEW_YEAR, id="old")
        assert await memory.drain(timeout=300) == 0
        said = "We also moved to Halle, as the flat is cheaper. It has four rooms."
        await alice.thread("later").add("user", said, created_at=FEBRUARY, id="new")
        assert await memory.drain(timeout=300) == 0
        assert await end_of_chunk(memory, "old") == [iso(FEBRUARY)]
        text = (await alice.thread("today").context("Where does Alice live?")).text
    assert "Halle" in text
    assert "Leipzig" not in text


async def test_a_correction_that_was_cut_off_marks_the_talk_when_it_is_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    async with AsyncMemory.local(cadence=Cadence(idle_seconds=0)) as memory:
        alice = memory.user("alice")
        await alice.thread("hawaii").add("user", "My budget for the Hawaii trip is $10,000.", id="old")
        assert await memory.drain(timeout=300) == 0
        [budget] = await alice.memories()
        with monkeypatch.context() as patched:
            patched.setattr("agent_memory.remembering.by_hand.outdate_chunks", killed)
            with pytest.raises(KeyboardInterrupt):
                await alice.update(budget.id, content="My budget for the Hawaii trip is $15,000.")
        assert await end_of_chunk(memory, "old") == [None]
        made = await alice.update(budget.id, content="My budget for the Hawaii trip is $15,000.")
        assert made.supersedes_ids == [budget.id]
        assert await end_of_chunk(memory, "old") == [iso(made.created_at)]


@pytest.mark.parametrize("drained", [True, False])
async def test_a_summary_follows_what_the_user_corrects_by_hand(drained: bool) -> None:
    """Without another turn: nothing else would start the summary of this conversation."""
    async with AsyncMemory.local(cadence=Cadence(idle_seconds=0)) as memory:
        alice = memory.user("alice")
        chat = alice.thread("t1")
        for content in ("I live in Porto and I work as a nurse.", "I prefer email.", "I am allergic to nuts."):
            await chat.add("user", content)
        await memory.drain()
        home = next(fact for fact in await alice.memories() if "Porto" in fact.content)
        await alice.update(home.id, content=home.content.replace("Porto", "Lisbon"))
        if drained:
            await memory.drain()
        async with asyncio.timeout(60):
            while "Porto" in (told := str(await chat.summary())):  # noqa: ASYNC110 - the background does it
                await asyncio.sleep(0.05)
        assert "Lisbon" in told
        assert "Porto" not in (await chat.context("Where do I live?")).text.split("Past Conversations:")[0]


async def test_a_correction_that_fails_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run, failures = worker.run_workflow, list[str]()

    async def failing_once(workflow: str, *given: Any) -> Any:
        if workflow == "correct" and not failures:
            failures.append(workflow)
            raise StoreUnavailable("away")
        return await run(workflow, *given)

    monkeypatch.setattr(worker, "run_workflow", failing_once)
    async with AsyncMemory.local(cadence=Cadence(idle_seconds=0)) as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add("user", "I live in Porto and I work as a nurse.")
        await memory.drain()
        home = next(fact for fact in await alice.memories() if "Porto" in fact.content)
        await alice.update(home.id, content=home.content.replace("Porto", "Lisbon"))
        assert await memory.drain(timeout=60) == 0
        assert failures == ["correct"]
        assert "Porto" not in str(await alice.thread("t1").summary())
