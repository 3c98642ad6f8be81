"""Starts: which orchestrations run, and under which ids. Starting is idempotent.

An id identifies one crossing of a threshold. An orchestration that is running is not started again; one that has failed
is. Work is recorded as done only when it is done, so a lost orchestration loses no work.

Work also starts when a conversation has changed its topic (drift). It compares what the user says now with what they
said on the current topic, by the vectors of the chunks, so nothing is embedded for it. Whenever turns come in, the
decision is made afresh from what is stored. So no state is kept, and turns that were processed cause no second run.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agent_memory.errors import AgentMemoryError
from agent_memory.gathering import a_few
from agent_memory.language.current import CurrentEmbeddings
from agent_memory.language.tasks import Vector
from agent_memory.processing.due import (
    INDEX,
    Work,
    due_work,
    ending_steps,
    instance_id,
    joined,
    live,
    steps_of,
    user_steps,
    waiting_work,
)
from agent_memory.processing.intake import (
    DAMAGED,
    due_by_turns,
    due_user_work,
    is_wanted,
    mark,
    mark_read,
    mark_settled,
    user_total,
)
from agent_memory.processing.workflows import VERSION
from agent_memory.rules.budgets import over_budget
from agent_memory.settings import Cadence
from agent_memory.steps.extract import NAME as EXTRACT
from agent_memory.steps.gather import Tools
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.counted import ThreadCounter, UserCounter
from agent_memory.store.counters import Counters
from agent_memory.store.documents import Document
from agent_memory.store.vectors import field_of
from agent_memory.telemetry import change_feed_failures
from agent_memory.text.likeness import cosine

Json = dict[str, Any]
Users = Mapping[str, UserCounter]
"""The counters of users, by their ids."""

logger = logging.getLogger("agent_memory")

IDLE, IMPORT = "idle", "import"
"""Why all steps run for threads of a user."""
MOST_AT_ONCE = 8
"""Orchestrations that one batch of the change feed starts for the threads of one user. A choice: a person talks in one
thread at a time, for which two steps are due at once."""


@dataclass(frozen=True, slots=True)
class Start:
    """One orchestration to start. `counts` is noted when it is done: turns by thread, and "" for the user."""

    workflow: str
    instance_id: str
    request: Mapping[str, Any]
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def input(self) -> Json:
        """The orchestrator's input."""
        return {"request": dict(self.request), "counts": dict(self.counts), "version": VERSION}


def of_work(work: Work) -> Start:
    """The start of a piece of due work."""
    return Start(work.workflow, work.instance_id, work.request, {work.thread_id: work.count})


def settling_id(user_id: str, why: str) -> str:
    """The id of the run of all steps for threads of a user: quiet ones (`IDLE`), or imported ones (`IMPORT`).

    An import may take hours, and live talk does not wait for it.
    """
    return instance_id("settle_user", user_id, "", why)


def of_deepening(user_id: str) -> Start:
    """The start of a user's deepening by the clock."""
    return Start("deepen", instance_id("deepen", user_id, "", "clock"), {"user_id": user_id})


def of_correction(user_id: str) -> Start:
    """The start of the correction of a user's summaries."""
    return Start("correct", instance_id("correct", user_id, "", "left"), {"user_id": user_id})


def of_erasure(user_id: str) -> Start:
    """The start of a user's erasure."""
    return Start("erase", instance_id("erase", user_id, "", 0), {"user_id": user_id})


