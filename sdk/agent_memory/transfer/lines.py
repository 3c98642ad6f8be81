"""The lines of an export: read, grouped, and checked before they come near the store. A file may come from anybody."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import Memory
from agent_memory.models.extraction import KIND_NAME
from agent_memory.store.documents import read_json
from agent_memory.store.ids import (
    DOCUMENTS_THREAD,
    PROCEDURES_THREAD,
    USER_THREAD,
    check_id,
    check_memory_id,
    check_new_ids,
)
from agent_memory.text.patterns import linear
from agent_memory.transfer.export import FORMAT, VERSION

LINES_AT_ONCE = 100
"""Lines that are embedded and written together."""
KINDS = ("header", "settings", "memory", "thread", "turn", "summary", "state", "user_summary")
"""The types of lines."""
Line = dict[str, Any]
_KIND = linear(KIND_NAME)
"""The name of a kind, also of a custom one of another store."""


@dataclass(slots=True)
class Batch:
    """Consecutive lines of one kind. Turns come with the line that announces their thread."""

    kind: str
    first: int
    lines: list[Line] = field(default_factory=list)
    thread: Line = field(default_factory=dict)

    @property
    def waiting(self) -> set[str]:
        """The ids of the thread's unprocessed turns. Raises InvalidInput if the line holds something else."""
        ids = self.thread.get("unprocessed", [])
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise InvalidInput(f"thread {self.thread.get('thread_id')!r:.60}: unprocessed must be a list of ids")
        return set(ids)


async def batches(lines: Iterable[str]) -> AsyncIterator[Batch]:
    """Groups the lines of an export. Raises InvalidInput: at a line that is no JSON object, or of no known type."""
    thread: Line = {}
    batch: Batch | None = None
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        line = read_json(text, f"line {number}")
        kind = line.get("type") if isinstance(line, dict) else None
        if kind not in KINDS:
            raise InvalidInput(f"line {number}: not a line of an export: {text.strip():.60}")
        if batch is None and kind != "header":
            raise InvalidInput(f"line {number}: an export begins with its header")
        if kind == "thread":
            thread = line
        if batch is not None and (kind != batch.kind or len(batch.lines) == LINES_AT_ONCE):
            if batch.kind != "thread":
                yield batch
            batch = None
        if batch is None:
            batch = Batch(kind, number, thread=thread)
        batch.lines.append(line)
    if batch is not None and batch.kind != "thread":
        yield batch


def check_header(header: Line, number: int) -> None:
    """Refuses the lines of another format or of a later version. Raises InvalidInput."""
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise InvalidInput(f"line {number}: not an export of format {FORMAT}, version {VERSION}")


def check_memory(memory: Memory) -> None:
    """Refuses a memory whose id, thread or type could take the place of a document that steps need.

    Raises:
        InvalidInput: if the id, the thread or the type is reserved, or the kind is no name.
    """
    check_memory_id(memory.id)
    check_new_ids(id=memory.id, thread_id=memory.thread_id)
    if memory.thread_id not in (USER_THREAD, PROCEDURES_THREAD, DOCUMENTS_THREAD):
        check_id(memory.thread_id, "thread_id")
    if (memory.type == "document") != (memory.thread_id == DOCUMENTS_THREAD):
        raise InvalidInput(f"memory {memory.id:.60}: type {memory.type} is not allowed in {memory.thread_id:.60}")
    if memory.kind is not None and not _KIND.search(memory.kind):
        raise InvalidInput(f"memory {memory.id:.60}: {memory.kind!r:.60} is not the name of a kind")
    if memory.type == "static" or memory.kind == "chunk":
        raise InvalidInput(f"memory {memory.id:.60}: type {memory.kind or memory.type} cannot be imported")
