"""Reads one clause: whose it is, what is said of them, and how surely.

No parser of English: it finds the subject, the main verb and the small words that turn a claim round (not, no longer,
used to, maybe, now), and gives up on the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agent_memory.language.grounding.measures import UNITS
from agent_memory.language.offline import lexicon
from agent_memory.language.offline.lexicon import BE
from agent_memory.language.offline.text import canon, canons, expand, openings, stem
from agent_memory.language.offline.verbs import drops_subject, is_gerund, is_participle, is_past
from agent_memory.text.patterns import bounded, plain_words

Time = Literal["now", "past", "ahead", "wish"]

_WORD = bounded(r"[$€£¥]?\d[\d,.:/]*\d[a-z%]*|[$€£¥]?\d[a-z%]*|[^\W\d_][\w'&+#./-]*[\w+#]|[^\W_]|[,;:&]", re.I)
_ASIDE = bounded(r"\s*\(([^()]*)\)")
_DATE_ASIDE = bounded(r"(?:(?:around|week of|weekend of|spring|summer|autumn|winter) )?[\w ]{0,14}\d{4}$")
_SPEAKER = bounded(r"^([^\W\d_][\w'.@-]*(?: [^\W\d_][\w'-]*)?): ")
_LABELS = lexicon.words(
    "allergies answer context edit important info news ps psa question reminder status summary todo tldr warning"
)
"""Words that people put before a colon, and that are nobody's name."""
_LEAD_IN = bounded(
    r"^(?:(?P<now>now|as of|starting|from|these days|right now|currently)|in|on|since|at|last|next|this|after|before"
    r"|yesterday|today|tomorrow|during|by|until|for|recently|lately|every|two|three|a few|a couple)\b"
    r"(?:(?!\b(?:is|was|are|were|will|has|have|had|and|but)\b)[^,:]){0,45}?,?\s+(?=(?:i|we|my|our|the|user)\b)",
    re.I,
)
_FRONT = bounded(r"^(?:[^:,]{2,40}:|(?:due to|because of|with|as|being) [^:,]{2,60},) (?=(?:i|we|my|our|the)\b)", re.I)
_DOUBT = bounded(rf"^{plain_words(lexicon.HEDGES)},? (?=(?:i|we|my|our|the|he|she|they)\b)", re.I)
_REPORTED = bounded(
    r"^(?:i|we)(?: have)? (?:just |also |really )?(?:(?P<doubted>think|guess|believe|suppose|feel like|am not sure)"
    r"|decided|agreed|confirmed|heard|meant?|know|said|mentioned|am (?:\w+ )?(?:sure|afraid))(?: that)? "
    r"(?=(?:i|we|my|our|the|it|he|she|they|this|that)\b)",
    re.I,
)
NAMED_KIN = canons(lexicon.KIN & lexicon.ATTRIBUTES | {"boss"})
"""Who has the name of one person at a time: my manager, my vet."""
_MANY_KIN = canons(lexicon.MANY_KIN)
_TRAILING = {phrase: mark for mark, phrases in lexicon.TRAILING.items() for phrase in phrases}
_LONGEST_NOTED, _LONGEST_NOTE = 3, 12
"""In words: what a note is about, and the whole of it. A choice."""
_NOT_NAMES = (
    lexicon.GENERIC | lexicon.EMOTIONS | lexicon.ADVERBS | lexicon.WEAK_VERBS | lexicon.STOPWORDS | lexicon.KIN
    | lexicon.CHANGING | lexicon.LASTING | lexicon.OPENINGS | lexicon.ATTRIBUTES | lexicon.TOPIC_HEADS
    | frozenset(lexicon.LIKING) | frozenset(lexicon.DIETS) | frozenset().union(*lexicon.FOODS.values())
)  # fmt: skip
"""Words that open a sentence with a capital without being anybody's name."""
_AFTER_VALUE = (
    lexicon.STOPWORDS | lexicon.ADVERBS | lexicon.WEEKDAYS | lexicon.MONTHS | lexicon.TIME_WORDS
    | frozenset().union(*UNITS)
    | lexicon.words("mg mcg people persons guests times drops pills tablets am pm max maximum min minimum each per")
)  # fmt: skip
"""What may follow a number that is a value."""
_INTENDING = lexicon.words("plan hope aim want wish need intend expect think consid look love like prefer")


