"""Due work: which workflows the counters call for. Pure; both the in-process worker and the cloud triggers ask it."""

from __future__ import annotations

from agent_memory.settings import Cadence
from agent_memory.store.counters import ThreadCounter

THREAD_STEPS = ("extract", "summarize")
USER = "user"
"""Stands in a thread's counter for what its turns mean to the whole user: reconciliation and profile."""


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


def due_steps(counter: ThreadCounter, cadence: Cadence) -> list[str]:
    """The steps of a thread whose threshold has been crossed since they last ran."""
    return [step for step in THREAD_STEPS if crossed(counter.count, counter.done.get(step, 0), every(cadence, step))]
