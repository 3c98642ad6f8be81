"""The bodies of documents: written within the service's bounds, and read with the suspicion that a disk deserves."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import orjson

from embedded_cosmos.errors import CosmosError, bad_request, damaged
from embedded_cosmos.properties import JsonObject

LOG = logging.getLogger(__name__)
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


def parse_body(item_id: str, body: bytes) -> JsonObject:
    """The document of a stored body; raises 500 when it is damaged."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise damaged(item_id) from None
    if not isinstance(document, dict):
        raise damaged(item_id)
    return document


def sound_body(item_id: str, body: bytes) -> JsonObject | None:
    """The document of a stored body; None when it is damaged, which is logged.

    For reads of many: one damaged document must not hide all others.
    """
    try:
        return parse_body(item_id, body)
    except CosmosError as error:
        LOG.error("Left out of what is read: %s", error.message)
        return None


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _too_deep() -> CosmosError:
    return bad_request(f"The document is nested deeper than {MAX_NESTING} levels of objects and arrays.")
