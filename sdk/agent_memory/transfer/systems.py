"""Memories of other systems as lines of an export: mem0, Zep and Graphiti, Letta, and the store of LangGraph.

Each reader takes the records of one file. A memory's id is made from that system's id for it, so an import can be
repeated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import iso, now
from agent_memory.store.ids import NOBODY, USER_THREAD, derived_id

Record = dict[str, Any]

PIECE = 1000
"""Most characters of one memory that is cut out of a block of Letta. Embedding models read about so much."""
_TEXTS = ("content", "memory", "text", "data", "fact")
"""The fields of a LangGraph value that hold its words, in order of priority. LangMem's is `content`."""


@dataclass(frozen=True, slots=True)
class System:
    """A system: a test of a file's records, a reader of them, and whose a record is, if it says so."""

    name: str
    recognises: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Iterable[Record]], Iterator[Record]]
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
        several = InvalidInput(f"the file of {system.name} holds memories of {len(named)}: {', '.join(named)[:200]}")
        several.add_note("say whose to take: agent-memory import FILE --only NAME --user ID")
        raise several
    return records


def imported(system: str, key: Iterable[str], content: object, said: object, **others: Any) -> Record:
    """A memory as the line of an export. `said` is when; None is now. Empty fields are left out."""
    made = said or iso(now())
    metadata = {**(others.pop("metadata", None) or {}), "imported_from": system}
    line = {
        "type": "memory",
        "memory_type": "fact",
        "id": derived_id("fact", system, *key),
        "thread_id": USER_THREAD,
        "kind": "fact",
        "content": content,
        "source": "imported",
        "created_at": made,
        "valid_from": made,
        "recorded_at": iso(now()),
        "metadata": metadata,
    }
    return line | {name: value for name, value in others.items() if value is not None}


def _mem0(records: Iterable[Record]) -> Iterator[Record]:
    for record in records:
        extra = {name: record[name] for name in ("app_id", "actor_id") if record.get(name)}
        yield imported(
            "mem0",
            [str(record.get("id", record["memory"]))],
            record["memory"],
            record.get("created_at"),
            updated_at=record.get("updated_at"),
            expires_at=record.get("expiration_date"),
            tags=record.get("categories"),
            agent_id=record.get("agent_id"),
            run_id=record.get("run_id"),
            metadata={**extra, **_object(record, "metadata")},
        )


def _zep(records: Iterable[Record]) -> Iterator[Record]:
    for record in records:
        learned, since = record.get("created_at"), record.get("valid_at")
        until = record.get("invalid_at") or record.get("expired_at")
        relation = {"relation": record["name"]} if isinstance(record.get("name"), str) else {}
        line = imported(
            "zep",
            [str(record.get("uuid") or record["fact"])],
            record["fact"],
            learned or since,
            valid_from=since,
            valid_to=until,
            metadata={**relation, **_object(record, "attributes")},
        )
        if until is not None and since is None:
            del line["valid_from"]  # it may have ended before Zep learned it
        if until is not None and _is_past(until):
            reason = "contradict" if record.get("expired_at") else "expired"
            ended = record.get("expired_at") or until
            line |= {"superseded_by": NOBODY, "superseded_at": ended, "supersede_reason": reason}
        yield line


def _letta(records: Iterable[Record]) -> Iterator[Record]:
    for record in records:
        if "value" in record:
            yield from _block(record)
        elif not record.get("is_deleted"):
            yield imported(
                "letta",
                [str(record.get("id") or record.get("text"))],
                record.get("text"),
                record.get("created_at"),
                updated_at=record.get("updated_at"),
                tags=record.get("tags"),
                metadata=_object(record, "metadata"),
            )


def _block(block: Record) -> Iterator[Record]:
    """A block of core memory as one memory for each paragraph, so that search finds the right part."""
    label, value = str(block.get("label")), block["value"]
    if not isinstance(value, str):
        raise InvalidInput(f"the value of Letta's block {label:.60} is not a text")
    for piece in _pieces(value):
        yield imported(
            "letta", ["block", label, piece], piece, block.get("updated_at"), tags=[label], metadata={"block": label}
        )


