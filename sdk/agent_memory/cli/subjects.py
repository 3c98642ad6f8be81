"""Questions about an unknown transcript: subjects, taken from what is remembered and what was said.

Words are chosen only by how they are written, so this works in any language that separates words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_memory.cli.tour import by_importance
from agent_memory.text.patterns import linear

if TYPE_CHECKING:
    from agent_memory.models import Memory

_WORD = linear(r"\p{L}[\p{L}\p{M}'’-]*")
_SENTENCE = linear(r"[^.!?…。！？\n]+")
_SHORTEST = 4
"""Minimum letters of a word worth asking about; names may be shorter."""
_SHORTEST_NAME = 3
_LONGEST = 24
_READ_CHARACTERS = 50_000
"""How much of a transcript is read to find questions. Reading more does not give better ones."""


def subjects(memories: Iterable[Memory], texts: Iterable[str]) -> list[str]:
    """Names and words to ask about, the best first, each once.

    Args:
        memories: What is remembered; each gives one word, the most important first.
        texts: What was said; used if nothing of it is remembered.
    """
    held = by_importance([*memories])
    remembered = " ".join(one.content.casefold() for one in held)
    words = [_best_word(one.content, {tag.casefold() for tag in one.tags}) for one in held]
    words += [word for word in _words_of_talk(texts) if word.casefold() not in remembered]
    found: dict[str, str] = {}
    for word in filter(None, words):
        found.setdefault(word.casefold(), word)
    return list(found.values())


def _best_word(text: str, tags: set[str]) -> str | None:
    """A name if the text holds one, else its longest word; words that are tags come first."""
    words = list(_words(text))
    return (
        max(words, key=lambda word: (word[0].casefold() in tags, word[1], len(word[0])), default=("", False))[0] or None
    )


def _words_of_talk(texts: Iterable[str]) -> list[str]:
    """Words that were said: names first, then more frequent words, then longer ones."""
    counts: Counter[tuple[str, bool]] = Counter()
    left = _READ_CHARACTERS
    for text in texts:
        if left <= 0:
            break
        counts.update(_words(text[:left]))
        left -= len(text)
    return [word for word, _ in sorted(counts, key=lambda word: (-word[1], -counts[word], -len(word[0])))]


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Words that are long enough, each with whether it is written as a name: with a capital, but not as the first."""
    for sentence in _SENTENCE.findall(text):
        for position, word in enumerate(_WORD.findall(sentence)):
            is_name = position > 0 and word[0].isupper() and not word.isupper()
            if (_SHORTEST_NAME if is_name else _SHORTEST) <= len(word) <= _LONGEST:
                yield word, is_name
