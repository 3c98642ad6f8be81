"""Lanes: list the users whose imported threads or deepening wait, and start their work while there is room."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from agent_memory.gathering import a_few
from agent_memory.models import iso, now
from agent_memory.processing.clock import Deepening, claim_deepening, end_deepening
from agent_memory.processing.starts import IMPORT, Start, Starter, of_deepening, settling_id
from agent_memory.processing.sweeps import waiting
from agent_memory.processing.workflows import LANE, Slice, User
from agent_memory.store.client import Store

logger = logging.getLogger("agent_memory")

Json = dict[str, Any]
BACKFILL, DEEPEN = "backfill", "deepen"
DEEPENING = f"{LANE}-{DEEPEN}"
"""The id of the lane that deepens."""
MOST_TRIES = 20
"""How often the lane tries to start the work of a user, every few seconds. An import is then found by the next sweep,
deepening waits for the next interval."""


def of_backfill(until: int) -> Start:
    """Starts the lane for all turns imported before a time (seconds since 1970). Only one runs at a time."""
    return Start(LANE, f"{LANE}-{BACKFILL}", {"slices": [[BACKFILL, 0, until]]})


def of_deepenings(due: Deepening, until: int) -> Start:
    """Starts the lane for all users who are due for deepening. When all are done, the next interval begins."""
    slices = [] if due.since is None else [["extracted", int(due.since.timestamp()), until], ["fading", 0, until]]
    users = [[DEEPEN, user_id, {}] for user_id in due.users]
    end = {"at": iso(due.at), "clock": due.clock}
    return Start(LANE, DEEPENING, {"slices": slices, "users": users, "end": end})


async def start_deepenings(starter: Starter) -> None:
    """Starts the lane that deepens when the clock says so. The lane takes over the claim on the clock."""
    if await starter.is_active(DEEPENING):
        return
    due = await claim_deepening(starter.store, starter.cadence, listed=False)
    if due is None:
        return
    try:
        await starter.start(of_deepenings(due, int(now().timestamp()) + 1))
    except BaseException:
        await end_deepening(starter.store, due, through=False)
        raise


async def users_in(store: Store, piece: Slice) -> list[User] | Json | None:
    """The users with such work in a slice of time; None if it holds too much and must be halved.

    If a second holds too much, the first `users` in it, and `after` which one the others are to be listed.
    """
    of, since, until, *after = piece
    page = await waiting(store, of, since, until, after=next(iter(after), None))
    if page is None:
        return None
    threads: dict[str, dict[str, int]] = defaultdict(dict)
    for row in page.rows:
        threads[row["user_id"]] |= {row["thread_id"]: row["count"]} if of == BACKFILL else {}
    users = [[BACKFILL if of == BACKFILL else DEEPEN, user_id, counts] for user_id, counts in threads.items()]
    return users if page.after is None else {"users": users, "after": page.after}


async def start_next(starter: Starter, users: Sequence[User], before: Sequence[str], most: int) -> Json:
    """Starts work for the next users, up to `most` at the same time with the runs that began `before`.

    Returns how many it took, for how many it started work, who failed and is to be tried again, and which runs are
    active.
    """
    active = await a_few((partial(starter.is_active, instance) for instance in before), starter.at_once)
    running = [instance for instance, is_running in zip(before, active, strict=True) if is_running]
    taken = users[: max(0, most - len(running))]

    async def starts(of: str, user_id: str, counts: Mapping[str, int], tries: int = 0) -> User | None:
        try:
            if of == DEEPEN:
                await starter.start(of_deepening(user_id))
            else:
                await starter.start_settling(user_id, counts, IMPORT)
        except Exception:
            logger.exception("the %s of a user could not be started, for the %d. time", of, tries + 1)
            return [of, user_id, counts, tries + 1]
        return None

    outcomes = await a_few((partial(starts, *user) for user in taken), starter.at_once)
    begun = [_run_of(*user[:2]) for user, failure in zip(taken, outcomes, strict=True) if failure is None]
    failed = [failure for failure in outcomes if failure is not None and failure[3] < MOST_TRIES]
    active_now = list(dict.fromkeys([*running, *begun]))
    return {"taken": len(taken), "started": len(begun), "failed": failed, "running": active_now}


def _run_of(of: str, user_id: str) -> str:
    return of_deepening(user_id).instance_id if of == DEEPEN else settling_id(user_id, IMPORT)
