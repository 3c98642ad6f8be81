"""Words and sentences: what every rule reads, and nothing that decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from agent_memory.language.offline import lexicon
from agent_memory.text.patterns import LONGEST, WIDEST_GAP, Bounded, bounded, either, linear, plain_words
from agent_memory.text.sentences import GERMAN_DAY
from agent_memory.text.stems import stem as plain_stem
from agent_memory.text.terms import is_unspaced, pairs

_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})
# What reads whole turns stays on Python's engine where it never goes back further than a word or a gap.
_IS = re.compile(
    r"\b(i|he|she|it|that|this|there|what|here|who|where|how|name|title|birthday|anniversary|budget|deadline)'s\b"
    r"|(?<=\w)'s(?= (?:the|a|an|my|our|not|in|on|at|going|called|now|been|coming|leaving|moving|retiring|quitting"
    r"|having|getting|starting|working|taking|training|\d))",
    re.I,
)
_HAS = re.compile(
    r"(?<=\w)'s(?= (?:just |finally |now )?(?:moved|quit|joined|retired|got|started|stopped"
    r"|left(?:[.,!]| (?:the|my|our|us|her|his|for|home|work)\b|$)))",
    re.I,
)
"""An "'s" that means "has" after a name; "Anna's left foot" is no such case."""
_BEFORE_NAME = "(?:and|but|so|also|btw|plus) (?=(?-i:[A-Z][a-z]))"
_WRITTEN_OUT = {"n't": "not", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_GOT = linear(rf"\b(have|has) got( (?:an?|the|my|our|some|no|\d+|{plain_words(lexicon.NUMBERS)})\b)", re.I)
# It begins at a word's beginning alone, so that each word is read once and given back once.
_ENDING = re.compile(r"\b(\w+)(n't|'m|'re|'ve|'ll|'d)\b", re.I)
_SHORT = re.compile(  # without an open repeat
    r"(?<![\w'])(" + "|".join(sorted(map(re.escape, lexicon.CONTRACTIONS), key=len, reverse=True)) + r")(?![\w'])", re.I
)
# Two of its ways go back to the last digit or letter of a run. The run is read again only behind that, where no digit
# and no letter follows, so that every character is read a bounded number of times.
_WORD = re.compile(r"[$€£¥]?\d[\d,.:/]*\d[a-z%]*|[$€£¥]?\d[a-z%]*|[^\W\d_][\w'&+#./-]*[\w+#]|[^\W_]|&", re.I)
# It is matched at the beginning of a line, and nothing stands behind its optional part.
_LINE_MARK = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+)?")
# What the segmenter takes for an abbreviation: a full stop without a space after it, or after a long plain word.
# Its one repeat begins behind a full stop alone, so that a gap is read once and given back once.
_RUN_ON = re.compile(
    r"(?<=[a-z][.!?])(?=[A-Z][a-z])|(?<![A-Z])(?<=[a-z]{4}[.!?])\s+(?=[A-Z])"
    r"|(?<=[a-z]{3}[.!?])\s+(?=(?:i|im|we|my|our|the|and|also|please|never|always|no|decided)\b[ ':])"
    r"|(?<= [A-Z]\.)\s+(?=(?:I|We|My|Our|The|He|She|They|It)\b[ '’])"
    r"|(?<=[a-z]{5}[.!?])\s+(?=[a-z]{3})|(?<=\d{3}[.!?])\s+(?=[a-z]{3})"
)
_GAP = linear(rf"\s{{{WIDEST_GAP + 1},}}")
_LONGEST_BODY = 2 * LONGEST
"""In characters, of what is cut into sentences at once: the segmenter's time grows with the square of some texts."""
LONGEST_TURN = 16_000
"""In characters; of a longer turn, the beginning is read."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands in a turn: `text` is the turn's own characters from `start`."""

    text: str
    start: int


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; irregular verb forms go to the stem of their base."""
    bare = word.removesuffix("'s").strip("'")
    return plain_stem(lexicon.IRREGULAR.get(bare, bare))


def stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of lower-case words."""
    return frozenset(map(stem, words))


def canons(words: Iterable[str]) -> frozenset[str]:
    """What stands for lower-case words and their synonyms (see `canon`)."""
    return frozenset(map(canon, words))


