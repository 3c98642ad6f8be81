"""Phrasing: a question in words that are nearer to those of its answer.

People speak of themselves as "I". A question about them has their name, and its vector is near to what others said to
them by name. So a question that names a speaker is embedded a second time in the first person ("What did I paint?" for
"What did Caroline paint?", "my hobbies" for "Caroline's hobbies"), and the search uses a vector between both. And a
question about the order of topics ("List the order in which I brought up different aspects of my app, in order") has
more words about the order than about its subject. Only the subject is searched for. What is said about the form of the
answer ("Express the answer as a JSON list.") is left out, too.

Both forms are English. Other questions stay as they are.

People address each other by other names than those of their turns: "Hey Kate!" to somebody whose turns are Emi's. Later
a question asks what Kate said. A search for that name finds the greetings, not the answers. So a question is read with
the names that the turns have.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from agent_memory.calibration import FIRST_PERSON
from agent_memory.language.tasks import Vector
from agent_memory.language.vectors import unit
from agent_memory.text.dates import CALENDAR
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.sentences import sentences
from agent_memory.text.stop_words import QUESTION_WORDS
from agent_memory.text.terms import says_something

_NO_NAMES = QUESTION_WORDS | CALENDAR | {"user", "agent", "assistant", "system", "tool"}
"""First names that are no sure names: "will" and "May", and the roles of speakers without a name."""
_ASKING = frozenset("what which who whom whose when where why how did does".split())
"""An English question has one of these. German "was", "hat" and "so" do not count: a question with few other words
would pass for English."""
_VERBS = {"does": "do", "is": "am", "has": "have"} | {
    verb: verb for verb in "did do was had can could would will should are were".split()
}
_GOVERNING = frozenset("to for with of about by from at on in near make makes made help helped helps".split())
"""Words after which the person is "me"."""
_OWNING = ("'s", "’s")

_ABOUT_ORDER = linear(
    r"(?:\b(?:(?:can|could|would|will) you )?(?:please )?(?:list|tell me|give me|show me|describe|outline"
    r"|(?:walk|take) me through|remind me of|what (?:is|was)) )?(?:the )?(?:chronological )?\b(?:order|sequence)"
    r" (?:in which|that|of how) i(?: first| have| had|['’]ve)*"
    r" (?:brought up|mentioned|discussed|talked about|raised|covered|asked about|introduced|described|worked on"
    r"|addressed)\b(?: (?:the|different|various|several|many|main|key|specific)\b)*"
    r"(?: (?:aspects|topics|concepts|parts|points|things|items|steps|themes|areas)\b)?"
    r"(?: (?:of|related to|about|regarding|concerning|for)\b)?",
    re.IGNORECASE,
)
_AROUND_ORDER = linear(
    r",? ?\b(?:across|throughout|over|during|in|from) (?:all )?(?:of )?(?:our|my|the|these) (?:\w+ )?"
    r"(?:conversations?|sessions?|chats?|discussions?)\b"
    r"|,? ?\bin (?:chronological |the right )?order\b"
    r"|\b(?:mention|list|give|name) only (?:and only )?\w+ items?\b\.?",
    re.IGNORECASE,
)


_ABOUT_FORM = linear(
    r"^(?:please |also |and )?(?:express|provide|give|format|return|output|respond|answer|reply|write|present|mention"
    r"|limit|keep|be)\b.*\b(?:json|csv|xml|yaml|markdown|tables?|lists?|bullets?|words?|sentences?|paragraphs?|format"
    r"|characters|items?|specific|concise|brief|short)\b",
    re.IGNORECASE,
)


class Speaker(NamedTuple):
    """The first name of a speaker, in lower case, and a thread where they spoke."""

    thread_id: str
    name: str


def speakers(said: Iterable[Said]) -> frozenset[Speaker]:
    """The speakers whose names are sure, and where each spoke."""
    first = ((one.thread_id, WORD.search(one.speaker)) for one in said if one.speaker)
    named = ((thread_id, word[0].lower()) for thread_id, word in first if word)
    return frozenset(Speaker(thread_id, name) for thread_id, name in named if name not in _NO_NAMES)


def subject_of(question: str) -> str:
    """What a question is about, without words about the form of the answer or about an order of topics."""
    first, *others = sentences(question) or [question]
    kept = [one for one in others if not _ABOUT_FORM.search(one)]
    question = question if len(kept) == len(others) else " ".join([first, *kept])
    rest = _ABOUT_ORDER.sub(" ", question)
    if rest == question:
        return question
    subject = " ".join(_AROUND_ORDER.sub(" ", rest).split()).strip(" ,.?")
    return f"{subject}?" if says_something(subject) else question


def in_first_person(question: str, named: Collection[str]) -> str:
    """An English query as the speaker whom it names would word it; unchanged if it names none.

    Case tells a name from a word, unless the query has no capitals at all.

    Args:
        question: A question, or words to search for.
        named: The first names of the speakers, in lower case.
    """
    lower = question.islower()
    found = list(WORD.finditer(question))
    other = question.rstrip().endswith("?") and _ASKING.isdisjoint(word[0].lower() for word in found)
    if other or is_foreign(question):
        return question
    parts: list[str] = []
    behind, before = 0, ""
    for place, word in enumerate(found):
        name = word[0].lower()
        if name not in named or (word[0].islower() and not lower):
            before = name
            continue
        start, end, person = word.start(), word.end(), "I"
        if question[end : end + 2] in _OWNING:
            end, person = end + 2, "my"
        elif before in _VERBS:
            start, person = found[place - 1].start(), f"{_VERBS[before]} I"
        elif before in _GOVERNING:
            person = "me"
        parts += [question[behind:start], person]
        behind, before = end, ""
    return "".join([*parts, question[behind:]])


def between(asked: Vector, other_form: Sequence[float] | None = None) -> Vector:
    """The vector between those of a question and of its other form, if it has one."""
    if other_form is None:
        return asked
    pairs = zip(unit(asked), unit(other_form), strict=True)
    return unit((1 - FIRST_PERSON) * one + FIRST_PERSON * other for one, other in pairs)


LEAST = 2
"""Minimum number of greetings that show a name. With one, "Hi Rings" in a text would count too; with two, no data set
has a wrong name."""
_GREETING = linear(
    r"(?i:\b(?:hey|hi|hello|hiya|morning|dear|thanks|thank you"
    r"|hallo|liebe|lieber|danke|hola|gracias|salut|bonjour|merci|olá|oi|obrigad[oa]|ciao|grazie|hoi|bedankt)),? "
    r"(\p{Lu}\w+)(?:[,.!?]|$)"
)


class Said(NamedTuple):
    """A turn, or its beginning. `speaker` is the name that it carries, if any."""

    thread_id: str
    speaker: str | None
    text: str


class Greeting(NamedTuple):
    """A name by which a speaker is greeted in a thread, and the name of that speaker's turns."""

    thread_id: str
    name: str
    speaker: str


