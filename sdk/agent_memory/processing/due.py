"""Due work: which workflows the counters call for. Pure; both the in-process worker and the cloud triggers ask it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from agent_memory.settings import Cadence
from agent_memory.store.counters import ThreadCounter

THREAD_STEPS = ("extract", "summarize")
USER = "user"
"""Stands in a thread's counter for what its turns mean to the whole user: reconciliation and profile."""


@dataclass(frozen=True, slots=True)
class Work:
    """One workflow to run: of a thread, or (without a thread) of a user. `count` is how many turns called for it."""

    workflow: str
    user_id: str
    thread_id: str
    count: int
    every: int

    @property
    def request(self) -> dict[str, str]:
        """What the workflow is given."""
        return {"user_id": self.user_id} | ({"thread_id": self.thread_id} if self.thread_id else {})

    @property
    def instance_id(self) -> str:
        """The id of this run: the same for the same crossing, so that starting it twice is starting it once."""
        bucket = self.count // self.every
        plain = f"{self.workflow}:{self.user_id}:{self.thread_id}:{bucket}"
        if len(plain) <= 100:
            return plain
        return f"{self.workflow}:{hashlib.sha256(plain.encode()).hexdigest()[:40]}:{bucket}"


def every(cadence: Cadence, step: str) -> int:
    """After how many turns a per-thread step runs; 0 for never."""
    return {"extract": cadence.extract, "summarize": cadence.summarize}[step]


def enabled_steps(cadence: Cadence) -> tuple[str, ...]:
    """What a thread's counter waits for: the per-thread steps and `USER`, less what is switched off."""
    for_user = (USER,) if user_steps(cadence) else ()
    return tuple(step for step in THREAD_STEPS if every(cadence, step) > 0) + for_user


def user_steps(cadence: Cadence) -> list[str]:
    """The per-user steps that are not switched off, in the order in which they run."""
    return [step for step, n in (("reconcile", cadence.reconcile), ("profile", cadence.profile)) if n > 0]


def crossed(count: int, done: int, n: int) -> bool:
    """Whether a multiple of `n` lies in (done, count]. A jump over several multiples counts once."""
    return n > 0 and count // n > done // n


def due_work(counters: Iterable[ThreadCounter], cadence: Cadence) -> list[Work]:
    """The steps of these threads whose thresholds have been crossed since they last ran."""
    return [
        Work(step, counter.user_id, counter.thread_id, counter.count, every(cadence, step))
        for counter in counters
        for step in THREAD_STEPS
        if crossed(counter.count, counter.done.get(step, 0), every(cadence, step))
    ]
