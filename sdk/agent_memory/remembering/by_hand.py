"""By hand: memories that a person writes, corrects, pins or links, without a model; their kinds and data."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from agent_memory.errors import Conflict, InvalidInput, MemoryDisabled, NotFound
from agent_memory.language.custom import fitted
from agent_memory.language.grounding.conclusions import Ungrounded
from agent_memory.language.grounding.polarity import words_of
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.models import CustomKind, FactKind, Memory, content_hash, iso, now
from agent_memory.remembering import untold
from agent_memory.remembering.replacing import outdate_chunks
from agent_memory.rules.keeping import keep_within, require_room, with_retention
from agent_memory.rules.switches import Rules
from agent_memory.screening.screen import FORBIDDEN, screen_aside
from agent_memory.settings import PolicySettings
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, create, replace, to_document, validated
from agent_memory.store.ids import NOBODY, USER_THREAD, check_id, check_new_ids, derived_id, new_turn_id
from agent_memory.store.memories import active_by_hash, amend, get_memories, get_memory
from agent_memory.store.scope_documents import extraction_of, note_replaced
from agent_memory.store.static import refuse_static

USUAL: tuple[str, ...] = get_args(FactKind)
EDIT_REASON = "edit_reason"
"""Where a correction's metadata has its reason."""


async def kind_and_data(
    store: Store, owner: str, kind: str | None, data: Mapping[str, Any] | None
) -> tuple[str | None, dict[str, Any] | None]:
    """The kind as it is spelled, and its data, checked against the custom extraction of the store or the group.

    `kind` is None for a memory that is no fact.

    Raises:
        InvalidInput: if the kind is unknown, or the data does not fit it.
        StoreUnavailable: if the custom extraction must be read and cannot be.
    """
    custom = None if kind is None or kind in USUAL else await _custom(store, owner, kind)
    schema = None if custom is None else custom.data_schema
    if schema is None:
        if data is not None:
            raise InvalidInput(f"data: {_what(kind)} takes no data; only custom kinds with a data_schema do")
        return kind if custom is None else custom.name, None
    assert custom is not None
    if data is None:
        required = ", ".join(schema.get("required", ())) or "an object, which may be empty"
        raise InvalidInput(f"data: the kind {custom.name!r} needs it ({required})")
    try:
        return custom.name, fitted(dict(data) if isinstance(data, Mapping) else data, schema)
    except Ungrounded as error:
        raise InvalidInput(f"data: for the kind {custom.name!r}, {error}") from error


async def _custom(store: Store, owner: str, name: str) -> CustomKind:
    extraction = await extraction_of(store, owner)
    kinds = extraction.kinds if extraction is not None else []
    found = next((kind for kind in kinds if isinstance(name, str) and kind.name == name.lower()), None)
    if found is None:
        known = ", ".join((*USUAL, *(kind.name for kind in kinds)))
        raise InvalidInput(f"kind: {name!r:.60} is unknown; it is one of {known}")
    return found


def _what(kind: str | None) -> str:
    return "a memory that is no fact" if kind is None else f"the kind {kind!r}"


_DESCRIPTION = ("tags", "metadata")

MOST_LINKS = 50
"""How many links a memory can have: few enough for one read by `why`, and small in a document."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The parts that write a user's memory: the store, the rules in force, and the embedding model."""

    store: Store
    embeddings: EmbeddingModel
    policy: PolicySettings
    rules: Rules
    user_id: str

    async def screened(self, memory: Memory) -> Memory:
        """The memory as it passes the screen.

        Raises:
            InvalidInput: if it has too many entries.
            MemoryDisabled: if the settings forbid to remember this.
        """
        kept = (await screen_aside([memory], self.rules, self.policy)).memories
        if not kept:
            raise MemoryDisabled(f"this is {FORBIDDEN}")
        return kept[0]

    async def document(self, memory: Memory) -> Document:
        """The document of a memory, with its vector. Raises ModelError if the content could not be embedded."""
        vector = (await self.embeddings.embed([memory.content])).vectors[0]
        return with_retention([to_document(memory, vector)], self.rules)[0]


