"""Called: the names by which people address each other, when their turns carry other names.

Turns are stored under the name that the application gives. People say "Hey Kate!" to somebody whose turns are Emi's,
or "Thanks, Mel" to Melanie, and later a question asks what Kate said. A search for that name finds the greetings, not
the answers. So a question is read with the names that the turns have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agent_memory.text.dates import CALENDAR
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.stop_words import QUESTION_WORDS

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
