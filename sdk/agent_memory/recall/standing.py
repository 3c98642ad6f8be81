"""Standing instructions that apply to a question: "Always list sources when I ask about papers".

A search misses them, because a question has little in common with a wish about its answer. So a separate query reads
the requirements nearest to the question. Of those that are instructions, the context shows the ones that shape all
answers, or whose condition or subject the question meets.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.calibration import Calibration
from agent_memory.models import Hit, Memory
from agent_memory.recall.relevance import nearness, words
from agent_memory.text.instructions import standing_instruction
from agent_memory.text.sentences import sentences
from agent_memory.text.terms import query_terms
from agent_memory.text.wishes import wish

STANDING_READ = 20
"""Requirements that are read for a question."""
STANDING_SHOWN = 3
"""Maximum instructions in a context. A choice, as is the next."""
STANDING_NEAR = 1.0
"""Minimum nearness at which an instruction applies to a question that has no word of its subject."""


def applying(found: Sequence[tuple[Memory, float]], query: str, calibration: Calibration) -> list[Hit]:
    """The instructions that apply to a question: those whose subject it meets, nearest first, then the general ones.

    Args:
        found: Requirements, with their cosines to the question.
        query: The question.
        calibration: The calibration of the embedding model.
    """
    asked = _stems(query)
    ranks: list[tuple[bool, float, Hit]] = []
    for memory, similarity in found:
        subject = _subject(memory)
        if subject is None:
            continue
        near = nearness(similarity, calibration)
        met = not subject or not asked.isdisjoint(_stems(subject)) or near >= STANDING_NEAR
        if met:
            ranks.append((not subject, -near, Hit(memory=memory, score=similarity, similarity=similarity)))
    return [hit for *_, hit in sorted(ranks, key=lambda rank: rank[:2])][:STANDING_SHOWN]


def _stems(text: str) -> set[str]:
    return {stem for term in query_terms(text) for stem in words(term)}


def _subject(memory: Memory) -> str | None:
    """What an instruction applies to, empty if to everything; None if it is not an instruction."""
    for text in (memory.quote, memory.content):
        for sentence in sentences(text or ""):
            found = standing_instruction(sentence) or wish(sentence)
            if found is not None:
                return found.subject
    return None
