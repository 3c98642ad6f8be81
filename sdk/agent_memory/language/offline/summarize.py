"""Keeps the summary of a thread: its topic, what was said and settled, and what is still open.

Every list is made of sentences of the talk. What is kept is chosen by the sentences alone, so a summary that grew in
steps is (nearly) the one that is made at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import dropwhile
from textwrap import shorten
from typing import NamedTuple

from agent_memory.language.offline import context, foreign, kinds, speech, statements, topics
from agent_memory.language.offline.claims import ONE_AT_A_TIME, Claim
from agent_memory.language.offline.extract import WINDOW, of_turn
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.reconcile import Statement, contradiction, duplicates, presumed_topic, read
from agent_memory.language.offline.text import content_stems, content_words, expand, straighten
from agent_memory.language.tasks import Correction, FactView, SummarizeInput, SummarizeOutput, SummaryView, TurnView
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import bounded, linear

MOST_POINTS = 8
_MOST_READ = 100
"""The most points, and the most decisions, of the summary before: each is compared with all others. A model, or an
imported file, may give many."""
MOST_OPEN = 6
_FEWEST_OPEN, _MOST_OF = 2, 0.6
"""Stems of an open point, and the share of them that tells that it is done. A choice."""
_FEWEST_OPENING, _LONGEST_TOPIC = 3, 90
"""Stems of what opens a talk, and characters of the topic that it names. Choices."""
_GREETING = bounded(
    r"(?:hi|hey|hello|good (?:morning|afternoon|evening|day)|long time no see|hallo|guten (?:morgen|tag|abend)"
    r"|hola|buen[oa]s (?:d[ií]as|tardes|noches)|bonjour|bonsoir|salut|ciao|buongiorno|buonasera|oi|ol[aá]|bom dia"
    r"|boa (?:tarde|noite)|hoi|goede(?:morgen|middag|navond)|你好|您好|早上好|大家好|晚上好|こんにちは|こんばんは"
    r"|おはようございます|안녕하세요)"
    r"(?:,? (?:there|all|again|and|dear|liebe[rs]?|(?-i:[A-Z])\w*)){0,5}\W*",
    re.I,
)
"""A sentence that only greets: "Good evening, Kevin and Paola!"."""
_LONGEST_LABEL = 4
"""Words of the name of a value: more of them do not name one thing ("migration (edit merged write new)"). A choice."""
_MOST_WAITING = 60
"""Open issues and next steps that are held while turns are read: each is compared with each later sentence."""

_TO_DO = bounded(
    r"\b(?:still (?:need|have|waiting|not sure|to)|(?:not sure|no idea) (?:yet|about|whether|if|how|which)"
    r"|decision (?:is |was )?(?:postponed|deferred|pending)|to be (?:decided|confirmed|clarified)|we do not know"
    r"|have not (?:\w+ )?(?:decided|chosen|heard|figured|booked|finished)|to-do|(?-i:TODO)|tbd|undecided|need to decide"
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
_WHICH = bounded(r"^which (?!ones?\b)\w", re.I)
"""A question whose one word names its subject: "Which hotel?"."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TALKING = frozenset(("user", "agent"))
_ASSISTANT = "Assistant: "
_ABOUT_THE_TALK = bounded(r"\b(?:summari[sz]e|sum up|recap|repeat|rephrase|explain|our (?:chat|conversation))\b", re.I)


class Said(NamedTuple):
    """A sentence of the talk, with how much there is to it."""

    statement: Statement
    weight: float
    text: str


