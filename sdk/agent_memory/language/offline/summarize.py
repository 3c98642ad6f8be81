"""Keeps the summary of a thread: its topic, what was said and settled, and what is still open.

Every list is made of sentences of the talk. What is kept is chosen by the sentences alone, so a summary that grew in
steps is (nearly) the one that is made at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agent_memory.language.offline import context, kinds, speech, statements, topics, worth
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.compare import presumed_topic
from agent_memory.language.offline.extract import WINDOW, of_turn
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.reconcile import Statement, contradiction, duplicates, read
from agent_memory.language.offline.text import content_stems, content_words, expand, straighten
from agent_memory.language.tasks import Correction, FactView, SummarizeInput, SummarizeOutput, SummaryView, TurnView
from agent_memory.text.patterns import bounded, either, linear

MOST_POINTS = 8
MOST_OPEN = 6
_MOST_WAITING = 60
"""Open issues and next steps that are held while turns are read: each is compared with each later sentence."""

_STILL = either("need have waiting deciding not_sure looking to")
_TO_DO_WORDS = either(rf"""
    still_{_STILL} not_sure_(?:yet|about|whether|if|which)
    have_not_(?:\w+_)?(?:decided|chosen|heard|figured|booked|finished)
    to-?do tbd yet_to_(?:be_|decide|choose|book|confirm) undecided need_to_decide waiting_(?:for|on)
    remains?_(?:open|unclear) no_idea_(?:yet|how|which) open_question
""")
_TO_DO = bounded(rf"\b{_TO_DO_WORDS}\b", re.I)
_GOING_TO = either("will shall am_going_to are_going_to need_to have_to must plan_to should am_planning_to")
_STEP = bounded(
    rf"^(?:(?:i|we) {_GOING_TO}|next(?: up| step|,)|(?:the|my|our) next|then (?:i|we) |after that|tomorrow|let us)\b"
    r"|\b(?:next step|action item|follow[- ]up)\b",
    re.I,
)
_NO_ANSWER = linear(
    r"\b(?:let me (?:check|find|look)|i (?:do not|don't) know|i'll (?:check|look|find|get back)|not sure|no idea)\b",
    re.I,
)
_INFORMING_WORDS = either("""
    must may can needs? require[sd]? allowed available includes? costs? deadline policy recommended booked confirmed
    scheduled approved cancell?ed changed means because found
""")
_INFORMING = bounded(rf"\d|\b{_INFORMING_WORDS}\b", re.I)
_OFFERING_WORDS = either("""
    would_you do_you shall_i should_i let_me i_can i_could i'll i_will happy_to feel_free you're_welcome no_problem
    noted got_it great sounds glad sorry congratulations enjoy sure of_course i've_noted i_have_noted i'd
""")
_OFFERING = bounded(rf"\b{_OFFERING_WORDS}\b", re.I)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_ASSISTANT = "Assistant: "
_ABOUT_THE_TALK = bounded(r"\b(?:summari[sz]e|sum up|recap|repeat|rephrase|explain|our (?:chat|conversation))\b", re.I)
_NAMED_ATTRIBUTES = {
    "name": "name", "residence": "home", "employ": "employer", "depart": "department", "manag": "manager",
    "salari": "salary", "marital": "marital status",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of the talk, with how much there is to it."""

    statement: Statement
    weight: float

    @property
    def text(self) -> str:
        """The sentence."""
        return self.statement.fact.content


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
    informed = [_said(text, turn.created_at) for turn in turns if turn.role == "agent" for text in _informing(turn)]
    before = _corrected([_said(text, start) for text in earlier.key_points], data.corrections)
    said, informed = (_corrected(items, data.corrections, later=False) for items in (said, informed))
    new = sorted([*said, *informed], key=lambda item: item.statement.fact.said_at)
    points = _strongest(_current([*before, *new]), MOST_POINTS)
    settled = _corrected([_said(text, start) for text in earlier.decisions], data.corrections)
    decided = [_said(memory.content, turn.created_at) for turn, memory in memories if memory.kind == "decision"]
    decisions = [item.text for item in _current([*settled, *decided])][-MOST_POINTS:]
    open_issues = _open_issues(earlier.open_issues, turns)
    next_steps = _next_steps(earlier.next_steps, turns)
    topic = _topic(earlier, [turn.content for turn in turns if turn.role in {"user", "agent"}])
    values = _values(_current([*settled, *before, *said]))
    return SummarizeOutput(
        topic=topic,
        key_points=[item.text for item in points],
        decisions=decisions,
        open_issues=open_issues,
        next_steps=next_steps,
        state={"topic": topic, "values": values, "decisions": decisions, "open": open_issues},
    )


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
    clause = parse(text)
    kind = kinds.kind_of(text, clause, statement.claims)
    evidence = worth.Evidence(
        text, clause, statement.claims, context.moments(text, said_at), kind, standing=kind == "requirement"
    )
    importance = kinds.importance_of(text, kind, statement.claims)
    filled = worth.slot_of(evidence) is not None
    return Said(statement, 3 * importance + filled - text.startswith(_ASSISTANT))


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