@dataclass(frozen=True, slots=True)
class Clause:
    """What a clause says, taken apart.

    Attributes:
        owner: Whose it is: "self", "self.sister", "self.sister.anna", a lower-case name, or "it" for a pronoun.
        thing: The subject's own words when the subject is no person ("budget for the Hawaii trip").
        verb: The stem of the main verb, "" if there is none.
        rest: The words after it, in their own case.
        definite: Whether the thing is a particular one (my, our, the), not any (a, some).
        perfect: Whether it tells of an act that is over, as of now ("I have tested it"), and of no state that goes on.
        aside: What stood in brackets.
    """

    owner: str
    thing: tuple[str, ...]
    verb: str
    rest: tuple[str, ...]
    definite: bool = True
    time: Time = "now"
    negative: bool = False
    change: bool = False
    hedged: bool = False
    additive: bool = False
    perfect: bool = False
    aside: str = ""

    @property
    def after(self) -> str:
        """The words after the verb."""
        return " ".join(self.rest)


@dataclass(slots=True)
class _Marks:
    negative: bool = False
    change: bool = False
    hedged: bool = False
    additive: bool = False
    perfect: bool = False
    time: Time = "now"


def is_one_of_many(owner: str) -> bool:
    """Whether an owner is one of several: "my friend" may be another one each time."""
    return owner.rpartition(".")[2] in _MANY_KIN


@lru_cache(maxsize=4096)
def parse(sentence: str) -> Clause | None:
    """Takes a clause apart; None if it has no subject that could own a claim."""
    marks = _Marks()
    text = expand(sentence).strip().rstrip(".!")
    aside = " ".join(aside for aside in _ASIDE.findall(text) if not _DATE_ASIDE.match(aside))
    text = _ASIDE.sub("", text)
    speaker = _SPEAKER.match(text)
    if speaker and speaker[1].split()[-1].lower() not in lexicon.ATTRIBUTES | _NOT_NAMES:
        text = text[speaker.end() :]
        speaker = None if speaker[1].split()[-1].lower() in _LABELS else speaker
    else:
        speaker = None
    words = _without_tail(_WORD.findall(_without_lead(text, marks)), marks)
    if not words:
        return None
    lower = [word.lower() for word in words]
    marks.change |= "now" in lower or lower[1:2] == ["new"] or "after all" in text
    owner, thing, rest, definite = _subject(words)
    if speaker and owner.split(".")[0] == "self":
        owner = speaker[1].split()[0].lower() + owner.removeprefix("self")
    verb, after = _verb(rest, marks, person=not thing)
    return Clause(owner, tuple(thing), verb, tuple(after), definite, marks.time, marks.negative, marks.change,
                  marks.hedged, marks.additive, marks.perfect, aside)  # fmt: skip


def _without_lead(text: str, marks: _Marks) -> str:
    """Drops openings, reporting verbs and leading times."""
    while opening := openings().match(text):
        text = text[opening.end() :]
    text = _FRONT.sub("", text)
    if doubt := _DOUBT.match(text):
        marks.hedged = True
        text = text[doubt.end() :]
    if reported := _REPORTED.match(text):
        marks.hedged |= bool(reported["doubted"])
        text = text[reported.end() :]
    if leading := _LEAD_IN.match(text):
        marks.change |= bool(leading["now"])
        text = text[leading.end() :]
    return text


