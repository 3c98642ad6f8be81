"""Budgets: what one user's processing may cost in a day; beyond it turns are kept and wait."""

import asyncio
from datetime import timedelta

import pytest
from policy_world import opened
from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import Cadence, ModelError
from agent_memory.errors import QuotaExceeded
from agent_memory.models import Usage, now
from agent_memory.rules.budgets import Spent, budget_of_store, charge
from agent_memory.settings import Environment, PolicySettings


async def test_over_the_budget_turns_are_kept_and_wait_for_the_next_day(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    async with opened(chat, daily_model_calls=1) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add("user", "fact: city=Lisbon, since 2019")
        assert (await thread.process("extract")).created == 1
        assert (await memory.user("alice").stats()).paused
        await thread.add("user", "fact: pet=a dog called Rex")
        with pytest.raises(QuotaExceeded, match="budget of 1 model calls is spent"):
            await thread.process("extract")
        assert chat.calls["extract"] == 1
        assert len(await thread.turns()) == 2
        assert await thread.search("Rex"), "what was said can be found meanwhile"
        health = await memory.health()
        assert (health.ok, health.paused_users) == (True, 1)
        assert any("1 users have spent" in warning for warning in health.warnings)

        bob = memory.user("bob")
        await bob.thread("t1").add("user", "fact: pet=a cat called Tom")
        assert (await bob.thread("t1").process("extract")).created == 1, "a budget is one user's"

        tomorrow = now() + timedelta(days=1)
        monkeypatch.setattr("agent_memory.rules.budgets.now", lambda: tomorrow)
        assert (await memory.user("alice").stats()).paused is None
        result = await thread.process("extract")
        assert (result.turns, result.created) == (1, 1)


async def test_tokens_are_counted_also_of_an_answer_that_could_not_be_used(chat: ScriptedChat):
    cost = {"model_calls": 1, "input_tokens": 900, "output_tokens": 200}

    def unusable(task: str, call: int) -> ModelError | None:
        return ModelError("no JSON", retryable=True, cost=cost) if call == 1 else None

    chat.fault = unusable
    async with opened(chat, daily_tokens=1000) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add("user", "fact: city=Lisbon, since 2019")
        with pytest.raises(QuotaExceeded, match="budget of 1000 tokens"):
            await thread.process("extract")
        assert chat.calls["extract"] == 1


@simulated_time
async def test_the_worker_leaves_such_work_due(chat: ScriptedChat):
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    async with opened(chat, cadence, daily_model_calls=0) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add("user", "fact: city=Lisbon, since 2019")
        assert await memory.drain(timeout=1) == 1
        assert chat.calls == {}


async def test_a_budget_of_the_store_is_shared_by_all_users(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch):
    people = [f"user{number}" for number in range(5)]
    async with opened(chat, store_daily_tokens=500) as memory:
        for person in people:
            await memory.user(person).thread("t1").add("user", "fact: city=Lisbon, since 2019")
        for person in people[:2]:
            await memory.user(person).thread("t1").process("extract")
        spent = (await memory.health()).budget
        assert spent is not None
        assert (spent.model_calls, spent.most_tokens) == (2, 500)
        usage = memory.runtime.tools.tally.usage
        assert 0 < usage.input_tokens + usage.output_tokens <= spent.tokens
        await charge(memory.runtime.store, memory.runtime.tools.policy, "erin", Usage(input_tokens=500))
        with pytest.raises(QuotaExceeded, match="500 tokens for all users is spent"):
            await memory.user(people[4]).thread("t1").process("extract")
        health = await memory.health()
        assert any("all turns wait until tomorrow" in warning for warning in health.warnings)
        assert (await memory.user(people[3]).stats()).paused
        assert await memory.runtime.store.query("counter", 'SELECT * FROM c WHERE c.type = "budget"') == []

        tomorrow = now() + timedelta(days=1)
        monkeypatch.setattr("agent_memory.rules.budgets.now", lambda: tomorrow)
        assert (await memory.user(people[4]).thread("t1").process("extract")).created == 1
    assert Environment(MEMORY_STORE_DAILY_TOKENS="9000").policy.store_daily_tokens == 9000


async def test_all_tokens_of_a_run_are_counted(chat: ScriptedChat):
    async with opened(chat, store_daily_tokens=10**9) as memory:
        store, policy = memory.runtime.store, memory.runtime.tools.policy
        usage = Usage(model_calls=1, input_tokens=100, cached_tokens=50, output_tokens=20, embedded_tokens=3)
        await charge(store, policy, "ann", usage)
        budget = await budget_of_store(store, policy)
        assert budget is not None
        assert (budget.model_calls, budget.tokens) == (1, 123)


async def test_charges_at_the_same_time_are_all_added(chat: ScriptedChat):
    async with opened(chat, store_daily_tokens=10**9) as memory:
        store, policy = memory.runtime.store, memory.runtime.tools.policy
        await asyncio.gather(*(charge(store, policy, f"u{n % 40}", Usage(input_tokens=n)) for n in range(200)))
        budget = await budget_of_store(store, policy)
        assert budget is not None
        assert budget.tokens == sum(range(200))


async def test_without_budgets_nothing_is_counted(chat: ScriptedChat):
    async with opened(chat) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add("user", "fact: city=Lisbon, since 2019")
        await thread.process("extract")
        assert await memory.runtime.store.query("counter", 'SELECT * FROM c WHERE c.type = "budget"') == []
    policy = Environment(MEMORY_DAILY_MODEL_CALLS="50", MEMORY_DAILY_TOKENS="100000").policy
    assert (policy.daily_model_calls, policy.daily_tokens, policy.limits_users) == (50, 100_000, True)


@pytest.mark.parametrize(("spent", "over"), [(0, False), (999, False), (1000, True)])
def test_a_budget_is_spent_with_its_last_unit_and_nothing_is_spent_before_the_first(spent: int, over: bool):
    assert Spent() == Spent(model_calls=0, tokens=0)
    assert (Spent(tokens=spent).over(PolicySettings(daily_tokens=1000)) is not None) is over
    assert (Spent(model_calls=spent).over(PolicySettings(daily_model_calls=1000)) is not None) is over