def _pieces(text: str) -> Iterator[str]:
    """The paragraphs of a text, without repetitions; a long one in pieces that end with a line or a word."""
    seen: set[str] = set()
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        rest = paragraph.strip()
        while rest:
            cut = len(rest) if len(rest) <= PIECE else _end(rest)
            piece, rest = rest[:cut].strip(), rest[cut:].strip()
            if piece not in seen:
                yield piece
            seen.add(piece)


def _end(text: str) -> int:
    """Where to cut: after the last line that fits, else after the last word."""
    return next((cut for end in ("\n", " ") if (cut := text.rfind(end, 0, PIECE)) > 0), PIECE)


def _langgraph(records: Iterable[Record]) -> Iterator[Record]:
    for record in records:
        namespace, value = [str(label) for label in record["namespace"]], record["value"]
        content, others = _words(value)
        yield imported(
            "langgraph",
            [*namespace, str(record["key"])],
            content,
            record.get("created_at") or record.get("createdAt"),
            updated_at=record.get("updated_at") or record.get("updatedAt"),
            metadata={**others, "namespace": namespace, "key": record["key"]},
        )


def _words(value: object) -> tuple[str, Record]:
    """What a value says, and its other fields. A value without a text says all its fields."""
    if not isinstance(value, dict):
        return _plain(value), {}
    name = next((name for name in _TEXTS if isinstance(value.get(name), str | dict)), None)
    if name is None:
        return "; ".join(f"{key}: {_plain(part)}" for key, part in value.items() if part is not None), {}
    content, inner = (value[name], {}) if isinstance(value[name], str) else _words(value[name])
    return content, inner | {key: part for key, part in value.items() if key != name}


def _plain(value: object) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _object(record: Mapping[str, Any], name: str) -> Record:
    value = record.get(name) or {}
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} of a memory must be an object, not {value!r:.60}")
    return value


def _is_past(time: object) -> bool:
    try:
        read = datetime.fromisoformat(str(time))
    except ValueError:
        raise InvalidInput(f"not a time: {time!r:.60}") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)) <= now()


def _owner(*names: str) -> Callable[[Mapping[str, Any]], tuple[str, ...]]:
    """Whose a record is: the first of its fields with these names."""
    return lambda record: next(((str(record[name]),) for name in names if record.get(name)), ())


def _is_passage(record: Mapping[str, Any]) -> bool:
    return "archive_id" in record or "embedding_config" in record or str(record.get("id")).startswith("passage-")


def _labels(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(label) for label in record["namespace"])


SYSTEMS = (
    System("mem0", lambda record: "memory" in record, _mem0, _owner("user_id")),
    System("Zep", lambda record: "fact" in record, _zep, _owner("user_id", "group_id", "graph_uuid", "graph_id")),
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
    agents = [agent for agent in value.get("agents") or [value] if isinstance(agent, dict)]
    blocks = [*(value.get("blocks") or []), *(block for agent in agents for block in agent.get("core_memory") or [])]
    passages = [*(value.get("passages") or []), *(one for agent in agents for one in agent.get("passages") or [])]
    last = max((str(said) for agent in agents for said in _times(agent)), default=None)
    dated = ({"updated_at": value.get("created_at") or last, **_stated(block)} for block in blocks)
    return [*(block for block in dated if block.get("label") != "persona"), *passages]


def _stated(block: object) -> Record:
    if not isinstance(block, dict):
        raise InvalidInput("a block of Letta's agent file is not an object")
    return {name: part for name, part in block.items() if part is not None}


def _times(agent: Mapping[str, Any]) -> Iterator[Any]:
    for message in agent.get("messages") or []:
        if isinstance(message, dict) and message.get("created_at"):
            yield message["created_at"]
