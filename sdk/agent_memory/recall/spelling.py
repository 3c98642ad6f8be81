"""Spelling: a question with a mistyped word is read as it was probably meant.

A mistyped word finds nothing by words, and moves the question's vector. Whether a word is mistyped depends on the texts
of its user: names and terms that no dictionary has are right there. So the question is searched for as typed and with
the words that are one slip away from a doubtful one, and what is found decides: a word of theirs stays; otherwise those
of its alternatives count that they use.

A word is doubtful if neither it nor its beginning without an ending is one token of the tokenizer, whose vocabulary has
the common words of many languages: of 2,635 words of the questions of five data sets 93 in 100 are one token, of 1,370
mistyped ones 8.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from string import ascii_lowercase

from agent_memory.text.patterns import WORD
from agent_memory.text.stems import stem
from agent_memory.text.tokens import place_of_word

MOST = 3
"""Doubtful words of a question. With more, it is code, names or a rare language, and stays as it is. A choice."""
SHORTEST, LONGEST = 4, 20
"""Letters of a word that is checked. A slip makes another word of most shorter ones, and longer ones are mostly no
words; each letter of one costs 54 look-ups. A choice."""
ALTERNATIVES = 3
"""Words that are tried for a doubtful one, the commonest. The right one is among them for 95 in 100."""
_ENDINGS = ("s", "es", "d", "ed", "r", "er", "ing", "ly", "e", "n", "en", "t")
"""Endings of English and German words whose vocabulary has the rest: "calms", "inhaler", "wohnt"."""


@dataclass(frozen=True, slots=True)
class Spelt:
    """A question as typed, and the alternatives for each of its doubtful words, both in lower case."""

    typed: str
    alternatives: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def likeliest(self) -> str:
        """The question with the first alternative for each doubtful word."""
        return self._with({word: others[:1] for word, others in self.alternatives.items()})

    @property
    def words(self) -> list[str]:
        """All words that may be meant by a doubtful one, and these themselves."""
        return [word for typed, others in self.alternatives.items() for word in (typed, *others)]

    def among(self, texts: Iterable[str]) -> str:
        """The question in words that these texts have: as typed where they have that, or else what is one slip away."""
        if not self.alternatives:
            return self.typed
        used = {word for text in texts for word in WORD.findall(text.lower())}
        stems = {stem(word) for word in used}
        chosen: dict[str, tuple[str, ...]] = {}
        for typed, others in self.alternatives.items():
            if stem(typed) not in stems:
                near = tuple(sorted(word for word in used if len(word) >= SHORTEST and is_one_slip(typed, word)))
                chosen[typed] = near or others[:1]
        return self._with(chosen)

    def _with(self, chosen: dict[str, tuple[str, ...]]) -> str:
        parts, behind = [], 0
        for word in WORD.finditer(self.typed):
            if others := chosen.get(word[0].lower()):
                text = " ".join(others)
                parts += [self.typed[behind : word.start()], text.title() if word[0].istitle() else text]
                behind = word.end()
        return "".join([*parts, self.typed[behind:]])


async def spelt(question: str, names: Collection[str]) -> Spelt:
    """A question, and what may be meant by its doubtful words; `names` are those of speakers, in lower case."""
    if not _vocabulary.cache_info().currsize:
        await asyncio.to_thread(_vocabulary)
    return _spelt(question, names)


@cache
def _vocabulary() -> bool:
    """Loads the vocabulary. That takes half a second, the first time in a process."""
    return place_of_word("word") is not None


def _spelt(question: str, names: Collection[str]) -> Spelt:
    alternatives = {}
    lower = question.islower()
    for place, word in enumerate(WORD.finditer(question)):
        typed = word[0].lower()
        if not SHORTEST <= len(typed) <= LONGEST or not typed.isascii() or not typed.isalpha() or typed in names:
            continue
        if not _is_known(typed):
            near = tuple(sorted(name for name in names if is_one_slip(typed, name)))
            is_name = word[0].istitle() and place > 0 and not lower
            alternatives[typed] = near or (() if is_name else _common_words_near(typed))
            if len(alternatives) > MOST:
                return Spelt(question)
    return Spelt(question, alternatives)


def _is_known(word: str) -> bool:
    """Whether the vocabulary has a word, or the word without its ending."""
    return place_of_word(word) is not None or any(
        len(rest := word.removesuffix(ending)) < len(word) and len(rest) >= SHORTEST and place_of_word(rest) is not None
        for ending in _ENDINGS
    )


def is_one_slip(typed: str, word: str) -> bool:
    """Whether one letter too many, missing or wrong, or two in the wrong order, make one word of the other.

    The first letter is rarely wrong, and many words differ in it alone: "hiking" and "biking".
    """
    if typed == word or typed[:1] != word[:1] or abs(len(typed) - len(word)) > 1:
        return False
    shorter, longer = sorted((typed, word), key=len)
    same = next(
        (at for at, (one, other) in enumerate(zip(shorter, longer, strict=False)) if one != other), len(shorter)
    )
    rest, of_longer = shorter[same:], longer[same:]
    if len(shorter) < len(longer):
        return rest == of_longer[1:]
    return rest[1:] == of_longer[1:] or (rest[:2] == of_longer[1::-1] and rest[2:] == of_longer[2:])


@lru_cache(maxsize=4096)
def _common_words_near(typed: str) -> tuple[str, ...]:
    """The words of the vocabulary that are one slip away, the commonest first."""
    ends = [(typed[:at], typed[at:]) for at in range(1, len(typed) + 1)]
    near = {f"{head}{tail[1:]}" for head, tail in ends if tail}
    near |= {f"{head}{tail[1]}{tail[0]}{tail[2:]}" for head, tail in ends if len(tail) > 1}
    near |= {f"{head}{letter}{tail[skip:]}" for head, tail in ends for letter in ascii_lowercase for skip in (0, 1)}
    places = {
        word: place for word in near - {typed} if len(word) >= SHORTEST and (place := place_of_word(word)) is not None
    }
    return tuple(sorted(places, key=places.__getitem__)[:ALTERNATIVES])