def _without_tail(words: list[str], marks: _Marks) -> list[str]:
    """Drops adverbial phrases at the end, noting what they mark ("… any more", "… too", "… I think")."""
    while words:
        size = next((n for n in (3, 2, 1) if len(words) > n and " ".join(words[-n:]).lower() in _TRAILING), 0)
        if size:
            if mark := _TRAILING[" ".join(words[-size:]).lower()]:
                setattr(marks, mark, True)
            words = words[:-size]
        elif words[-1] in {",", ";", ":"}:
            words = words[:-1]
        else:
            break
    return words


_Subject = tuple[str, list[str], list[str], bool]
"""Owner, the words of a thing, the words after the subject, and whether the thing is definite."""


def _subject(words: list[str]) -> _Subject:
    lower = [word.lower() for word in words[:5]]
    first, second = lower[0], lower[1] if len(lower) > 1 else ""
    together = next((at for at in range(1, len(lower) - 1) if lower[at : at + 2] == ["and", "i"]), 0)
    if together or (first in {"i", "we", "user"} and second):
        return "self", [], words[together + 2 if together else 1 :], True
    if first in {"my", "our", "mine", "user's"}:
        return _possessed("self", words[1:])
    if first.removesuffix("'s") in lexicon.KIN and first.endswith("'s"):
        return _possessed("self", words)
    if first.endswith("'s") and words[0][0].isupper() and first not in {"it's", "that's", "here's"}:
        return _possessed(first.removesuffix("'s"), words[1:])
    if first in {"it", "this", "that", "these", "those", "he", "she", "they", "there"}:
        pointing = first in {"this", "that", "these", "those"} and second and second not in lexicon.FINITE
        return _noun_phrase("self", words[1:]) if pointing else ("it", [], words[1:], True)
    if first in {"the", "a", "an", "each", "every", "some", "any", "no"}:
        return _noun_phrase("self", words[1:], definite=first == "the")
    acts = bool(second) and (words[1][0].isupper() or is_gerund(second))
    if second and (first in lexicon.PARENTS or (first in lexicon.KIN and acts)):
        return _possessed("self", words)
    if size := _name_size(words):
        return first, [], words[size:], True
    if first in lexicon.STATES:
        return "self", [], ["am", *words], True
    named = is_gerund(first) and not lexicon.BE.isdisjoint(lower[1:4])  # "Staging db is at …", "moving day is …"
    if first == "been" or is_past(first) or (is_gerund(first) and not named) or first == "not" or drops_subject(words):
        # "Took me an hour" and "cost us a lot" tell of something else.
        owner = "it" if not {"me", "us"}.isdisjoint(lower[1:]) and is_past(first) else "self"
        return owner, [], ["have", *words] if first == "been" else words, True
    return _noun_phrase("self", words, definite=False)


def _possessed(owner: str, words: list[str]) -> _Subject:
    """What follows a possessive: one of the owner's people, or a thing of the owner's."""
    head = words[0].lower() if words else ""
    bare, rest = head.removesuffix("'s"), words[1:]
    named_thing = head == bare and rest and rest[0].lower() in lexicon.ATTRIBUTES | lexicon.TOPIC_HEADS  # "dog class"
    if bare not in lexicon.KIN or named_thing:
        return _noun_phrase(owner, words)
    person = f"{owner}.{canon(bare)}"
    if head != bare:
        return _noun_phrase(person, rest)
    if rest and rest[0][0].isupper() and rest[0].lower() not in lexicon.FINITE:
        name, rest = rest[0], rest[1:]
        person = f"{person}.{name.lower()}".removesuffix("'s")
    # "My manager is Tom" gives an attribute its value; "my manager lives in Oslo" tells of a person.
    thing = [bare] if rest and rest[0].lower() in BE and canon(bare) in NAMED_KIN else []
    return person, thing, rest, True


