"""Intake: from a batch of the change feed to the work that it calls for.

The worker in this process and the triggers in the cloud both go through it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from agent_memory.processing.due import Work, crossed
from agent_memory.processing.gather import Tools
from agent_memory.processing.steps.reconcile import is_due as reconcile_is_due
from agent_memory.settings import Cadence
from agent_memory.store.counters import Counters, ThreadCounter
from agent_memory.store.documents import Document


async def count_turns(counters: Counters, documents: Iterable[Document]) -> list[ThreadCounter]:
    """Advances the counters by a batch of the change feed; what is no turn is passed over (row S1-42)."""
    by_thread: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for document in documents:
        if document.get("type") == "turn":
            key = (document["user_id"], document["thread_id"])
            by_thread[key].append((document["id"], document["_ts"]))
    return [await counters.count(user_id, thread_id, turns) for (user_id, thread_id), turns in by_thread.items()]


async def user_total(counters: Counters, user_id: str) -> int:
    """How many turns of a user were counted: the sum over their threads, so that it cannot disagree with them."""
    return sum(counter.count for counter in await counters.of_user(user_id))


async def due_user_work(tools: Tools, counters: Counters, cadence: Cadence, user_id: str) -> list[Work]:
    """The per-user workflows that are due: reconciliation by extractions, the profile by turns."""
    total = await user_total(counters, user_id)
    work = []
    if await reconcile_is_due(tools, user_id, cadence.reconcile):
        work.append(Work("reconcile", user_id, "", total, 1))
    done = await counters.user_done(user_id)
    if crossed(total, done.get("profile", 0), cadence.profile):
        work.append(Work("profile", user_id, "", total, cadence.profile))
    return work


async def mark(counters: Counters, work: Work) -> None:
    """Notes that work was run (or durably started), so that it is not called for again."""
    if work.thread_id:
        await counters.ran(work.user_id, work.thread_id, work.workflow, work.count)
    elif work.workflow == "profile":  # when a reconciliation is due is read off its own cursor
        await counters.user_ran(work.user_id, work.workflow, work.count)
