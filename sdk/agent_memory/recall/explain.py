"""Explanations: what a score is made of, in words and in numbers that add up to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent_memory.models import FoundBy
from agent_memory.recall.relevance import words

PART_WORDS = {
    "text": "words in common",
    "vector": "nearness in meaning",
    "speaker": "said by the one whom the question names",
    "date": "said or happened at the time that the question names",
    "neighbours": "the talk around it",
    "thread": "its conversation",
    "signs": "how well it fits by itself",
    "agent": "taken away: an agent said it, and the question is not about that",
    "unplaced": "as much as a turn gains from the talk around it on average",
    "recency": "how recent it is",
    "importance": "how important it is",
    "use": "how often it was recalled",
    "trust": "how far its source is believed",
    "asked": "taken away: it is the question that was just asked",
}
"""What each part of a score means, by its name in `why`. The names stay the same between versions."""
FOUND_WORDS: dict[FoundBy, str] = {
    "words": "words",
    "vector": "its vector",
    "neighbour": "standing beside a hit",
    "source": "being what a hit was derived from",
    "link": "a link from a hit",
    "fresh": "being said a moment ago",
}
"""How a memory became a candidate, by the name in `found_by`."""


RERANKED = "; put into its place by a language model"


def shared_terms(terms: Iterable[str], text: str) -> list[str]:
    """The terms of a question that a text has, ignoring word endings."""
    there = words(text)
    return [term for term in dict.fromkeys(terms) if any(word in there for word in words(term))]


def explained(
    parts: Mapping[str, float], found_by: Sequence[FoundBy], similarity: float | None, shared: Sequence[str]
) -> str:
    """One line with the parts of a score, and how its memory was found.

    The figures have three decimals and add up as printed: the largest part absorbs the rounding error.
    """
    figures = {name: round(value * 1000) for name, value in parts.items()}
    total = round(sum(parts.values()) * 1000)
    if figures:
        largest = max(figures, key=lambda name: abs(figures[name]))
        figures[largest] += total - sum(figures.values())
    details = {"text": ", ".join(shared), "vector": "" if similarity is None else f"cosine {similarity:.2f}"}
    text = f"{total / 1000:.3f}"
    for place, (name, figure) in enumerate((name, figure) for name, figure in figures.items() if figure):
        sign = ("= " if figure > 0 else "= -") if place == 0 else ("+ " if figure > 0 else "- ")
        detail = f" ({details[name]})" if details.get(name) else ""
        text += f" {sign}{abs(figure) / 1000:.3f} {PART_WORDS.get(name, name)}{detail}"
    ways = " and ".join(FOUND_WORDS[way] for way in found_by)
    return f"{text}; found by {ways}" if ways else text
