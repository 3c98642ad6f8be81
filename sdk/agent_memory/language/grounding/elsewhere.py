"""Elsewhere: finds claims that come from another turn, or that join what different turns say about different things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_memory.language.grounding.clauses import content_words
from agent_memory.language.grounding.polarity import telling, words_of
from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.text.dates import CALENDAR
from agent_memory.text.names import names
from agent_memory.text.patterns import WORD
from agent_memory.text.sentences import sentences


def refers_back(cited: Sequence[Spoken], before: Sequence[Spoken]) -> bool:
    """Whether a cited turn refers to what was said before it: it answers, is short, or says "it" or "there"."""
    if cited and not cited[0].is_user:
        return True
    if any(turn.text.rstrip().endswith("?") or "?" in turn.text[-80:] for turn in before[-1:]):
        return True
    # "Also" at the beginning of a turn adds something; within one it takes up what was said.
    words = [[word.partition("'")[0] for word in words_of(turn.text.removeprefix("Also "))] for turn in cited]
    return any(not _ANAPHORS.isdisjoint(one) or len(one) < 4 or one[0] in _ANAPHORS_FIRST for one in words)


_ANAPHORS = frozenset(
    """it its it's that that's this these those there they them their he him his she her one ones same such too also
    both another other das es dort da ihn ihm sie er dies diese dieser eso esto ese esa allí lo la le les ça cela y en
    il elle lui quello lì isso isto also""".split()
)
_ANAPHORS_FIRST = frozenset(
    "yes yeah yep no nope ok okay sure thanks thank maybe great cool ja nein danke sí gracias oui merci non".split()
)


def of_other_turn(content: str, cited: Sequence[Spoken], before: Sequence[Spoken]) -> str | None:
    """Why a claim does not belong to its turns: it was said in another one, or joins parts of two. None if it does.

    Args:
        content: the claim.
        cited: the turns that it cites.
        before: the turns just before them.
    """
    return (
        _elsewhere(content, cited, before) or _of_other_name(content, cited, before) or _joined(content, cited, before)
    )


def _elsewhere(content: str, cited: Sequence[Spoken], before: Sequence[Spoken]) -> str | None:
    """Finds a claim with no word of its cited turns, but several of an earlier turn to which they do not refer."""
    told = telling(words_of(content)) - telling(words_of(" ".join(turn.name or "" for turn in (*cited, *before))))
    here = told & telling(words_of(" ".join(f"{turn.name or ''}: {turn.text}" for turn in cited)))
    if len(told) < 2 or refers_back(cited, before):
        return None
    found = any(len((told - here) & telling(words_of(turn.text))) > max(1, len(here)) for turn in before)
    return "it was said in another turn" if found else None


def _anchors(text: str) -> list[str]:
    """The first few figures, days and months of a text."""
    words = words_of(text)
    found = dict.fromkeys(word for word in words if word in CALENDAR or (word.isdigit() and len(word) > 1))
    return list(found)[:_MOST]


_MOST = 12
"""As for the figures and names of `anchors`."""


def _said_with(anchor: str, turns: Iterable[Spoken]) -> list[tuple[Spoken, str]]:
    """The sentences of users that have a figure, a day or a month, each with its turn."""
    users = [turn for turn in turns if turn.is_user]
    return [(turn, part) for turn in users for part in sentences(turn.text) if anchor in words_of(part)]


def _of_other_name(content: str, cited: Sequence[Spoken], before: Sequence[Spoken]) -> str | None:
    """Finds "the new job pays 52,000" if that was said of the old job, which has a name of its own."""
    anchors = _anchors(content) if len([turn for turn in (*cited, *before) if turn.is_user]) > 1 else []
    told = set(names(content)) if anchors else set()
    said = " ".join(turn.text for turn in cited if turn.is_user)
    for anchor in anchors if told.intersection(WORD.findall(said)) else ():
        homes = [set(names(part)) for _, part in _said_with(anchor, [*before, *cited])]
        if homes and all(home and home.isdisjoint(told) for home in homes):
            return f"{anchor} was said of {min(homes[0])}"
    return None


def _joined(content: str, cited: Sequence[Spoken], before: Sequence[Spoken]) -> str | None:
    """Finds a figure or a day of one turn that a claim gives to what another turn is about."""
    talk = [*before, *cited]
    stems = content_words(words_of(content))
    anchors = _anchors(content)
    for anchor in anchors if sum(turn.is_user for turn in cited) > 1 else ():
        homes = _said_with(anchor, cited)
        if len(homes) != 1:
            continue
        turn, part = homes[0]
        about = stems - content_words([*anchors, *words_of(turn.name or "")])
        asked = [one.text for one in talk[: talk.index(turn)][-1:] if not one.is_user]
        beside = content_words(words_of(" ".join([part, *asked])))
        others = [content_words(words_of(one.text)) for one in cited if one.is_user and one is not turn]
        if about.isdisjoint(beside) and any(len(about & one) > 1 for one in others):
            # "She was forty" goes on about the turn before it.
            return None if refers_back([Spoken(part, turn.said_at)], []) else f"{anchor} was said of something else"
    return None