def _strongest(items: list[Said], most: int) -> list[Said]:
    """The weightiest items in their order; of equal ones the newest."""
    best = sorted(range(len(items)), key=lambda at: (items[at].weight, at), reverse=True)[:most]
    return [items[at] for at in sorted(best)]


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
    if turn.role not in {"user", "agent"} or _NO_ANSWER.search(straighten(turn.content)):
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
    if not _STEP.search(plain) or _TO_DO.search(plain) or len(content_stems(text)) < 2:
        return False
    decided = kinds.kind_of(text, parse(text), ()) == "decision"
    return speech.is_statement(text) and not speech.is_addressed(text) and not decided


def _undone(steps: list[str], text: str) -> list[str]:
    """The steps that a statement does not tell as done."""
    clause = parse(text) if steps else None
    if clause is None or clause.negative or clause.time not in {"past", "now"}:
        return steps
    told = content_stems(text)
    return [step for step in steps if not _is_in(told, content_stems(step))]


def _is_in(told: frozenset[str], about: frozenset[str]) -> bool:
    return len(about & told) >= max(2, round(0.7 * len(about)))


def _topic(earlier: SummaryView, texts: list[str]) -> str:
    known = [earlier.topic, earlier.topic] if earlier.topic else []
    return topics.main_topic([*known, *earlier.key_points, *texts]) or earlier.topic


def _values(items: list[Said]) -> dict[str, str]:
    """The latest value of every attribute that the talk has settled."""
    values: dict[tuple[str, str, frozenset[str]], tuple[str, str]] = {}
    for item in items:
        if item.text.startswith(_ASSISTANT):
            continue
        for claim in item.statement.claims:
            if claim.value is not None and not claim.negative and not claim.hedged:
                known = [topic for owner, _, topic in values if owner == claim.owner]
                topic = presumed_topic(claim, known)
                label = values.get((claim.owner, claim.relation, topic), (_label(claim, item.text), ""))[0]
                values[claim.owner, claim.relation, topic] = label, claim.value.shown
    return dict(values.values())


def _label(claim: Claim, text: str) -> str:
    """An attribute's name in words: "budget (Hawaii trip)"."""
    owner = "" if claim.owner == "self" else f"{claim.owner.removeprefix('self.')}: "
    if claim.relation == "diet":
        return f"{owner}diet"
    named = [name for stem, name in _NAMED_ATTRIBUTES.items() if stem in claim.topic]
    if named:
        return owner + named[0]
    words = [word for word in dict.fromkeys(content_words(text)) if content_stems(word) & claim.topic]
    if not words:
        return owner + (next((mark.removeprefix("#") for mark in claim.topic if mark.startswith("#")), claim.relation))
    head, *rest = sorted(words, key=lambda word: not kinds.is_attribute(word))
    if claim.relation == "preference":
        return f"{owner}preference ({' '.join(words)})"
    return f"{owner}{head} ({' '.join(rest)})" if rest else owner + head