def _noun_phrase(owner: str, words: list[str], *, definite: bool = True) -> _Subject:
    """The words up to the first that may be the clause's verb; a colon stands for one."""
    # A note has no verb: "bins wed", "locker 88", "amlodipine 5 mg at night".
    noted = words[: _LONGEST_NOTED + 1] if len(words) <= _LONGEST_NOTE else []
    is_value = [word[0] in "$€£¥0123456789" or word.lower().removesuffix("s") in lexicon.WEEKDAYS for word in noted]
    size = next((at for at, found in enumerate(is_value) if at and found), 0)
    if size and _is_numbered(words[size - 1 :]):
        return owner, words[: size + 1], words[size + 1 :], definite
    for at, word in enumerate(words):
        following = words[at + 1].lower() if at + 1 < len(words) else ""
        if at and (word in {":", "="} or (word == "," and following[:1].isdigit())):
            return owner, words[:at], ["is", *words[at + 1 :]], definite
        if at and word.lower() in lexicon.FINITE and not (size and "," in words[size:at]):
            return owner, words[:at], words[at:], definite
    return (owner, words[:size], ["is", *words[size:]], definite) if size else (owner, words, [], definite)


def _is_numbered(words: list[str]) -> bool:
    """Whether a number only counts the thing before it: "lesson 3", or "box 1 contains clothes"."""
    head, number, following = [*(word.lower() for word in words[:3]), ""][:3]
    if not number.replace(".", "").isdigit():
        return False
    return head in lexicon.COUNTED or (following.isalpha() and following not in _AFTER_VALUE)


def _name_size(words: list[str]) -> int:
    """How many words a person's name at the start takes; 0 if there is none."""
    size = 0
    while size < min(2, len(words)) and words[size][0].isupper() and words[size].isalpha() and len(words[size]) > 1:
        size += 1
    first = words[0].lower()
    if not 0 < size < len(words) or first in _NOT_NAMES or is_past(first) or is_gerund(first):
        return 0
    following, behind = words[size].lower(), [word.lower() for word in words[size + 1 : size + 3]]
    moved = behind[:1] == ["to"] and behind[-1] in lexicon.WEEKDAYS | lexicon.MONTHS | frozenset("0123456789")
    if following in lexicon.WEEKDAYS or moved:  # "Retro moved to Thursday"
        return 0
    acts = following in lexicon.FINITE or following in lexicon.ADVERBS or following.endswith(("s", "ed"))
    return size if acts else 0


def _verb(words: list[str], marks: _Marks, *, person: bool) -> tuple[str, list[str]]:
    """Walks over auxiliaries, negation and adverbs to the main verb; `person`: whether the subject is one."""
    at, auxiliary = 0, ""
    lower = [*(word.lower() for word in words), "", ""]
    while at < len(words):
        step, auxiliary = _step(lower[at:], auxiliary, marks)
        if not step:
            return _main_verb(words, at, auxiliary, marks, person=person)
        at += step
    return ("be", []) if auxiliary in {"be", "was"} else ("", [])


