"""Faults of the input, which must not be tried again and again, because the same input always fails.

A turn costs work in proportion to its sentences, so their number bounds the work of one turn; a limit in seconds would
depend on the machine. An exception in our own code on a turn will occur again: such a bug affects only that turn, which
becomes a dead letter, and can be replayed when the bug is fixed.
"""

from __future__ import annotations

import json
import traceback
from pathlib import Path

from agent_memory.errors import AgentMemoryError, ModelError
from agent_memory.models import Turn
from agent_memory.store.documents import Document
from agent_memory.text.patterns import linear

MOST_BYTES = 1_900_000
"""The largest commit. Cosmos DB takes 2 MB (Azure Cosmos DB service limits)."""
_BYTES_PER_NUMBER = 12
"""Bytes of a vector's number in JSON, with its comma."""
_ENDS = linear(r"[.!?…。！？;\n\r\x0b\x0c\x1c-\x1e\x85\p{Zl}\p{Zp}]+\s*")


def beyond_bounds(turn: Turn, most_sentences: int) -> str | None:
    """Why a turn is too much work, or None."""
    sentences = sum(1 for _ in _ENDS.finditer(turn.content)) if len(turn.content) > most_sentences else 0
    if sentences > most_sentences:
        return f"it has {sentences} sentences and lines, more than the {most_sentences} that a turn may have"
    return None


class TooLarge(Exception):
    """What was made of an input does not fit into one commit."""


def require_room(documents: list[Document]) -> None:
    """Checks that documents fit into one commit.

    Raises:
        TooLarge: if they do not.
    """
    size = 0
    for document in documents:
        vector = document.get("embedding")
        size += _BYTES_PER_NUMBER * len(vector) if isinstance(vector, list) else 0
        size += len(json.dumps({name: value for name, value in document.items() if name != "embedding"}))
    if size > MOST_BYTES:
        raise TooLarge(f"{size} bytes")


def fault_of_input(error: Exception) -> ModelError | None:
    """The final error for an exception that this input will raise again; None for a temporary fault.

    The type shows which faults are temporary: our own errors have a field for it, and faults from outside the process
    (a connection, a file, memory) have an OSError or a MemoryError as their cause. The message has the place in the
    code and nothing of the text, which may be private.
    """
    if isinstance(error, AgentMemoryError):
        return None
    root: BaseException | None = error
    while root is not None:
        if isinstance(root, OSError | MemoryError):
            return None
        root = root.__cause__ or root.__context__
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return ModelError(f"processing fails on it each time: {type(error).__name__}{place}")
