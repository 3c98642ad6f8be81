"""Orders: finds text that instructs a model, in fourteen languages and in the forms in which it is hidden.

The kinds come from the literature on prompt injection: overriding earlier instructions, forged roles, hiding something
from the user, asking for the system prompt, leaking through an image or a message, unseen characters (OWASP
LLM01:2025; Greshake et al. 2023, "Not what you've signed up for"; Rehberger 2024 on memories planted in an assistant).
No list of patterns finds everything. So there are two more defences: what an agent or a tool said becomes a procedure
only after approval, and recalled text is shown as quoted notes.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from agent_memory.models import Source
from agent_memory.screening.phrases import (
    ADDRESSING,
    ADDRESSING_NEEDS,
    ANSWERING,
    ANSWERING_NEEDS,
    DISMISSING,
    DISMISSING_NEEDS,
    HIDING,
    HIDING_NEEDS,
    LEAKING,
    LEAKING_NEEDS,
    PLANTING,
    PLANTING_NEEDS,
    PROMPT,
    PROMPT_NEEDS,
    UNBOUND,
    UNBOUND_NEEDS,
    WITHIN,
)
from agent_memory.screening.secrets import Finding, apart
from agent_memory.text.folding import hides, seen, unaccented
from agent_memory.text.patterns import Linear, linear

UNSEEN = "holds unseen characters"

# These patterns hold for every language. They are matched against whole lines.
_ROLES = (
    r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|developer|instructions?|memory|memories)>"
    r"|^[ \t>*_]*(?:system|developer)(?: message| prompt| override| note| alert)?[ *_]*:\s*\S"
    r"|^[ \t>*_-]*role[ *_]*:[ \t]*[\"']?(?:system|developer)\b"
    r"|^[ \t>*_]*#+[ *_]*(?:system|developer|systeme|sistema|система|系统|系統|システム|النظام|सिस्टम|সিস্টেম|سسٹم)"
    r"(?: (?:message|prompt|instructions?|override))?[ *_]*(?::|$)"
    r"|\[(?:system|developer)(?: (?:message|prompt|override|note|alert))?\]"
    r"|[\"']role[\"']\s*:\s*[\"'](?:system|developer)[\"']"
)
_IMAGES = (
    r"!\[[^\]]{0,500}\]\(\s*(?:https?:)?//[^)\s]*[?&#{}$%<>][^)\s]*"
    r"|!\[[^\]]{0,500}\]\[[^\]]{0,100}\]"
    r"|!\[[^\]]{0,500}\]\(\s*(?:https?:)?//[^)\s]*/[^)\s./]*(?:\s[^)]{0,200})?\)"
    r"|<img\b[^>]{0,200}\bsrc\s*=\s*[\"']?(?:https?:)?//[^>\s]*[?&#{}$%][^>\s]*"
)
"""Images from another server whose address can carry words away.