def greetings(said: Iterable[Said]) -> tuple[Greeting, ...]:
    """One greeting for each name in each turn that greets the only other speaker of its thread.

    With two named speakers a greeting can only mean the other one. A name does not count if it is a speaker's own, or
    occurs in a thread between other people. Nor does a name that is an ordinary word, too (Will, May).
    """
    turns = list(said)
    speakers: dict[str, set[str]] = defaultdict(set)
    for turn in turns:
        speakers[turn.thread_id].update([turn.speaker] if turn.speaker else [])
    unsure = {word.lower() for names in speakers.values() for name in names for word in WORD.findall(name)}
    unsure |= QUESTION_WORDS | CALENDAR
    used: dict[str, set[str]] = defaultdict(set)
    for turn in turns:
        for word in WORD.findall(turn.text):
            used[word].add(turn.thread_id)
    found = []
    for turn in turns:
        others = speakers[turn.thread_id] - {turn.speaker}
        if turn.speaker is None or len(others) != 1:
            continue
        elsewhere = {thread_id for thread_id, names in speakers.items() if not names or names - others - {turn.speaker}}
        for name in dict.fromkeys(_GREETING.findall(turn.text)):
            if name.lower() not in unsure and used[name].isdisjoint(elsewhere):
                found.append(Greeting(turn.thread_id, name, next(iter(others))))
    return tuple(found)


def names_called(known: Iterable[Greeting]) -> dict[str, str]:
    """Maps each name by which one speaker is greeted more than once to the name of that speaker's turns."""
    times = Counter((greeting.name, greeting.speaker) for greeting in known)
    sure = [pair for pair, number in times.items() if number >= LEAST]
    bearers = Counter(name for name, _ in sure)
    return {name: speaker for name, speaker in sure if bearers[name] == 1}


def with_names_of_turns(question: str, called: Mapping[str, str]) -> str:
    """A question with the names that turns carry. If it has both names, they mean two people, and the name stays.

    Case tells a name from a word, unless the question has no capitals at all.
    """
    known = {name.lower(): speaker for name, speaker in called.items()} if question.islower() else called
    words = {word.lower() for word in WORD.findall(question)}
    parts, behind = [], 0
    for word in WORD.finditer(question):
        speaker = known.get(word[0])
        if speaker is not None and words.isdisjoint(WORD.findall(speaker.lower())):
            parts += [question[behind : word.start()], speaker[:1].upper() + speaker[1:]]
            behind = word.end()
    return "".join([*parts, question[behind:]])
