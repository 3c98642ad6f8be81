"""Likeness: when two texts say the same, and when a text is about something.

Cosines alone do not tell: with all-MiniLM-L6-v2 two wordings of one claim lie between 0.35 and 0.92, two claims about
one thing between 0.3 and 0.72 (46 pairs and 160 pairs). So three signs are used: a telling figure in common (a code,
an amount, a number), a high cosine, or a middling one together with most of the words. Where they err they forget
too little by one wording rather than too much by one claim; naming the topic instead of the claim forgets more.
An answer says little by itself ("Got it: Fabrikam."), but its place tells what it is about, so that one sign suffices,
unless it goes on about something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from agent_memory.text.folding import folded
from agent_memory.text.function_words import FUNCTION_WORDS
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.stems import stem

LITTLE = 3
"""Words that "Got it, I'll keep that in mind" adds, and an answer that goes on about something else exceeds."""
_DIGITS = linear(r"\d+(?:[ -]\d+){2,}")
_FIGURE = linear(r"\d+(?:[.,]\d{3})*(?:[.,]\d+)?")
_RUN = linear(r"[\w-]+")
_MEASURE = linear(r"\d+[a-z]{1,3}")
_MAIL = linear(r"[\w.+-]+@[\w-]+\.\w+")
_WHEN = linear(r"\d{4}-\d{2}-\d{2}\S*|\d{1,2}:\d{2}(?::\d{2})?")
_YEAR = linear(r"(?:19|20)\d\d")
_WORD = linear(r"\w+")
_PARTS = linear(r"(\w+)(?:['’](\w+))?")
"""A word; what stands behind an apostrophe is an ending, if it is short, or the word itself: "we're", "d'arachides"."""
_TELLING = 3
"""Letters of a word that tells, at least."""
_LAST_LATIN = "\u024f"
_SHARE_OF_SMALL = 1 / 6
"""Of small words that English does not have, in a text of another language; names like Los Angeles bring fewer."""
_SENTENCE_END = linear(r"[.!?]\s+|\n+")
_SMALL = frozenset(
    """a about am an and are as at be been but by can could did didn do does doesn don for from get got had has have he
    her his how i if in into is it its just let like me my no not of on or our please remember say said she
    should so tell that the their them then there they this to told too up us user was way we were what when
    where which who will with would you your""".split()
)
_FOREIGN = (
    FUNCTION_WORDS
    - _SMALL
    - {"war", "die", "son", "sale", "tu", "pour", "if", "os", "era", "sera", "hat", "ton", "do", "no", "so"}
)
_CALENDAR = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december""".split()
)


@dataclass(frozen=True, slots=True)
class Likeness:
    """The cosines of an embedding model: of the same claim, of a near one, and of a topic and what is about it."""

    same: float
    near: float
    topic: float

    @classmethod
    def of(cls, embedding_model: str) -> Likeness:
        """The figures for a model, matched by the beginning of its name; those of others are not measured."""
        return next((known for name, known in _MEASURED.items() if embedding_model.startswith(name)), _OTHERS)

    def same_claim(self, one: str, other: str, cosine: float | None) -> bool:
        """Whether two texts make one claim, in whatever words."""
        if figures(one) & figures(other):
            return True
        if cosine is None:
            return False
        return cosine >= self.same or (cosine >= self.near and _overlap(stems(one), stems(other)) >= 2 / 3)

    def about(self, topic: str, text: str, cosine: float | None) -> bool:
        """Whether a text is about a topic: it has all the topic's words, or some and a like meaning, or its meaning."""
        wanted = stems(topic)
        share = len(wanted & stems(text)) / len(wanted) if wanted else 0.0
        if share == 1.0:
            return True
        return cosine is not None and (cosine >= self.topic or (cosine >= self.near and share >= 1 / 2))

    def takes_up(self, topic: str, said: str, answer: str, cosine: float) -> bool:
        """Whether the answer to something that was said of a topic says it too, or what it is about.

        It does if it has a figure of it, all words of the topic or half of them (more than one, or a name), most of
        the shorter text's words, or at least one and a middling cosine. Another name that was said, or one word of a
        topic of two, tells only where the answer adds little of its own: it may go on about something else.

        In other languages than English the cosine is no sign: to a model that learned from English, two sentences
        of another are near (0.32 to 0.76 in 29 pairs that have nothing in common). There the words decide.
        """
        if figures(said) & figures(answer):
            return True
        wanted, told, answered = _telling(topic), stems(said), stems(answer)
        shared, names = wanted & answered, {stem(name) for name in _names_in_both(said, answer)}
        half = bool(shared) and 2 * len(shared) >= len(wanted)
        if half and (shared == wanted or len(shared) > 1 or shared & names):
            return True
        if (half or names) and len(answered - told - wanted) <= LITTLE:
            return True
        if _overlap(told, answered) >= 2 / 3:
            return True
        telling = {word for word in told & answered if len(word) >= _TELLING and word not in FUNCTION_WORDS}
        if _is_foreign(f"{said} {answer}"):
            new = answered - told - wanted - FUNCTION_WORDS
            return bool(telling) and (len(telling) > 1 or len(new) <= LITTLE)
        return cosine >= self.near and bool(told & answered)


