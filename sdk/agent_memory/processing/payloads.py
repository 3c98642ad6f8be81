"""Payloads: packs the vectors of drafts in a history, which halves their size.

One commit takes up to fifty memories. With vectors of 1536 dimensions they are 920 KB as JSON. A history is read again
at every step, and the Durable Task Scheduler accepts at most 1 MB at once. Packed, they are 460 KB. Nothing is lost,
because vectors are stored with seven decimals, which fit into an integer of four bytes.
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
    """A payload with its vectors as text, if it is a draft or holds drafts by step."""
    if "drafts" in payload:
        return {"drafts": {step: draft and pack(draft) for step, draft in payload["drafts"].items()}}
    return _with_vectors(payload, _to_text)


def unpack(payload: Json) -> Json:
    """The original payload."""
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
