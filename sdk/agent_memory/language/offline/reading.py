"""Reads the claims of a text, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from agent_memory.language.offline.claims import Claim, Reader
from agent_memory.language.offline.claims_of_people import PEOPLE, YES_OR_NO
from agent_memory.language.offline.claims_of_things import THINGS
from agent_memory.language.offline.grammar import Clause, parse
from agent_memory.language.offline.text import content_stems, sentences

_READERS: tuple[Reader, ...] = (*PEOPLE, *THINGS, *YES_OR_NO)
_CLAUSE_BREAK = re.compile(
    r"(?:\s*[,;]\s*|\s+)(?:and|but|so|because|while|though|although|since)\s+"
    r"(?=(?:also |now |then |currently )?(?:i|we|my|our|the|she|he|it|they|i'm|i've|we're|we've|it's|i'll|we'll)\b)"
    r"|\s*;\s*|\s+-\s+|,\s+(?=(?:i|we|my|our|i'm|i've|we're|we've|it's)\b)",
    re.I,
)
_SHARED_SUBJECT = re.compile(
    r"^(?P<subject>i|we|(?:my|our) \w+|user|[A-Z][a-z]+)\b(?P<first>.*?)(?:,| )\s*(?:and|but)\s+"
    r"(?P<second>(?:also |now |currently )?"
    r"(?:live|work|love|hate|like|prefer|have|use|drive|study|play|speak|eat|drink|own|am|moved|switched"
    r"|lives|works|loves|hates|likes|prefers|has|uses|drives|studies|plays|speaks|eats|drinks|owns"
    r"|report|reports|do not|don't|does not|can't|cannot)\b.*)$",
    re.I,
)


@lru_cache(maxsize=4096)
def read(text: str, said_at: datetime) -> tuple[Claim, ...]:
    """The claims of a text of one or more sentences."""
    found: list[Claim] = []
    for sentence in sentences(text):
        for part in clauses(sentence.text):
            clause = parse(part)
            if clause is not None:
                found += _of_clause(clause, said_at)
    return tuple(dict.fromkeys(found))


def clauses(sentence: str) -> list[str]:
    """A sentence cut where another subject or a further verb of the same subject begins."""
    parts: list[str] = []
    for part in _CLAUSE_BREAK.split(sentence):
        shared = _SHARED_SUBJECT.match(part.strip())
        if shared:
            parts += [f"{shared['subject']}{shared['first']}", f"{shared['subject']} {shared['second']}"]
        elif part.strip():
            parts.append(part.strip())
    return parts


def _of_clause(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """The claims of the first reader that finds any."""
    if clause.time == "wish" and not clause.negative:
        return
    everything = content_stems(" ".join((*clause.thing, *clause.rest, *clause.asides)))
    for reader in _READERS if clause.owner != "it" else THINGS:
        claims = [claim for claim in reader(clause, said_at) if claim.topic]
        for claim in claims:
            covered = claim.topic | (content_stems(claim.value.said) if claim.value else frozenset())
            yield replace(
                claim,
                change=clause.change or claim.change,
                hedged=clause.hedged,
                additive=clause.additive,
                rest=everything - covered - {clause.verb},
            )
        if claims:
            return
