"""Drift: whether a conversation has changed its topic, so that its earlier turns are processed before their count.

It compares what the user says now with what they said on the current topic, by the vectors of the chunks, so nothing
is embedded for it. Whenever turns come in, the decision is made afresh from what is stored. So no state is kept, and
turns that were processed cause no second run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from agent_memory.language.tasks import Vector
from agent_memory.processing.due import Work, joined, waiting_work
from agent_memory.settings import Cadence
from agent_memory.steps.gather import Tools
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES
from agent_memory.store.counted import ThreadCounter
from agent_memory.store.documents import Document
from agent_memory.text.likeness import cosine

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
