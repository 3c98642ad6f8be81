"""Reads the claims of a text, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from agent_memory.language.offline.claims import Claim, Reader
from agent_memory.language.offline.claims_of_people import PEOPLE, STATES, TRAITS, WISHES
from agent_memory.language.offline.claims_of_places import placed
from agent_memory.language.offline.claims_of_taste import HABITS, TASTE
from agent_memory.language.offline.claims_of_things import THINGS
from agent_memory.language.offline.grammar import Clause, parse
from agent_memory.language.offline.text import content_stems, sentences
from agent_memory.text.patterns import bounded

_READERS: tuple[Reader, ...] = (*TASTE, *PEOPLE, *THINGS, *TRAITS, *HABITS, *STATES)
_CLAUSE_BREAK = bounded(
    r"(?:\s*[,;]\s*|\s+)(?:and|but|so|because|while|though|although|since)\s+"
    r"(?=(?:also |now |then |currently )?(?:i|we|my|our|the|she|he|it|they|i'm|i've|we're|we've|it's|i'll|we'll)\b)"
    r"|\s*;\s*|\s+-\s+|:\s+(?=(?:it's|it|i|we|i'm|we've|i've)\b)|,\s+(?=(?:i|we|my|our|i'm|i've|we're|we've|it's)\b)",
    re.I,
)
_IT = bounded(r"it(?P<verb>'s| is| was| has| will| starts| ends| costs| runs| takes| needs)\b", re.I)
_SHARED_SUBJECT = bounded(
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
                found += [*_of_clause(clause, said_at), *placed(clause)]
    return tuple(dict.fromkeys(found))


def clauses(sentence: str) -> list[str]:
    """A sentence cut where another subject or a further verb of the same subject begins."""
    parts: list[str] = []
    for part in _CLAUSE_BREAK.split(sentence):
        part = _named(part.strip(), parts[-1] if parts else "")
        shared = _SHARED_SUBJECT.match(part)
        if shared:
            parts += [f"{shared['subject']}{shared['first']}", f"{shared['subject']} {shared['second']}"]
        elif part:
            parts.append(part)
    return parts


def _named(part: str, before: str) -> str:
    """A clause about "it" with the thing that the clause before it is about: "My thesis is … and it's due in May"."""
    pronoun = _IT.match(part)
    clause = parse(before) if pronoun and before else None
    if pronoun is None or clause is None or not clause.thing or clause.owner != "self":
        return part
    verb = pronoun["verb"].replace("'s", " is")
    return f"The {' '.join(clause.thing)}{verb}{part[pronoun.end() :]}"


def _of_clause(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """The claims of the first reader that finds any."""
    everything = content_stems(" ".join((*clause.thing, *clause.rest, *clause.asides)))
    for reader in _readers_for(clause):
        claims = [claim for claim in reader(clause, said_at) if claim.topic]
        for claim in claims:
            covered = claim.topic | (content_stems(claim.value.said) if claim.value else frozenset())
            yield replace(
                claim,
                change=clause.change or claim.change,
                hedged=clause.hedged,
                additive=clause.additive,
                rest=everything - covered - {clause.verb, *claim.owner.split(".")},
            )
        if claims:
            return


def _readers_for(clause: Clause) -> tuple[Reader, ...]:
    """Which readers a clause is for: a wish claims nothing but a dated plan, a pronoun nothing about a person."""
    if clause.time == "wish":
        return () if clause.hedged else WISHES
    return THINGS if clause.owner == "it" else _READERS
