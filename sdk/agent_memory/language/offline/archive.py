"""Gives an account of a stretch of talk: what was said that matters, and the words by which it is found."""

from __future__ import annotations

from collections import Counter

from agent_memory.language.offline import topics
from agent_memory.language.offline.summarize import summarize
from agent_memory.language.offline.text import sentences
from agent_memory.language.tasks import ArchiveInput, ArchiveOutput, SummarizeInput
from agent_memory.text.names import names

MOST = 8
"""Topics, and entities, that are named."""


def archive(data: ArchiveInput) -> ArchiveOutput:
    """The account of some turns."""
    summary = summarize(SummarizeInput(turns=data.turns))
    said = [turn.content for turn in data.turns if turn.role in {"user", "agent"}]
    found = Counter(topic.lower() for text in said for topic in topics.topics(text))
    found.pop(summary.topic.lower(), None)
    entities = Counter(name for text in said for name in names(text))
    opening = [first[0].text for text in said[:3] if (first := sentences(text))]
    points = [*summary.key_points, *summary.decisions] or opening or ["Nothing of note."]
    return ArchiveOutput(
        summary=" ".join(point.rstrip(".") + "." for point in dict.fromkeys(points)),
        topics=[*filter(None, [summary.topic]), *(topic for topic, _ in found.most_common())][:MOST],
        entities=[name for name, _ in entities.most_common(MOST)],
        decisions=summary.decisions,
        questions=summary.open_issues,
    )
