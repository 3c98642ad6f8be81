"""Takes memories together by rule: merged facts, procedures, and what comes up again and again."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

from agent_memory.language.offline.text import canon, content_words
from agent_memory.language.tasks import (
    Conclusion,
    ConsolidateInput,
    ConsolidateOutput,
    FactView,
    Insight,
    ReflectInput,
    ReflectOutput,
    SynthesizeInput,
    SynthesizeOutput,
)

OFTEN = 3
"""Memories in which something has to come up before it is an insight."""
MOST = 10
"""Insights of one reflection."""
_MOST_WORDS = 60
"""Of a memory that are paired, since pairs grow with the square: as many as the longest statement has."""
_TROUBLE = frozenset(
    canon(word)
    for word in "error fail failed failure bug crash crashed issue problem conflict broke broken timeout outage".split()
)


def consolidate(data: ConsolidateInput) -> ConsolidateOutput:
    """Puts the facts of each group side by side, oldest first. Nothing is left out but what is said twice."""
    merged = []
    for group in data.groups:
        facts = sorted(group.facts, key=lambda fact: (fact.said_at, fact.ref))
        sayings = dict.fromkeys(fact.content.strip().rstrip(".") for fact in facts)
        merged.append(Conclusion(refs=[fact.ref for fact in facts], content="; ".join(sayings) + "."))
    return ConsolidateOutput(merged=merged)


def synthesize(data: SynthesizeInput) -> SynthesizeOutput:
    """Takes the how-to of each group that was told last: who tells one again tells how it is done now."""
    procedures = []
    for group in data.groups:
        newest = max(group.facts, key=lambda fact: (fact.said_at, fact.ref))
        procedures.append(Conclusion(refs=[fact.ref for fact in group.facts], content=newest.content))
    return SynthesizeOutput(procedures=procedures)


def reflect(data: ReflectInput) -> ReflectOutput:
    """Counts which two things are spoken of together, in how many memories. What comes up often is an insight."""
    words = {memory.ref: _words(memory) for memory in data.memories}
    evidence: dict[tuple[str, str], list[str]] = defaultdict(list)
    for memory in data.memories:
        for pair in itertools.combinations(sorted(words[memory.ref]), 2):
            evidence[pair].append(memory.ref)
    often = sorted((-len(refs), pair) for pair, refs in evidence.items() if len(refs) >= OFTEN)
    insights: list[Insight] = []
    told: set[str] = set()
    for _, pair in often:
        refs = evidence[pair]
        if len(insights) == MOST or not told.isdisjoint(refs):
            continue
        told.update(refs)
        lesson = any(not _TROUBLE.isdisjoint(words[ref]) for ref in refs)
        title = "Trouble that comes up" if lesson else "Comes up"
        phrase = _phrase(words[refs[0]], pair)
        insights.append(
            Insight(
                kind="lesson" if lesson else "insight",
                content=f"{title} again and again: {phrase} ({len(refs)} times).",
                refs=refs,
                replaces=[old.ref for old in data.earlier if set(pair) <= _words(old).keys()],
            )
        )
    return ReflectOutput(insights=insights)


def _words(memory: FactView) -> dict[str, str]:
    """The words that carry a memory, by what stands for each and its synonyms; in the order of the sentence."""
    said = [word for word in content_words(memory.content) if word.isalpha() and len(word) > 2]
    return {canon(word): word for word in reversed(said[:_MOST_WORDS])}


def _phrase(words: dict[str, str], pair: Sequence[str]) -> str:
    """Two words as a memory has them, in its order."""
    order = list(reversed(list(words)))
    return " ".join(words[stem] for stem in sorted(pair, key=order.index))