def summarize(data: SummarizeInput) -> SummarizeOutput:
    """Merges new turns into a thread's summary."""
    earlier, turns = data.earlier or SummaryView(), data.turns
    earlier = earlier.model_copy(
        update={"key_points": earlier.key_points[:_MOST_READ], "decisions": earlier.decisions[-_MOST_READ:]}
    )
    start = min([*(turn.created_at for turn in turns[:1]), *(one.said_at for one in data.corrections)], default=_EPOCH)
    memories = [
        (turn, memory)
        for at, turn in enumerate(turns)
        if turn.role == "user"
        for memory in of_turn(turn, turns[max(0, at - WINDOW) : at])
    ]
    said = [_said(memory.content, turn.created_at) for turn, memory in memories]
    decided = [item for item, (_, memory) in zip(said, memories, strict=True) if memory.kind == "decision"]
    informed = [_said(text, turn.created_at) for turn in turns for text in _informed(turn)]
    before, settled, said, informed = (
        _corrected(items, data.corrections)
        for items in (
            [_said(text, start) for text in earlier.key_points],
            [_said(text, start) for text in earlier.decisions],
            said,
            informed,
        )
    )
    current = _current([*before, *sorted([*said, *informed], key=lambda item: item.statement.fact.said_at)])
    best = sorted(range(len(current)), key=lambda at: (current[at].weight, at), reverse=True)[:MOST_POINTS]
    decisions = [item.text for item in _current([*settled, *decided])][-MOST_POINTS:]
    open_issues, next_steps = _open(earlier, turns)
    opening = _in_words_of_now(earlier.topic, data.corrections)
    known = [opening, opening] if opening else []
    asked, told = ([turn.content for turn in turns if turn.role == role] for role in ("user", "agent"))
    topic = topics.main_topic([*known, *earlier.key_points, *asked], told) or opening or _opening(turns)
    elsewhere = {*decisions, *open_issues, *next_steps}
    values = _values(_current([*settled, *before, *said]))
    return SummarizeOutput(
        topic=topic,
        key_points=[current[at].text for at in sorted(best) if current[at].text not in elsewhere],
        decisions=decisions,
        open_issues=open_issues,
        next_steps=next_steps,
        state={"topic": topic, "values": values, "decisions": decisions, "open": open_issues},
    )


def _opening(turns: Sequence[TurnView]) -> str:
    """How the talk was opened: the first sentence of a user that says something, and what follows. In any language.

    Greetings and "How are you?" say nothing. If all sentences are that short, whole turns count.
    """
    opened = [
        [statements.opened(one, frozenset()).text for one in statements.own_sentences(turn.content)]
        for turn in turns
        if turn.role == "user"
    ]
    telling = (list(dropwhile(_only_greets, said)) for said in opened)
    for said in (*filter(None, telling), *opened):
        told = " ".join(filter(None, said))
        if len(content_stems(told)) >= _FEWEST_OPENING:
            return shorten(told.rstrip(".。 "), _LONGEST_TOPIC, placeholder=" …")
    return ""


def _only_greets(text: str) -> bool:
    return len(content_stems(text)) < _FEWEST_OPENING or _GREETING.fullmatch(text) is not None


def _in_words_of_now(topic: str, corrections: Sequence[Correction]) -> str:
    """A topic that quotes the opening of a talk, with corrected sentences as they are now."""
    for correction in corrections:
        topic = topic.replace(correction.was.rstrip(".! "), correction.now.rstrip(".! "))
    return topic