async def remember(desk: Desk, given: Mapping[str, Any], related_ids: Sequence[str]) -> Memory:
    """Writes a memory that needs no extraction. If the same words are remembered already, returns that memory.

    `given` holds the fields that the caller chose. A custom kind, and its data, replace those of the known memory.

    Raises:
        InvalidInput: if a field is invalid.
        NotFound: if the user has no memory with one of `related_ids`.
        MemoryDisabled: if the settings forbid to remember this.
        QuotaExceeded: if the tier allows no more memories.
        Conflict: if somebody else changes the known memory now.
    """
    store, rules, user_id = desk.store, desk.rules, desk.user_id
    check_new_ids(user_id=user_id)
    clock = now()
    fields = {
        **given,
        "id": f"{given['type']}_{new_turn_id()}",
        "user_id": user_id,
        "thread_id": USER_THREAD,
        "content": given["content"].strip(),
        "related_ids": await links(store, user_id, related_ids),
        "created_at": clock,
        "valid_from": given["valid_from"] or clock,
        "recorded_at": clock,
        "content_hash": content_hash(given["content"]),
        "embedding_model": desk.embeddings.model_id,
    }
    memory = await desk.screened(validated(Memory, fields))
    known = await active_by_hash(store, user_id, [memory.content_hash])
    if not known:
        await require_room(store, rules, user_id)
        document = await desk.document(memory)
        # The same words that are written at the same time get the same id, whatever their type, so only one of the
        # calls creates it.
        document["id"] = derived_id("memory", user_id, memory.content_hash)
        try:
            await store.create(MEMORIES, document)
        except Conflict:
            known = await active_by_hash(store, user_id, [memory.content_hash])
            if not known:  # an earlier memory with these words has the id, and is no longer active
                document["id"] = memory.id
                await store.create(MEMORIES, document)
    if known:
        return await _affirm(desk, known[memory.content_hash], memory)
    made = memory.model_copy(update={"id": document["id"]})
    await keep_within(store, rules, user_id, lambda: store.delete(MEMORIES, made.id, (user_id, USER_THREAD)))
    return made


async def _affirm(desk: Desk, old: Memory, again: Memory) -> Memory:
    """A memory whose words were given again: with the new expiry, and a custom kind and its data."""
    marks: dict[str, Any] = {"expires_at": again.expires_at}
    if again.kind in (None, *USUAL) or (old.kind, old.data) == (again.kind, again.data):
        return await mark(desk, old, marks)
    old, etag = await current(desk.store, desk.user_id, old.id)
    marks |= {"type": again.type, "kind": again.kind, "data": again.data}
    return await correct(desk, old, etag, old.content, marks, None)


async def current(store: Store, user_id: str, memory_id: str) -> tuple[Memory, str]:
    """A memory that may be changed, with its ETag.

    Raises:
        NotFound: if the user has no such memory.
        StaticMemoryError: if it is static knowledge.
        Conflict: if it was replaced or withdrawn.
    """
    try:
        memory, etag = await get_memory(store, user_id, memory_id)
    except NotFound:
        await refuse_static(store, memory_id, "update")
        raise
    if memory.superseded_by == NOBODY:
        raise Conflict(f"memory {memory_id} was withdrawn ({memory.supersede_reason})")
    if memory.superseded_by is not None:
        raise Conflict(f"memory {memory_id} was replaced by {memory.superseded_by}; update that one")
    return memory, etag


async def corrected_before(
    desk: Desk,
    memory_id: str,
    content: str | None,
    data: Mapping[str, Any] | None,
    described: Mapping[str, Any],
    reason: str | None,
) -> tuple[Memory, str] | None:
    """The version that this very correction has made, with its ETag; None if something else replaced the memory.

    So a correction whose answer was lost can be repeated. `described` holds its tags and metadata, if it had any.

    Raises:
        NotFound: if the user has no such memory.
    """
    old, _ = await get_memory(desk.store, desk.user_id, memory_id)
    if (content is None and data is None) or old.superseded_by in (None, NOBODY):
        return None
    made, etag = await get_memory(desk.store, desk.user_id, str(old.superseded_by))
    if made.superseded_by is not None or made.model is not None or made.supersedes_ids != [old.id]:
        return None
    if data is not None:
        data = (await kind_and_data(desk.store, desk.user_id, old.kind if old.type == "fact" else None, data))[1]
    marks = {**described, "data": data}
    told = await desk.screened(_version(old, old.content if content is None else content, marks, reason))
    if any(getattr(told, name) != getattr(made, name) for name in ("content", "data", *described)):
        return None
    if told.metadata.get(EDIT_REASON) != made.metadata.get(EDIT_REASON):
        return None
    await _follow_up(desk, old, made)  # a killed process may not have
    return made, etag


async def mark(desk: Desk, memory: Memory, marks: Mapping[str, Any]) -> Memory:
    """Sets a memory's tags and metadata, whether it is pinned, what it is linked to, when it expires.

    Writes nothing if nothing changes.

    Raises:
        MemoryDisabled: if the settings forbid to remember the tags or metadata.
        Conflict: if the memory was replaced meanwhile.
        NotFound: if it was forgotten.
    """
    changes = {name: value for name, value in marks.items() if getattr(memory, name) != value}
    if not changes:
        return memory
    if not changes.keys().isdisjoint(_DESCRIPTION):
        described = await desk.screened(validated(Memory, memory.model_dump() | changes))
        seen = (*_DESCRIPTION, "status", "review_reason")
        changes |= {
            name: getattr(described, name) for name in seen if getattr(described, name) != getattr(memory, name)
        }
    ends = marks.get("expires_at", memory.expires_at)
    lasting = {"type": memory.type, "expires_at": None if ends is None else iso(ends)}
    [kept] = with_retention([lasting], desk.rules)
    if "ttl" in kept or "expires_at" in changes:
        changes |= {"expires_at": kept["expires_at"], "ttl": kept.get("ttl", -1)}
    if ends is not None:
        await _expire_earlier(desk, memory, ends)
    return await amend(desk.store, memory, changes)


