"""A reconciliation finds what clashes however many facts there are, and reads no more than it may."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.settings import Limits
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import read_cursor
from agent_memory.store.ids import USER_THREAD

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)
WORDS = "amber birch coral delta ember flint grove harbour indigo jasper kelp linen maple nectar opal pine".split()


async def tell(memory: AsyncMemory, thread: str, lines: list[str], start: datetime) -> None:
    turns = [
        {"role": "user", "content": f"fact: {line}", "created_at": start + timedelta(minutes=n)}
        for n, line in enumerate(lines)
    ]
    await memory.user("alice").thread(thread).add_many(turns)
    await memory.user("alice").thread(thread).process("extract")


def others(count: int) -> list[str]:
    return [f"{WORDS[n % 16]} {WORDS[n // 16]} thing={WORDS[(n * 7) % 16]}{n}" for n in range(count)]


@pytest.mark.req("S1-29", "S1-31", "S1-32", "S1-39")
@pytest.mark.parametrize("backfilled", [False, True])
async def test_a_contradiction_with_a_fact_beyond_the_newest_is_found(chat: ScriptedChat, backfilled: bool):
    async with opened(chat, limits=Limits(reconcile_candidates=12)) as memory:
        alice = memory.user("alice")
        said = {"old": ["the home town of alice=Lisbon"], "new": ["the home town of alice=Porto"]}
        await tell(memory, "old", said["new" if backfilled else "old"], MARCH)
        await tell(memory, "many", others(40), MARCH + timedelta(days=1))
        await alice.process("reconcile")
        when = MARCH - timedelta(days=1) if backfilled else MARCH + timedelta(days=2)
        await tell(memory, "new", said["old" if backfilled else "new"], when)
        result = await alice.process("reconcile")
        assert result.counts == {"kept": 11, "merged": 0, "contradicted": 1}
        shown = chat.seen[-1].facts
        assert len(shown) == 12
        assert [fact.said_at for fact in shown] == sorted((fact.said_at for fact in shown), reverse=True)
        homes = [fact.content for fact in await alice.memories() if "home town" in fact.content]
        assert homes == ["the home town of alice=Porto"]


async def test_what_was_looked_at_once_takes_no_room_again(chat: ScriptedChat):
    async with opened(chat, limits=Limits(reconcile_candidates=9)) as memory:
        await tell(memory, "many", others(30), MARCH)
        for _ in range(2):
            await memory.user("alice").process("reconcile")
        first, second = (Counter(fact.content for fact in data.facts) for data in chat.seen[-2:])
        assert first.keys() - set(others(30)[-9:])  # all was new, so older ones had their share
        assert second.keys() == set(others(30)[-9:])


async def test_facts_that_were_compared_are_not_compared_again_until_there_are_others(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")

        async def compares() -> bool:
            before = chat.calls["reconcile"]
            await alice.process("reconcile")
            return chat.calls["reconcile"] > before

        await tell(memory, "t", ["home=Lisbon by the river", "home=Porto on the hill", *others(3)], MARCH)
        assert await compares()
        assert not await compares(), "the loser has gone, and the others were there"
        await memory.user("alice").thread("chatter").add("user", "good morning to you all, what a lovely day")
        await memory.user("alice").thread("chatter").process("extract")
        assert not await compares(), "an extraction that found nothing is counted, without a call"
        stored = await read_cursor(memory.runtime.store, MEMORIES, ("alice", USER_THREAD), "reconcile")
        assert stored.extra["extractions"] == 2
        await tell(memory, "u", ["diet=vegetarian since spring"], MARCH + timedelta(days=2))
        assert await compares()
        assert not await compares()
        await tell(memory, "v", ["diet=vegetarian since spring"], MARCH + timedelta(days=3))
        assert await compares(), "a fact that is said again may win now"
        chat.prompt_version = lambda task: "another"  # type: ignore[method-assign]
        assert await compares(), "another prompt may see what the last one did not"
        await alice.process("reconcile", n=50)
        assert chat.calls["reconcile"] == 5, "a caller's own number is taken at its word"
