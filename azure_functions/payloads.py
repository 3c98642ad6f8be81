"""Payloads: drafts as they travel through a history, with their vectors in a third of the room.

A batch of twenty chunks with 1536 dimensions each is 400 KB as JSON numbers. Histories are read again at every step,
and the Durable Task Scheduler takes no more than 1 MB at once. Packed, nothing is lost: vectors are kept to
seven decimals, which is an integer of four bytes.
"""

from __future__ import annotations

import base64
import sys
from array import array
from collections.abc import Callable
from typing import Any

from agent_memory.store.documents import VECTOR_DECIMALS

Json = dict[str, Any]

_SCALE = 10**VECTOR_DECIMALS


def pack(draft: Json) -> Json:
    """A draft with its vectors as text."""
    return _with_vectors(draft, _to_text)


def unpack(draft: Json) -> Json:
    """The draft as it was."""
    return _with_vectors(draft, _to_numbers)


def _with_vectors(draft: Json, change: Callable[[Any], Any]) -> Json:
    def changed(document: Json) -> Json:
        return document | {"embedding": change(document["embedding"])} if "embedding" in document else document

    return draft | {name: [changed(document) for document in draft[name]] for name in ("create", "upsert")}


def _to_text(vector: list[float]) -> str:
    return base64.b64encode(_little_endian(array("i", [round(value * _SCALE) for value in vector])).tobytes()).decode()


def _to_numbers(text: str) -> list[float]:
    return [value / _SCALE for value in _little_endian(array("i", base64.b64decode(text)))]


def _little_endian(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
