"""Halves of characters: lone surrogates, which JSON can escape, and UTF-8 and the store cannot hold."""

from __future__ import annotations

from agent_memory.text.patterns import linear

_ESCAPES = linear(r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""What may look like half a character in JSON: an escaped backslash and a whole pair stay."""


def without_halves(text: str) -> str:
    """A text of JSON without the escapes of half a character. Half a character that is not escaped becomes U+FFFD."""
    if text.isascii() and "\\u" not in text:
        return text
    return _ESCAPES.sub(lambda found: found[1] or "", text)
