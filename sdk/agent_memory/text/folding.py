"""Folding: the screen, the store and the reader get the same text (docs/decisions/0010).

`folded` returns the text that is stored and shown. It looks like the original and hides nothing. `seen` returns the
text that the screen reads: look-alikes, accents and line breaks are normalised, and each character keeps its place in
the original. `seen` is never stored.

`folded` applies only a part of NFKC, because the whole changes what a text says: it turns 10² into 102 and 1½ into
11/2, and splits letters of Thai and Korean. `seen` applies all of it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.text.patterns import WORD, linear

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_EMOJI_STYLES = ("\ufe0e", "\ufe0f")
_FLAG, _TAG_END = "\U0001f3f4", "\U000e007f"
_LONGEST_TAG = 6
"""Most tag characters in the flag of a region, such as Scotland's, with the closing one (UTS 51)."""
_TAGS = frozenset(map(chr, range(0xE0020, 0xE0080)))
_CONTEXTUAL = frozenset([_ZWNJ, _ZWJ, *_EMOJI_STYLES]) | _TAGS
"""Invisible characters that have an effect next to certain neighbours."""
_ORDERING = frozenset("\u202d\u202e")
"""Overrides of the writing direction. They show letters in another order than the text has them."""
_BREAKS = frozenset("\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029")
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
"""Letters and marks that show nothing: fillers of Hangul and Khmer, selectors of Mongolian."""
_JOINED = ((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x18AF))
"""The scripts that use joiners: Arabic and related ones, those of India, Burmese, Khmer, Mongolian."""

_STORED = {
    "<font>": "LN",
    "<wide>": "LN",
    "<narrow>": "LN",
    "<initial>": "L",
    "<medial>": "L",
    "<final>": "L",
    "<isolated>": "L",
    "<compat>": ("Lu", "Ll", "Lt", "Nl"),
}
"""Compatibility forms (Unicode Standard Annex 44) that only look different, by the categories for which this holds."""
_LONGEST_FORM = 4
"""Maximum letters that one character may unfold to. Arabic characters for a whole sentence stay."""

# Letters that look like Latin ones, from Unicode's table of confusables (Unicode Technical Standard 39): Cyrillic,
# Greek, Armenian, small capitals and other phonetic letters.
_ALIKE = (
    ("аАвВеЕкКмМнНоОрРсСтТуУхХѕЅіІјЈһҺԁԛԝӏӀгпѵԍ", "aAbBeEkKmMhHoOpPcCtTyYxXsSiIjJhHdqwlIrnvg"),
    ("αΑβΒεΕΖηΗιΙκΚΜνΝοΟρΡτΤυΥχΧωγ", "aAbBeEZnHiIkKMvNoOpPtTuYxXwy"),
    ("օսոհցզԼՏ", "ounhgqLS"),
    ("ıɑɡɩƿᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "iagipabcdefghijklmnoprstuvwyz"),
)
_LATIN = {one: other for ours, theirs in _ALIKE for one, other in zip(ours, theirs, strict=True)}
_LOOK_ALIKES = str.maketrans(_LATIN)
_SAME = frozenset("асеорхуѕіјһԁԛԝӏАВЕКМНОРСТХУЅІЈНο" + _ALIKE[-1][0])
"""Look-alikes that nobody can tell from Latin letters."""
_SHORTEST_DISGUISE = 4
"""Fewest letters of a disguised word that consists of look-alikes alone. Shorter ones are real words."""

_ACCENTS = (
    ("\u0300", "\u036f"),
    ("\u0610", "\u061a"),
    ("\u0640", "\u0640"),
    ("\u064b", "\u065f"),
    ("\u0670", "\u0670"),
)

_SEQUENCES = linear(
    r"(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})|\x1b[ -/]*[0-~]"
)
"""What tells a terminal its colour or its title (ECMA-48): control sequences, strings, escapes."""
_SPACES = linear(r"[ \n\t]{2,}|[\n\t]")


class _Folds(dict[int, str]):
    """What each character is folded to, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = fold = _fold(chr(code))
        return fold


class _Views(dict[int, str]):
    """How the screen reads each character, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code))
        if unicodedata.category(parts[0]) == "Nd":
            parts = str(unicodedata.decimal(parts[0])) + parts[1:]
        if len(parts) > _LONGEST_FORM:
            parts = chr(code)
        self[code] = view = "".join(_line_of(part) for part in parts if not (_is_accent(part) or _is_hidden(part)))
        return view


_FOLDS, _VIEWS = _Folds(), _Views()
_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) | {"\n", "\t"}


def folded(text: str) -> str:
    r"""A text as it looks, in the plain forms of its letters, with nothing hidden in it.

    Invisible characters, controls, what steers a terminal, and direction overrides are removed. Joiners stay in emoji
    and between letters that need them. Line ends become `\n`, and spaces become plain. Folding a folded text changes
    nothing.
    """
    if text.isascii() and _PLAIN.issuperset(text):
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _SEQUENCES.sub("", text)
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").translate(_FOLDS))
    return text if _CONTEXTUAL.isdisjoint(text) else unicodedata.normalize("NFC", _without_idle(text))


