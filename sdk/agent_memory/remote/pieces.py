"""Splits what is too large for one request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from agent_memory.contract.schemas import MAX_TURNS
from agent_memory.models import TurnInput

REQUEST_BYTES = 3_000_000
"""Maximum bytes of the turns in one request; the server accepts 4 MB."""


def in_requests(turns: list[TurnInput]) -> list[list[TurnInput]]:
    """Turns in pieces that a request can hold."""
    parts: list[list[TurnInput]] = []
    room = 0
    for turn in turns:
        size = len(turn.model_dump_json().encode())
        if not parts or size > room or len(parts[-1]) == MAX_TURNS:
            parts.append([])
            room = REQUEST_BYTES
        parts[-1].append(turn)
        room -= size
    return parts


def pieces(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """An export in independent pieces, each with the number of lines done after it.

    Each begins with the header, and with the line of the thread that the turns in it belong to.
    """
    head = thread = ""
    piece: list[str] = []
    size = done = 0
    for line in lines:
        text = line.rstrip("\r\n")
        if piece and size + len(text.encode()) > REQUEST_BYTES:
            yield "\n".join(piece), done
            piece, size = [one for one in (head, thread) if one], len(head.encode()) + len(thread.encode())
        done += 1
        head = head or text
        if _is_thread(text):
            thread = text
        piece.append(text)
        size += len(text.encode()) + 1
    if piece:
        yield "\n".join(piece), done


def _is_thread(line: str) -> bool:
    """Whether a line of an export begins a thread; the server refuses invalid JSON."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(read, dict) and read.get("type") == "thread"
