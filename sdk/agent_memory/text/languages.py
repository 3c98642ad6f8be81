"""Tells English from other languages, by small words and letters."""

from __future__ import annotations

from functools import lru_cache

from agent_memory.text.patterns import linear
from agent_memory.text.stop_words import FOREIGN_WORDS, SMALL_WORDS

LETTERS = linear(r"\p{L}+")
"""A word of letters alone."""
_CONTRACTED = linear(r"(\p{L})['’](?:s|t|d|m)\b")
"""English words with a letter after an apostrophe. Alone, the letter would be a French word."""
_FOREIGN_SHARE = 0.15
"""The minimum share of a text's words that must be function words of another language. A choice."""
_MORE_FOREIGN = frozenset(
    """ik het een mijn niet heeft heb hebben zijn maar naar voor wij jij jullie ook nog geen wel werd wordt uit aan bij
    dat van de en zou vanaf tot graag bitte lieber gern habe wohne arbeite immer nur keine beim ab jetzt künftig gehen
    heißt gestern ayer anoche ontem hoje ieri gisteren vroeger""".split()
)
"""Dutch function words, more of German, and words for days."""
ENGLISH_ALONE = SMALL_WORDS - frozenset("in is was we me no had of".split())
"""Small words of English that none of the other languages has."""


@lru_cache(maxsize=4096)
def is_foreign(text: str) -> bool:
    """Whether a text is not English: it has function words of other languages, or letters that English never has."""
    shouted = text.isupper()  # else a word in capitals is an abbreviation: "CI" is no Italian
    plain = _CONTRACTED.sub(r"\1", text)
    words = [word.lower() for word in LETTERS.findall(plain) if shouted or len(word) == 1 or not word.isupper()]
    if any(char > "\u024f" and char.isalpha() for word in words for char in word):
        return True
    foreign = sum(word in FOREIGN_WORDS or word in _MORE_FOREIGN for word in words)
    ours = sum(word in ENGLISH_ALONE for word in words)
    accents = sum(any(char > "\x7f" for char in word[1:]) and word.islower() for word in words)
    return bool(foreign + accents > max(ours, _FOREIGN_SHARE * len(words) - 1, 0))
