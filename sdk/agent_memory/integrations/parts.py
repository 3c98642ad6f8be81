"""Parts of frameworks' messages: files as blocks in the shape of a chat API, and the words of messages without text."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.models import TurnInput
from agent_memory.models.parts import LONGEST_INLINE

TOOLS = ("tool_call", "tool_result")


def media(
    mime_type: str | None,
    *,
    url: object = None,
    data: bytes | None = None,
    name: str | None = None,
    file_id: str | None = None,
) -> dict[str, Any]:
    """A block of an image or another file. Data that is too large to keep is left out; its mention stays.

    A type that is known only in part is `image/*`.
    """
    block = {
        "type": "image" if (mime_type or "").startswith("image/") else "file",
        "mime_type": None if (mime_type or "").endswith("/*") else mime_type,
        "url": None if url is None else str(url),
        "name": name,
        "file_id": file_id,
    }
    if data and len(data) * 4 // 3 + 100 < LONGEST_INLINE:
        block["data"] = base64.b64encode(data).decode()
    return block


def words(text: str, parts: Sequence[Mapping[str, Any]] | None) -> str:
    """The text of a message; of one without text, the words that stand for its parts."""
    if text.strip() or not parts:
        return text
    return TurnInput.model_validate({"role": "user", "parts": list(parts)}).content


def role_of(role: str, text: str, parts: Sequence[Mapping[str, Any]] | None) -> str:
    """The role of a message: `tool` for one with calls or results of tools and no text, because nobody says it."""
    return "tool" if not text.strip() and any(part["type"] in TOOLS for part in parts or ()) else role
