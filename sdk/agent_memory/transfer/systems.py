"""Memories of other systems as lines of an export. Each reader takes the records of one file.

The fields that are read come from these public schemas:

- mem0: `get_all` of the library (`mem0/memory/main.py`, https://github.com/mem0ai/mem0) and of the platform
  (https://docs.mem0.ai/api-reference/memory/get-memory).
- Zep and Graphiti: `Edge` of `zep_cloud` 4 and `EntityEdge` of `zep_cloud` 2 and 3
  (https://help.getzep.com/sdk-reference/graph/edge/get-edge).
- Letta: `AgentFileSchema` of `letta/schemas/agent_file.py`, the older files of
  https://github.com/letta-ai/agent-file, and `Passage` of `letta_client`.
- LangGraph: `Item.dict()` of `langgraph.store.base`, and the values of LangMem. Its SQLite database
  (`langgraph-checkpoint-sqlite` 3) has a table `store`. A `prefix` there is the namespace, with its labels joined by
  full stops, and times are in UTC. The file is opened read-only.
- Claude: `memories.json` of the data export. Anthropic publishes no schema of it; the fields are those that several
  public readers of the export agree on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.store.ids import NOBODY
from agent_memory.transfer import hindsight
from agent_memory.transfer.imported import NoMemories, Record, imported, is_past, list_in, object_in, pieces

_TEXTS = ("content", "memory", "text", "data", "fact")
"""The fields of a LangGraph value that hold its words, in order of priority. LangMem's is `content`."""
_GRAPHS = ("user_id", "user_uuid", "group_id", "graph_uuid", "graph_id")
"""The fields of Zep and Graphiti that say whose graph it is, of several versions."""
_CLAUDE = {"conversations_memory", "project_memories", "memory_files"}


@dataclass(frozen=True, slots=True)
class System:
    """A system: a test of a file's records, a reader of them, and whose a record is, if it says so.

    The reader's second argument is the time, in ISO 8601, at which a record without one was known.
    """

    name: str
    recognises: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Iterable[Record], str], Iterator[Record]]
    owners: Callable[[Mapping[str, Any]], tuple[str, ...]]


def only_of(system: System, records: Iterable[Record], only: str | None) -> list[Record]:
    """The records of one owner, so that the memories of several people do not become those of one.

    Raises:
        InvalidInput: if the file holds memories of several owners and `only` does not say whose to take, or of none
            of that name.
    """
    records = list(records)
    if only is not None:
        kept = [record for record in records if only in system.owners(record)]
        if not kept:
            raise InvalidInput(f"the file of {system.name} holds nothing of {only!r:.60}")
        return kept
    named = sorted({"/".join(owners) for record in records if (owners := system.owners(record))})
    if len(named) > 1:
        names = ", ".join(named)[:200]
        several = InvalidInput(f"the file of {system.name} holds memories of {len(named)} owners: {names}")
        several.add_note("say whose to take: agent-memory import FILE --only NAME --user ID")
        raise several
    return records


def _mem0(records: Iterable[Record], as_of: str) -> Iterator[Record]:
    for record in records:
        extra = {name: record[name] for name in ("app_id", "actor_id") if record.get(name)}
        yield imported(
            "mem0",
            [str(record.get("id", record["memory"]))],
            record["memory"],
            record.get("created_at") or as_of,
            updated_at=record.get("updated_at"),
            expires_at=record.get("expiration_date"),
            tags=record.get("categories"),
            agent_id=record.get("agent_id"),
            run_id=record.get("run_id"),
            metadata={**extra, **object_in(record, "metadata")},
        )


def _zep(records: Iterable[Record], as_of: str) -> Iterator[Record]:
    for record in records:
        learned, since = record.get("created_at"), record.get("valid_at")
        until = record.get("invalid_at") or record.get("expired_at")
        relation = {"relation": record["name"]} if isinstance(record.get("name"), str) else {}
        line = imported(
            "zep",
            [str(record.get("uuid") or record["fact"])],
            record["fact"],
            learned or since or as_of,
            valid_from=since,
            valid_to=until,
            metadata={**relation, **object_in(record, "attributes")},
        )
        if until is not None and since is None:
            del line["valid_from"]  # it may have ended before Zep learned it
        if until is not None and is_past(until):
            reason = "contradict" if record.get("expired_at") else "expired"
            ended = record.get("expired_at") or until
            line |= {"superseded_by": NOBODY, "superseded_at": ended, "supersede_reason": reason}
        yield line


