"""Drift: whether a talk has turned to another topic, so that what was said is worked off ahead of its count.

What the user says now is compared with what they have said of the running topic, by the vectors of the indexed talk,
so nothing is embedded for it. It is decided anew from what is stored whenever turns come in: nothing has to be
remembered of it, and what has been worked off calls for nothing again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import sqrt

from agent_memory.language.tasks import Vector
from agent_memory.processing.due import Work, joined, waiting_work
from agent_memory.settings import Cadence
from agent_memory.steps.gather import Tools
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES
from agent_memory.store.counters import ThreadCounter
from agent_memory.store.documents import Document

SAYING = 2
"""Turns of the user that are what they say now: one alone is too often a "yes, that one"."""
TOPIC = 3
"""Turns of the user that make a topic. So talk that jumps from one thing to the next is not a drift at each turn."""
WINDOW = 24
"""Turns before those that wait which the running topic is read from; with vectors of 1,536 numbers some 200 KB."""


async def drifted_work(tools: Tools, cadence: Cadence, counter: ThreadCounter) -> list[Work]:
    """The steps of a thread for which turns of an earlier topic wait. Costs one query, and no model call."""
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
    # Where the new topic begins after all that a step has covered, something of the old one waits for it.
    due = [step for step in waiting if any(position > covered[step] for position in turned)]
    place = (counter.user_id, counter.thread_id, counter.count)
    # More turns of the new topic start no second run: the mark stays the same until the step has advanced.
    return joined([Work(step, *place, 1, mark=f"drift-{covered[step]}") for step in due], counter, cadence)


def topic_changes(talk: Mapping[int, Vector], threshold: float) -> list[int]:
    """Where in a talk (vectors by position) another topic begins: the position of its first turn.

    A topic is at least `TOPIC` turns; the next `SAYING` leave it if the cosine distance of the two means is greater
    than the threshold.
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
        if 1.0 - _cosine(topic, saying) > threshold:
            found.append(positions[turn])
            start = turn
    return found


def _by_turn(rows: Sequence[Document]) -> dict[int, Vector]:
    """The vectors of a talk by position; of a turn that was indexed in parts their sum."""
    parts: dict[int, list[Vector]] = defaultdict(list)
    for row in rows:
        parts[row["position"]].append(row["embedding"])
    return {position: _sum(vectors) for position, vectors in parts.items()}


def _sum(vectors: Sequence[Vector]) -> Vector:
    return [sum(numbers) for numbers in zip(*vectors, strict=True)]


def _cosine(one: Vector, other: Vector) -> float:
    lengths = sqrt(sum(a * a for a in one) * sum(b * b for b in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 1.0