def _step(words: list[str], auxiliary: str, marks: _Marks) -> tuple[int, str]:
    """How many words to step over, 0 at the main verb, and the auxiliary so far; what they mean is noted."""
    word, following = words[:2]
    if word == "no" and following == "longer":
        marks.negative = marks.change = True
        return 2, auxiliary
    if (word, following) in {("used", "to"), ("had", "to")}:
        marks.time = "past"
        return (2, auxiliary) if word == "used" else (1, "must")
    if word in {"not", "never"}:
        marks.negative = True
    elif word in lexicon.MODALS:
        if word != "may" or not marks.change:  # "I may work from home three days a week now" tells what is allowed.
            marks.time = "wish"
            marks.hedged |= word in {"may", "might", "could"}
    elif word in {"will", "shall"}:
        marks.time = "ahead"
    elif word in lexicon.ADVERBS:
        marks.change |= word in lexicon.CHANGE_WORDS
        marks.hedged |= word in lexicon.HEDGES
        marks.additive |= word in {"also", "too"}
    elif word in BE:
        auxiliary = "was" if word in {"was", "were"} else "be"
    elif word in {"have", "has", "had"}:
        # The next word that is neither an adverb nor "not" tells "have done" from "have a dog".
        verb = next((one for one in words[1:] if one not in lexicon.ADVERBS and one != "not"), "")
        if following not in {"to", "got"} and not is_participle(verb):
            return 0, auxiliary
        auxiliary = "must" if following == "to" else "have"
    elif word in {"do", "does", "did"} and following and (marks.negative or following == "not" or word == "did"):
        marks.time = "past" if word == "did" else marks.time
        auxiliary = "do"
    elif auxiliary == "be" and word in {"going", "about"} and following == "to" and words[2]:
        marks.time = "ahead"
        return 2, ""
    elif word not in {"can", "must", "to"} and (word, auxiliary) != ("got", "have"):
        return 0, auxiliary
    return 1, auxiliary


def _main_verb(words: list[str], at: int, auxiliary: str, marks: _Marks, *, person: bool) -> tuple[str, list[str]]:
    word = words[at].lower()
    if word == "got" and at + 1 < len(words) and (done := words[at + 1].lower()).endswith("ed") and done != "married":
        at, word = at + 1, done  # "I got promoted"; who got married is married
    if auxiliary in {"be", "was"}:
        if word in {"called", "named"}:
            return ("name" if person else "be"), words[at + 1 :]
        passive = not person and (is_past(word) or word in lexicon.BASE_OR_PAST)
        if auxiliary == "was" and marks.time == "now" and not passive:
            marks.time = "past"
        if not (passive or (is_gerund(word) and word not in lexicon.EMOTIONS)):
            return "be", words[at:]
        if auxiliary == "be" and stem(word) in {"move", "reloc", "switch", "migrat", "leav", "join", "retir", "marri"}:
            marks.time = "ahead"
    elif not auxiliary and is_past(word) and marks.time == "now":
        marks.time = "past"
    elif auxiliary == "have":
        going_on = {"since", "for"}.intersection(word.lower() for word in words[at:])
        marks.perfect = not going_on and word not in {"had", "lived", "worked"}
    return _framed(stem(word), words[at + 1 :], marks)


def _framed(verb: str, rest: list[str], marks: _Marks) -> tuple[str, list[str]]:
    """Looks through a verb that only frames another one: "stopped drinking coffee" is not drinking coffee."""
    first = rest[0].lower() if rest else ""
    governs = first == "to" or is_gerund(first)
    inner = rest[1:] if first == "to" else rest
    if (verb, first) in {("give", "up"), ("get", "rid")}:
        marks.negative = marks.change = True
        inner = rest[2 if verb == "get" else 1 :]
        if not (inner and is_gerund(inner[0].lower())):
            inner = ["any", *inner]
    elif verb in {"stop", "quit"} and is_gerund(first):
        marks.negative = marks.change = True
    elif verb == "start" and governs:
        marks.change = True
    elif verb in _INTENDING and first == "to" and len(rest) > 1:
        if verb in {"love", "like", "prefer"} and marks.time == "now":
            return verb, rest
        marks.time = "past" if marks.time == "past" else "wish"
        return stem(inner[0].lower()), inner[1:]
    elif verb in {"consid", "think"} and (first in {"about", "of"} or is_gerund(first)):
        marks.time, marks.hedged = "wish", True
        inner = rest[1:] if first in {"about", "of"} else rest
        return (stem(inner[0].lower()), inner[1:]) if inner else (verb, rest)
    else:
        return verb, rest
    if marks.time == "past":
        marks.time = "now"  # a past act that sets how things are since then
    if not inner:
        return verb, rest
    return inner[0] if inner[0] == "any" else stem(inner[0].lower()), inner[1:]
