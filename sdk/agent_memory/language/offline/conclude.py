"""Combines memories by rule: merged facts, procedures, what comes up again and again, an answer."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping

from agent_memory.calibration import OFF_TOPIC
from agent_memory.language.offline.text import canon, content_words
from agent_memory.language.tasks import (
    CitedText,
    Conclusion,
    ConsolidateInput,
    ConsolidateOutput,
    FactView,
    Insight,
    Quotation,
    ReflectInput,
    ReflectOnInput,
    ReflectOnOutput,
    ReflectOutput,
    SynthesizeInput,
    SynthesizeOutput,
)

OFTEN = 3
"""Memories in which something has to come up before it is an insight."""
MOST = 10
"""Insights of one reflection."""
MOST_QUOTED = 5
"""Notes that answer a question. A choice: without a model, nobody joins them into fewer sentences."""
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
    """Keeps the latest how-to of each group: people who explain it again explain how it is done now."""
    procedures = []
    for group in data.groups:
        newest = max(group.facts, key=lambda fact: (fact.said_at, fact.ref))
        procedures.append(Conclusion(refs=[fact.ref for fact in group.facts], content=newest.content))
    return SynthesizeOutput(procedures=procedures)


def reflect(data: ReflectInput) -> ReflectOutput:
    """Counts which two things are spoken of together, in how many memories. What comes up often is an insight.

    Trouble is counted in the memories that tell of trouble, and apart from the rest: a thing that is spoken of
    in ten memories, three of them on a failure, has failed three times.
    """
    words = {memory.ref: _words(memory) for memory in data.memories}
    bad = {ref: said for ref, said in words.items() if not _TROUBLE.isdisjoint(said)}
    found = [(True, *one) for one in _often(bad)]
    found += [(False, *one) for one in _often(words, of_trouble=False) if not set(one[1]) <= bad.keys()]
    insights: list[Insight] = []
    for lesson, pair, refs in found:
        title = "Trouble that comes up" if lesson else "Comes up"
        phrase = " ".join(word for stem, word in words[refs[0]].items() if stem in pair)
        insights.append(
            Insight(
                kind="lesson" if lesson else "insight",
                content=f"{title} again and again: {phrase} ({len(refs)} times).",
                refs=refs,
                replaces=[old.ref for old in data.earlier if set(pair) <= _words(old).keys()],
            )
        )
    return ReflectOutput(insights=insights[:MOST])


def reflect_on(data: ReflectOnInput) -> ReflectOnOutput:
    """The notes that bear on the question, word for word: those that are likely to answer it, or have a word of it."""
    asked = {canon(word) for word in content_words(data.question)}
    bearing = [
        note
        for note in data.notes
        if (note.relevance or 0.0) >= OFF_TOPIC or not asked.isdisjoint(map(canon, content_words(note.text)))
    ]
    return ReflectOnOutput(
        sentences=[
            CitedText(text=note.text, evidence=[Quotation(ref=note.ref, quote=note.text)])
            for note in bearing[:MOST_QUOTED]
        ]
    )


def _often(
    words: Mapping[str, Mapping[str, str]], *, of_trouble: bool = True
) -> list[tuple[tuple[str, ...], list[str]]]:
    """The pairs of words that many memories have, each with these memories. No memory counts for two pairs.

    Pairs that name trouble come first, or are left out; then those that most memories have; then those said first.
    """
    evidence: dict[frozenset[str], list[str]] = defaultdict(list)
    for ref, said in words.items():
        for pair in itertools.combinations(said, 2):
            evidence[frozenset(pair)].append(ref)
    often = [
        (_TROUBLE.isdisjoint(pair), -len(refs), pair)
        for pair, refs in evidence.items()
        if len(refs) >= OFTEN and (of_trouble or _TROUBLE.isdisjoint(pair))
    ]
    told: set[str] = set()
    found = []
    for *_, both in sorted(often, key=lambda entry: entry[:2]):
        refs = evidence[both]
        if told.isdisjoint(refs):
            told.update(refs)
            found.append((tuple(both), refs))
    return found


def _words(memory: FactView) -> dict[str, str]:
    """The words that carry a memory, by what stands for each and its synonyms; in the order of the sentence."""
    said: dict[str, str] = {}
    for word in [word for word in content_words(memory.content) if word.isalpha() and len(word) > 2][:_MOST_WORDS]:
        said.setdefault(canon(word), word)
    return said