The address has a query or a placeholder, does not name an image file, or stands elsewhere in the text."""
_ANY_IMAGE = r"!\[[^\]]{0,500}\]\(\s*(?:https?:)?//|<img\b[^>]{0,200}\bsrc\s*=\s*[\"']?(?:https?:)?//"
"""An image on another server. Whoever shows the text loads it, and the server learns that."""

_ENCODED = linear(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_WRAPPED = linear(r"[A-Za-z]_|_[A-Za-z]|<[!/A-Za-z]|&#?[0-9A-Za-z]+;|%[0-9A-Fa-f]{2}")
_MARKUP = linear(r"<!--[^>]*-->|</?[A-Za-z][^<>]*>")
_UNSEEN = linear(r"[\x{e0020}-\x{e007f}\x{202d}\x{202e}]+")
_LEAST_PRINTABLE = 0.9
"""Share of printable characters from which decoded bytes count as text."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of order. `needs` is a cheap pattern that every text with one of the patterns matches."""

    what: str
    needs: Linear
    patterns: list[Linear]

    @classmethod
    def of(cls, what: str, patterns: Sequence[str], needs: str | None = None, flags: int = 0) -> _Kind:
        """Compiles a kind. Without `needs`, one pattern of all alternatives takes its place."""
        written = [unaccented(pattern.replace("~", WITHIN)) for pattern in patterns]
        need = unaccented(needs) if needs else "|".join(written)
        return cls(what, linear(need, re.IGNORECASE | flags), [linear(one, re.IGNORECASE | flags) for one in written])

    def found(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a text holds an order of this kind."""
        if self.needs.search(text):
            yield from (found.span() for pattern in self.patterns for found in pattern.finditer(text))


_IN_SENTENCES = [
    _Kind.of("overrides instructions", DISMISSING, DISMISSING_NEEDS),
    _Kind.of("changes who the model is", UNBOUND, UNBOUND_NEEDS),
    _Kind.of("hides something from the user", HIDING, HIDING_NEEDS),
    _Kind.of("asks for the system prompt", PROMPT, PROMPT_NEEDS),
    _Kind.of("sends data away", LEAKING, LEAKING_NEEDS),
    _Kind.of("addresses a model", ADDRESSING, ADDRESSING_NEEDS),
    _Kind.of("addresses a model", PLANTING, PLANTING_NEEDS),
]
_IN_SENTENCES_OF_OTHERS = [*_IN_SENTENCES, _Kind.of("orders an answer", ANSWERING, ANSWERING_NEEDS)]
_IN_LINES = [
    _Kind.of("forges a role", [_ROLES], flags=re.MULTILINE),
    _Kind.of("sends data away", [_IMAGES], flags=re.MULTILINE),
]
_IN_LINES_OF_OTHERS = [*_IN_LINES, _Kind.of("sends data away", [_ANY_IMAGE])]


def find_instructions(text: str, source: Source = "user") -> list[Finding]:
    """The parts of a text that read as orders to a model, in order. Stricter for text that is not from the user."""
    found = [*_found(text, source), *_encoded(text, source), *_wrapped(text)]
    if hides(text):
        found += [(UNSEEN, *unseen.span()) for unseen in _UNSEEN.finditer(text)]
    return apart(Finding("instruction", what, start, end) for what, start, end in found)


def _found(text: str, source: Source) -> Iterator[tuple[str, int, int]]:
    view = seen(text)
    line = view.in_line()
    is_users = source == "user"
    for within, kinds in (
        (line, _IN_SENTENCES if is_users else _IN_SENTENCES_OF_OTHERS),
        (view, _IN_LINES if is_users else _IN_LINES_OF_OTHERS),
    ):
        for kind in kinds:
            yield from ((kind.what, *within.span(*place)) for place in kind.found(within.text))


def _wrapped(text: str) -> Iterator[tuple[str, int, int]]:
    """Lines with orders whose words are joined by underscores, or interrupted by markup, entities or percent signs."""
    if not _WRAPPED.search(text):
        return
    start = 0
    for line in text.split("\n"):
        if _WRAPPED.search(line):
            for gap in ("", " "):  # what looks like <b> may stand within a word or between two
                plain = html.unescape(unquote(_MARKUP.sub(gap, line))).replace("_", " ")
                view = seen(plain).in_line().text
                yield from ((kind.what, start, start + len(line)) for kind in _IN_SENTENCES for _ in kind.found(view))
        start += len(line) + 1


def _encoded(text: str, source: Source) -> Iterator[tuple[str, int, int]]:
    """Orders in Base64, because models can read it."""
    for word in _ENCODED.finditer(text):
        decoded = _decoded(word[0])
        if decoded is not None:
            yield from ((what, word.start(), word.end()) for what, _, _ in list(_found(decoded, source))[:1])


def _decoded(word: str) -> str | None:
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(plain[: len(plain) // 4 * 4] + _padded(plain), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    printable = sum(character.isprintable() or character.isspace() for character in text)
    return text if printable >= _LEAST_PRINTABLE * len(text) else None


def _padded(plain: str) -> str:
    rest = plain[len(plain) // 4 * 4 :]
    return "" if len(rest) < 2 else rest.ljust(4, "=")
