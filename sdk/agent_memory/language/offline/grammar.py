"""Reads one clause: whose it is, what is said of them, and how surely.

No parser of English: it finds the subject, the main verb and the small words that turn a claim round (not, no longer,
used to, maybe, now), which is what claims need, and gives up on the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.subjects import find_subject, is_thing
from agent_memory.language.offline.text import expand, openings
from agent_memory.language.offline.verbs import Marks, Time, find_verb
from agent_memory.text.patterns import bounded, either

_WORD = bounded(r"[$€£¥]?\d[\d,.:/]*\d[a-z%]*|[$€£¥]?\d[a-z%]*|[^\W\d_][\w'&+#./-]*[\w+#]|[^\W_]|[,;:&]", re.I)
_ASIDE = bounded(r"\s*\(([^()]*)\)")
_DATE_ASIDE = bounded(
    r"(?:(?:around|week of|weekend of|spring|summer|autumn|winter) )?(?:\d{1,2} )?(?:[A-Z][a-z]+ )?\d{4}$"
)
_SPEAKER = bounded(r"^([A-Z][\w'-]+(?: [A-Z][\w'-]+)?): ")
_LEADING_TIME = either("""
    in on now since at as_of last next this starting beginning from after before yesterday today tomorrow during
    with over by until for these_days nowadays right_now at_the_moment currently recently lately growing_up once
    every two three a_few a_couple a_week a_month a_year
""")
_LEAD_IN = bounded(
    rf"^{_LEADING_TIME}\b(?:(?!\b(?:is|was|are|were|will|has|have|had|and|but)\b)[^,]){{0,45}}?,?\s+"
    r"(?=(?:i|we|my|our|the|he|she|it|user)\b)",
    re.I,
)
_AS_OF_NOW = bounded(r"now|as of|starting|from|these days|nowadays|right now|currently|at the moment", re.I)
_LEAD_TOPIC = bounded(r"^(?:for|regarding|about|as for|on) ([^,]{2,40}), ", re.I)
_FRONT = bounded(
    r"^(?:(?:the|one|another|my|our)\s(?:\w+\s){0,3}(?:is|was)(?: that|,)?\s+(?=(?:i|we|my|our)\b)"
    r"|[^:,]{2,40}:\s+(?=(?:i|we|my|our|the)\b))",
    re.I,
)
_REPORTING = either("""
    think guess believe suppose feel_like figure decided agreed confirmed found_out learned reali[sz]ed heard mean meant
    know said mentioned should_mention should_add must_say have_to_say
    wanted_to_(?:say|mention|tell_you|add|let_you_know)
    am_(?:so_|really_|very_)?(?:sure|afraid|happy_to_say|excited_to_say|glad_to_say|pretty_sure|not_sure|proud_to_say)
""")
_REPORTED = bounded(
    rf"^(?:(?:i|we)(?: have)? )?(?:just |also |kind of |really |still )?(?P<verb>{_REPORTING})(?: that)? "
    r"(?=(?:i|we|my|our|the|it|he|she|they|this|that)\b)",
    re.I,
)
_DOUBTED = bounded(r"think|guess|believe|suppose|feel|figure|.*not sure", re.I)
_MOST_LEADS = 4


@dataclass(frozen=True, slots=True)
class Clause:
    """What a clause says, taken apart.

    Attributes:
        owner: Whose it is: "self", "self.sister", a lower-case name, or "it" for a pronoun.
        thing: The subject's own words when the subject is no person ("budget for the Hawaii trip").
        definite: Whether the thing is a particular one (my, our, the), not any (a, some).
        verb: The stem of the main verb, "" if there is none.
        rest: The words after it, in their own case.
        asides: What stood in brackets or was set in front as the topic.
    """

    owner: str
    thing: tuple[str, ...]
    definite: bool
    verb: str
    rest: tuple[str, ...]
    time: Time = "now"
    negative: bool = False
    change: bool = False
    hedged: bool = False
    additive: bool = False
    asides: tuple[str, ...] = ()

    @property
    def after(self) -> str:
        """The words after the verb as lower-case text."""
        return " ".join(self.rest).lower()


@lru_cache(maxsize=4096)
def parse(sentence: str) -> Clause | None:
    """Takes a clause apart; None if it has no subject that could own a claim."""
    marks = Marks()
    text, asides = _take_asides(expand(sentence).strip().rstrip(".!"))
    text, speaker = _take_speaker(text)
    text, topic = _without_lead(text, marks)
    words = _without_tail(_WORD.findall(text), marks)
    if not words:
        return None
    lower = [word.lower() for word in words]
    marks.change |= "now" in lower or lower[1:2] == ["new"]
    subject = find_subject(words)
    owner = subject.owner
    if speaker and owner.split(".")[0] == "self":
        owner = speaker + owner.removeprefix("self")
    verb, rest = find_verb(subject.rest, marks, person=not subject.thing)
    if not verb and not subject.thing:
        return None
    return Clause(
        owner=owner, thing=subject.thing, definite=subject.definite, verb=verb, rest=tuple(rest), time=marks.time,
        negative=marks.negative, change=marks.change, hedged=marks.hedged, additive=marks.additive,
        asides=(*asides, *([topic] if topic else [])),
    )  # fmt: skip


def _take_asides(text: str) -> tuple[str, list[str]]:
    """The text without what stands in brackets, and that; a date in brackets only spells out another one."""
    return _ASIDE.sub("", text), [aside for aside in _ASIDE.findall(text) if not _DATE_ASIDE.match(aside)]


def _take_speaker(text: str) -> tuple[str, str]:
    """The text without a speaker's name set before it ("Sarah: We moved"), and the name in lower case."""
    match = _SPEAKER.match(text)
    if match is None or is_thing(match[1].split()[-1].lower()):
        return text, ""
    return text[match.end() :], match[1].split()[0].lower()


def _without_lead(text: str, marks: Marks) -> tuple[str, str]:
    """Drops openings, reporting verbs and leading times; returns a topic that stood in front ("For Hawaii, …")."""
    topic = ""
    for _ in range(_MOST_LEADS):
        before = text
        while opening := openings().match(text):
            text = text[opening.end() :]
        text = _FRONT.sub("", text)
        if reported := _REPORTED.match(text):
            marks.hedged |= bool(_DOUBTED.match(reported["verb"]))
            text = text[reported.end() :]
        front = _LEAD_TOPIC.match(text)
        if front and not topic:
            topic, text = front[1], text[front.end() :]
        if leading := _LEAD_IN.match(text):
            marks.change |= bool(_AS_OF_NOW.match(leading[0]))
            text = text[leading.end() :]
        if text == before:
            break
    return text, topic


def _without_tail(words: list[str], marks: Marks) -> list[str]:
    """Drops adverbial phrases at the end, noting what they mark ("… any more", "… too", "… I think")."""
    trailing = _trailing()
    while words:
        sizes = [size for size in (3, 2, 1) if len(words) > size and " ".join(words[-size:]).lower() in trailing]
        if sizes:
            marks.note(trailing[" ".join(words[-sizes[0] :]).lower()])
            words = words[: -sizes[0]]
        elif words[-1] in {",", ";", ":"}:
            words = words[:-1]
        else:
            break
    return words


@cache
def _trailing() -> dict[str, str]:
    return {phrase: mark for mark, phrases in lexicon.TRAILING.items() for phrase in phrases}
