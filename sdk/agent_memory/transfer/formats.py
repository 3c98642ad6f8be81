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
from agent_memory.models import Memory, iso, now
from agent_memory.store.documents import check_json, read_json, validated
from agent_memory.store.ids import USER_THREAD, is_reserved
from agent_memory.store.turns import MAX_TURN_BYTES
from agent_memory.transfer.export import FORMAT, VERSION
from agent_memory.transfer.imported import NoMemories, Record
from agent_memory.transfer.systems import SYSTEMS, only_of, records_in

_KINDS = ("preference", "requirement", "context", "decision")
_REASONS = ("duplicate", "contradict", "update")
_TYPES = ("fact", "episodic", "procedural")
_LEFT_OUT = ("thread_summary", "user_summary", "summary", "episode_cursor", "counter")


def as_export(text: str, only: str | None = None, system: str | None = None, as_of: str | None = None) -> Iterator[str]:
    """Reads a text as the lines of an export.

    It may be an export, AgentMemoryToolkit documents, or memories of mem0, Zep, Letta, LangGraph's store, Hindsight or
    Claude. `only` selects the owner in a file with several: a `user_id` or `group_id`, a
    label of a namespace, the user in a tag. `system` is the name, in lower case, of the system that the file must come
    from. `as_of` is the time of memories without one, in ISO 8601 (default: now).

    Raises:
        NoMemories: if it is none of these, or not of `system`.
        InvalidInput: if a record is broken, or it holds memories of several owners and `only` is not given.
    """
    return lines_of(_records(text), only, system, as_of or iso(now()))


def lines_of(records: list[Record], only: str | None, system: str | None, as_of: str) -> Iterator[str]:
    """Records of one file as the lines of an export; the rest as `as_export`.

    Raises:
        NoMemories: as `as_export`.
        InvalidInput: as `as_export`.
    """
    if not records:
        raise NoMemories("the file holds nothing: its list of memories is empty")
    foreign = next((one for one in SYSTEMS if all(one.recognises(record) for record in records)), None)
    if system is not None and (foreign is None or foreign.name.lower() != system):
        found = "" if foreign is None else f"; it holds memories of {foreign.name}"
        raise NoMemories(f"the file holds no memories of {system}{found}")
    if records[0].get("type") == "header":
        converted: Iterable[Record] = records
    elif foreign is not None:
        yield from as_lines(foreign.read(only_of(foreign, records, only), as_of))
        return
    elif all("type" in record for record in records):
        converted = _from_toolkit(records)
    else:
        names = ", ".join(one.name for one in SYSTEMS)
        raise NoMemories(f"neither an export of agent-memory nor memories of {names} or the AgentMemoryToolkit")
    for record in converted:
        yield json.dumps(record, ensure_ascii=False)


def as_lines(memories: Iterable[Record]) -> Iterator[str]:
    """Memories of another system as the lines of an export; no line if there is no memory.

    Raises:
        InvalidInput: at the first that import would refuse.
    """
    for number, record in enumerate(_checked(memories)):
        if number == 0:
            yield json.dumps(_header())
        yield json.dumps(record, ensure_ascii=False)


def _checked(lines: Iterable[Record]) -> Iterator[Record]:
    """Lines that import accepts. A line without a text is left out.

    Raises:
        InvalidInput: at the first invalid line, before anything is written.
    """
    known: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, 1):
        if line["content"] is None or (isinstance(line["content"], str) and not line["content"].strip()):
            continue
        fields = {name: value for name, value in line.items() if name in Memory.model_fields}
        fields |= {"type": line["memory_type"], "user_id": "checked"}
        validated(Memory, fields, f"memory {number} of the file: ")
        if len(json.dumps(line)) > MAX_TURN_BYTES:
            raise InvalidInput(f"memory {number} of the file is larger than {MAX_TURN_BYTES} bytes of JSON")
        first, content = known.setdefault(line["id"], (number, line["content"]))
        if content != line["content"]:
            raise InvalidInput(f"memory {number} of the file has the id of memory {first}, and another text")
        yield line


def _records(text: str) -> list[Record]:
    """The objects of JSON lines, of a JSON list, or of an object in which a system keeps its memories."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise NoMemories("the file is empty")
    if not text.lstrip().startswith(("{", "[", '"')):
        raise NoMemories("not an export: no JSON")
    try:
        value = json.loads(text)
        if isinstance(value, str):  # some agent files of Letta are JSON in a JSON text
            value = json.loads(value)
    except (ValueError, RecursionError):
        value = [read_json(line, f"line {number}") for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return records_of(value)


def records_of(value: object) -> list[Record]:
    """The objects in what was read from a file.

    Raises:
        NoMemories: if it is neither a list of objects nor an object.
        InvalidInput: if a value cannot be stored.
    """
    if isinstance(value, dict):
        check_json(value, "the file")
        found = records_in(value)
        value = [value] if found is None else found
    if not isinstance(value, list) or any(not isinstance(record, dict) for record in value):
        raise NoMemories("not an export: no list of objects")
    for number, record in enumerate(value, 1):
        check_json(record, f"record {number}")
    return value


def _header() -> Record:
    return {"type": "header", "format": FORMAT, "version": VERSION, "exported_at": iso(now())}


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
            raise NoMemories(f"not a document of the AgentMemoryToolkit: {kind!r:.60}")
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
            "thread_id": USER_THREAD if is_reserved(thread_id) else thread_id,
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
