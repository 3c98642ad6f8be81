"""Quotas and budgets: how many memories a user may have, and what background work may cost in a day (UTC).

When the quota is reached, writing a memory by hand raises an error. An extracted memory replaces the least valuable
one, but never one that was written by hand or pinned. An import adds as many as there is room for. A writer counts
again after its write, and takes the write back if it was one too many. So the quota is never exceeded, but several
writers who compete for the last place may all be refused.

When a budget, of a user or of the whole store, is spent, turns are still kept, indexed and counted. They are processed
the next day. The cost of a run is known only afterwards, so the last runs of a day may exceed a budget: a user's by one
batch of turns, the store's by as many batches as run at the same time.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from zlib import crc32

from agent_memory.errors import QuotaExceeded
from agent_memory.models import Budget, Memory, Usage, now
from agent_memory.rules.switches import Rules
from agent_memory.settings import PolicySettings
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES
from agent_memory.store.documents import Document
from agent_memory.store.ids import BUDGET_ID, COUNTERS_THREAD, STORE_USER
from agent_memory.store.memories import has_talk_or_memories, list_memories
from agent_memory.store.updates import change_document
from agent_memory.store.uses import read_uses

STRENGTH_DAYS = 30.0
"""Days after which the score of a memory that was never recalled has fallen to 1/e. Each recall adds a day."""


def retention(memory: Memory, at: datetime) -> float:
    """The score of a memory, from 1 (used just now) towards 0: exp(-days / (30 + times recalled)).

    The days count from when it was last recalled, said or recorded, whichever came last.
    """
    last = max(memory.recorded_at, memory.last_said_at, memory.last_accessed_at or memory.recorded_at)
    days = max(0.0, (at - last).total_seconds() / 86400)
    return math.exp(-days / (STRENGTH_DAYS + memory.access_count))


def eviction_order(memory: Memory, at: datetime) -> tuple[float, float, datetime, str]:
    """A sort key that puts the memory to evict first: lowest score, then lowest confidence, then oldest."""
    return (retention(memory, at), memory.confidence, memory.created_at, memory.id)


@dataclass(frozen=True, slots=True)
class Room:
    """Which memories are withdrawn to make room, and which new ones are refused."""

    retire: list[Memory] = field(default_factory=list)
    refused: list[Memory] = field(default_factory=list)


async def count_kept(store: Store, user_id: str) -> int:
    """How many memories count against a user's quota: the active ones without chunks. One query for a number."""
    return int(sum(await store.query(MEMORIES, queries.KEPT_MEMORIES, (user_id,))))


async def room_left(store: Store, rules: Rules, user_id: str) -> int | None:
    """How many more memories the tier allows: None for any number, negative if there are too many. One query."""
    most = rules.tier.max_memories
    return None if most is None else most - await count_kept(store, user_id)


async def require_room(store: Store, rules: Rules, user_id: str) -> None:
    """Checks that one more memory may be written by hand, before any work is done for it.

    Raises:
        QuotaExceeded: if the tier allows no more.
    """
    left = await room_left(store, rules, user_id)
    if left is not None and left <= 0:
        raise _no_room(rules)


async def keep_within(store: Store, rules: Rules, user_id: str, undo: Callable[[], Awaitable[object]]) -> None:
    """Counts again after a write by hand, and undoes the write if it was one too many.

    Raises:
        QuotaExceeded: if the write was undone.
    """
    left = await room_left(store, rules, user_id)
    if left is not None and left < 0:
        await undo()
        raise _no_room(rules)


def _no_room(rules: Rules) -> QuotaExceeded:
    most = rules.tier.max_memories
    return QuotaExceeded(f"the tier {rules.tier_name} keeps {most} memories; forget some, or change the tier")


async def make_room(store: Store, rules: Rules, user_id: str, fresh: Sequence[Memory]) -> Room:
    """Chooses the memories that new ones replace. Reads the user's memories only if there is no room."""
    most = rules.tier.max_memories
    counted = [memory for memory in fresh if memory.status == "active"]
    if most is None or not counted:
        return Room()
    over = await count_kept(store, user_id) + len(counted) - most
    if over <= 0:
        return Room()
    uses = await read_uses(store, user_id)
    return choose([uses.of(memory) for memory in await list_memories(store, user_id)], counted, over)


def choose(kept: Sequence[Memory], fresh: Sequence[Memory], over: int) -> Room:
    """Chooses the `over` memories that are worth least, among those that may be displaced."""
    at = now()
    replaceable = [memory for memory in kept if memory.model is not None and not memory.pinned]
    going = sorted([*replaceable, *fresh], key=lambda memory: eviction_order(memory, at))[:over]
    new = {memory.id for memory in fresh}
    return Room([m for m in going if m.id not in new], [m for m in going if m.id in new])


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
