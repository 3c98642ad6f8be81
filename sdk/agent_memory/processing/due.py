"""Due work: which workflows the counters call for. Pure functions for the in-process worker and the cloud triggers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Protocol, TypeVar

from agent_memory.language.offline import OfflineChat
from agent_memory.language.roles import is_off, model_of, shares_a_model
from agent_memory.language.tasks import EXTRACT, SUMMARIZE, ChatModel
from agent_memory.processing.workflows import TOGETHER, sharing
from agent_memory.settings import Cadence
from agent_memory.steps import index
from agent_memory.steps.step import Step
from agent_memory.steps.table import those
from agent_memory.store.counted import USER, ThreadCounter
from agent_memory.text.patterns import linear

INDEX = index.NAME
"""The step that runs for new turns if topic changes count: its vectors show them."""
_PLAIN = linear(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Work:
    """One workflow to run, for a thread or (without a thread) for a user. `count` is the number of turns so far.

    `mark` identifies the run among those of its workflow; without it, the multiple of `every` that was crossed does.
    """

    workflow: str
    user_id: str
    thread_id: str
    count: int
    every: int
    mark: str = ""

    @property
    def request(self) -> dict[str, str]:
        """The workflow's request."""
        return {"user_id": self.user_id} | ({"thread_id": self.thread_id} if self.thread_id else {})

    @property
    def crossing(self) -> str:
        """What identifies this run among those of its workflow."""
        return self.mark or str(self.count // self.every)

    @property
    def instance_id(self) -> str:
        """The id of this run. It is the same for the same crossing, so starting the run twice starts it once."""
        return instance_id(self.workflow, self.user_id, self.thread_id, self.crossing)


def instance_id(workflow: str, user_id: str, thread_id: str, mark: str | int) -> str:
    """The id of one run of a workflow: with the ids themselves if possible, else with their hashes.

    Durable Functions allows 100 characters, not every character, and puts an id into URLs unescaped. Both forms show
    whose run it is (`is_run_of`).
    """
    plain = f"{workflow}:{user_id}:{thread_id}:{mark}"
    if len(plain) <= 100 and _PLAIN.fullmatch(user_id) and _PLAIN.fullmatch(thread_id or "-"):
        return plain
    return f"{workflow}:{_digest(user_id)}.{_digest(user_id, thread_id)}:{mark}"


def is_run_of(user_id: str, run_id: str) -> bool:
    """Whether the id of a run belongs to this user."""
    parts = run_id.split(":")
    if len(parts) == 4:
        return parts[1] == user_id
    return len(parts) == 3 and parts[1].startswith(f"{_digest(user_id)}.")


def _digest(*ids: str) -> str:
    return hashlib.sha256("\0".join(ids).encode()).hexdigest()[:24]


def possible(cadence: Cadence, chat: ChatModel) -> Cadence:
    """The cadence without the steps whose role is switched off.

    Extraction stays due, because its workflow also indexes the talk; only the model is not asked. One call serves both
    extraction and summary only if one model does both. Rules read the turns at once and step by step: they cost no
    calls that could be saved.
    """
    steps = [*those("thread", "counted", "at the end"), *those("user", "counted")]
    off = [step for step in steps if step.task is not None and is_off(chat, step.task) and not step.first]
    switched: dict[str, Any] = {step.cadence: 0 for step in off}
    reader = model_of(chat, EXTRACT)
    by_rules = reader is None or reader.model_id == OfflineChat.MODEL_ID
    return replace(
        cadence,
        one_call=cadence.one_call and not by_rules and shares_a_model(chat, EXTRACT, SUMMARIZE),
        stretch=1 if by_rules else cadence.stretch,
        **switched,
    )


def _counted(cadence: Cadence) -> list[Step]:
    """The enabled steps that run after a number of a thread's turns, in their order."""
    return [step for step in those("thread", "counted") if step.every(cadence) > 0]


def ending_steps(cadence: Cadence) -> list[str]:
    """The workflows to run for a thread that went quiet: its enabled steps, then the archive."""
    names = [step.name for step in _counted(cadence)]
    if cadence.one_call and set(sharing()) <= set(names):
        names = [TOGETHER, *(name for name in names if name not in sharing())]
    return names + archiving_steps(cadence)


def archiving_steps(cadence: Cadence) -> list[str]:
    """The steps to run last for a thread that went quiet."""
    return [step.name for step in those("thread", "at the end") if step.every(cadence) > 0]


def steps_of(workflow: str) -> list[str]:
    """The steps that a thread's workflow runs, by the names in its counter."""
    return sharing() if workflow == TOGETHER else [workflow]


def joined(due: list[Work], counter: ThreadCounter, cadence: Cadence) -> list[Work]:
    """The due steps of a thread; extraction and summary become one piece of work if one call can serve both."""
    level = len({counter.done.get(step, 0) for step in sharing()}) == 1
    both = [work for work in due if work.workflow in sharing()]
    if not (cadence.one_call and level and len(both) == len(sharing())):
        return due
    mark = "-".join(work.crossing for work in both)
    return [replace(both[0], workflow=TOGETHER, mark=mark), *(work for work in due if work not in both)]


def enabled_steps(cadence: Cadence) -> tuple[str, ...]:
    """The enabled steps that a thread's counter tracks: those per thread, and `USER` for those per user."""
    return (*(step.name for step in _counted(cadence)), *((USER,) if user_steps(cadence) else ()))


def user_steps(cadence: Cadence) -> list[str]:
    """The enabled per-user steps, in the order in which they run."""
    return [step.name for step in those("user", "counted") if step.every(cadence) > 0]


def crossed(count: int, done: int, n: int, multiples: int = 1) -> bool:
    """Whether at least so many `multiples` of `n` lie in (done, count]. A jump over more of them counts once."""
    return n > 0 and count // n >= done // n + multiples


def waiting_work(counter: ThreadCounter, cadence: Cadence) -> list[Work]:
    """The enabled steps of a thread that have turns to process."""
    place = (counter.user_id, counter.thread_id, counter.count)
    behind = [step for step in _counted(cadence) if counter.done.get(step.name, 0) < counter.count]
    return [Work(step.name, *place, step.every(cadence)) for step in behind]


def due_work(counters: Iterable[ThreadCounter], cadence: Cadence) -> list[Work]:
    """The steps of these threads whose thresholds were crossed since they last ran.

    The new turns of the other threads are due for indexing, which makes them known to searches, if their number would
    be enough without a stretch, or if topic changes count, because the index shows such changes.
    """
    due: list[Work] = []
    for counter in counters:
        waiting = waiting_work(counter, cadence)
        steps = [work for work in waiting if _is_due(work, counter.done.get(work.workflow, 0), cadence)]
        look = Work(INDEX, counter.user_id, counter.thread_id, counter.count, 1)
        due += [look] if waiting and not steps and _is_unseen(counter, cadence) else joined(steps, counter, cadence)
    return due


def _is_due(work: Work, done: int, cadence: Cadence) -> bool:
    return crossed(work.count, done, work.every, cadence.stretch if done else 1)


def _is_unseen(counter: ThreadCounter, cadence: Cadence) -> bool:
    """Whether the index must read the turns of a thread before another step does."""
    if cadence.drift > 0:
        return counter.done.get(INDEX, 0) < counter.count
    indexed = max(counter.done.get(INDEX, 0), counter.done.get(EXTRACT.name, 0))
    return cadence.stretch > 1 and crossed(counter.count, indexed, cadence.extract)


def idle(counters: Iterable[ThreadCounter], cadence: Cadence, timestamp: float) -> list[ThreadCounter]:
    """The threads that have been quiet long enough to be processed whatever their counts."""
    if cadence.idle_seconds <= 0:
        return []
    return [counter for counter in counters if timestamp - counter.cursor.ts >= cadence.idle_seconds]


def live(counters: Iterable[ThreadCounter], cadence: Cadence) -> list[ThreadCounter]:
    """The threads whose work starts at once. Imported ones wait until they are idle, and then go behind all others."""
    return [counter for counter in counters if not (counter.backfill and cadence.idle_seconds > 0)]


class _OfUser(Protocol):
    @property
    def user_id(self) -> str: ...


W = TypeVar("W", bound=_OfUser)


def in_turn(work: Iterable[W]) -> list[W]:
    """The same work in turns, one piece for each user, so that a user with much work does not hold up the others."""
    by_user: dict[str, list[W]] = {}
    for one in work:
        by_user.setdefault(one.user_id, []).append(one)
    return [one for turn in zip_longest(*by_user.values()) for one in turn if one is not None]
