"""The bodies of documents: written within the service's bounds, and read with the suspicion that a disk deserves."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from embedded_cosmos.errors import CosmosError, bad_request, damaged
from embedded_cosmos.properties import JsonObject

LOG = logging.getLogger(__name__)
_OF_NUMBERS = b"0123456789.,-+eE"
Parse = Callable[[bytes], Any]
MAX_NESTING = 128
"""Levels of objects and arrays inside a document:
https://learn.microsoft.com/azure/cosmos-db/concepts-limits#per-item-limits."""


def encode_body(document: JsonObject) -> bytes:
    """A document as JSON; raises 400 when it is nested too deep."""
    try:
        body = orjson.dumps(document)
    except orjson.JSONEncodeError as error:  # its own limit is 254 levels
        if nesting(document) > MAX_NESTING:
            raise _too_deep() from None
        raise bad_request(f"The document cannot be written as JSON: {error}.") from None
    # Brackets in texts count too, so few of them prove that it is flat, and many prove nothing.
    if body.count(b"{") + body.count(b"[") > MAX_NESTING and nesting(document) > MAX_NESTING:
        raise _too_deep()
    return body


def nesting(value: Any) -> int:
    """How many levels of objects and arrays there are inside a value."""
    levels = -1
    level = [value] if isinstance(value, dict | list) else []
    while level:
        levels += 1
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, dict | list)]
    return max(levels, 0)


def parse_body(item_id: str, body: bytes, parse: Parse = orjson.loads) -> JsonObject:
    """The document of a stored body; raises 500 when it is damaged."""
    try:
        document = parse(body)
    except orjson.JSONDecodeError:
        raise damaged(item_id) from None
    if not isinstance(document, dict):
        raise damaged(item_id)
    return document


def lists_left_out(sizes: Mapping[str, int]) -> Parse:
    """A parser of stored bodies that leaves the lists of these fields empty if they have so many numbers.

    To parse the numbers of a vector takes several times as long as everything else. Other lists, and fields that also
    occur elsewhere in the document, are parsed.
    """
    marks = {name: orjson.dumps(name) + b":[" for name in sizes}

    def parse(body: bytes) -> Any:
        cut = []
        for name, mark in marks.items():
            # A quotation mark inside a text has a backslash, so after a comma or bracket it begins a name.
            start = body.find(mark) + len(mark)
            end = body.find(b"]", start)
            if (
                start > len(mark)
                and body[start - len(mark) - 1] in b",{"
                and end > start
                and body.count(b",", start, end) == sizes[name] - 1
                and not body[start:end].translate(None, _OF_NUMBERS)
                and mark not in body[end:]
            ):
                cut.append((start, end, name))
        if not cut:
            return orjson.loads(body)
        shorter = body
        for start, end, _ in sorted(cut, reverse=True):
            shorter = shorter[:start] + shorter[end:]
        document = orjson.loads(shorter)
        at_top = isinstance(document, dict) and all(document.get(name) == [] for _, _, name in cut)
        return document if at_top else orjson.loads(body)

    return parse


def sound_body(item_id: str, body: bytes, parse: Parse = orjson.loads) -> JsonObject | None:
    """The document of a stored body; None when it is damaged, which is logged.

    For reads of many: one damaged document must not hide all others.
    """
    try:
        return parse_body(item_id, body, parse)
    except CosmosError as error:
        LOG.error("Left out of what is read: %s", error.message)
        return None


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _too_deep() -> CosmosError:
    return bad_request(f"The document is nested deeper than {MAX_NESTING} levels of objects and arrays.")
