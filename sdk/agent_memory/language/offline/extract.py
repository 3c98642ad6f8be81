"""Chooses, turn by turn, the statements worth remembering.

What is taken from a turn depends on that turn and the few before it, never on how turns were cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from agent_memory.language.offline import (
    context,
    endings,
    foreign,
    kinds,
    procedures,
    replies,
    second_thoughts,
    slots,
    speech,
    statements,
    topics,
)
from agent_memory.language.offline.grammar import Clause, parse
from agent_memory.language.offline.text import Sentence, expand, sentences, tokens
from agent_memory.language.offline.verbs import drops_subject
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, ExtractOutput, TurnView
from agent_memory.models import FactKind
from agent_memory.text.dates import Moment
from agent_memory.text.languages import is_foreign
from agent_memory.text.names import names
from agent_memory.text.patterns import linear

WINDOW = 4
"""How many turns before one it is read against. A choice."""
MOST_PER_TURN = 6
"""Memories of one turn. A choice."""
_NOTES = 3
"""The most sentences of a turn in which a figure without a verb is a note; in a longer turn it is part of a pasted
list. A choice."""
_SAID_BEFORE = 3
"""How many sentences that somebody said before show their language. A choice."""
_ENOUGH = 2
"""How many names and figures of a statement count; with more, it ranks no higher. A choice."""
_FIGURE = linear(r"\d+")
_LONGEST_NAME, LONGEST_STATEMENT = 40, 400
"""In characters; a longer name is a key, a longer statement was not said but pasted. Choices."""


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
    if before and before[-1].role == "agent" and speech.sets_exercise(before[-1].content):
        return []
    own = statements.own_sentences(turn.content)
    readable = turn.content[: own[-1].start + len(own[-1].text)] if own else ""
    procedure = procedures.find(readable)
    start, end = (procedure.start, procedure.start + len(procedure.text)) if procedure else (0, 0)
    found = [(start, _procedural(procedure.text, turn))] if procedure else []
    loose = [one for one in statements.of_sender(own) if not start <= one.start < end]
    judged = {memory.content.lower(): (start, memory) for start, memory in _memories(loose, turn, before)}
    best = sorted(judged.values(), key=lambda pair: (-pair[1].importance, -_particulars(pair[1].quote)))
    found += best[: MOST_PER_TURN - len(found)]
    is_note = len(own) == 1 and ((clause := parse(own[0].text)) is None or slots.is_verbless(own[0].text, clause))
    opening = own[0].start + len(own[0].text) if own else 0
    later = [(start, memory) for start, memory in found if start >= opening]
    answer = _answer(turn, before, own) if own and (is_note or len(later) == len(found)) else []
    return answer + [memory for _, memory in sorted(later if answer else found, key=lambda pair: pair[0])]


def _particulars(text: str) -> int:
    """How many names and figures a statement has, up to `_ENOUGH`. Of a long turn, those with most of them are kept."""
    return min(_ENOUGH, len(names(text)) + len(_FIGURE.findall(text)))


def _names(turns: Iterable[TurnView]) -> frozenset[str]:
    """The first names of the speakers."""
    return frozenset(filter(None, (_name(turn)[:_LONGEST_NAME] for turn in turns)))


def _memories(own: Sequence[Sentence], turn: TurnView, before: list[TurnView]) -> Iterator[tuple[int, ExtractedMemory]]:
    """The statements worth keeping, each with its place in the turn."""
    talking = _names([turn, *before])
    nearest_first = [view.content for view in reversed(before) if view.role in {"user", "agent"}]
    # "Always …" to a friend is advice, not a wish to an assistant.
    to_agent = before and before[-1].role == "agent"
    among_people = not to_agent and any(view.role == "user" and view.name and view.name != turn.name for view in before)
    mine = [view.content for view in reversed(before[-2:]) if view.role == "user" and view.name == turn.name]
    said = [sentence.text for content in mine for sentence in reversed(statements.own_sentences(content))]
    is_foreign_talk = is_foreign(turn.content) or any(map(is_foreign, said[:_SAID_BEFORE]))
    asked = any("?" in one.content for one in before[-1:] if (one.role, one.name) != (turn.role, turn.name))
    for sentence, quote in second_thoughts.meant(own, turn.content, said, asked=asked):
        found = foreign.told(sentence.text, turn.created_at)
        if found and not (among_people and found[0].kind == "requirement"):
            yield from ((sentence.start, _quoting(_foreign(turn, one), turn, quote)) for one in found)
            continue
        if is_foreign_talk and speech.is_in_doubt(sentence.text):
            continue
        wished = not among_people and speech.asks_to_keep(sentence.text)
        judged = partial(_judged, turn, nearest_first, among_people, wished=wished, few=len(own) <= _NOTES)
        for statement in statements.statements(sentence, talking):
            pieces = statements.parts(statement, reasons=False) or [statement]
            told = [(piece.start, memory) for piece in pieces if (memory := judged(piece.text))]
            if told and told[0][0] > statement.start and (whole := judged(statement.text)):
                told = [(statement.start, whole)]  # a consequence is kept with its reason
            yield from ((start, _quoting(memory, turn, quote)) for start, memory in told)
        nearest_first, said = [sentence.text, *nearest_first], [sentence.text, *said]


def _quoting(memory: ExtractedMemory, turn: TurnView, quote: str) -> ExtractedMemory:
    """The memory, with its quote from the turn: where speakers correct themselves, the memory has other words."""
    return memory if memory.quote in turn.content else memory.model_copy(update={"quote": quote})


def _judged(
    turn: TurnView, nearest_first: list[str], among_people: bool, text: str, *, wished: bool, few: bool
) -> ExtractedMemory | None:
    """The memory of a statement, if it is worth one, read against what was said before."""
    if len(text) > LONGEST_STATEMENT or (among_people and speech.is_standing_order(text)):
        return None
    guess = kinds.is_guess(expand(text))
    whole = f"I {text[:1].lower()}{text[1:]}" if drops_subject(tokens(text)) else endings.restated(text)
    clause, moments = parse(whole), context.moments(text, turn.created_at, nearest_first)
    kind = kinds.kind_of(whole, clause)
    noted = few and clause is not None and slots.is_note(expand(text), clause)
    if not (wished or noted) and (guess or not slots.fills_one(whole, clause, moments, kind)):
        return None
    if not wished and speech.is_of_the_moment(whole):
        return None
    return _memory(turn, text, context.tidy(context.with_dates(text, moments)), kind, clause, moments)


def _foreign(turn: TurnView, found: foreign.Told) -> ExtractedMemory:
    """The memory of a sentence in another language than English; if it tells of an event, with the day."""
    day = found.happens
    said = f"{found.said.rstrip(' .!')} ({day.label})." if day else found.said
    start, end = context.dating("", [] if day else foreign.bounds(found.text, turn.created_at), None, found.kind)
    memory = _memory(turn, found.text, context.tidy(said), found.kind, None, ())
    dated = {"valid_from": day.first if day else start, "valid_to": end}
    return memory.model_copy(update={"importance": found.importance, **dated})


def _memory(
    turn: TurnView, quote: str, said: str, kind: FactKind, clause: Clause | None, moments: Sequence[Moment]
) -> ExtractedMemory:
    name = _name(turn)
    valid_from, valid_to = context.dating(quote, moments, clause, kind)
    content = f"{name}: {said}" if name else said
    return ExtractedMemory(
        kind=kind, content=content, quote=quote, turns=[turn.ref], confidence=kinds.confidence_of(quote),
        importance=kinds.importance_of(said, kind), valid_from=valid_from, valid_to=valid_to,
        time_phrase=next((moment.phrase for moment in moments if len(moment.phrase) > 2), None),
        tags=topics.tags(content.partition(" (asked: ")[0], name),
    )  # fmt: skip


def _answer(turn: TurnView, before: list[TurnView], own: Sequence[Sentence]) -> list[ExtractedMemory]:
    """The memory of a short reply, the first sentence of a turn: its words, with the question that they answer."""
    alone = len(own) == 1
    reply = turn.content.strip() if alone else own[0].text
    moments, clause = context.moments(reply, turn.created_at), parse(reply)
    # "Yes, the one at half past two" chooses; "Yes, book it" is an order for now.
    stated = speech.is_statement(statements.opened(own[0], frozenset()).text) and not replies.is_praise(reply)
    settles = bool(moments) or (stated and (clause is None or slots.is_verbless(reply, clause)))
    question = replies.question_of(reply, before, alone=alone, settles=settles)
    if question is None:
        return []
    kind: FactKind = "decision" if replies.is_choice(question) else "fact"
    said = f"{context.tidy(context.with_dates(reply, moments).rstrip('.!'))} (asked: {question})"
    return [_memory(turn, reply, said, kind, None, moments)]


def _name(turn: TurnView) -> str:
    return turn.name.split()[0] if turn.name and turn.name.strip() else ""


def _procedural(quote: str, turn: TurnView) -> ExtractedMemory:
    return ExtractedMemory(
        type="procedural", quote=quote, turns=[turn.ref], importance=0.7, tags=topics.tags(quote),
        content=context.tidy("\n".join(filter(None, map(str.strip, quote.split("\n"))))),
        confidence=min(kinds.confidence_of(piece.text) for piece in sentences(quote)),
    )  # fmt: skip
