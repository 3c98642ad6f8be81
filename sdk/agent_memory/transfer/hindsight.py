"""Hindsight: the facts of a bank, from its archive or from its listing.

- The archive is the zip of `hindsight-admin export-bank` and of a bank's document transfer. Its layout, version 1, is
  in `hindsight_api/engine/transfer/schema.py` of https://github.com/vectorize-io/hindsight: `manifest.json`,
  `documents/*.json` with facts, `observations.json` and `data/invalidated_memory_units.json`.
- The listing is the answer of `GET /v1/default/banks/{bank}/memories/list`:
  https://hindsight.vectorize.io/developer/api/memories

A fact about the world becomes a fact, an experience of the agent an event, an observation a reflection that rests on
its facts. What somebody invalidated becomes history. Texts of documents, mental models and settings of the bank are
left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.store.ids import NOBODY
from agent_memory.transfer.imported import NoMemories, Record, id_in, imported, list_in, object_in

SYSTEM = "hindsight"
LAYOUT = 1
"""The version of the archive's layout that is read."""
MANIFEST, OBSERVATIONS, INVALIDATED = "manifest.json", "observations.json", "data/invalidated_memory_units.json"
_KINDS = {"world": ("fact", "fact"), "experience": ("episodic", "event"), "observation": ("reflection", "reflection")}
_UNKNOWN_YEARS = ("0001", "9999")
"""Years with which Hindsight marks a time without a bound (`engine/stored_dates.py`)."""
_USER = "user:"
"""How a tag begins that names a user, in the examples of Hindsight's documentation."""


def is_hindsight(record: Mapping[str, Any]) -> bool:
    """Whether this looks like a memory of a listing, or one that `facts_in` made."""
    return "text" in record and "fact_type" in record


def owners(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The users whom a memory's tags name."""
    return tuple(str(tag).removeprefix(_USER) for tag in list_in(record, "tags") if str(tag).startswith(_USER))


def read_hindsight(records: Iterable[Record], as_of: str) -> Iterator[Record]:
    """Reads memories as lines of an export. One without a time was known at `as_of`."""
    for record in records:
        kinds = _KINDS.get(str(record["fact_type"]))
        if kinds is None:
            raise InvalidInput(f"not a kind of memory of Hindsight: {record['fact_type']!r:.60}")
        said = _first(record, "mentioned_at", "event_date", "date", "created_at") or as_of
        extra = {name: record[name] for name in ("context", "document_id", "occurred_end") if record.get(name)}
        line = imported(
            SYSTEM,
            [str(record.get("id") or record["text"])],
            record["text"],
            said,
            memory_type=kinds[0],
            kind=kinds[1],
            valid_from=_first(record, "occurred_start"),
            updated_at=_first(record, "edited_at"),
            tags=record.get("tags"),
            source_ids=[id_in(SYSTEM, str(one)) for one in list_in(record, "source_memory_ids")],
            metadata={**extra, **_entities(record), **_metadata(record)},
        )
        if record.get("state") == "invalidated":
            ended = _first(record, "invalidated_at") or as_of
            line |= {"superseded_by": NOBODY, "superseded_at": ended, "supersede_reason": "revoked"}
        yield line


def facts_in(files: Mapping[str, Any]) -> list[Record]:
    """The memories of an archive, whose files are given by name, as a listing shows them.

    Raises:
        InvalidInput: if this is no archive of Hindsight, has another layout, or is broken.
    """
    manifest = files.get(MANIFEST)
    if not isinstance(manifest, dict) or "source_bank_id" not in manifest:
        raise NoMemories("manifest.json is not that of an archive of Hindsight")
    if manifest.get("schema_version") != LAYOUT:
        raise InvalidInput(
            f"unsupported layout {manifest.get('schema_version')!r:.20} of a Hindsight archive: only {LAYOUT} is read"
        )
    ids: dict[tuple[str, int], str] = {}
    found: list[Record] = []
    for name, document in files.items():
        if name in (MANIFEST, OBSERVATIONS, INVALIDATED):
            continue
        if not isinstance(document, dict):
            raise InvalidInput(f"{name} is not a document of Hindsight")
        document_id = str(document.get("id"))
        for number, fact in enumerate(_objects(document.get("facts"), f"facts of {name}")):
            made = str(fact.get("source_id") or f"{document_id}/{number}")
            ids[document_id, number] = made
            found.append({**fact, "id": made, "document_id": document_id})
    for number, one in enumerate(_objects(files.get(OBSERVATIONS), OBSERVATIONS)):
        rests_on = [_source(ids, source) for source in _objects(one.get("sources"), "sources of an observation")]
        made = str(one.get("source_id") or f"observation/{number}")
        found.append({**one, "id": made, "fact_type": "observation", "source_memory_ids": rests_on})
    for row in _objects(files.get(INVALIDATED), INVALIDATED):
        found.append({"fact_type": "world", **row, "state": "invalidated"})
    for fact in found:
        if not isinstance(fact.get("text"), str) or "id" not in fact:
            raise InvalidInput("a memory in the archive of Hindsight has no text or no id")
    return found


def _source(ids: Mapping[tuple[str, int], str], source: Mapping[str, Any]) -> str:
    number = source.get("fact_index")
    made = ids.get((str(source.get("document_id")), number)) if isinstance(number, int) else None
    if made is None:
        raise InvalidInput("an observation of Hindsight refers to a fact that is not in the archive")
    return made


def _objects(value: object, what: str) -> list[Record]:
    listed = list_in({what: value}, what)
    if any(not isinstance(one, dict) for one in listed):
        raise InvalidInput(f"{what}: not all are objects")
    return listed


def _first(record: Mapping[str, Any], *names: str) -> object:
    """The first of these times that is known."""
    times = (record.get(name) for name in names)
    return next((time for time in times if time and not str(time).startswith(_UNKNOWN_YEARS)), None)


def _entities(record: Mapping[str, Any]) -> Record:
    """The names in a memory: a list in the archive, a text with commas in the listing."""
    named = record.get("entities") or []
    names = [name.strip() for name in named.split(",")] if isinstance(named, str) else list_in(record, "entities")
    return {"entities": names} if names else {}


def _metadata(record: Mapping[str, Any]) -> Record:
    """The metadata. Rows of the archive can have it as a JSON text."""
    value = record.get("metadata")
    if isinstance(value, str):
        try:
            return object_in({"metadata": json.loads(value)}, "metadata")
        except (ValueError, RecursionError):
            raise InvalidInput(f"metadata of a memory is not JSON: {value!r:.60}") from None
    return object_in(record, "metadata")
