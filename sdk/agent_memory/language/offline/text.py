"""Words and sentences: what every rule reads, and nothing that decides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from agent_memory.language.offline import lexicon
from agent_memory.language.stems import stem as plain_stem

_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})
_PRONOUN_IS = re.compile(r"\b(i|he|she|it|that|this|there|what|here|who|where|how)'s\b", re.I)
_ENDINGS = tuple(
    (re.compile(rf"\b(\w+){ending}\b", re.I), rf"\1 {written}")
    for ending, written in (
        ("n't", "not"),
        ("'m", "am"),
        ("'re", "are"),
        ("'ve", "have"),
        ("'ll", "will"),
        ("'d", "would"),
    )
)
_SHORT = re.compile(
    r"(?<![\w'])(" + "|".join(sorted(map(re.escape, lexicon.CONTRACTIONS), key=len, reverse=True)) + r")(?![\w'])", re.I
)
_WORD = re.compile(r"[$€£¥]?\d[\d,.:/]*\d[a-z%]*|[$€£¥]?\d[a-z%]*|[^\W\d_][\w'&+#./-]*[\w+#]|[^\W_]|&", re.I)
_LINE_MARK = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+)?")
# What the segmenter takes for an abbreviation: a full stop without a space after it, or after a long plain word.
_RUN_ON = re.compile(r"(?<=[a-z][.!?])(?=[A-Z][a-z])|(?<![A-Z])(?<=[a-z]{4}[.!?])\s+(?=[A-Z])")
_ABBREVIATED = re.compile(r"\b(?:approx|dept|prof|capt|corp|assn|univ|blvd|messrs)\.$", re.I)


def either(entries: str) -> str:
    """A pattern of alternatives, given as words of text; `_` stands for a space inside one."""
    return "(?:" + "|".join(entry.replace("_", " ") for entry in entries.split()) + ")"


def plain_words(entries: Iterable[str]) -> str:
    """A pattern of literal words, the longest first so that none hides behind its own beginning."""
    return "(?:" + "|".join(sorted(map(re.escape, entries), key=len, reverse=True)) + ")"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands in a turn: `text` is the turn's own characters from `start`."""

    text: str
    start: int


@cache
def _segmenter() -> object:
    import nupunkt

    return nupunkt.sent_spans


@cache
def _irregular() -> dict[str, str]:
    forms: dict[str, str] = {}
    for entry in lexicon.IRREGULAR.split():
        base, others = entry.split(":")
        forms.update(dict.fromkeys(others.split(","), base))
    return forms


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; irregular verb forms go to the stem of their base."""
    bare = word.removesuffix("'s").strip("'")
    return plain_stem(_irregular().get(bare, bare))


@lru_cache(maxsize=20_000)
def canon(word: str) -> str:
    """The stem that stands for a lower-case word and its synonyms."""
    return stem(lexicon.SYNONYMS.get(word) or lexicon.SYNONYMS.get(word.removesuffix("'s")) or word)


def straighten(text: str) -> str:
    """Text with typographic quotes and dashes made plain, character for character."""
    return text.translate(_QUOTES)


@lru_cache(maxsize=4096)
def expand(text: str) -> str:
    """Text with contractions written out (I'm → I am) and its case kept where it stood."""
    plain = straighten(text)
    plain = _SHORT.sub(lambda match: lexicon.CONTRACTIONS[match[1].lower()], plain)
    plain = _PRONOUN_IS.sub(r"\1 is", plain)
    for pattern, replacement in _ENDINGS:
        plain = pattern.sub(replacement, plain)
    return plain


@cache
def openings() -> re.Pattern[str]:
    """What opens a sentence without belonging to it, with the punctuation after it or before a subject."""
    known = plain_words(lexicon.OPENINGS | {expand(entry) for entry in lexicon.OPENINGS})
    starts = either("""
        i i'm i've we we're we've my our the he she it it's they user please always never keep let allergic
    """)
    return re.compile(rf"{known}(?:\s*[,!.:;-]+\s*|\s+(?={starts}\b|{known}\s*[,!.:;-]))(?=\S)", re.I)


def tokens(text: str) -> list[str]:
    """The words of a text in their own case, contractions written out."""
    return [word.rstrip(".,:/") if len(word) > 1 else word for word in _WORD.findall(expand(text))]


def content_words(text: str) -> list[str]:
    """The lower-case words that carry content, in order."""
    return [
        word
        for token in tokens(text)
        for word in _split_hyphens(token.lower().removesuffix("'s"))
        if word not in lexicon.STOPWORDS
    ]


def _split_hyphens(word: str) -> list[str]:
    """Both ways of writing a compound give the same words: payment-service, payment service."""
    return [part for part in word.split("-") if part] if word[0].isalpha() else [word]


def content_stems(text: str) -> frozenset[str]:
    """What a text is about: canonical stems of its content words."""
    return frozenset(canon(word) for word in content_words(text))


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text; a line break, a list mark and a missing space after a full stop end one too."""
    found: list[Sentence] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        mark = _LINE_MARK.match(line)
        start = mark.end() if mark else 0
        body = line[start:].rstrip()
        if body:
            spans = _segmenter()(body)  # type: ignore[operator]
            for begin, end in spans:
                found += _pieces(body[begin:end], offset + start + begin)
        offset += len(line)
    return found


def _pieces(span: str, start: int) -> list[Sentence]:
    pieces = []
    position = 0
    breaks = [match.span() for match in _RUN_ON.finditer(span) if not _ABBREVIATED.search(span[: match.start()])]
    for end, following in [*breaks, (len(span), len(span))]:
        stripped = span[position:end].strip()
        if stripped:
            pieces.append(Sentence(stripped, start + span.index(stripped, position)))
        position = following
    return pieces
