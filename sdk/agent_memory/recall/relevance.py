"""Relevance: how likely a memory answers a question, as a number that is comparable between stores.

The score of a search orders the hits of one search and cannot be compared with another's: its best hit is near 1 for
any question. So a hit's relevance is a logistic regression over comparable features: its similarity to the question,
calibrated for the embedding model; its share of the question's words; how far it is below the best; and the type of
text. `calibration.RELEVANCE` has the weights and what they were fitted to.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from agent_memory.calibration import COVERED, LONG, NEAR, OFF_TOPIC, RELEVANCE, Calibration
from agent_memory.models import Hit, Memory
from agent_memory.recall.bm25 import Bm25
from agent_memory.recall.talk import only_asks
from agent_memory.store.chunks import words_of
from agent_memory.text.terms import query_terms

_UNKNOWN_NEARNESS = 0.5
"""The nearness of a memory whose cosine is not known: between memories that answer and those that do not."""
_FRAME = 80
"""Characters that are added to each length, for the day, the speaker and the line itself."""
_USUAL = 170
"""Characters, with `_FRAME`, of a memory that keeps its relevance: 90 of its own."""
_HEAD = 25
"""About how many characters the day and the speaker of a turn take."""
_ROOM = 0.75
"""The exponent of the penalty for length. A longer memory takes the room of others. Questions for which 650
tokens hold all evidence, with and without it: 78 and 78 in 100 of LoCoMo, 49 and 48 of REALTALK, 46 and 40 of BEAM."""
COMPARED = 60
"""Number of hits that a context compares with each other, so that the newest of contradicting ones is shown."""
_FEW = (8, 0.3)
"""The first eight memories need only this share of the minimum relevance. The evidence may rank high and still have a
low relevance: if little is known, or if it shares no word with the question. In the project's own conversations 86
instead of 81 in 100 contexts then hold evidence; elsewhere nothing changes."""
_FEW_OF_FEW = (12, 0.1)
"""The same if the search found fewer than `COMPARED`, as in short conversations. In the two halves of the project's
own, 89.9 and 92.1 instead of 89.2 and 88.5 of 100 contexts then hold evidence, with 249 and 286 instead of 200 and 227
tokens; LoCoMo, REALTALK and BEAM change by 0.2, 0 and 0.7, and by at most 6 tokens. Of 176 questions on 26
conversations that were written to judge the contexts, 132 instead of 124 are answered in full."""

_FAR_BEHIND = 0.05
"""After these, a memory needs at least this share of the highest relevance. Of 100 contexts, with and without it,
those of LoCoMo show some evidence in 90.9 and 91.2 with 520 and 567 tokens, of REALTALK in 86.5 and 86.5 with 566 and
592, of BEAM in 86.1 and 86.1 with 592 and 595. With 0.08: 90.1, 87.2 and 86.1 with 475, 543 and 582, but in REALTALK
all evidence in 55.3 instead of 57.4."""


def relevance_of(
    memory: Memory, similarity: float | None, coverage: float, share: float, calibration: Calibration
) -> float:
    """How likely a memory answers a question, from 0 to 1.

    Args:
        memory: What a search found.
        similarity: The memory's cosine to the question, if it is known.
        coverage: The share of the question's words that it has.
        share: Its score as a share of the best one.
        calibration: The calibration of the embedding model.
    """
    agent = RELEVANCE.agent * (memory.source == "agent")
    alone = signs(memory, similarity, coverage, calibration)
    return 1 / (1 + math.exp(-(RELEVANCE.base + RELEVANCE.rank * share + agent + alone)))


def signs(memory: Memory, similarity: float | None, coverage: float, calibration: Calibration) -> float:
    """The evidence for a memory by itself, in log-odds: its nearness, the words in common, its type of text."""
    is_talk = memory.kind == "chunk"
    return (
        RELEVANCE.nearness * nearness(similarity, calibration)
        + RELEVANCE.coverage * coverage
        + RELEVANCE.derived * (not is_talk)
        + RELEVANCE.asks * (is_talk and only_asks(words_of(memory).strip()))
        + RELEVANCE.length * min(len(memory.content), LONG) / LONG
    )


def nearness(similarity: float | None, calibration: Calibration) -> float:
    """How near a memory is: 0 like an answer to another question, 1 like an answer to this one."""
    if similarity is None or calibration.answering is None:
        return _UNKNOWN_NEARNESS
    return (similarity - calibration.unrelated) / (calibration.answering - calibration.unrelated)


def relevance_of_all(hits: Iterable[Hit]) -> float:
    """How likely at least one of these answers, from 0 to 1.

    On LoCoMo, REALTALK and BEAM, 77 to 100 in 100 contexts with a relevance above 0.8 contain evidence, and hardly any
    below 0.2. In short conversations it is too low: 59 of 100 below 0.2 contain evidence.
    """
    return 1 - math.prod(1 - (hit.relevance or 0.0) for hit in hits)


def worth_showing(
    found: Sequence[Hit],
    query: str,
    least: float,
    limit: int,
    calibration: Calibration,
    longest: int,
    *,
    past: bool = False,
) -> list[Hit]:
    """The hits that are worth their place in a context, best first; none if the question is about something else.

    Args:
        found: What was found. Outdated turns only show what the question is about.
        query: The question.
        least: The relevance that a memory of usual length must have; with 0 nothing is cut.
        limit: How many of them a context shows. These decide whether the question is about something else.
        calibration: The calibration of the embedding model.
        longest: Maximum characters of a turn that a context shows, if there is no room for more.
        past: Whether the question is about an earlier time, so that outdated turns count like others.
    """
    hits = [hit for hit in found if past or hit.memory.kind != "chunk" or hit.memory.valid_to is None]
    worth = {hit.memory.id: worth_of(hit, longest) for hit in hits}
    best_first = sorted(hits, key=lambda hit: -worth[hit.memory.id])
    top = max((hit.relevance or 0.0 for hit in hits), default=0.0)
    number, share = _FEW if len(found) >= COMPARED else _FEW_OF_FEW
    few = [hit for hit in best_first[:number] if worth[hit.memory.id] >= least * share]
    far = _FAR_BEHIND * top if least > 0 else 0.0
    more = [hit for hit in best_first[number:] if worth[hit.memory.id] >= least and (hit.relevance or 0.0) >= far]
    chosen = [*few, *more]
    # A fresh turn has no cosine until it is indexed, and it may be the answer.
    is_known = calibration.answering is not None and all(hit.similarity is not None for hit in hits)
    is_far = is_known and all(nearness(hit.similarity, calibration) < NEAR for hit in hits)
    is_unlikely = relevance_of_all(chosen[:limit]) < OFF_TOPIC
    is_elsewhere = least > 0 and is_far and is_unlikely and _covered(found, query) < COVERED
    return [] if is_elsewhere else chosen


def _covered(hits: Sequence[Hit], query: str) -> float:
    """The largest share of a question's words that a single hit has."""
    texts = Bm25({hit.memory.id: hit.memory.content for hit in hits})
    return max(texts.coverage(query_terms(query)).values(), default=0.0)


def worth_of(hit: Hit, longest: int) -> float:
    """The relevance of a hit for its length. A turn counts as at most `longest` characters with its head."""
    memory = hit.memory
    length = len(memory.content) if memory.kind != "chunk" else min(len(memory.content), longest + _HEAD)
    return float((hit.relevance or 0.0) * (_USUAL / (length + _FRAME)) ** _ROOM)