@lru_cache(maxsize=20_000)
def canon(word: str) -> str:
    """The stem that stands for a lower-case word and its synonyms."""
    return stem(lexicon.SYNONYMS.get(word) or lexicon.SYNONYMS.get(word.removesuffix("'s")) or word)


def straighten(text: str) -> str:
    """Text with typographic quotes and dashes made plain, character for character."""
    return text.translate(_QUOTES)


@lru_cache(maxsize=4096)
def expand(text: str) -> str:
    """Text with contractions written out (I'm → I am, I've got a → I have a) and its case kept where it stood."""
    plain = straighten(text)
    plain = _SHORT.sub(lambda match: lexicon.CONTRACTIONS[match[1].lower()], plain)
    plain = _HAS.sub(" has", plain)
    plain = _IS.sub(lambda match: f"{match[1] or ''} is", plain)
    plain = _ENDING.sub(lambda match: f"{match[1]} {_WRITTEN_OUT[match[2].lower()]}", plain)
    return _GOT.sub(lambda match: match[1] + match[2], plain)


@cache
def openings() -> Bounded:
    """What opens a sentence without belonging to it, with the punctuation after it or before a subject."""
    known = plain_words(lexicon.OPENINGS | {expand(entry) for entry in lexicon.OPENINGS})
    starts = either("""
        i i'm im i've ive we we're we've my our the he she it it's they user please always never keep let
    """)
    starts = f"(?:{starts}|{plain_words(lexicon.STATES)})"
    return bounded(rf"{_BEFORE_NAME}|{known}(?:\s*[,!.:;-]+\s*|\s+(?={starts}\b|{known}\s*[,!.:;-]))(?=\S)", re.I)


def tokens(text: str) -> list[str]:
    """The words of a text in their own case, contractions written out."""
    return [word.rstrip(".,:/") if len(word) > 1 else word for word in _WORD.findall(expand(text))]


def content_words(text: str) -> list[str]:
    """The lower-case words that carry content, in order; of a script without spaces, pairs of characters."""
    words = (token.lower().removesuffix("'s") for token in tokens(text))
    # Both ways of writing a compound give the same words: payment-service, payment service.
    whole = (part for word in words for part in (word.split("-") if word[:1].isalpha() else [word]))
    parts = (part for one in whole for part in (pairs(one) if is_unspaced(one) else [one]))
    return [part for part in parts if part and part not in lexicon.STOPWORDS]


def content_stems(text: str) -> frozenset[str]:
    """What a text is about: canonical stems of its content words."""
    return frozenset(canon(word) for word in content_words(text))


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, of a very long one those of its beginning.

    A line break, a list mark, a wide gap and a missing space after a full stop end one too.
    """
    from nupunkt import sent_spans  # it takes a while to import

    found: list[Sentence] = []
    offset = 0
    for line in text[:LONGEST_TURN].splitlines(keepends=True):
        mark = _LINE_MARK.match(line)
        start = mark.end() if mark else 0
        for column, body in _columns(line[start:]):
            # The splitter knows no German days; without its space, a full stop ends no sentence.
            plain = GERMAN_DAY.sub(lambda day: day[0].replace(" ", "_"), body)
            for begin, end in sent_spans(plain):
                found += _pieces(body[begin:end], offset + start + column + begin)
        offset += len(line)
    return found


def _columns(line: str) -> Iterator[tuple[int, str]]:
    """The parts of a line between wide gaps, and those of a very long one, with where each begins."""
    start = 0
    for gap in [*_GAP.finditer(line), None]:
        end = gap.start() if gap else len(line)
        while end - start > _LONGEST_BODY:
            cut = start + _LONGEST_BODY
            cut = line.rfind(". ", start, cut) + 1 or line.rfind(" ", start, cut) + 1 or cut
            yield start, line[start:cut]
            start = cut
        if body := line[start:end].rstrip():
            yield start, body
        start = gap.end() if gap else end


def _pieces(span: str, start: int) -> list[Sentence]:
    pieces = []
    position = 0
    breaks = [match.span() for match in _RUN_ON.finditer(span)]
    for end, following in [*breaks, (len(span), len(span))]:
        stripped = span[position:end].strip()
        if stripped:
            pieces.append(Sentence(stripped, start + span.index(stripped, position)))
        position = following
    return pieces
