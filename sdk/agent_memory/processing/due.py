"""Due work: which workflows the counters call for. Pure; both the in-process worker and the cloud triggers ask it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent_memory.language.roles import is_off, shares_a_model
from agent_memory.language.tasks import ARCHIVE, EXTRACT, PROFILE, RECONCILE, SUMMARIZE, ChatModel
from agent_memory.settings import Cadence
from agent_memory.store.counters import USER, ThreadCounter
from agent_memory.text.patterns import linear

THREAD_STEPS = ("extract", "summarize")
TOGETHER = "extract_and_summarize"
"""The workflow of both, where one call is to answer them."""
INDEX = "index_turns"
"""What is run for new turns where a change of topic counts: it shows in the vectors of the talk."""
_PLAIN = linear(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Work:
    """One workflow to run: of a thread, or (without a thread) of a user. `count` is how many turns called for it.

    `mark` tells the run from others of its workflow where that is not which multiple of `every` was crossed.
    """

    workflow: str
    user_id: str
    thread_id: str
    count: int
    every: int
    mark: str = ""

    @property
    def request(self) -> dict[str, str]:
        """What the workflow is given."""
        return {"user_id": self.user_id} | ({"thread_id": self.thread_id} if self.thread_id else {})

    @property
    def crossing(self) -> str:
        """What called for this run."""
        return self.mark or str(self.count // self.every)

    @property
    def instance_id(self) -> str:
        """The id of this run: the same for the same crossing, so that starting it twice is starting it once."""
        return instance_id(self.workflow, self.user_id, self.thread_id, self.crossing)


def instance_id(workflow: str, user_id: str, thread_id: str, mark: str | int) -> str:
    """The id of one run of a workflow: readable if the ids allow it, else by their hashes.

    Durable Functions allows 100 characters, not all of them, and puts an id into URLs as it is. Either form shows
    whose run it is (`is_run_of`).
    """
    plain = f"{workflow}:{user_id}:{thread_id}:{mark}"
    if len(plain) <= 100 and _PLAIN.fullmatch(user_id) and _PLAIN.fullmatch(thread_id or "-"):
        return plain
    return f"{workflow}:{_digest(user_id)}.{_digest(user_id, thread_id)}:{mark}"


def is_run_of(user_id: str, run_id: str) -> bool:
    """Whether an id of a run can only be of a run of this user's."""
    parts = run_id.split(":")
    if len(parts) == 4:
        return parts[1] == user_id
    return len(parts) == 3 and parts[1].startswith(f"{_digest(user_id)}.")


def _digest(*ids: str) -> str:
    return hashlib.sha256("\0".join(ids).encode()).hexdigest()[:24]


def possible(cadence: Cadence, chat: ChatModel) -> Cadence:
    """A cadence without the steps whose role is switched off.

    Extraction stays due, because its workflow makes the talk itself searchable; only the model is not asked. One call
    answers for extraction and summary only where one model does both.
    """
    return replace(
        cadence,
        summarize=0 if is_off(chat, SUMMARIZE) else cadence.summarize,
        archive=cadence.archive and not is_off(chat, ARCHIVE),
        profile=0 if is_off(chat, PROFILE) else cadence.profile,
        reconcile=0 if is_off(chat, RECONCILE) else cadence.reconcile,
        one_call=cadence.one_call and shares_a_model(chat, EXTRACT, SUMMARIZE),
    )


def every(cadence: Cadence, step: str) -> int:
    """After how many turns a per-thread step runs; 0 for never."""
    return {"extract": cadence.extract, "summarize": cadence.summarize}[step]


def ending_steps(cadence: Cadence) -> list[str]:
    """What is run for a thread that went quiet: the per-thread steps that are not switched off, then the archive."""
    steps = [step for step in THREAD_STEPS if every(cadence, step) > 0]
    both = cadence.one_call and len(steps) == len(THREAD_STEPS)
    return ([TOGETHER] if both else steps) + ["archive"] * cadence.archive


def steps_of(workflow: str) -> tuple[str, ...]:
    """The steps that a workflow of a thread does, under the names by which they are counted."""
    return THREAD_STEPS if workflow == TOGETHER else (workflow,)


def joined(due: list[Work], counter: ThreadCounter, cadence: Cadence) -> list[Work]:
    """The due steps of a thread, as one work if one call is to answer both and they have the same turns ahead."""
    level = len({counter.done.get(step, 0) for step in THREAD_STEPS}) == 1
    if not (cadence.one_call and level and tuple(work.workflow for work in due) == THREAD_STEPS):
        return due
    mark = "-".join(work.crossing for work in due)
    return [replace(due[0], workflow=TOGETHER, mark=mark)]


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


def waiting_steps(counter: ThreadCounter, cadence: Cadence) -> list[str]:
    """The steps of a thread that are not switched off and that some of its turns wait for."""
    return [s for s in THREAD_STEPS if every(cadence, s) > 0 and counter.done.get(s, 0) < counter.count]


def due_work(counters: Iterable[ThreadCounter], cadence: Cadence) -> list[Work]:
    """The steps of these threads whose thresholds have been crossed since they last ran.

    Where a change of topic counts, the new turns of the other threads are indexed, which shows it.
    """
    due: list[Work] = []
    for counter in counters:
        place = (counter.user_id, counter.thread_id, counter.count)
        steps = [
            Work(step, *place, every(cadence, step))
            for step in THREAD_STEPS
            if crossed(counter.count, counter.done.get(step, 0), every(cadence, step))
        ]
        unseen = cadence.drift > 0 and counter.done.get(INDEX, 0) < counter.count
        look = unseen and not steps and bool(waiting_steps(counter, cadence))
        due += [Work(INDEX, *place, 1)] if look else joined(steps, counter, cadence)
    return due


def idle(counters: Iterable[ThreadCounter], cadence: Cadence, timestamp: float) -> list[ThreadCounter]:
    """Those of these threads that have been quiet for long enough to be processed whatever their counts."""
    if cadence.idle_seconds <= 0:
        return []
    return [counter for counter in counters if timestamp - counter.cursor.ts >= cadence.idle_seconds]
