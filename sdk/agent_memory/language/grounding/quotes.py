"""Quotes: where a text has the words that a model quotes, and the evidence for a memory that comes without them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import lru_cache

from agent_memory.language.grounding.conclusions import Ungrounded
from agent_memory.language.tasks import TurnView
from agent_memory.text.folding import folded
from agent_memory.text.patterns import WORD
from agent_memory.text.sentences import sentences

NONE_FOUND = "it cites no turn, and none can be found for it"
NO_QUOTE = "it has no quote, and none can be found for it"

_EDGES = " \t\r\n\"'“”„‘’«».,;:!?…"
_ALIKE = str.maketrans({sign: alike[0] for alike in ('"“”„‟«»', "'’‘‛`´ʼ", "-‐‑‒–—−") for sign in alike})
# Nothing follows the repeat, and each other part has a fixed length, so the pattern cannot backtrack.
_SPACE_OR_DOTS = re.compile(r"\s+|\.{3}|…")


def find_quote(quote: str, text: str) -> str | None:
    """The part of a text that a quote repeats, as it stands there; None if there is none.

    Case, spacing, the shape of quotation marks, dashes and dots, and marks around the quote do not matter.
    """
    wanted, _ = _plain(folded(quote).strip(_EDGES))
    if not any(character.isalnum() for character in wanted):
        return None
    whole = folded(text)
    plain, places = _plain(whole)
    start = plain.find(wanted)
    return whole[places[start] : places[start + len(wanted)]] if start >= 0 else None


@lru_cache(maxsize=64)  # several memories quote one turn
def _plain(text: str) -> tuple[str, Sequence[int]]:
    """A text in small letters with plain signs and single spaces, and where each of its characters begins in the text.

    The places have one more entry, the end of the text.
    """
    signs: list[str] = []
    places = array("Q")
    start = 0
    for gap in [*_SPACE_OR_DOTS.finditer(text), None]:
        end = gap.start() if gap else len(text)
        part = text[start:end]
        # The lower case of a few letters has two characters ("İ"): these stay, so that positions remain right.
        small = part.lower()
        if len(small) != len(part):
            small = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in part)
        signs.append(small.translate(_ALIKE))
        places.extend(range(start, end))
        if gap:
            signs.append(" " if gap[0].isspace() else "…")
            places.append(end)
            start = gap.end()
    places.append(len(text))
    return "".join(signs), places


def find_evidence(
    content: str, quote: str | None, refs: Sequence[str], turns: Sequence[TurnView]
) -> tuple[str, list[str]]:
    """Completes the evidence of a memory that lacks its quote or its refs.

    Missing refs are found by the quote: the last user turn that has it, else the last turn that does. If only one turn
    was given, it is the source. A missing quote is found only if there is one source: its sentence that shares most
    words with the memory.

    Raises:
        Ungrounded: nothing in the turns can be pointed at.
    """
    if not refs and quote:
        sources = [turn for turn in turns if find_quote(quote, turn.content)]
        refs = [turn.ref for turn in sorted(sources, key=lambda turn: turn.role == "user")][-1:]
    if not refs and len(turns) == 1:
        refs = [turns[0].ref]
    if not refs:
        raise Ungrounded(NONE_FOUND)
    if quote:
        return quote, list(refs)
    cited = [turn for turn in turns if turn.ref in refs]
    sentence = _closest_sentence(content, cited[0].content) if len(cited) == 1 else None
    if sentence is None:
        raise Ungrounded(NO_QUOTE)
    return sentence, list(refs)


def find_tidied(quote: str, text: str) -> str | None:
    """The sentences of a text that a quote shortens or tidies; None unless they have all of its telling words."""
    wanted = telling_words(folded(quote))
    parts = [part for part in sentences(folded(text)) if wanted & telling_words(part)]
    whole = next((part for part in parts if wanted <= telling_words(part)), " ".join(parts))
    return find_quote(whole, text) if wanted and wanted <= telling_words(whole) else None


def _closest_sentence(content: str, text: str) -> str | None:
    wanted = telling_words(content)
    best = max(sentences(text), key=lambda sentence: len(wanted & telling_words(sentence)), default="")
    return best if wanted & telling_words(best) else None


def telling_words(text: str) -> set[str]:
    """The figures of a text, and its words of more than three letters, which mostly carry its meaning."""
    return {word for word in WORD.findall(text.casefold()) if len(word) > 3 or word.isdigit()}
