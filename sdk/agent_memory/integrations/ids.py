"""Ids of other systems as ids of this one, and back.

A framework's ids may contain what an id here may not: a slash, a question mark, a control character, two underscores at
the beginning, a space at the end. Such characters are written as `%` and two hexadecimal digits for each of their
bytes, as in a URL. An id without them stays as it is, so `alice@example.com` is the same user in every adapter and
without one.
"""

from __future__ import annotations

import re

from agent_memory.errors import InvalidInput
from agent_memory.store.ids import check_id
from agent_memory.text.patterns import linear

_FORBIDDEN = frozenset("/\\?#\x7f") | {chr(code) for code in range(0x20)}
_HEX = frozenset("0123456789abcdefABCDEF")
_CODE = linear(r"(?:%[0-9A-Fa-f]{2})+")


def encode_id(value: str, what: str = "the id") -> str:
    """An id from any text, the same for the same text. `decode_id` returns the text.

    Raises:
        InvalidInput: naming `what`, if the text is empty, or its id would be longer than 255 characters.
    """
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{what} must be a text that is not empty, not {value!r:.60}")
    return check_id("".join(_coded(value, at) for at in range(len(value))), what)


def decode_id(encoded: str) -> str:
    """The text that `encode_id` or `encode_label` made an id of."""
    return _CODE.sub(_decoded, encoded)


def encode_label(value: str, what: str = "the label") -> str:
    """An id that also works in a namespace of LangGraph, which allows no full stop.

    Raises:
        InvalidInput: as `encode_id`.
    """
    return encode_id(value, what).replace(".", "%2E")


def _coded(value: str, at: int) -> str:
    character, behind = value[at], value[at + 1 : at + 3]
    reads_as_code = character == "%" and len(behind) == 2 and _HEX.issuperset(behind)
    reserved = at == 0 and value.startswith("__")
    ends = character == " " and at == len(value) - 1
    if not (reads_as_code or reserved or ends or character in _FORBIDDEN or "\ud800" <= character <= "\udfff"):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _decoded(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogatepass")
