"""Bearers: checks that a claim about a person was said about that person, not about another in the same sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_memory.language.polarity import telling, words_of
from agent_memory.text.patterns import linear
from agent_memory.text.sentences import sentences
from agent_memory.text.stop_words import SMALL_WORDS

_KIN = frozenset(
    """sister brother mother father mom mum dad wife husband son daughter partner boyfriend girlfriend aunt uncle cousin
    niece nephew grandmother grandfather grandma grandpa boss manager colleague neighbour neighbor landlord roommate
    flatmate friend schwester bruder mutter vater frau mann sohn tochter""".split()
)
_OPEN = frozenset("he she they him her his them their who whom whose it its you your we us our one".split())
"""Words by which a clause may speak of somebody whom it does not name."""
_AGREEING = frozenset("too also same likewise neither either together both we us our ditto yes yeah yep".split())
"""Words by which somebody may take up what another said."""
_SELF = frozenset("i i'm i've i'd i'll".split())
_MY, _ASKING = frozenset("my our meine mein".split()), frozenset("ask tell call".split())
_OF_PEOPLE = frozenset(
    """has had lives lived works worked likes loves hates plays wants needs got owns broke moved bought sold said hat
    lebt wohnt arbeitet""".split()
)
"""Verbs that mostly people do, so that a capital before them is a name's."""
_JOINING = frozenset("and but so while und et y".split())
_YOU = frozenset("you you're you've your du dein deine sie ihr vous votre tu tus su".split())
_CLAUSES = linear(r",\s+|;\s*|\s+and\s+|\s+but\s+|\s+while\s+|\s+whereas\s+|\s+und\s+|\s+et\s+|\s+y\s+")
_REPLY = frozenset(
    """yes yeah yep yup right exactly correct sure true indeed absolutely definitely ok okay fine done agreed perfect
    that's thats ja genau stimmt oui exact sí si claro vale sim certo no nope nah""".split()
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its words, its content words, and the person it is about, if its beginning names one."""

    words: frozenset[str]
    telling: frozenset[str]
    bearer: str | None


def _clauses(text: str, speaker: str) -> Iterator[Clause]:
    for sentence in sentences(text):
        for place, part in enumerate(_CLAUSES.split(sentence)):
            words = [word.removesuffix("'s") for word in words_of(part)]
            if words[:1] and words[0] in _JOINING:
                words = words[1:]
            if words:
                bearer = _bearer(words, part, speaker, begins=place == 0)
                yield Clause(frozenset(words), frozenset(telling(words)), bearer)


def _bearer(words: Sequence[str], part: str, speaker: str, *, begins: bool) -> str | None:
    """Of whom a clause speaks. A word that `begins` a sentence has a capital anyway, so what follows must show it."""
    first, second = [*words, ""][:2]
    if first in _SELF:
        return speaker
    if first in _MY or first in _ASKING:
        return second if second in _KIN or f"{second[:1].upper()}{second[1:]}" in part.split() else None
    is_name = first.isalpha() and f"{first[:1].upper()}{first[1:]}" in part.split() and first not in SMALL_WORDS
    return first if is_name and (second in _OF_PEOPLE or not begins) else None


def of_another(content: str, cited: Sequence[tuple[str, str]]) -> str | None:
    """Says whether a claim ascribes to one person what was said about another; None if it does not.

    Only clauses that begin with a person are compared: "my sister lives in Oslo and my brother is a nurse". The one of
    whom a clause of the claim speaks must begin another clause than those that have its last known word. Clauses with
    "she" or "you" may be about anybody, and somebody who says "me too" takes up what another said.

    Args:
        content: the claim.
        cited: the turns that it cites, each with its speaker's name in small letters, and its sentences.
    """
    known = [clause for speaker, text in cited for clause in _clauses(text, speaker)]
    people = {clause.bearer for clause in known if clause.bearer}
    if len(people) < 2 or any(clause.words & _AGREEING for clause in known):
        return None
    everything = frozenset(word for clause in known for word in clause.telling)
    subject: str | None = None
    for part in _CLAUSES.split(content):
        words = words_of(part)
        begins = _subject(words)
        named = begins is not None and (begins in people or part[:1].isupper())
        subject = begins if named else subject  # "and lives in Turin" goes on about the same person
        if subject not in people:
            continue
        shared = [stem for word in words for stem in telling([word]) - telling(people) if stem in everything]
        holders = [clause for clause in known if shared and shared[-1] in clause.telling]
        if holders and all(_is_of_another(clause, subject) for clause in holders):
            return f"it was said of {holders[0].bearer}, not of {subject}"
    return None


def _subject(words: Sequence[str]) -> str | None:
    """Of whom a clause speaks: its first word, or what is theirs ("Ana's sister")."""
    first, second = [*words, "", ""][:2]
    return (second if second in _KIN else first.removesuffix("'s")) if first.endswith("'s") else first or None


def _is_of_another(clause: Clause, subject: str) -> bool:
    return clause.bearer not in (None, subject) and subject not in clause.words and not clause.words & _OPEN


def of_agent(content: str, cited: Sequence[str], by_agent: Sequence[str]) -> str | None:
    """Says whether only the agent said something about the user, who neither repeated nor confirmed it; None if not.

    Args:
        content: the claim.
        cited: the user's turns that it cites.
        by_agent: what the agent said in or ahead of them.
    """
    if not cited or not by_agent:
        return None
    replies = [words_of(text)[:1] for text in cited]
    if any(not _REPLY.isdisjoint(first) for first in replies) or any(len(words_of(text)) < 4 for text in cited):
        return None
    told = telling(words_of(content))
    if any(told & telling(words_of(text)) for text in cited):
        return None
    for text in by_agent:
        for sentence in sentences(text):
            parts = [] if sentence.rstrip().endswith("?") else map(words_of, _CLAUSES.split(sentence))
            if any(len(told & telling(part)) >= 2 and not _YOU.isdisjoint(part) for part in parts):
                return "only the agent said it"
    return None
