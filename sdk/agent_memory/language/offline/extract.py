"""Chooses, turn by turn, the statements worth remembering.

What is taken from a turn depends on that turn and the few before it, never on how turns were cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from agent_memory.language.offline import (
    context,
    kinds,
    orders,
    procedures,
    reading,
    replies,
    speech,
    statements,
    topics,
    worth,
)
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.text import Sentence, sentences
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, ExtractOutput, TurnView
from agent_memory.models import FactKind
from agent_memory.text.dates import Moment

WINDOW = 4
"""How many turns before one may lend it a topic."""

_LONGEST_NAME = 40
"""In characters; longer ones are keys."""
MOST_PER_TURN = 6
SHORTEST_STATEMENT = 3
"""In words; a shorter one must set a value."""

LONGEST_STATEMENT = 400
"""In characters; what is longer was not said but pasted."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that might be kept: its words in the turn, and what it says once it stands alone."""

    sentence: Sentence
    content: str
    claims: tuple[Claim, ...]
    moments: tuple[Moment, ...]
    kind: FactKind
    importance: float


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
    own = statements.own_sentences(turn.content)
    readable = turn.content[: own[-1].start + len(own[-1].text)] if own else ""
    procedure = procedures.find(readable)
    found: list[tuple[int, ExtractedMemory]] = []
    if procedure:
        found.append((procedure.start, _procedural(procedure, turn)))
    loose = [sentence for sentence in own if not procedure or not procedure.start <= sentence.start < procedure.end]
    judged = {candidate.content.lower(): candidate for candidate in _candidates(loose, turn, before)}
    candidates = sorted(judged.values(), key=lambda candidate: -candidate.importance)
    found += [(chosen.sentence.start, _memory(chosen, turn)) for chosen in candidates[: MOST_PER_TURN - len(found)]]
    return [memory for _, memory in sorted(found, key=lambda pair: pair[0])] or _answer(turn, before)


def _names(turns: Iterable[TurnView]) -> frozenset[str]:
    """The names of those who talk, and their short forms."""
    names = {turn.name.split()[0][:_LONGEST_NAME] for turn in turns if turn.name and turn.name.strip()}
    return frozenset(names | {name[:size] for name in names for size in (3, 4) if len(name) > size})


def _candidates(sentences: list[Sentence], turn: TurnView, before: list[TurnView]) -> Iterator[Candidate]:
    names = _names([turn, *before])
    nearest_first = [view.content for view in reversed(before) if view.role in {"user", "agent"}]
    own_before = [view.content for view in before if view.role == "user" and view.name == turn.name]
    previous = own_before[-1] if own_before else ""
    # What one tells a friend to do always is advice, and no wish to an assistant.
    among_people = any(view.role == "user" and view.name and view.name != turn.name for view in before)
    for sentence in sentences:
        for statement in statements.statements(sentence, names):
            candidate = _judged(statement, turn.created_at, previous, nearest_first)
            advice = among_people and speech.is_standing_order(statement.text)
            if candidate is not None and not advice and not _only_names(candidate, turn.name):
                yield candidate
        clause = parse(sentence.text)
        if clause is not None and clause.verb:  # "Yes, please." changes nothing about who is spoken of.
            previous = sentence.text
        nearest_first = [sentence.text, *nearest_first]


def _only_names(candidate: Candidate, name: str | None) -> bool:
    """Whether a statement says no more than the name that is known of its speaker."""
    said = {claim.value.said for claim in candidate.claims if claim.topic == {"name"} and claim.value}
    return name is not None and name in said and len(candidate.claims) == 1


def _judged(sentence: Sentence, said_at: datetime, previous: str, nearest_first: list[str]) -> Candidate | None:
    """Makes a statement stand alone and weighs it; None if it is not worth keeping."""
    text = orders.as_statement(sentence.text) or context.with_person(sentence.text, previous)
    clause = parse(text)
    moments = context.moments(text, said_at, nearest_first)
    dated = context.with_dates(text, moments)
    content = context.with_topic(dated, clause, nearest_first)
    placed = content != dated
    claims = reading.read(content if placed else text, said_at)
    kind = kinds.kind_of(text, clause, claims)
    standing = speech.is_standing_order(text)
    telling = standing or placed or any(claim.relation not in {"state", "habit"} or _ended(claim) for claim in claims)
    if len(text) > LONGEST_STATEMENT or (len(text.split()) < SHORTEST_STATEMENT and not telling):
        return None
    if worth.slot_of(worth.Evidence(text, clause, claims, moments, kind, standing, placed)) is None:
        return None
    return Candidate(sentence, content, claims, moments, kind, kinds.importance_of(text, kind, claims))


def _ended(claim: Claim) -> bool:
    """Whether somebody has given up a habit ("I quit smoking")."""
    return claim.relation == "habit" and claim.negative and claim.change


def _memory(candidate: Candidate, turn: TurnView) -> ExtractedMemory:
    quote = candidate.sentence.text
    name = _name(turn)
    said = context.tidy(candidate.content)
    content = f"{name}: {said}" if name else said
    dated = context.dating(candidate.moments, candidate.claims)
    return ExtractedMemory(
        kind=candidate.kind,
        content=content,
        quote=quote,
        turns=[turn.ref],
        confidence=kinds.confidence_of(quote),
        importance=candidate.importance,
        valid_from=dated.valid_from,
        valid_to=dated.valid_to,
        time_phrase=next((moment.phrase for moment in candidate.moments if len(moment.phrase) > 2), None),
        tags=topics.tags(content, name),
    )


def _answer(turn: TurnView, before: list[TurnView]) -> list[ExtractedMemory]:
    """The memory of a short reply: its words, with the question that they answer."""
    question = replies.question_of(turn, before)
    reply = turn.content.strip()
    if question is None:
        return []
    name = _name(turn)
    content = f"{context.tidy(reply.rstrip('.!'))} (asked: {question})"
    kind: FactKind = "decision" if replies.is_choice(question) else "fact"
    found = context.dating(context.moments(reply, turn.created_at), ())
    memory = ExtractedMemory(
        kind=kind, content=f"{name}: {content}" if name else content, quote=reply, turns=[turn.ref],
        confidence=kinds.confidence_of(reply), importance=kinds.importance_of(content, kind, ()),
        valid_from=found.valid_from, valid_to=found.valid_to, tags=topics.tags(content, name),
    )  # fmt: skip
    return [memory]


def _name(turn: TurnView) -> str:
    return turn.name.split()[0] if turn.name and turn.name.strip() else ""


def _procedural(procedure: procedures.Procedure, turn: TurnView) -> ExtractedMemory:
    return ExtractedMemory(
        type="procedural",
        content=context.tidy("\n".join(filter(None, map(str.strip, procedure.quote.split("\n"))))),
        quote=procedure.quote,
        turns=[turn.ref],
        confidence=min(kinds.confidence_of(piece.text) for piece in sentences(procedure.quote)),
        importance=0.7,
        tags=topics.tags(procedure.quote),
    )
