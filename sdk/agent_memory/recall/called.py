"""Called: the names by which people address each other, when their turns carry other names.

Turns are stored under the name that the application gives. People say "Hey Kate!" to somebody whose turns are Emi's,
or "Thanks, Mel" to Melanie, and later a question asks what Kate said. A search for that name finds the greetings, not
the answers. So a question is read with the names that the turns have.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agent_memory.text.patterns import WORD, linear

LEAST = 2
"""Greetings by which a name is known. With one, "Hi Rings" in a text counts too; with two, no set has a wrong name."""
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


def names_called(said: Iterable[Said]) -> dict[str, str]:
    """Maps each name by which a speaker is greeted to the name of that speaker's turns.

    Only conversations between two named speakers count, because there a greeting can only mean the other one.
    """
    turns = [turn for turn in said if turn.speaker]
    speakers: dict[str, set[str]] = defaultdict(set)
    for turn in turns:
        speakers[turn.thread_id].add(str(turn.speaker))
    own = {word.lower() for names in speakers.values() for name in names for word in WORD.findall(name)}
    greeted: Counter[tuple[str, str]] = Counter()
    for turn in turns:
        others = speakers[turn.thread_id] - {turn.speaker}
        if len(others) == 1:
            names = {name for name in _GREETING.findall(turn.text) if name.lower() not in own}
            greeted.update((name, next(iter(others))) for name in names)
    known = {pair for pair, times in greeted.items() if times >= LEAST}
    bearers = Counter(name for name, _ in known)
    return {name: speaker for name, speaker in known if bearers[name] == 1}


def with_names_of_turns(question: str, called: Mapping[str, str]) -> str:
    """A question with the names that turns carry. A name stays if the question has the other one too: it is another's.

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
