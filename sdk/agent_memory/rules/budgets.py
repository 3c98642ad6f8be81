"""Budgets: what background work may cost in a day (UTC), for one user and for the whole store.

When a budget is spent, turns are still kept, indexed and counted. They are processed the next day. The cost of a run is
known only afterwards, so the last runs of a day may exceed a budget: a user's by one batch of turns, the store's by as
many batches as run at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from zlib import crc32

from agent_memory.errors import QuotaExceeded
from agent_memory.models import Budget, Usage, now
from agent_memory.settings import PolicySettings
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER
from agent_memory.store.documents import Document
from agent_memory.store.ids import BUDGET_ID, COUNTERS_THREAD, STORE_USER
from agent_memory.store.memories import has_talk_or_memories
from agent_memory.store.updates import change_document

SHARES = 16
"""Number of documents that record what the store has spent, each for a part of the users: a single one would have too
many writers."""
_OF_STORE = (STORE_USER, COUNTERS_THREAD)
_NEVER = 2**53
"""More than any day costs."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the background work of a user, or of the whole store, has cost today."""

    model_calls: int = 0
    tokens: int = 0

    def over(self, policy: PolicySettings) -> str | None:
        """A sentence that says which budget of a user is spent; None if none is."""
        if policy.daily_model_calls is not None and self.model_calls >= policy.daily_model_calls:
            return f"today's budget of {policy.daily_model_calls} model calls is spent; processing continues tomorrow"
        if policy.daily_tokens is not None and self.tokens >= policy.daily_tokens:
            return f"today's budget of {policy.daily_tokens} tokens is spent; processing continues tomorrow"
        return None

    def over_for_all(self, policy: PolicySettings) -> str | None:
        """A sentence that says that the store's budget is spent; None if it is not."""
        most = policy.store_daily_tokens
        if most is None or self.tokens < most:
            return None
        return f"today's budget of {most} tokens for all users is spent; processing continues tomorrow"


async def budget_of(store: Store, policy: PolicySettings, user_id: str) -> Budget | None:
    """What a user's work has cost today, with its limits; None, without a request, if no budget is set for users."""
    if not policy.limits_users:
        return None
    spent = await _spent_by(store, user_id)
    return Budget(
        model_calls=spent.model_calls,
        tokens=spent.tokens,
        most_model_calls=policy.daily_model_calls,
        most_tokens=policy.daily_tokens,
    )


async def budget_of_store(store: Store, policy: PolicySettings) -> Budget | None:
    """What the work for all users has cost today, with its limit; None, without a request, if none is set."""
    if policy.store_daily_tokens is None:
        return None
    spent = await _spent_by_all(store)
    return Budget(model_calls=spent.model_calls, tokens=spent.tokens, most_tokens=policy.store_daily_tokens)


async def over_budget(store: Store, policy: PolicySettings, user_id: str) -> str | None:
    """A sentence that says which budget is spent, the user's or the store's; None if none is.

    Costs one request for each of the two that is set.
    """
    over = (await _spent_by(store, user_id)).over(policy) if policy.limits_users else None
    if over is None and policy.store_daily_tokens is not None:
        over = (await _spent_by_all(store)).over_for_all(policy)
    return over


async def require_budget(store: Store, policy: PolicySettings, user_id: str) -> None:
    """Checks that the budgets allow a model call for a user.

    Raises:
        QuotaExceeded: if the user's or the store's is spent.
    """
    over = await over_budget(store, policy, user_id)
    if over is not None:
        raise QuotaExceeded(over)


async def charge(store: Store, policy: PolicySettings, user_id: str, usage: Usage) -> None:
    """Adds the cost of a run to the accounts of the day: the user's and the store's, if they have budgets."""
    calls, tokens = usage.model_calls, usage.input_tokens + usage.output_tokens + usage.embedded_tokens
    if not (calls or tokens):
        return

    def add(kind: str) -> Callable[[Document], Document]:
        def change(document: Document) -> Document:
            spent = _spent(document)
            account = {"day": _today(), "model_calls": spent.model_calls + calls, "tokens": spent.tokens + tokens}
            return document | {"type": kind} | account

        return change

    if policy.limits_users:
        # A model call takes long. If the user was erased meanwhile, the document must not come back.
        partition, there = (user_id, COUNTERS_THREAD), partial(has_talk_or_memories, store, user_id)
        await change_document(store, COUNTER, BUDGET_ID, partition, add("budget"), there)
    if policy.store_daily_tokens is not None:
        share = f"{BUDGET_ID}_{crc32(user_id.encode()) % SHARES}"
        await change_document(store, COUNTER, share, _OF_STORE, add("store_budget"))


async def count_over_budget(store: Store, policy: PolicySettings) -> int:
    """How many users have spent their budget today; for the operator."""
    if not policy.limits_users:
        return 0
    calls, tokens = (_NEVER if limit is None else limit for limit in (policy.daily_model_calls, policy.daily_tokens))
    return int(sum(await store.query(COUNTER, queries.OVER_BUDGET, day=_today(), calls=calls, tokens=tokens)))


async def _spent_by(store: Store, user_id: str) -> Spent:
    return _spent(await store.read(COUNTER, BUDGET_ID, (user_id, COUNTERS_THREAD)) or {})


async def _spent_by_all(store: Store) -> Spent:
    shares = [_spent(row) for row in await store.query(COUNTER, queries.STORE_BUDGET, _OF_STORE, day=_today())]
    return Spent(sum(share.model_calls for share in shares), sum(share.tokens for share in shares))


def _spent(document: Document) -> Spent:
    if document.get("day") != _today():
        return Spent()
    return Spent(document["model_calls"], document["tokens"])


def _today() -> str:
    return now().date().isoformat()
