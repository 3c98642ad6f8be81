"""Chooses, turn by turn, the statements worth remembering.

What is taken from a turn depends on that turn and the few before it, never on how turns were cut into batches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from agent_memory.language.offline import context, kinds, persons, procedures, reading, speech, topics, worth
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.dates import Moment
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.text import Sentence, straighten
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, ExtractOutput, TurnView
from agent_memory.models import FactKind

WINDOW = 4
"""How many turns before one may lend it a topic."""

MOST_PER_TURN = 6

_PARTS = re.compile(
    r"\s*(?:,?\s+(?:and|but)\s+|;\s+|\s+-\s+|\.{3}\s+)(?:(?:also|now|then)\s+)?"
    r"(?=(?:i|we|my|our|i'm|i've|we're|we've|i'll|we'll|i'd|we'd)\b)", re.I
)  # fmt: skip
_VERDICT_TAIL = re.compile(
    r"\s*(?:,|;|\s-|\band\b|\bbut\b|\.{3})+\s*(?:it|that|this)(?:'s| is| was| has| felt| feels|'ll| will| made| makes)\b"
    r"(?!.*\b(?:\d|i|we|my|our)\b).{0,60}$"
    r"|\s+-\s+(?:so|such|really|super|very|the|a)? ?(?:\w+ )?(?:fun|great|awesome|amazing|best|exciting|excited|blast|cool|nice|incredible"
    r"|stoked|thrilled|wow|happy|proud)\b.{0,40}$|\s*[-,]\s*can't wait.*$", re.I
)  # fmt: skip
_BOUND = re.compile(
    r"^(?:so|because|since|although|though|while|until|unless|before|after|which|that|even|when|if|as)\b", re.I
)
_LEANING = re.compile(r"\b(?:it|them|him|her|he|she|they|this|that|there|too|either|one|so)\b", re.I)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that might be kept: its words in the turn, and what it says once it stands alone."""

    sentence: Sentence
    content: str
    claims: tuple[Claim, ...]
    moments: tuple[Moment, ...]
    kind: FactKind
    score: float


def extract(data: ExtractInput) -> ExtractOutput:
    """The memories of all user turns, in order."""
    turns = [*data.before, *data.turns]
    first = len(data.before)
    memories = [
        memory
        for at in range(first, len(turns))
        if turns[at].role == "user"
        for memory in of_turn(turns[at], turns[max(0, at - WINDOW) : at])
    ]
    return ExtractOutput(worth_extracting=bool(memories), memories=memories)


def of_turn(turn: TurnView, before: list[TurnView]) -> list[ExtractedMemory]:
    """The memories of one turn, read against the turns just before it."""
    own = speech.own_sentences(turn.content)
    readable = turn.content[: own[-1].start + len(own[-1].text)] if own else ""
    procedure = procedures.find(readable)
    found: list[tuple[int, ExtractedMemory]] = []
    if procedure:
        found.append((procedure.start, _procedural(procedure, turn)))
    loose = [sentence for sentence in own if not procedure or not procedure.start <= sentence.start < procedure.end]
    candidates = sorted(_candidates(loose, turn, before), key=lambda candidate: -candidate.score)
    found += [(chosen.sentence.start, _memory(chosen, turn)) for chosen in candidates[: MOST_PER_TURN - len(found)]]
    unique = {memory.content.lower(): memory for _, memory in sorted(found, key=lambda pair: pair[0])}
    return list(unique.values())


def _names(turns: Iterable[TurnView]) -> frozenset[str]:
    """The names of those who talk, and their short forms."""
    names = {turn.name.split()[0] for turn in turns if turn.name and turn.name.strip()}
    return frozenset(names | {name[:size] for name in names for size in (3, 4) if len(name) > size})


