"""Formats: reads files of other systems as the lines of an export.

Their memories keep their times and their history and are marked as imported. They pass the same screen as everything
else. Summaries and profiles of other systems are left out, because ours are made from the turns and memories.
Procedures wait for review, because no user said them here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import iso, now
from agent_memory.store.ids import USER_THREAD, derived_id
from agent_memory.store.values import check_json, read_json
from agent_memory.transfer.export import FORMAT, VERSION

Record = dict[str, Any]
_KINDS = ("preference", "requirement", "context", "decision")
_REASONS = ("duplicate", "contradict", "update")
_TYPES = ("fact", "episodic", "procedural")
_LEFT_OUT = ("thread_summary", "user_summary", "summary", "episode_cursor", "counter")


def as_export(text: str) -> Iterator[str]:
    """Reads a text as the lines of an export. It may be an export, mem0's `get_all`, or AgentMemoryToolkit documents.

    Raises:
        InvalidInput: if it is none of these.
    """
    records = _records(text)
    first = records[0] if records else {}
    if first.get("type") == "header":
        converted: Iterable[Record] = records
    elif all("memory" in record for record in records) and records:
        converted = _from_mem0(records)
    elif all("type" in record for record in records) and records:
        converted = _from_toolkit(records)
    else:
        raise InvalidInput("not an export: not of this toolkit, not of mem0, no documents of the AgentMemoryToolkit")
    for record in converted:
        yield json.dumps(record, ensure_ascii=False)


def _records(text: str) -> list[Record]:
    """The objects of JSON lines, or of a JSON list. The list may be under `results`, `memories` or `documents`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = [read_json(line, f"line {number}") for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if isinstance(value, dict):
        lists = (value[name] for name in ("results", "memories", "documents") if isinstance(value.get(name), list))
        value = next(lists, [value])
    if not isinstance(value, list) or any(not isinstance(record, dict) for record in value):
        raise InvalidInput("not an export: no list of objects")
    for number, record in enumerate(value, 1):
        check_json(record, f"record {number}")
    return value


def _header() -> Record:
    return {"type": "header", "format": FORMAT, "version": VERSION, "exported_at": iso(now())}


def _from_mem0(records: Iterable[Record]) -> Iterator[Record]:
    yield _header()
    for record in records:
        said = record.get("created_at") or iso(now())
        yield _present(
            {
                "type": "memory",
                "memory_type": "fact",
                "id": derived_id("fact", "mem0", str(record.get("id", record["memory"]))),
                "thread_id": USER_THREAD,
                "kind": "fact",
                "content": record["memory"],
                "source": "imported",
                "created_at": said,
                "valid_from": said,
                "updated_at": record.get("updated_at"),
                "recorded_at": iso(now()),
                "tags": record.get("categories"),
                "agent_id": record.get("agent_id"),
                "run_id": record.get("run_id"),
                "metadata": {**(record.get("metadata") or {}), "imported_from": "mem0"},
            }
        )


def _from_toolkit(records: Iterable[Record]) -> Iterator[Record]:
    yield _header()
    threads: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        kind = record["type"]
        if kind == "turn":
            threads[str(record.get("thread_id"))].append(_toolkit_turn(record))
        elif kind in _TYPES:
            yield _toolkit_memory(record)
        elif kind not in _LEFT_OUT:
            raise InvalidInput(f"not a document of the AgentMemoryToolkit: {kind!r:.60}")
    for thread_id, turns in threads.items():
        yield {"type": "thread", "thread_id": thread_id, "unprocessed": []}
        yield from turns


def _toolkit_turn(record: Record) -> Record:
    names = ("id", "thread_id", "role", "content", "created_at", "metadata", "agent_id")
    turn = {"type": "turn"} | {name: record[name] for name in names if record.get(name) is not None}
    tags = {"tags": record["tags"]} if record.get("tags") else {}
    return turn | {"metadata": {**(turn.get("metadata") or {}), **tags}}


def _toolkit_memory(record: Record) -> Record:
    metadata: Mapping[str, Any] = record.get("metadata") or {}
    kind, category = record["type"], str(metadata.get("category"))
    reason = record.get("supersede_reason") or record.get("superseded_reason")
    replaced = record.get("superseded_by")
    thread_id = str(record.get("thread_id") or USER_THREAD)
    return _present(
        {
            "type": "memory",
            "memory_type": kind,
            "id": record.get("id"),
            "thread_id": thread_id if not thread_id.startswith("__") else USER_THREAD,
            "kind": (category if category in _KINDS else "fact") if kind == "fact" else None,
            "content": record.get("content") or metadata.get("summary"),
            "confidence": record.get("confidence"),
            "importance": record.get("salience"),
            "source": "imported",
            "status": "candidate" if kind == "procedural" else "active",
            "tags": [tag for tag in record.get("tags") or [] if not str(tag).startswith("sys:")],
            "created_at": record.get("created_at"),
            "valid_from": record.get("created_at"),
            "updated_at": record.get("updated_at"),
            "recorded_at": iso(now()),
            "superseded_by": replaced,
            "superseded_at": record.get("superseded_at") if replaced else None,
            "supersede_reason": (reason if reason in _REASONS else "update") if replaced else None,
            "supersedes_ids": record.get("supersedes_ids"),
            "agent_id": record.get("agent_id"),
            "metadata": {**metadata, "imported_from": "agent-memory-toolkit"},
        }
    )


def _present(record: Record) -> Record:
    return {name: value for name, value in record.items() if value is not None}
