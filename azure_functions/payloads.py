"""Payloads: drafts as they travel through a history, with their vectors in half the room.

Fifty memories, which is as many as one commit takes, with vectors of 1536 dimensions are 920 KB as JSON. Histories
are read again at every step, and the Durable Task Scheduler takes no more than 1 MB at once. Packed they are
460 KB, and nothing is lost: vectors are kept to seven decimals, which is an integer of four bytes.
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


def pack(payload: Json) -> Json:
    """A payload with its vectors, if it is a draft or holds drafts by their steps, as text."""
    if "drafts" in payload:
        return {"drafts": {step: draft and pack(draft) for step, draft in payload["drafts"].items()}}
    return _with_vectors(payload, _to_text)


def unpack(payload: Json) -> Json:
    """The payload as it was."""
    return _with_vectors(payload, _to_numbers)


def _with_vectors(payload: Json, change: Callable[[Any], Any]) -> Json:
    def changed(document: Json) -> Json:
        return document | {"embedding": change(document["embedding"])} if "embedding" in document else document

    lists = {name: payload[name] for name in ("create", "upsert") if name in payload}
    return payload | {name: [changed(document) for document in documents] for name, documents in lists.items()}


def _to_text(vector: list[float]) -> str:
    return base64.b64encode(_little_endian(array("i", [round(value * _SCALE) for value in vector])).tobytes()).decode()


def _to_numbers(text: str) -> list[float]:
    return [value / _SCALE for value in _little_endian(array("i", base64.b64decode(text)))]


def _little_endian(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