def hides(text: str) -> bool:
    """Whether a text, before folding, holds characters that only serve to hide something.

    These are direction overrides, and tag characters outside flags.
    """
    if not _ORDERING.isdisjoint(text):
        return True
    return not _TAGS.isdisjoint(text) and sum(map(_TAGS.__contains__, text)) > sum(
        map(_TAGS.__contains__, folded(text))
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """A text as the screen reads it. `places` gives each character's place in the original (None: the same place)."""

    text: str
    places: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of a part of the seen text."""
        if self.places is None or start == end:
            return start, end
        return self.places[start], self.places[end - 1] + 1

    def in_line(self) -> Seen:
        """The same with every run of spaces and line breaks as one space."""
        if "  " not in self.text and not any(mark in self.text for mark in "\n\t"):
            return self
        parts: list[str] = []
        kept: list[int] = []
        start = 0
        for spaces in _SPACES.finditer(self.text):
            parts += [self.text[start : spaces.start()], " "]
            kept += range(start, spaces.start() + 1)
            start = spaces.end()
        kept += range(start, len(self.text))
        parts.append(self.text[start:])
        return Seen("".join(parts), kept if self.places is None else [self.places[place] for place in kept])


def seen(text: str) -> Seen:
    """A text, folded or not, in which each letter has one form, so that patterns need only that form.

    Compatibility forms, accents, vowel points and joiners are gone. Digits of all scripts are ASCII. Words that mix
    alphabets, or consist of look-alikes alone, are in Latin letters.
    """
    if text.isascii() and _PLAIN.issuperset(text):
        return Seen(text)
    parts = [_VIEWS[ord(character)] for character in text]
    view = "".join(parts)
    places = [place for place, part in enumerate(parts) for _ in part]
    if not view.isascii() and not _LATIN.keys().isdisjoint(view):
        view = WORD.sub(lambda word: _undisguised(word[0]), view)
    return Seen(view, places)


def bare(text: str) -> str:
    """The seen text on one line."""
    return seen(text).in_line().text


def unaccented(text: str) -> str:
    """A pattern or a word in the letters of the seen text. Look-alikes stay."""
    return text.translate(_VIEWS)


def _fold(character: str) -> str:
    if character in _BREAKS:
        return "\n"
    if character in _CONTEXTUAL or character in "\n\t":
        return character
    if _is_hidden(character):
        return ""
    category = unicodedata.category(character)
    if category == "Zs" or character == "\u2800":
        return " "
    kind, _, form = unicodedata.decomposition(character).partition(" ")
    if kind not in _STORED or not category.startswith(tuple(_STORED[kind])):
        return character
    letters = [chr(int(code, 16)) for code in form.split()]
    return "".join(map(_fold, letters)) if len(letters) <= _LONGEST_FORM else character


def _line_of(character: str) -> str:
    return "\n" if character in _BREAKS else " " if unicodedata.category(character) == "Zs" else character


def _is_accent(character: str) -> bool:
    """Whether a mark is optional: an accent, or a vowel point or lengthening mark of Arabic."""
    return any(first <= character <= last for first, last in _ACCENTS)


def _is_hidden(character: str) -> bool:
    """Whether a character shows nothing: controls, formats, surrogates, fillers, variation selectors."""
    code = ord(character)
    if unicodedata.category(character) in ("Cc", "Cf", "Cs"):
        return character not in "\n\t"
    return character in _BLANK or 0xFE00 <= code <= 0xFE0F or 0xE0000 <= code <= 0xE0FFF


def _without_idle(text: str) -> str:
    """A text without joiners, selectors and tags that have no effect at their position."""
    kept: list[str] = []
    at = 0
    while at < len(text):
        character = text[at]
        length = 1
        if character in _TAGS:
            length = _region(text, at) if kept[-1:] == [_FLAG] else 0
        elif character in _CONTEXTUAL and not _works(character, kept[-1] if kept else "", text[at + 1 : at + 2]):
            length = 0
        kept.extend(text[at : at + length])
        at += length or 1
    return "".join(kept)


def _region(text: str, start: int) -> int:
    """The length of a flag's tags from a place on; 0 if these are no tags of a flag."""
    tag = text[start : start + _LONGEST_TAG]
    end = tag.find(_TAG_END)
    return end + 1 if end >= 0 and _TAGS.issuperset(tag[: end + 1]) else 0


def _works(joiner: str, before: str, behind: str) -> bool:
    if not before:
        return False
    category = unicodedata.category(before)
    if joiner in _EMOJI_STYLES:
        return category[0] in "SP" or category == "Nd"
    if any(start <= ord(before) <= end for start, end in _JOINED):
        return category[0] in "LM" and behind != joiner
    is_emoji = category in ("So", "Sk") or before in _EMOJI_STYLES
    return joiner == _ZWJ and is_emoji and bool(behind) and unicodedata.category(behind) == "So"


def _undisguised(word: str) -> str:
    """A word with its look-alikes made Latin, if it mixes alphabets, or is long and consists of look-alikes alone."""
    if word.isascii():
        return word
    is_mixed = any(character.isascii() and character.isalpha() for character in word)
    if is_mixed or (len(word) >= _SHORTEST_DISGUISE and _SAME.issuperset(word)):
        return word.translate(_LOOK_ALIKES)
    return word
