"""Keeps the summary of a thread: its topic, what was said and settled, and what is still open.

Every list is made of sentences of the talk. What is kept is chosen by the sentences alone, so a summary that grew in
steps is (nearly) the one that is made at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from textwrap import shorten
from typing import NamedTuple

from agent_memory.language.offline import context, kinds, speech, statements, topics
from agent_memory.language.offline.claims import ONE_AT_A_TIME, Claim
from agent_memory.language.offline.comparison import presumed_topic
from agent_memory.language.offline.extract import WINDOW, of_turn
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.reconcile import Statement, contradiction, duplicates, read
from agent_memory.language.offline.text import content_stems, content_words, expand, straighten
from agent_memory.language.tasks import Correction, FactView, SummarizeInput, SummarizeOutput, SummaryView, TurnView
from agent_memory.text.instructions import standing_instruction
from agent_memory.text.patterns import bounded, linear

MOST_POINTS = 8
MOST_OPEN = 6
_FEWEST_OPENING = 3
"""Content words of a turn that opens a talk. A choice."""
_LONGEST_TOPIC = 90
"""In characters. A choice."""
_MOST_WAITING = 60
"""Open issues and next steps that are held while turns are read: each is compared with each later sentence."""

_TO_DO = bounded(
    r"\b(?:still (?:need|have|waiting|not sure|to)|(?:not sure|no idea) (?:yet|about|whether|if|how|which)"
    r"|decision (?:is |was )?(?:postponed|deferred|pending)|to be (?:decided|confirmed|clarified)|we do not know"
    r"|have not (?:\w+ )?(?:decided|chosen|heard|figured|booked|finished)|to-?do|tbd|undecided|need to decide"
    r"|yet to (?:be |decide|choose|book|confirm)|waiting (?:for|on)|remains? (?:open|unclear)|open question)\b",
    re.I,
)
_STEP = bounded(
    r"^(?:(?:i|we) (?:will|shall|am going to|are going to|need to|have to|must|plan to|should)|next(?: up| step|,)"
    r"|(?:the|my|our) next|then (?:i|we) |after that|tomorrow|let us)\b|\b(?:next step|action item|follow[- ]up)\b"
    r"|^(?-i:[A-Z][a-z]+) to (?:send|write|draft|check|call|ask|prepare|book|set|review|fix|order|find|talk)\b",
    re.I,
)
_NO_ANSWER = linear(
    r"\b(?:let me (?:check|find|look)|i do not know|i (?:will|have to|need to) (?:check|look|find|get back|ask)"
    r"|not sure|no idea)\b",
    re.I,
)
_INFORMING = bounded(
    r"\d|\b(?:must|may|needs?|requires?|allowed|available|includes?|costs?|deadline|policy|booked|confirmed|scheduled"
    r"|approved|cancell?ed|changed|means|because|found)\b",
    re.I,
)
_OFFERING = bounded(
    r"\b(?:(?:would|do) you|(?:shall|should) i|let me|i (?:can|could)|i'll|i'd|happy to|feel free|no problem"
    r"|noted|got it|great|sounds|glad|sorry|congratulations|enjoy|sure|of course)\b",
    re.I,
)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_ASSISTANT = "Assistant: "
_ABOUT_THE_TALK = bounded(r"\b(?:summari[sz]e|sum up|recap|repeat|rephrase|explain|our (?:chat|conversation))\b", re.I)


class Said(NamedTuple):
    """A sentence of the talk, with how much there is to it."""

    statement: Statement
    weight: float
    text: str


def summarize(data: SummarizeInput) -> SummarizeOutput:
    """Merges new turns into a thread's summary."""
    earlier = data.earlier or SummaryView()
    turns = data.turns
    start = turns[0].created_at if turns else _LONG_AGO
    memories = [
        (turn, memory)
        for at, turn in enumerate(turns)
        if turn.role == "user"
        for memory in of_turn(turn, turns[max(0, at - WINDOW) : at])
    ]
    said = [_said(memory.content, turn.created_at) for turn, memory in memories]
    informed = [
        _said(text, turn.created_at)
        for turn in turns
        for text in (_informing(turn) if turn.role == "agent" else _unread(turn) if turn.role == "user" else ())
    ]
    before = _corrected([_said(text, start) for text in earlier.key_points], data.corrections)
    said, informed = (_corrected(items, data.corrections, later=False) for items in (said, informed))
    new = sorted([*said, *informed], key=lambda item: item.statement.fact.said_at)
    current = _current([*before, *new])
    best = sorted(range(len(current)), key=lambda at: (current[at].weight, at), reverse=True)[:MOST_POINTS]
    points = [current[at].text for at in sorted(best)]
    settled = _corrected([_said(text, start) for text in earlier.decisions], data.corrections)
    decided = [_said(memory.content, turn.created_at) for turn, memory in memories if memory.kind == "decision"]
    decisions = [item.text for item in _current([*settled, *decided])][-MOST_POINTS:]
    open_issues = _open_issues(earlier.open_issues, turns)
    next_steps = _next_steps(earlier.next_steps, turns)
    known = [earlier.topic, earlier.topic] if earlier.topic else []
    told = [turn.content for turn in turns if turn.role in {"user", "agent"}]
    topic = topics.main_topic([*known, *earlier.key_points, *told]) or earlier.topic or _opening(turns)
    values = _values(_current([*settled, *before, *said]))
    elsewhere = {*decisions, *open_issues, *next_steps}
    return SummarizeOutput(
        topic=topic,
        key_points=[point for point in points if point not in elsewhere],
        decisions=decisions,
        open_issues=open_issues,
        next_steps=next_steps,
        state={"topic": topic, "values": values, "decisions": decisions, "open": open_issues},
    )