def _letta(records: Iterable[Record], as_of: str) -> Iterator[Record]:
    for record in records:
        if "value" in record:
            yield from _block(record, as_of)
        elif not record.get("is_deleted"):
            yield imported(
                "letta",
                [str(record.get("id") or record.get("text"))],
                record.get("text"),
                record.get("created_at") or as_of,
                updated_at=record.get("updated_at"),
                tags=record.get("tags"),
                metadata=object_in(record, "metadata"),
            )


def _block(block: Record, as_of: str) -> Iterator[Record]:
    """A block of core memory as one memory for each paragraph, so that search finds the right part."""
    label, value = str(block.get("label")), block["value"]
    if not isinstance(value, str):
        raise InvalidInput(f"the value of Letta's block {label:.60} is not a text")
    for piece in pieces(value):
        said = block.get("updated_at") or as_of
        yield imported("letta", ["block", label, piece], piece, said, tags=[label], metadata={"block": label})


def _langgraph(records: Iterable[Record], as_of: str) -> Iterator[Record]:
    for record in records:
        namespace, value = [str(label) for label in record["namespace"]], record["value"]
        content, others = _words(value)
        yield imported(
            "langgraph",
            [*namespace, str(record["key"])],
            content,
            record.get("created_at") or record.get("createdAt") or as_of,
            updated_at=record.get("updated_at") or record.get("updatedAt"),
            expires_at=record.get("expires_at"),
            metadata={**others, "namespace": namespace, "key": record["key"]},
        )


def _words(value: object) -> tuple[str, Record]:
    """The text of a value, and its other fields. A value without a text becomes a text of all its fields."""
    if not isinstance(value, dict):
        return _plain(value), {}
    name = next((name for name in _TEXTS if isinstance(value.get(name), str | dict)), None)
    if name is None:
        return "; ".join(f"{key}: {_plain(part)}" for key, part in value.items() if part is not None), {}
    content, inner = (value[name], {}) if isinstance(value[name], str) else _words(value[name])
    return content, inner | {key: part for key, part in value.items() if key != name}


def _claude(records: Iterable[Record], as_of: str) -> Iterator[Record]:
    for record in records:
        yield from _written(record.get("conversations_memory"), as_of, {})
        for project, text in object_in(record, "project_memories").items():
            yield from _written(text, as_of, {"project": project})
        for file in list_in(record, "memory_files"):
            file = file if isinstance(file, dict) else {}
            path = {"path": file["path"]} if file.get("path") else {}
            yield from _written(file.get("content"), file.get("updated_at") or as_of, path)


def _written(text: object, said: object, place: Record) -> Iterator[Record]:
    """A text of Claude's memory as one memory for each paragraph. The heading above it becomes a tag."""
    if not isinstance(text, str | None):
        raise InvalidInput(f"an entry of Claude's memory is not a text: {text!r:.60}")
    heading: str | None = None
    for piece in pieces(text or ""):
        first, _, rest = piece.partition("\n")
        if first.startswith("#") or (first.startswith("**") and first.endswith("**")):
            heading = first.strip("#* :") or None
            piece = rest.strip()
        if piece:
            key = ["memory", *map(str, place.values()), piece]
            yield imported("claude", key, piece, said, tags=[heading] if heading else None, metadata=place)


def _plain(value: object) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _owner(*names: str) -> Callable[[Mapping[str, Any]], tuple[str, ...]]:
    """The owner of a record: the first of its fields with these names."""
    return lambda record: next(((str(record[name]),) for name in names if record.get(name)), ())


def _is_passage(record: Mapping[str, Any]) -> bool:
    return "archive_id" in record or "embedding_config" in record or str(record.get("id")).startswith("passage-")


def _labels(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(label) for label in record["namespace"])


