"""Messages that are too large for one turn: cut so far that they fit, because a long tool result ends no conversation.

A text is cut at its end and says so. A file in it would be broken by a cut, so it is left out, with the whole message
that a framework wanted back: the turn keeps its text then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_memory.store.turns import MAX_TURN_BYTES
from agent_memory.text.patterns import linear

_LONGEST = (100_000, 10_000, 1_000)
"""Characters that are left of each text: the first that makes the turn small enough. A choice."""
_FILE = linear(r"(?:data:[\w.+-]+/[\w.+-]+;|[A-Za-z0-9+/=_-]{200})")
"""How a file inside a message begins: a `data:` URL, or base64."""
_TEXTS = ("content", "output", "text")
"""Where messages have what a person, a model or a tool said."""


def fitted(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The turn, cut if it is too large to be stored; as it is otherwise."""
    if _size(turn) <= MAX_TURN_BYTES:
        return dict(turn)
    if _holds_file(turn.get("metadata")):
        turn = {**turn, "metadata": {}}
    if _holds_file(turn.get("parts")):
        turn = {**turn, "parts": [part for part in turn["parts"] if not _holds_file(part)] or None}
    for longest in (*_LONGEST, 0):
        turn = _cut(turn, longest) if longest else {**turn, "metadata": {}, "parts": None}
        if _size(turn) <= MAX_TURN_BYTES:
            break
    return dict(turn)


def _size(turn: Mapping[str, Any]) -> int:
    """As the store counts it, and somewhat more."""
    return len(json.dumps(turn, default=str)) + 1000


def _holds_file(value: Any, is_text: bool = False) -> bool:
    """Whether there is a long file in a value. What a tool said may look like one, but is read as text."""
    if isinstance(value, str):
        return not is_text and len(value) > _LONGEST[0] and _FILE.match(value) is not None
    if isinstance(value, Mapping):
        texts = (*_TEXTS, "result") if value.get("type") == "function_result" else _TEXTS
        return any(_holds_file(inner, name in texts) for name, inner in value.items())
    return isinstance(value, list) and any(_holds_file(inner) for inner in value)


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]}… [{len(value) - longest:,} more characters were not stored]"
    if isinstance(value, Mapping):
        return {name: _cut(inner, longest) for name, inner in value.items()}
    if isinstance(value, list):
        return [_cut(inner, longest) for inner in value]
    return value