def _opening(turns: Sequence[TurnView]) -> str:
    """How the talk was opened, in the words of the first turn that says something. In any language."""
    for turn in turns:
        if turn.role == "user":
            said = [statements.opened(one, frozenset()).text for one in statements.own_sentences(turn.content)]
            told = " ".join(one for one in said if one)
            if len(content_stems(told)) >= _FEWEST_OPENING:
                return shorten(told.rstrip(". "), _LONGEST_TOPIC, placeholder=" …")
    return ""


def _corrected(items: Sequence[Said], corrections: Sequence[Correction], *, later: bool = True) -> list[Said]:
    """Sentences with those that a correction concerns in the words of what is true now.

    If `later` ones too, their times are not minded: those of an earlier summary have none of their own.
    """
    for correction in corrections:
        was, now = _said(correction.was, correction.said_at), _said(correction.now, correction.said_at)
        items = [
            now
            if (later or item.statement.fact.said_at < correction.said_at)
            and _rests_on(item.statement, was.statement, now.statement)
            else item
            for item in items
        ]
    return list({item.text: item for item in items}.values())


def _rests_on(item: Statement, was: Statement, now: Statement) -> bool:
    return duplicates(item, was) or (contradiction(item, now) is not None and contradiction(item, was) is None)


def _said(text: str, said_at: datetime) -> Said:
    """Weighs a sentence by its own words only, so that it weighs the same when it comes back in an earlier summary."""
    statement = read(FactView(ref="", kind="fact", content=text, said_at=said_at))
    importance = kinds.importance_of(text, kinds.kind_of(text, parse(text)))
    return Said(statement, importance - text.startswith(_ASSISTANT) / 3, text)


def _current(oldest_first: Sequence[Said]) -> list[Said]:
    """What still holds: nothing that a later sentence repeats or excludes."""
    kept: list[Said] = []
    for item in oldest_first:
        kept = [
            other
            for other in kept
            if not duplicates(item.statement, other.statement) and not contradiction(item.statement, other.statement)
        ]
        kept.append(item)
    return kept


def _informing(turn: TurnView) -> list[str]:
    """The sentences of an assistant's turn that tell something, at most two."""
    telling = [
        _ASSISTANT + context.tidy(sentence.text)
        for sentence in statements.own_sentences(turn.content)
        if not sentence.text.endswith("?")
        and _INFORMING.search(straighten(sentence.text))
        and not _OFFERING.search(straighten(sentence.text))
        and 4 <= len(content_words(sentence.text)) <= 30
    ]
    return telling[:2]


def _unread(turn: TurnView) -> list[str]:
    """What a user says in a language that the rules do not read: the sentences with figures or standing orders."""
    return [
        context.tidy(sentence.text)
        for sentence in statements.own_sentences(turn.content)
        if speech.is_foreign(sentence.text)
        and not sentence.text.endswith("?")
        and (any(map(str.isdigit, sentence.text)) or standing_instruction(sentence.text))
    ]