SYSTEMS = (
    System("mem0", lambda record: "memory" in record, _mem0, _owner("user_id")),
    System(
        "Zep",
        lambda record: "fact" in record,
        _zep,
        _owner(*_GRAPHS),
    ),
    System(
        "Letta",
        lambda record: {"label", "value"} <= record.keys() or ("text" in record and _is_passage(record)),
        _letta,
        lambda record: (),
    ),
    System(
        "LangGraph",
        lambda record: {"key", "value"} <= record.keys() and isinstance(record.get("namespace"), list),
        _langgraph,
        _labels,
    ),
    System("Hindsight", hindsight.is_hindsight, hindsight.read_hindsight, hindsight.owners),
    System("Claude", lambda record: not _CLAUDE.isdisjoint(record), _claude, _owner("account_uuid")),
)
"""The systems, in the order in which they are tried."""


def records_in(value: Mapping[str, Any]) -> list[Any] | None:
    """The memories in an object that a system exports or answers with; None if it is none of those.

    An agent file of Letta gives its blocks and passages. The block `persona` is left out: there the agent describes
    itself, which would become something about the user.
    """
    if isinstance(value.get("agents"), list) or isinstance(value.get("core_memory"), list):
        return _in_agent_file(value)
    for name in ("results", "memories", "documents", "edges", "facts", "relevant_facts", "passages", "items"):
        if isinstance(value.get(name), list):
            times = {"created_at": value["created_at"]} if value.get("created_at") else {}
            return [{"fact": one, **times} if isinstance(one, str) else one for one in value[name]]
    return None


def _in_agent_file(value: Mapping[str, Any]) -> list[Any]:
    agents = [agent for agent in list_in(value, "agents") or [value] if isinstance(agent, dict)]
    blocks = [*list_in(value, "blocks"), *(block for agent in agents for block in list_in(agent, "core_memory"))]
    passages = [*list_in(value, "passages"), *(one for agent in agents for one in list_in(agent, "passages"))]
    last = max((str(said) for agent in agents for said in _times(agent)), default=None)
    dated = ({"updated_at": value.get("created_at") or last, **_stated(block)} for block in blocks)
    return [*(block for block in dated if block.get("label") != "persona"), *passages]


def _stated(block: object) -> Record:
    if not isinstance(block, dict):
        raise InvalidInput("a block of Letta's agent file is not an object")
    return {name: part for name, part in block.items() if part is not None}


def _times(agent: Mapping[str, Any]) -> Iterator[Any]:
    for message in list_in(agent, "messages"):
        if isinstance(message, dict) and message.get("created_at"):
            yield message["created_at"]


_MAGIC = b"SQLite format 3\0"
_COLUMNS = "prefix, key, value, created_at, updated_at"


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as a SQLite database does. Raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def items_in(path: Path) -> list[Record]:
    """The items of a store, without those that have expired.

    Raises:
        NoMemories: if the database is not that of a store of LangGraph.
        InvalidInput: if it is broken, or a value is no JSON.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")  # a schema from outside calls no functions
            return list(_items(path, database))
    except sqlite3.Error as error:
        broken = InvalidInput(f"{path}: the database cannot be read: {error}")
        broken.add_note("stop the program that uses it, and copy FILE-wal with it if there is one")
        raise broken from error


def _items(path: Path, database: sqlite3.Connection) -> Iterator[Record]:
    columns = {str(row[1]) for row in database.execute("PRAGMA table_info(store)")}
    plain = "SELECT 1 FROM sqlite_schema WHERE name = 'store' AND type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    if not database.execute(plain).fetchone() or not {"prefix", "key", "value"} <= columns:
        raise NoMemories(f"{path}: the database has no table of a LangGraph store")
    expiry = "expires_at" if "expires_at" in columns else "NULL"
    for prefix, key, value, created, updated, expires in database.execute(f"SELECT {_COLUMNS}, {expiry} FROM store"):
        if expires is not None and is_past(expires):
            continue
        item = {"namespace": str(prefix).split("."), "key": key, "value": _value(path, prefix, key, value)}
        yield item | {"created_at": created, "updated_at": updated, "expires_at": expires}


def _value(path: Path, prefix: object, key: object, value: bytes | str | float | None) -> Any:
    try:
        return json.loads(value)  # type: ignore[arg-type]  # a number or NULL is refused below
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: the value of {prefix}/{key} is not valid JSON: {error}") from None
