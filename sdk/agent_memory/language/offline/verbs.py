"""Recognises forms of English verbs by their endings and by a few lists of exceptions."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.text import stem
from agent_memory.text.stems import stem as plain_stem

_NOUNS_IN_ING = lexicon.words("spring string morning evening thing nothing everything wedding building meeting during")
_NOT_PASTS = lexicon.words("need feed seed weed deed shed speed does bleed")
_GETTING = lexicon.words("got bought sold joined adopted switched upgraded rented leased hired started")
_GOING = lexicon.words("switched upgraded changed")
_ARTICLES = lexicon.words("a an the my our another two three")
_PARTICIPLES = lexicon.words("been got gotten become come run put cut hit hurt let quit read set cost not")


def drops_subject(words: Sequence[str]) -> bool:
    """Whether words begin with a verb whose subject the writer left out: "quit smoking", "hate cilantro".

    Lower case, or what was got, tells such a note from a sentence that opens with a participle or an exclamation.
    """
    first, second = [*words[:2], "", ""][:2]
    if first.lower() in _GETTING and (second.lower() in _ARTICLES or second[:1].isdigit()):
        return True
    if first.lower() in _GOING and second == "to":
        return True
    liking = first in {"love", "hate", "prefer", "dislike", "enjoy"}
    return first.islower() and (is_past(first) or ((liking or first == "quit") and bool(second)))


def is_past(word: str) -> bool:
    """Whether a lower-case verb form stands for the past (a base that looks like its past does not)."""
    if word in lexicon.BASE_OR_PAST or word in _NOT_PASTS or word in lexicon.BE or word.endswith("s"):
        return False
    return (word.endswith("ed") and len(word) > 3) or stem(word) != plain_stem(word)


def is_gerund(word: str) -> bool:
    """Whether a lower-case word is the -ing form of a verb."""
    return word.endswith("ing") and len(word) > 4 and word not in _NOUNS_IN_ING


def is_participle(word: str) -> bool:
    """Whether a lower-case word is a past participle, as after "have"."""
    return word in _PARTICIPLES or (len(word) > 3 and is_past(word))