def _corrected(items: Sequence[Said], corrections: Sequence[Correction]) -> list[Said]:
    """Sentences, with those that a later correction concerns in the words of what is true now."""
    for correction in corrections:
        was, now = _said(correction.was, correction.said_at), _said(correction.now, correction.said_at)
        items = [
            now
            if item.statement.fact.said_at <= correction.said_at
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
    return Said(statement, importance + kinds.tells_name(text) / 3 - text.startswith(_ASSISTANT) / 3, text)


def _current(oldest_first: Sequence[Said]) -> list[Said]:
    """What still holds: nothing that a later sentence repeats or excludes."""
    kept: list[Said] = []
    for item in oldest_first:
        new = item.statement
        kept = [one for one in kept if not (duplicates(new, one.statement) or contradiction(new, one.statement))]
        kept.append(item)
    return kept


def _informed(turn: TurnView) -> list[str]:
    """What a turn says besides memories: an assistant's first two informative sentences, a user's foreign figures.

    The latter are sentences with figures in another language than English of which the rules make no memory.
    """
    said = [one.text for one in statements.own_sentences(turn.content) if not one.text.endswith("?")]
    if turn.role == "agent":
        telling = [
            _ASSISTANT + context.tidy(text.replace("**", ""))
            for text in said
            if _INFORMING.search(straighten(text))
            and not _OFFERING.search(straighten(text))
            and 4 <= len(content_words(text)) <= 30
        ]
        return telling[:2]
    return [
        context.tidy(text)
        for text in said
        if turn.role == "user" and is_foreign(text) and any(map(str.isdigit, text))
        if not foreign.told(text, turn.created_at)
    ]


def _open(earlier: SummaryView, turns: list[TurnView]) -> tuple[list[str], list[str]]:
    """Questions that nobody answered and what is to be decided; and what people said that they would do."""
    issues, steps = list(earlier.open_issues), list(earlier.next_steps)
    for at, turn in enumerate(turns):
        if turn.role not in _TALKING:
            continue
        if turn.role == "agent" and at == 0 and issues and issues[-1].endswith("?") and _answers(turn):
            issues = issues[:-1]
        own = statements.own_sentences(turn.content)
        told = [one.text for one in own if not one.text.endswith("?") and not _TO_DO.search(expand(one.text))]
        issues = _without_done(issues, told)[-_MOST_WAITING:]
        if turn.role != "user":
            continue
        reply = next((other for other in turns[at + 1 :] if (other.role, other.name) != (turn.role, turn.name)), None)
        nearest_first = [other.content for other in reversed(turns[:at])]
        for sentence in own:
            asked = sentence.text.endswith("?")
            stems = content_stems(sentence.text)
            if (len(stems) >= _FEWEST_OPEN or (asked and stems and _WHICH.search(sentence.text))) and (
                not (_ABOUT_THE_TALK.search(sentence.text) or (reply and _answers(reply)))
                if asked
                else _TO_DO.search(expand(sentence.text)) and not is_foreign(sentence.text)
            ):
                issues.append(context.tidy(sentence.text))
            plain = statements.opened(sentence, frozenset()).text
            if _is_step(plain):
                moments = context.moments(plain, turn.created_at, nearest_first)
                steps.append(context.tidy(context.with_dates(plain, moments)))
            else:
                steps = _without_done(steps, [plain])
            nearest_first.insert(0, sentence.text)
        steps = steps[-_MOST_WAITING:]
    return list(dict.fromkeys(issues))[-MOST_OPEN:], list(dict.fromkeys(steps))[-MOST_OPEN:]


def _answers(turn: TurnView) -> bool:
    """Whether a turn gives an answer, not only a question or a promise to look."""
    if turn.role not in _TALKING or _NO_ANSWER.search(expand(turn.content)):
        return False
    return any(not sentence.text.endswith("?") for sentence in statements.own_sentences(turn.content))


def _without_done(items: list[str], texts: Sequence[str]) -> list[str]:
    """The open points that are still open: no text has most of their words and tells of something done or known."""
    clauses = [parse(text) for text in texts] if items else []
    told = [
        content_stems(text)
        for text, clause in zip(texts, clauses, strict=bool(items))
        if clause is None or not (clause.negative or clause.time in {"ahead", "wish"})
    ]

    def is_done(item: str) -> bool:
        about = content_stems(_TO_DO.sub("", expand(item))) - {"need", "still"}
        least = min(len(about), max(2, round(_MOST_OF * len(about))))
        return any(about and len(about & stems) >= least for stems in told)

    return [item for item in items if not is_done(item)]


def _is_step(text: str) -> bool:
    """Whether a statement says what somebody will do, and not what they will not; decisions are listed elsewhere."""
    if not _STEP.search(expand(text)) or len(content_stems(text)) < _FEWEST_OPEN:
        return False
    clause = parse(text)
    ruled_out = clause is not None and clause.negative
    decided = kinds.kind_of(text, clause) == "decision"
    return speech.is_statement(text) and not (speech.is_addressed(text) or decided or ruled_out)


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
                if len(label.split()) <= _LONGEST_LABEL:
                    value = claim.values[0]
                    found[claim.owner, topic] = label, ", ".join(filter(None, (value.shown, value.hour)))
    return dict(found.values())


def _label(claim: Claim, text: str) -> str:
    """An attribute's name in words: "budget (Hawaii trip)"."""
    owner = "" if claim.owner == "self" else f"{claim.owner.removeprefix('self.')}: "
    words = [word for word in dict.fromkeys(content_words(text)) if content_stems(word) & claim.topic]
    head, *rest = sorted(words, key=lambda word: not topics.is_attribute(word)) or sorted(claim.topic)
    return f"{owner}{head} ({' '.join(rest)})" if rest else owner + head
