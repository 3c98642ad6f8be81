"""Finds the main verb of a clause, through auxiliaries, negations and verbs that only frame another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agent_memory.language.offline import lexicon, vocabulary
from agent_memory.language.offline.text import stem
from agent_memory.text.stems import stem as plain_stem

Time = Literal["now", "past", "ahead", "wish"]

BE = frozenset("am is are was were be been being".split())
_HAVE = frozenset("have has had".split())
_DO = frozenset("do does did".split())
_ADJECTIVES = frozenset("interesting amazing boring missing".split())
_NOUNS_IN_ING = frozenset(
    """
    spring string morning evening thing something anything nothing everything wedding building meeting ceiling sibling
    pudding clothing bring during king ring wing offspring
""".split()
)
_NOT_PASTS = frozenset("need feed speed breed succeed bleed does".split())
_IRREGULAR_PARTICIPLES = frozenset(
    "been got gotten become come run put cut hit hurt let quit read set cost not".split()
)
_ARTICLES = frozenset("the a an this that these those each every some any no".split())
_GIVING_UP = frozenset({"give up", "cut out", "get rid", "lay off", "swear off", "go off"})

Predicate = tuple[str, list[str]]
"""The stem of the main verb and the words after it."""


@dataclass(slots=True)
class Marks:
    """What the small words of a clause say about its claim."""

    negative: bool = False
    change: bool = False
    hedged: bool = False
    additive: bool = False
    time: Time = "now"

    def note(self, mark: str) -> None:
        """Sets a mark by its name; "" is none."""
        if mark:
            setattr(self, mark, True)

    def happened(self) -> None:
        """Notes a change: one that took place holds now, one that is only planned stays planned."""
        self.change = True
        self.settle()

    def settle(self) -> None:
        """Makes a past act that sets how things are since then a present one."""
        if self.time == "past":
            self.time = "now"


def is_past(word: str) -> bool:
    """Whether a lower-case verb form stands for the past (a base that looks like its past does not)."""
    if word in lexicon.BASE_OR_PAST or word in _NOT_PASTS or word in BE or word.endswith("s"):
        return False
    return (word.endswith("ed") and len(word) > 4) or stem(word) != plain_stem(word)


def is_known(verb: str) -> bool:
    """Whether a stem is that of a verb in the lexicon, or of "be" and "have"."""
    return verb in {"be", "have"} or verb in _known_stems()


def is_gerund(word: str) -> bool:
    """Whether a lower-case word is the -ing form of a verb."""
    return word.endswith("ing") and len(word) > 4 and word not in _NOUNS_IN_ING


def find_verb(words: list[str], marks: Marks, *, person: bool) -> Predicate:
    """Walks over auxiliaries, negation and adverbs to the main verb; `person`: whether the subject is one."""
    at = 0
    auxiliary = ""
    while at < len(words):
        word, following = words[at].lower(), _lower_at(words, at + 1)
        if step := _small_word(word, following, marks):
            at += step
        elif word in BE:
            auxiliary = "was" if word in {"was", "were"} else "be"
            at += 1
        elif word in _HAVE and following == "got" and _lower_at(words, at + 2) != "to":
            return "have", words[at + 2 :]
        elif word in _HAVE and (_is_participle(_next_verb(words, at)) or following in {"to", "got"}):
            auxiliary = "have"
            at += 1
        elif not person and word in {"got", "gets", "get"} and is_past(following):
            auxiliary = "be"
            at += 1
        elif word == "to" or (word == "got" and auxiliary == "have"):
            at += 1
        elif word in _DO and _is_auxiliary_do(words, at, marks):
            if word == "did":
                marks.time = "past"
            auxiliary = "do"
            at += 1
        elif auxiliary == "be" and _is_going_to(words, at):
            marks.time = "ahead"
            auxiliary = ""
            at += 2
        else:
            return _main_verb(words, at, auxiliary, marks, person=person)
    return ("be", []) if auxiliary in {"be", "was"} else ("", [])


def _lower_at(words: list[str], at: int) -> str:
    return words[at].lower() if at < len(words) else ""


def _next_verb(words: list[str], at: int) -> str:
    """The next word that is neither an adverb nor "not"."""
    following = (word.lower() for word in words[at + 1 :])
    return next((word for word in following if word not in lexicon.ADVERBS and word != "not"), "")


def _is_auxiliary_do(words: list[str], at: int, marks: Marks) -> bool:
    following = _next_verb(words, at)
    return bool(following) and (marks.negative or _lower_at(words, at + 1) == "not" or following in _verb_bases())


def _is_going_to(words: list[str], at: int) -> bool:
    """Whether "going to" or "about to" stands here before a verb, not before a place."""
    if words[at].lower() not in {"going", "about"} or _lower_at(words, at + 1) != "to" or at + 2 >= len(words):
        return False
    return words[at + 2][0].islower() and words[at + 2].lower() not in _ARTICLES


def _small_word(word: str, following: str, marks: Marks) -> int:
    """How many words to step over at a negation, modal or adverb, whose meaning is noted."""
    if word == "no" and following == "longer":
        marks.negative = marks.change = True
        return 2
    if word == "used" and following == "to":
        marks.time = "past"
        return 2
    if word == "may" and following[:1].isdigit():
        return 0  # the month
    if word in {"not", "never"}:
        marks.negative = True
    elif word == "may" and marks.change:
        pass  # "I may work from home three days a week now" tells what is allowed.
    elif word in lexicon.MODALS:
        marks.time = "wish"
        marks.hedged |= word in {"may", "might", "could"}
    elif word in {"will", "shall"}:
        marks.time = "ahead"
    elif word in lexicon.ADVERBS:
        marks.change |= word in lexicon.CHANGE_WORDS
        marks.hedged |= word in lexicon.HEDGES
        marks.additive |= word in lexicon.ADDITIVE_WORDS
    elif word not in {"can", "must"}:
        return 0
    return 1


@cache
def _verb_bases() -> frozenset[str]:
    return frozenset(lexicon.INFORMATIVE | set(lexicon.LIKING) | lexicon.HABITS | lexicon.WEAK_VERBS | lexicon.STOPPING)


@cache
def _known_stems() -> frozenset[str]:
    known = _verb_bases() | lexicon.STATIVE | lexicon.CHANGING | lexicon.SWITCHING | lexicon.TOOL_VERBS
    return frozenset(stem(verb) for verb in known | lexicon.INTENDING)


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR_PARTICIPLES or (len(word) > 3 and is_past(word))


def _main_verb(words: list[str], at: int, auxiliary: str, marks: Marks, *, person: bool) -> Predicate:
    word = words[at].lower()
    if auxiliary in {"be", "was"}:
        passive = not person and (is_past(word) or word in lexicon.BASE_OR_PAST)
        progressive = is_gerund(word) and word not in _ADJECTIVES
        if word in {"called", "named"}:
            return ("name" if person else "be"), words[at + 1 :]
        if auxiliary == "was" and marks.time == "now" and not passive:
            marks.time = "past"
        if not (progressive or (passive and word not in vocabulary.RELATIONSHIPS)):
            return "be", words[at:]
        if progressive and auxiliary == "be" and stem(word) in _turns():
            marks.time = "ahead"
    elif not auxiliary and is_past(word) and marks.time == "now":
        marks.time = "past"
    return _framed(stem(word), words[at + 1 :], marks)


@cache
def _turns() -> frozenset[str]:
    """Verbs of acts that take a moment: "I am moving to Porto" tells of what is to come."""
    return frozenset(stem(verb) for verb in "move relocate switch migrate leave join quit retire marry".split())


def _framed(verb: str, rest: list[str], marks: Marks) -> Predicate:
    """Looks through a verb that only frames another one: "stopped drinking coffee" is not drinking coffee."""
    for frame in _FRAMES:
        predicate = frame(verb, rest, marks)
        if predicate is not None:
            return predicate
    return verb, rest


def _inner(rest: list[str]) -> Predicate | None:
    """The verb that a framing verb governs: "drinking …", "to drink …"."""
    words = rest[1:] if _lower_at(rest, 0) == "to" else rest
    return (stem(words[0].lower()), words[1:]) if words else None


def _governs(rest: list[str]) -> bool:
    following = _lower_at(rest, 0)
    return following == "to" or is_gerund(following)


def _given_up(verb: str, rest: list[str], marks: Marks) -> Predicate | None:
    """Gave up meat; got rid of the car: the verb of what was done with it is not said ("any")."""
    particle = f"{verb} {_lower_at(rest, 0)}"
    if particle not in _GIVING_UP:
        return None
    marks.negative = True
    marks.happened()
    inner = rest[2 if particle == "get rid" else 1 :]
    return (stem(inner[0].lower()), inner[1:]) if inner and is_gerund(inner[0].lower()) else ("any", inner)


def _stopped(verb: str, rest: list[str], marks: Marks) -> Predicate | None:
    if verb not in {"stop", "quit"} or not is_gerund(_lower_at(rest, 0)):
        return None
    marks.negative = True
    marks.happened()
    return _inner(rest)


def _started(verb: str, rest: list[str], marks: Marks) -> Predicate | None:
    if verb not in {"start", "begin", "resum", "restart"} or not _governs(rest):
        return None
    marks.happened()
    return _inner(rest)


def _kept_on(verb: str, rest: list[str], marks: Marks) -> Predicate | None:
    if verb == "end" and _lower_at(rest, 0) == "up" and is_gerund(_lower_at(rest, 1)):
        return _inner(rest[1:])
    return _inner(rest) if verb in {"keep", "continu"} and _governs(rest) else None


def _decided(verb: str, rest: list[str], marks: Marks) -> Predicate | None:
    if verb not in {"decid", "agre", "choos", "opt"} or _lower_at(rest, 0) not in {"to", "not"}:
        return None
    marks.settle()
    if "not" in (_lower_at(rest, 0), _lower_at(rest, 1)):
        marks.negative = True
        rest = [word for word in rest[:2] if word.lower() != "not"] + rest[2:]
    return _inner(rest)


def _intended(verb: str, rest: list[str], marks: Marks) -> Predicate | None:
    """Wants to, plans to, is thinking about; "I love to cook" is no plan."""
    if verb in _intents() and _lower_at(rest, 0) == "to" and len(rest) > 1:
        if verb in {"love", "like", "prefer"} and marks.time == "now":
            return None
        marks.time = "past" if marks.time == "past" else "wish"
        return _inner(rest)
    following = _lower_at(rest, 0)
    if verb in {"consid", "think"} and (following in {"about", "of"} or is_gerund(following)):
        marks.time, marks.hedged = "wish", True
        return _inner(rest[1:] if following in {"about", "of"} else rest)
    return None


@cache
def _intents() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.INTENDING)


_FRAMES: tuple[Callable[[str, list[str], Marks], Predicate | None], ...] = (
    _given_up, _stopped, _started, _kept_on, _decided, _intended,
)  # fmt: skip
