"""Budgets: how many model calls and tokens the background work of one user may cost in a day (UTC).

When a budget is spent, turns are still kept, indexed and counted. They are processed the next day. The cost of a run is
known only after it, so the last run of a day may exceed the budget by one batch of turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from agent_memory.errors import QuotaExceeded
from agent_memory.models import Budget, Usage, now
from agent_memory.settings import PolicySettings
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER
from agent_memory.store.documents import Document
from agent_memory.store.ids import BUDGET_ID, COUNTERS_THREAD
from agent_memory.store.memories import has_talk_or_memories
from agent_memory.store.updates import change_document


@dataclass(frozen=True, slots=True)
class Spent:
    """What the background work of a user has cost today."""

    model_calls: int = 0
    tokens: int = 0

    def over(self, policy: PolicySettings) -> str | None:
        """A sentence that says which budget is spent; None if none is."""
        if policy.daily_model_calls is not None and self.model_calls >= policy.daily_model_calls:
            return f"today's budget of {policy.daily_model_calls} model calls is spent; processing continues tomorrow"
        if policy.daily_tokens is not None and self.tokens >= policy.daily_tokens:
            return f"today's budget of {policy.daily_tokens} tokens is spent; processing continues tomorrow"
        return None


async def budget_of(store: Store, policy: PolicySettings, user_id: str) -> Budget | None:
    """What a user's work has cost today, with its limits; None, without a request, if no budget is set."""
    if not policy.has_budgets:
        return None
    spent = _spent(await store.read(COUNTER, BUDGET_ID, (user_id, COUNTERS_THREAD)) or {})
    return Budget(
        model_calls=spent.model_calls,
        tokens=spent.tokens,
        most_model_calls=policy.daily_model_calls,
        most_tokens=policy.daily_tokens,
    )


async def over_budget(store: Store, policy: PolicySettings, user_id: str) -> str | None:
    """A sentence that says which budget of a user is spent; None if none is. One point read; none without budgets."""
    if not policy.has_budgets:
        return None
    document = await store.read(COUNTER, BUDGET_ID, (user_id, COUNTERS_THREAD)) or {}
    return _spent(document).over(policy)


async def require_budget(store: Store, policy: PolicySettings, user_id: str) -> None:
    """Checks that a user's budget allows a model call.

    Raises:
        QuotaExceeded: if it is spent.
    """
    over = await over_budget(store, policy, user_id)
    if over is not None:
        raise QuotaExceeded(over)


async def charge(store: Store, policy: PolicySettings, user_id: str, usage: Usage) -> None:
    """Adds the cost of a run to the user's account of the day."""
    calls, tokens = usage.model_calls, usage.input_tokens + usage.output_tokens + usage.embedded_tokens
    if not policy.has_budgets or not (calls or tokens):
        return

    def add(document: Document) -> Document:
        spent = _spent(document)
        account = {"day": _today(), "model_calls": spent.model_calls + calls, "tokens": spent.tokens + tokens}
        return document | {"type": "budget"} | account

    # A model call takes long. If the user was erased meanwhile, the document must not come back.
    partition, there = (user_id, COUNTERS_THREAD), partial(has_talk_or_memories, store, user_id)
    await change_document(store, COUNTER, BUDGET_ID, partition, add, there)


async def count_over_budget(store: Store, policy: PolicySettings) -> int:
    """How many users have spent their budget today; for the operator."""
    if not policy.has_budgets:
        return 0
    rows = await store.query(COUNTER, queries.BUDGETS, day=_today())
    return sum(_spent(row).over(policy) is not None for row in rows)


def _spent(document: Document) -> Spent:
    if document.get("day") != _today():
        return Spent()
    return Spent(document["model_calls"], document["tokens"])


def _today() -> str:
    return now().date().isoformat()