async def _expire_earlier(desk: Desk, memory: Memory, ends: datetime) -> None:
    """Lets the earlier versions of a memory expire with it, unless they expire earlier."""
    level = [memory.id]
    while level:
        rows = await desk.store.query(MEMORIES, queries.SUPERSEDED_BY, (desk.user_id,), ids=level)
        for row in rows:
            if row.get("expires_at") is None or row["expires_at"] > iso(ends):
                [kept] = with_retention([{"type": row["type"], "expires_at": iso(ends)}], desk.rules)
                changes = {"expires_at": kept["expires_at"], "ttl": kept["ttl"]}
                with contextlib.suppress(Conflict, NotFound):
                    await desk.store.patch(
                        MEMORIES, row["id"], (desk.user_id, row["thread_id"]), changes, "FROM c WHERE true"
                    )
        level = [row["id"] for row in rows]


async def correct(
    desk: Desk, old: Memory, etag: str, content: str, marks: Mapping[str, Any], reason: str | None
) -> Memory:
    """Writes a new version of a memory and ends the old one, in one batch. Without data in `marks`, it has none.

    Raises:
        Conflict: if the old one has changed since it was read with `etag`.
        NotFound: if it was forgotten since.
        MemoryDisabled: if the settings forbid to remember the new content.
    """
    new = await desk.screened(_version(old, content, {**marks, "embedding_model": desk.embeddings.model_id}, reason))
    document = await desk.document(new)
    partition = (old.user_id, old.thread_id)
    stored = await desk.store.read(MEMORIES, old.id, partition)
    if stored is None:
        raise NotFound(f"no memory {old.id} in this scope")
    ended = stored | {
        "superseded_by": new.id,
        "superseded_at": iso(new.created_at),
        "supersede_reason": "update",
        "valid_to": iso(new.created_at),
        **untold.mark(old.thread_id),
    }
    if new.expires_at is not None:
        ends = new.expires_at if old.expires_at is None else min(new.expires_at, old.expires_at)
        [ended] = with_retention([ended | {"expires_at": iso(ends)}], desk.rules)
    await untold.mark_earlier(desk.store, desk.user_id, old.id, None)
    await note_replaced(desk.store, desk.user_id)
    await desk.store.batch(MEMORIES, partition, [create(document), replace(ended, etag)])
    await _follow_up(desk, old, new)
    return new


async def _follow_up(desk: Desk, old: Memory, new: Memory) -> None:
    """What a correction brings about besides the new version. Repeating it changes nothing."""
    await outdate_chunks(desk.store, old, new, new.created_at)
    if new.expires_at is not None:
        await _expire_earlier(desk, new, new.expires_at)


def _version(old: Memory, content: str, marks: Mapping[str, Any], reason: str | None) -> Memory:
    """A new version of a memory, before it is screened."""
    clock = now()
    metadata = {name: value for name, value in marks.get("metadata", old.metadata).items() if name != EDIT_REASON}
    return old.model_copy(
        update={
            "data": None,  # it was about the earlier words
            "tags": [tag for tag in old.tags if _names(content, tag) or not _names(old.content, tag)],
            **marks,
            "id": f"{marks.get('type', old.type)}_{new_turn_id()}",
            "content": content.strip(),
            "content_hash": content_hash(content),
            "created_at": clock,
            "recorded_at": clock,
            "valid_from": clock,
            "valid_to": None,
            "confidence": 1.0,
            "model": None,
            "prompt_version": None,
            "supersedes_ids": [old.id],
            "metadata": metadata | ({EDIT_REASON: reason} if reason else {}),
        }
    )


def _names(text: str, tag: str) -> bool:
    return set(words_of(tag)) <= set(words_of(text))


async def links(store: Store, user_id: str, ids: Sequence[str]) -> list[str]:
    """These ids, each once, checked to be memories of the user.

    Raises:
        InvalidInput: for more than `MOST_LINKS` ids, or an invalid one.
        NotFound: if the user does not have one of them.
    """
    asked = list(dict.fromkeys(check_id(id, "related_ids") for id in ids))
    if len(asked) > MOST_LINKS:
        raise InvalidInput(f"a memory can be linked to at most {MOST_LINKS} others, not {len(asked)}")
    known = {memory.id for memory in await get_memories(store, user_id, asked)}
    if missing := [id for id in asked if id not in known]:
        raise NotFound(f"no memory {missing[0]} in this scope to link with")
    return asked
