"""Static knowledge: facts for all users, which the operator writes and every user may read.

They belong to a reserved user, so no scope can change them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.errors import InvalidInput, StaticMemoryError
from agent_memory.models import Memory, content_hash, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import check_json, from_document, in_batches, to_document, upsert
from agent_memory.store.ids import STATIC_USER, check_id, derived_id

PARTITION = (STATIC_USER, STATIC_USER)
LONGEST = 8000
"""The most characters of one fact."""
FRESH_SECONDS = 60.0
"""How long a process uses the facts that it read. It shows facts that another process seeds after that time."""


def as_fact(given: Any) -> dict[str, Any]:
    """A fact with id, content and metadata, made from any data.

    A mapping with an id or a content is taken as it is. Otherwise the data is kept in the metadata under `value`, and
    the id comes from the data. A text is its own content. `{"key": …, "value": …}` becomes "key: value", and a later
    value of the same key replaces it. Other data becomes JSON.

    Raises:
        InvalidInput: for data that is not JSON.
    """
    if isinstance(given, Mapping) and given.keys() & {"id", "content"}:
        return dict(given)
    check_json(given, "a static fact")
    text = json.dumps(given, ensure_ascii=False)
    match given:
        case str():
            return {"id": derived_id("static", given), "content": given}
        case {"key": str(key), "value": value, **others} if not others:
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            identity, content = f"key {key}", f"{key}: {told}"
        case _:
            identity, content = text, text
    return {"id": derived_id("static", identity), "content": content, "metadata": {"value": given}}


def make_facts(given: Sequence[Any]) -> list[Memory]:
    """The facts as they will be stored.

    Raises:
        InvalidInput: if a fact has no content, an invalid id, an id that is given twice, or fields other than `id`,
            `content` and `metadata`.
    """
    clock = now()
    facts: dict[str, Memory] = {}
    for number, item in enumerate(map(as_fact, given), 1):
        if item.keys() - {"id", "content", "metadata"}:
            raise InvalidInput(f"static fact {number}: the only fields are id, content and metadata")
        identifier, content = check_id(item.get("id"), f"static fact {number}: id"), item.get("content")
        if not isinstance(content, str) or not content.strip() or len(content) > LONGEST:
            raise InvalidInput(f"static fact {number}: content must be a text of 1 to {LONGEST} characters")
        check_json(item, f"static fact {number}")
        if identifier in facts:
            raise InvalidInput(f"static fact {number}: the id {identifier!r:.60} is given twice")
        facts[identifier] = Memory(
            id=identifier,
            user_id=STATIC_USER,
            thread_id=STATIC_USER,
            type="static",
            content=content.strip(),
            confidence=1.0,
            importance=1.0,
            source="imported",
            metadata=dict(item.get("metadata") or {}),
            created_at=clock,
            recorded_at=clock,
            content_hash=content_hash(content),
        )
    return list(facts.values())


async def write_facts(store: Store, facts: Sequence[Memory]) -> int:
    """Writes the facts that are new or changed; returns how many. Repeating it writes nothing."""
    known = {fact.id: fact for fact in await read_facts(store)}
    changed = [
        fact
        for fact in facts
        if fact.id not in known or (known[fact.id].content, known[fact.id].metadata) != (fact.content, fact.metadata)
    ]
    for some in in_batches(changed):
        await store.batch(MEMORIES, PARTITION, [upsert(to_document(fact)) for fact in some])
    return len(changed)


async def read_facts(store: Store) -> list[Memory]:
    """All static facts, by id."""
    rows = await store.query(MEMORIES, queries.STATIC_FACTS, PARTITION)
    return sorted((from_document(Memory, row) for row in rows), key=lambda fact: fact.id)


async def refuse_static(store: Store, memory_id: str, verb: str) -> None:
    """Refuses the id of a static fact. Raises StaticMemoryError if the id is one."""
    if await store.read(MEMORIES, memory_id, PARTITION) is not None:
        raise StaticMemoryError(f"Static memory does not support {verb} operation")


class StaticFacts:
    """The static facts in this process; reads them again when they are older than a minute."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._facts: list[Memory] = []
        self._read_at: float | None = None

    async def all(self) -> list[Memory]:
        """All facts, by id."""
        if self._read_at is None or time.monotonic() - self._read_at > FRESH_SECONDS:
            self._facts = await read_facts(self._store)
            self._read_at = time.monotonic()
        return self._facts

    def changed(self) -> None:
        """Makes the next call read them again."""
        self._read_at = None
