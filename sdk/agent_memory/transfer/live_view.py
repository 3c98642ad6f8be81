"""The live view of a thread in an export: which turns had left it when the thread was cleared, or turns were retired.

A store knows this by the times at which it wrote the turns, which an import does not keep. So the export names turns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from agent_memory.models.base import Count, Model
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES, TURNS
from agent_memory.store.documents import from_document
from agent_memory.store.turns import Position, Window, live_turns, put_window, read_window
from agent_memory.store.updates import racing, until_written

Partition = tuple[str, str]


class ExportedView(Model):
    """The window of a thread, and the ids of the turns that have left it."""

    through: Position
    cleared: Position
    retired: Count
    left: list[str]


async def exported_view(store: Store, partition: Partition, turn_ids: Collection[str]) -> dict[str, Any]:
    """The field of an exported thread; empty if all of its turns are in the view."""
    window = await read_window(store, *partition)
    if window.etag is None:
        return {}
    shown = {live.turn.id for live in await live_turns(store, *partition, window)}
    left = sorted(set(turn_ids) - shown)
    view = ExportedView(through=window.through, cleared=window.cleared, retired=window.retired, left=left)
    return {"view": view.model_dump(mode="json")}


async def begin_view(store: Store, partition: Partition, given: Any) -> ExportedView | None:
    """Gives a new thread the view of an export, before its turns; None if the thread has turns or a view of its own.

    Raises:
        ValidationError: if this is no view.
    """
    if given is None:
        return None
    view = from_document(ExportedView, given)
    found = await read_window(store, *partition)
    if found.etag is not None:  # a repeated import meets the view that it wrote itself
        return view if (found.through, found.cleared) == (view.through, view.cleared) else None
    if await store.query(TURNS, queries.SOME_OF_ALL, partition, limit=1):
        return None
    window = Window(through=view.through, cleared=view.cleared, retired=view.retired)
    await store.batch(SUMMARIES, partition, [put_window(*partition, window)])
    return view


async def leave_view(store: Store, partition: Partition, view: ExportedView, turn_ids: Sequence[str]) -> None:
    """Takes those of some written turns out of the live view that the export names."""
    ids = [turn_id for turn_id in turn_ids if turn_id in set(view.left)]
    rows = await store.query(TURNS, queries.TURNS_BY_ID, partition, ids=ids) if ids else []

    async def attempt() -> None:
        window = await read_window(store, *partition)
        left = [(row["id"], int(row["_ts"])) for row in rows if window.cursor.is_new(row["id"], int(row["_ts"]))]
        if left:
            with racing():
                moved = replace(window, cursor=window.cursor.advanced(left))
                await store.batch(SUMMARIES, partition, [put_window(*partition, moved)])

    await until_written(attempt, f"the live view of {partition[1]}")
