"""What nobody has used in a long time is withdrawn, and can be seen and said again."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from memories import fact

from agent_memory import AsyncMemory
from agent_memory.models import Memory, iso
from agent_memory.rules.keeping import retention
from agent_memory.steps.prune import FADED, FIRST_DAYS, fading_users
from agent_memory.store.containers import MEMORIES

NOW = datetime.now(UTC)


async def say(memory: AsyncMemory, *lines: str, user: str = "alice") -> dict[str, Memory]:
    chat = memory.user(user).thread("t1")
    await chat.add_many([{"role": "user", "content": line} for line in lines])
    await chat.process("extract")
    return {one.content: one for one in await memory.user(user).memories()}


async def age(memory: AsyncMemory, one: Memory, days: float, **fields: Any) -> None:
    """Makes the store believe that it has known a memory for so long."""
    then = iso(NOW - timedelta(days=days))
    changes = {"recorded_at": then, "created_at": then} | fields
    await memory.runtime.store.patch(MEMORIES, one.id, (one.user_id, one.thread_id), changes, "FROM c WHERE true")


@pytest.mark.req("S0-102")
def test_a_memory_that_was_never_recalled_fades_in_69_days_and_later_with_each_recall():
    one = fact("x", NOW)
    edge = timedelta(days=FIRST_DAYS)
    assert math.isclose(edge.days, 69)
    assert retention(one, NOW + edge - timedelta(hours=1)) > FADED > retention(one, NOW + edge + timedelta(hours=1))
    recalled = one.model_copy(update={"access_count": 10})
    assert retention(recalled, NOW + edge + timedelta(days=20)) > FADED


@pytest.mark.req("S0-102")
async def test_what_has_faded_is_superseded_and_nothing_else(memory: AsyncMemory):
    alice = memory.user("alice")
    facts = await say(
        memory,
        *(f"fact: {name}=some value or other" for name in ("old", "recent", "pinned", "recalled", "edited", "again")),
    )
    old, recent, pinned, recalled, edited, again = facts.values()
    given = await alice.remember("Allergic to peanuts")
    corrected = await alice.update(edited.id, content="edited=another value by hand")
    await alice.update(pinned.id, pinned=True)
    for one in (old, pinned, corrected, given):
        await age(memory, one, 100)
    await age(memory, recent, 60)
    await age(memory, recalled, 100, last_accessed_at=iso(NOW - timedelta(days=90)), access_count=20)
    await age(memory, again, 100, reaffirmed_at=iso(NOW - timedelta(days=10)))
    result = await alice.process("prune")
    assert (result.counts, result.superseded, result.usage.model_calls) == ({"expired": 1}, 1, 0)
    everything = {one.id: one for one in await alice.memories(include_superseded=True)}
    gone = everything[old.id]
    assert (gone.supersede_reason, gone.superseded_by) == ("expired", "__nobody__")
    left = {one.id for one in await alice.memories()}
    assert left == {recent.id, pinned.id, recalled.id, again.id, given.id, corrected.id}
    assert (await alice.process("prune")).superseded == 0


@pytest.mark.req("S0-102")
async def test_what_has_faded_is_read_as_of_earlier_and_comes_back_when_it_is_said_again(memory: AsyncMemory):
    alice = memory.user("alice")
    (old,) = (await say(memory, "fact: old=some value or other")).values()
    await age(memory, old, 100, valid_from=iso(NOW - timedelta(days=100)))
    await alice.process("prune")
    assert await alice.memories() == []
    assert [one.id for one in await alice.memories(as_of=NOW - timedelta(days=1))] == [old.id]
    (again,) = (await say(memory, "fact: old=some value or other")).values()
    assert again.id != old.id


async def test_more_than_one_run_can_hold_is_done_in_pieces(memory: AsyncMemory):
    facts = await say(memory, *(f"fact: key{n}=some value or other" for n in range(104)))
    for one in facts.values():
        await age(memory, one, 100)
    assert (await memory.user("alice").process("prune")).superseded == 104
    assert await memory.user("alice").memories() == []


async def test_the_timer_finds_the_users_who_have_something_to_prune(memory: AsyncMemory):
    for user in ("alice", "bob", "carol"):
        facts = await say(memory, "fact: old=some value or other", user=user)
        if user != "carol":
            await age(memory, next(iter(facts.values())), 100)
    assert await fading_users(memory.runtime.store, NOW) == ["alice", "bob"]
    await memory.user("alice").process("prune")
    assert await fading_users(memory.runtime.store, NOW) == ["bob"]


async def test_what_is_pinned_while_the_pass_looks_at_it_is_not_withdrawn(memory: AsyncMemory):
    alice, run = memory.user("alice"), memory.runtime.activities
    (old,) = (await say(memory, "fact: old=some value or other")).values()
    await age(memory, old, 100)
    draft = await run["prune.think"]({"user_id": "alice"})
    assert draft is not None
    assert [one["memory_id"] for one in draft["retire"]] == [old.id]
    await alice.update(old.id, pinned=True)
    await run["commit"](draft)
    assert [one.id for one in await alice.memories()] == [old.id]