def of_reembedding(tools: Tools) -> Start | None:
    """The start of the move to the embedding model that the environment names, if it names one."""
    embeddings = tools.embeddings
    target = embeddings.next if isinstance(embeddings, CurrentEmbeddings) else None
    if target is None:
        return None
    return Start("reembed", f"reembed:{field_of(target.model_id)}", {})


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts what is due in a store, for at most so many users `at_once`.

    `start` starts an orchestration, and returns False if the same one is running; `is_active` says whether the one with
    an id is under way.
    """

    tools: Tools
    counters: Counters
    cadence: Cadence
    at_once: int
    start: Callable[[Start], Awaitable[bool]]
    is_active: Callable[[str], Awaitable[bool]]

    @property
    def store(self) -> Store:
        """The store."""
        return self.tools.store

    async def start_settling(self, user_id: str, counts: Mapping[str, int], why: str = IDLE) -> bool:
        """Starts all steps for threads of a user, with their numbers of turns; False if such a run is under way.

        Users who have spent the day's budget wait.
        """
        if await over_budget(self.store, self.tools.policy, user_id) is not None:
            return False
        request = {
            "user_id": user_id,
            "threads": sorted(counts),
            "thread_steps": ending_steps(self.cadence),
            "user_steps": user_steps(self.cadence),
        }
        total = await user_total(self.counters, user_id)
        return await self.start(Start("settle_user", settling_id(user_id, why), request, {**counts, "": total}))

    async def start_due(self, touched: Iterable[ThreadCounter], users: Users | None = None) -> int:
        """Starts the due work of these threads and their users. Returns how many orchestrations it started.

        If a user's threads have work, the user's own work waits: `finish` checks again after the threads' work. With
        the counters of `users`, only work of these that is due by the number of turns is checked, which costs no
        request. What is due by extractions starts when an extraction has finished.

        At most `MOST_AT_ONCE` of one user start together, so that a user with many busy threads, or an import, does not
        fill the queues for the others. The rest waits until its threads get more turns or go quiet; the sweep of idle
        threads then goes through them in one orchestration. Imported turns start nothing here: `backfill` processes
        them.

        A user whose settings cannot be used is left out and logged. An error that may pass is raised, after all others
        have been started.
        """
        by_user = defaultdict(list)
        for counter in touched:
            by_user[counter.user_id].append(counter)

        async def of_one(user_id: str, counters: Sequence[ThreadCounter]) -> int:
            try:
                return await self._start_of_user(user_id, counters, users)
            except (AgentMemoryError, *DAMAGED) as error:
                if isinstance(error, AgentMemoryError) and error.retryable:
                    raise
                # A tier that no longer exists, say. Repeating the batch would hold up everybody else in it, in vain.
                logger.exception("the work of %s cannot be started; it stays due", user_id)
                change_feed_failures.add(1)
                return 0

        return sum(await a_few((partial(of_one, *one) for one in sorted(by_user.items())), self.at_once))

    async def _start_of_user(self, user_id: str, counters: Sequence[ThreadCounter], users: Users | None) -> int:
        at_once = live(counters, self.cadence)
        if not at_once:
            return 0
        due = due_work(at_once, self.cadence)
        if self.cadence.idle_seconds > 0:  # sweeps find the rest
            due = due[:MOST_AT_ONCE]
        work = [one for one in due if await self._is_wanted(one)]
        if work:
            return sum([await self.start(of_work(one)) for one in work])
        if users is None:
            return await self.start_due_of_user(user_id)
        user = users.get(user_id)
        return 0 if user is None else await self._start_first(due_by_turns(user, self.cadence))

    async def start_due_of_user(self, user_id: str, but: str = "") -> int:
        """Starts the first due work of a user, except the workflow `but`. The next one follows when it is done."""
        due = await due_user_work(self.tools, self.counters, self.cadence, user_id)
        return await self._start_first([work for work in due if work.workflow != but])

    async def _start_first(self, due: Sequence[Work]) -> int:
        for work in due:
            if await self._is_wanted(work):
                return int(await self.start(of_work(work)))
        return 0

    async def _is_wanted(self, work: Work) -> bool:
        return await is_wanted(self.tools, self.counters, work)

    async def finish(self, workflow: str, given: Json) -> int:
        """Notes that an orchestration has done its work, and starts the work that its user is due now."""
        tools, counters, user_id = self.tools, self.counters, given["request"]["user_id"]
        counts = dict(given["counts"])
        gave_up = bool(given.get("gave_up"))
        if workflow == "settle_user":
            total = counts.pop("")
            await mark_settled(tools, counters, self.cadence, user_id, counts, total, gave_up=gave_up)
        else:
            drifted = sum([await self._start_drifted(user_id, thread) for thread in counts if workflow == INDEX])
            for thread_id, count in counts.items():
                if thread_id:
                    names = steps_of(workflow)
                    await mark_read(tools, counters, user_id, thread_id, names, count, gave_up=gave_up)
                else:
                    await mark(counters, Work(workflow, user_id, thread_id, count, 1))
            if drifted:  # `finish` checks again after that work
                return drifted
            if any(counts) and EXTRACT not in steps_of(workflow):  # what counts extractions starts when one is done
                return await self._start_first(due_by_turns(await counters.user(user_id), self.cadence))
        return await self.start_due_of_user(user_id, but=workflow)

    async def _start_drifted(self, user_id: str, thread_id: str) -> int:
        """Starts the work that a change of topic makes due in an indexed thread. Returns how many orchestrations."""
        counter = await self.counters.get(user_id, thread_id)
        due = await drifted_work(self.tools, self.cadence, counter)
        work = [one for one in due if await self._is_wanted(one)]
        return sum([await self.start(of_work(one)) for one in work])


SAYING = 2
"""How many user turns count as what the user says now. One alone is too often a "yes, that one"."""
TOPIC = 3
"""The fewest user turns of a topic. So talk that jumps between things does not drift at each turn."""
WINDOW = 24
"""How many turns before the waiting ones show the current topic: some 200 KB of vectors with 1,536 numbers."""


async def drifted_work(tools: Tools, cadence: Cadence, counter: ThreadCounter) -> list[Work]:
    """The steps of a thread that have turns of an earlier topic to process. Costs one query and no model call."""
    waiting = [work.workflow for work in waiting_work(counter, cadence)]
    if cadence.drift <= 0 or not waiting:
        return []
    covered = {step: counter.done.get(step, 0) for step in waiting}
    rows = await tools.store.query(
        MEMORIES,
        queries.USER_TALK,
        (counter.user_id, counter.thread_id),
        since=min(covered.values()) - WINDOW,
        model=tools.embeddings.model_id,
    )
    turned = topic_changes(_by_turn(rows), cadence.drift)
    # If the new topic begins after what a step has covered, turns of the old topic wait for the step.
    due = [step for step in waiting if any(position > covered[step] for position in turned)]
    place = (counter.user_id, counter.thread_id, counter.count)
    # The mark stays the same until the step has advanced, so more turns of the new topic start no second run.
    return joined([Work(step, *place, 1, mark=f"drift-{covered[step]}") for step in due], counter, cadence)


def topic_changes(talk: Mapping[int, Vector], threshold: float) -> list[int]:
    """The positions at which a new topic begins in a talk (vectors by position).

    A topic has at least `TOPIC` turns. The next `SAYING` turns leave it if the cosine distance between the two means is
    above the threshold.
    """
    positions = sorted(talk)
    found: list[int] = []
    start = 0
    topic: Vector = []
    for turn in range(1, len(positions) - SAYING + 1):
        topic = _sum([topic, talk[positions[turn - 1]]]) if turn - 1 > start else talk[positions[start]]
        if turn - start < TOPIC:
            continue
        saying = _sum([talk[position] for position in positions[turn : turn + SAYING]])
        if any(topic) and any(saying) and 1.0 - cosine(topic, saying) > threshold:
            found.append(positions[turn])
            start = turn
    return found


def _by_turn(rows: Sequence[Document]) -> dict[int, Vector]:
    """The vectors of a talk by position; for a turn with several chunks, their sum."""
    parts: dict[int, list[Vector]] = defaultdict(list)
    for row in rows:
        parts[row["position"]].append(row["embedding"])
    return {position: _sum(vectors) for position, vectors in parts.items()}


def _sum(vectors: Sequence[Vector]) -> Vector:
    return [sum(numbers) for numbers in zip(*vectors, strict=True)]