def _candidates(sentences: list[Sentence], turn: TurnView, before: list[TurnView]) -> Iterator[Candidate]:
    names = _names([turn, *before])
    nearest_first = [view.content for view in reversed(before) if view.role in {"user", "agent"}]
    own_before = [view.content for view in before if view.role == "user" and view.name == turn.name]
    previous = own_before[-1] if own_before else ""
    for sentence in sentences:
        bare = speech.opened(sentence, names)
        standing = speech.is_standing_order(straighten(bare.text))
        if bare.text and (standing or speech.is_statement(bare.text)):
            for part in [bare] if standing else map(without_verdict, parts(bare)):
                candidate = _judged(part, standing, turn.created_at, previous, nearest_first)
                if candidate is not None:
                    yield candidate
        previous = sentence.text
        nearest_first = [sentence.text, *nearest_first]


def parts(sentence: Sentence) -> list[Sentence]:
    """A compound sentence cut into the statements that stand alone; those that lean on another stay with it."""
    text = straighten(sentence.text)
    cuts = [0]
    ends: list[int] = []
    for match in _PARTS.finditer(text):
        ahead, behind = text[match.end() :], text[cuts[-1] : match.start()]
        following = _PARTS.split(ahead, maxsplit=1)[0]
        if len(behind.split()) < 3 or len(following.split()) < 3 or _LEANING.search(following) or _BOUND.match(behind):
            continue
        if parse(behind) is None or parse(following) is None:
            continue
        ends.append(match.start())
        cuts.append(match.end())
    ends.append(len(text))
    return [
        Sentence(sentence.text[begin:end].strip(), sentence.start + begin)
        for begin, end in zip(cuts, ends, strict=True)
        if speech.is_statement(sentence.text[begin:end].strip() or "?")
    ]


def without_verdict(sentence: Sentence) -> Sentence:
    """A statement without a tail that only says how it was ("…, and it was amazing!")."""
    tail = _VERDICT_TAIL.search(straighten(sentence.text))
    if tail is None or len(sentence.text[: tail.start()].split()) < 4:
        return sentence
    return Sentence(sentence.text[: tail.start()].rstrip(" ,;-"), sentence.start)


def _judged(
    sentence: Sentence, standing: bool, said_at: datetime, previous: str, nearest_first: list[str]
) -> Candidate | None:
    """Makes a statement stand alone and weighs it; None if it is not worth keeping."""
    text = context.with_person(sentence.text, previous)
    clause = parse(text)
    claims = reading.read(text, said_at)
    strong = any(claim.relation not in {"state", "habit"} for claim in claims)
    if len(text.split()) < 4 and not strong and not standing:
        return None
    moments = context.moments(text, said_at)
    kind = kinds.kind_of(text, clause, claims)
    dated = context.with_dates(text, moments, said_at)
    content = context.with_topic(dated, clause, nearest_first)
    placed = content != dated
    points = worth.score(worth.Evidence(text, clause, claims, moments, kind, standing, placed))
    return Candidate(sentence, content, claims, moments, kind, points) if points >= worth.THRESHOLD else None


def _memory(candidate: Candidate, turn: TurnView) -> ExtractedMemory:
    quote = candidate.sentence.text
    name = turn.name.split()[0] if turn.name and turn.name.strip() else ""
    content = persons.attributed(candidate.content, name) if name else candidate.content
    dated = context.dating(candidate.moments, candidate.claims)
    return ExtractedMemory(
        kind=candidate.kind,
        content=context.tidy(content),
        quote=quote,
        turns=[turn.ref],
        confidence=kinds.confidence_of(quote),
        importance=kinds.importance_of(quote, candidate.kind, candidate.claims),
        valid_from=dated.valid_from,
        valid_to=dated.valid_to,
        time_phrase=candidate.moments[0].phrase if candidate.moments else None,
        tags=topics.tags(content, name),
    )


def _procedural(procedure: procedures.Procedure, turn: TurnView) -> ExtractedMemory:
    return ExtractedMemory(
        type="procedural",
        content=context.tidy(re.sub(r"\s*\n\s*", "\n", procedure.quote)),
        quote=procedure.quote,
        turns=[turn.ref],
        confidence=kinds.confidence_of(procedure.quote),
        importance=0.7,
        tags=topics.tags(procedure.quote),
    )