_MEASURED = {"all-MiniLM-L6-v2": Likeness(0.75, 0.5, 0.6), "hashing-384": Likeness(0.75, 0.3, 0.5)}
_OTHERS = Likeness(0.8, 0.5, 0.6)


def figures(text: str) -> set[str]:
    """The figures of a text that point to one thing only: codes, numbers and amounts, addresses; in one spelling.

    Years, dates, times, measures, round and short numbers are not: too much else has them.
    """
    plain = _WHEN.sub(" ", folded(text).lower())
    found = set(_MAIL.findall(plain))
    plain = _MAIL.sub(" ", plain)
    codes: set[str] = set()

    def without_code(run: re.Match[str]) -> str:
        code = _code_in(run[0])
        if code is None:
            return run[0]
        codes.add(code)
        return f"{run[0].removesuffix(code)} "

    plain = _DIGITS.sub(_spelt_together, _RUN.sub(without_code, plain))
    numbers = {
        number.removesuffix(".00").removesuffix(",00").replace(",", "").replace(".", "")
        for number in _FIGURE.findall(plain)
    }
    return found | codes | {number for number in numbers if _is_telling(number)}


def _code_in(run: str) -> str | None:
    """The code that a run of letters, digits and hyphens ends in: it has a digit and a letter, and is no measure."""
    starts = (i for i, character in enumerate(run) if (i == 0 or run[i - 1] == "-") and _is_plain(character))
    code = run[next(starts, len(run)) :]
    if len(code) < 4 or not any(map(str.isdecimal, code)) or not any("a" <= character <= "z" for character in code):
        return None
    return None if _MEASURE.fullmatch(code) else code


def _is_plain(character: str) -> bool:
    return "a" <= character <= "z" or "0" <= character <= "9"


def _spelt_together(run: re.Match[str]) -> str:
    """Digits that were spelt one by one as one number: 4-7-1-1 as 4711."""
    parts = _WORD.findall(run[0])
    spelt: list[str] = []
    for single, group in groupby(parts, lambda part: len(part) == 1):
        members = list(group)
        spelt += ["".join(members)] if single and len(members) > 2 else members
    return run[0] if len(spelt) == len(parts) else " ".join(spelt)


def names(text: str) -> list[str]:
    """The words of a text that have a capital and begin no sentence."""
    return [word[0] for word in _WORD.finditer(text) if _is_name(text, word.start(), word.end())]


def _is_name(text: str, start: int, end: int) -> bool:
    if start == 0 or end - start < 2 or not "A" <= text[start] <= "Z":
        return False
    ahead = text[max(start - 2, 0) : start]
    return not (ahead[-1].isspace() and ahead[0] in ".!?")


def _names_in_both(one: str, other: str) -> set[str]:
    """The words in both texts that are names in one, and no date."""
    named = {name.lower() for text in (one, other) for name in names(folded(text))}
    return (named - _CALENDAR) & _words(one) & _words(other)


def _is_telling(number: str) -> bool:
    return len(number) >= 4 and len(number.rstrip("0")) >= 3 and not _YEAR.fullmatch(number)


def spellings(figure: str) -> list[str]:
    """The ways in which people write a figure: 84500 also as 84,500, 84.500 or 84 500, 4711 also as 4-7-1-1."""
    if not figure.isdigit():
        return [figure]
    thousands = f"{int(figure):,}"
    spelt = {thousands, *(thousands.replace(",", mark) for mark in ". ")} | {mark.join(figure) for mark in " -"}
    return [figure, *sorted(spelt - {figure})]


def stems(text: str) -> set[str]:
    """The stems of the words that carry a text."""
    return {stem(word) for word in _words(text)}


def roots(text: str) -> set[str]:
    """What all forms of the words of a text begin with: "allerg" of allergy, "celer" of celery."""
    return {word[: _alike(word, stem(word))] for word in _words(text)}


def _alike(one: str, other: str) -> int:
    """How many characters two words begin with in common."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _words(text: str) -> set[str]:
    found = _PARTS.findall(folded(text))
    words = {head.lower() for head, _ in found} | {tail.lower() for _, tail in found if len(tail) >= _TELLING}
    return words - _SMALL


def _telling(text: str) -> set[str]:
    """The stems that carry a text in any language that is known here; all of them if there are no others."""
    words = stems(text)
    return words - _FOREIGN or words


def _is_foreign(text: str) -> bool:
    """Whether a text is in another language than English, by its letters or the small words in it."""
    words = [word.lower() for word in WORD.findall(text)]
    small = sum(word in _FOREIGN for word in words)
    return any(word[0] > _LAST_LATIN for word in words) or (small > 1 and small >= _SHARE_OF_SMALL * len(words))


def telling_part(text: str, topic: str) -> str:
    """The sentences of a longer text that have words of a topic; all of it if none has."""
    wanted = stems(topic)
    told = [sentence for sentence in _sentences(text) if wanted & stems(sentence)]
    return " ".join(told) or text


def _sentences(text: str) -> list[str]:
    found = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        found.append(text[start : end.start() + (end[0][0] in ".!?")])
        start = end.end()
    return [*found, text[start:]]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors of length 1."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def _overlap(one: set[str], other: set[str]) -> float:
    """The share of the shorter text's words that the other has too."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0