def _open_issues(earlier: list[str], turns: list[TurnView]) -> list[str]:
    """Questions that nobody answered, and what people said was still to be done or decided."""
    issues = list(earlier)
    for at, turn in enumerate(turns):
        if turn.role == "agent" and at == 0 and issues and issues[-1].endswith("?") and _answers(turn):
            issues = issues[:-1]
        if turn.role in {"user", "agent"}:
            issues = _unsettled(issues, turn)[-_MOST_WAITING:]
        if turn.role == "user":
            reply = next(
                (other for other in turns[at + 1 :] if (other.role, other.name) != (turn.role, turn.name)), None
            )
            issues += [issue for issue in _raised(turn) if not (issue.endswith("?") and reply and _answers(reply))]
    return list(dict.fromkeys(issues))[-MOST_OPEN:]


def _raised(turn: TurnView) -> list[str]:
    raised = []
    for sentence in statements.own_sentences(turn.content):
        asked = sentence.text.rstrip().endswith("?") and not _ABOUT_THE_TALK.search(sentence.text)
        if len(content_stems(sentence.text)) >= 2 and (asked or _TO_DO.search(expand(sentence.text))):
            raised.append(context.tidy(sentence.text))
    return raised


def _answers(turn: TurnView) -> bool:
    """Whether a turn gives an answer, not only a question or a promise to look."""
    if turn.role not in {"user", "agent"} or _NO_ANSWER.search(expand(turn.content)):
        return False
    return any(not sentence.text.endswith("?") for sentence in statements.own_sentences(turn.content))


def _unsettled(issues: list[str], turn: TurnView) -> list[str]:
    """The issues of which a later turn does not state most, as done or known."""
    if not issues:
        return issues
    told = [
        content_stems(sentence.text)
        for sentence in statements.own_sentences(turn.content)
        if not sentence.text.endswith("?") and not _TO_DO.search(expand(sentence.text))
    ]

    def is_settled(issue: str) -> bool:
        about = content_stems(_TO_DO.sub("", expand(issue))) - {"need", "still"}
        enough = max(2, round(0.6 * len(about)))
        return len(about) >= 2 and any(len(about & stems) >= enough for stems in told)

    return [issue for issue in issues if not is_settled(issue)]


def _next_steps(earlier: list[str], turns: list[TurnView]) -> list[str]:
    """What people said that they would do, until they say that it is done."""
    steps = list(earlier)
    for turn in turns:
        if turn.role != "user":
            continue
        for sentence in statements.own_sentences(turn.content):
            plain = statements.opened(sentence, frozenset()).text
            if _is_step(plain):
                steps.append(context.tidy(context.with_dates(plain, context.moments(plain, turn.created_at))))
            else:
                steps = _undone(steps, plain)
        steps = steps[-_MOST_WAITING:]
    return list(dict.fromkeys(steps))[-MOST_OPEN:]


def _is_step(text: str) -> bool:
    """Whether a statement says what somebody will do; what was decided is listed elsewhere."""
    plain = expand(text)
    if not _STEP.search(plain) or len(content_stems(text)) < 2:
        return False
    decided = kinds.kind_of(text, parse(text)) == "decision"
    return speech.is_statement(text) and not speech.is_addressed(text) and not decided


def _undone(steps: list[str], text: str) -> list[str]:
    """The steps that a statement does not tell as done."""
    clause = parse(text) if steps else None
    if clause is None or clause.negative or clause.time not in {"past", "now"}:
        return steps
    told = content_stems(text)
    return [step for step in steps if len(told & (about := content_stems(step))) < max(2, round(0.7 * len(about)))]


def _values(items: list[Said]) -> dict[str, str]:
    """The latest value of every attribute that the talk has settled."""
    found: dict[tuple[str, frozenset[str]], tuple[str, str]] = {}
    known: list[Claim] = []
    for item in items:
        for claim in item.statement.claims:
            sure = not (claim.negative or claim.hedged or item.text.startswith(_ASSISTANT))
            named = any(map(topics.is_attribute, claim.topic)) or claim.topic & ONE_AT_A_TIME
            if claim.values and claim.lasting and sure and named:
                topic = presumed_topic(claim, [one for one in known if one.owner == claim.owner])
                known.append(replace(claim, topic=topic))
                label = found.get((claim.owner, topic), (_label(claim, item.text), ""))[0]
                found[claim.owner, topic] = label, claim.values[0].shown
    return dict(found.values())


def _label(claim: Claim, text: str) -> str:
    """An attribute's name in words: "budget (Hawaii trip)"."""
    owner = "" if claim.owner == "self" else f"{claim.owner.removeprefix('self.')}: "
    words = [word for word in dict.fromkeys(content_words(text)) if content_stems(word) & claim.topic]
    head, *rest = sorted(words, key=lambda word: not topics.is_attribute(word)) or sorted(claim.topic)
    return f"{owner}{head} ({' '.join(rest)})" if rest else owner + head
