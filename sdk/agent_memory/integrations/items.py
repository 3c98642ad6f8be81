"""Items: values by namespace and key, as documents of a user, returned exactly or refused. No framework is needed.

The value is JSON in the document's metadata, in ASCII, so that the screen, which folds text, changes no letter of it.
If the screen would remove something (a key, a token), the put is refused as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import uuid4

from agent_memory.errors import InvalidInput, MemoryDisabled, NotFound
from agent_memory.integrations.bridge import Bridge
from agent_memory.models import Memory, iso, now
from agent_memory.store.ids import derived_id
from agent_memory.store.library import piece_id
from agent_memory.text.folding import folded

WHOLE = 10**9
"""The size of a piece that holds any document: an item is not cut."""
MOST_HITS = 100
"""Maximum items that a search ranks; the others follow in the order of their creation."""
_VALUE, _NAMESPACE, _KEY, _MADE, _INDEXED = "item", "item_namespace", "item_key", "item_created_at", "item_indexed"
_VERSION = "item_version"
_END = "\U0010ffff"
"""Sorts after every character of a label."""


class Made(NamedTuple):
    """An item as a document."""

    content: str
    metadata: dict[str, Any]


def document_id(namespace: Sequence[str], key: str) -> str:
    """The id of an item's document."""
    return derived_id("item", _path(namespace), key)


def document(
    namespace: Sequence[str],
    key: str,
    value: Mapping[str, Any],
    index: Literal[False] | Sequence[str] | None,
    created_at: datetime | None,
) -> Made:
    """An item as a document. Its searchable text comes from the fields in `index`, or from all.

    Raises:
        InvalidInput: if the value is not JSON.
    """
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the value of {key!r:.60} is not JSON: {error}") from error
    plain = json.loads(text)
    parts = [_at(plain, path) for path in index] if index else [plain]
    said = "\n".join(word for part in parts for word in _texts(part)).strip()
    metadata = {
        _VALUE: text,
        _NAMESPACE: _path(namespace),
        _KEY: key,
        _MADE: iso(created_at or now()),
        _INDEXED: index is not False,
        _VERSION: uuid4().hex,
    }
    return Made(said or key.strip() or "-", metadata)


def is_version(made: Made, kept: Memory) -> bool:
    """Whether what is stored comes from this put, and not from another one of the same key."""
    return bool(kept.metadata.get(_VERSION) == made.metadata[_VERSION])


def is_exact(made: Made, kept: Memory) -> bool:
    """Whether an item was stored as it was given, and is shown."""
    stored = [kept.metadata.get(name) for name in (_VALUE, _NAMESPACE, _KEY)]
    given = [made.metadata[name] for name in (_VALUE, _NAMESPACE, _KEY)]
    return stored == given and (kept.content, kept.status) == (folded(made.content).strip(), "active")


def refusal(namespace: Sequence[str], key: str) -> MemoryDisabled:
    """The error of an item that cannot be kept as it is."""
    return MemoryDisabled(
        f"the item {key!r:.60} of {'/'.join(namespace)!r:.80} is not stored: the policy keeps no secrets, forbidden"
        " categories or instructions to a model, and a store returns what was put or nothing"
    )


def within(prefix: Sequence[str]) -> dict[str, Any]:
    """The filter of the items of a namespace and of those below it."""
    path = _path(prefix)
    return {"metadata": {_NAMESPACE: {"gte": path, "lt": path + _END}}}


def is_under(namespace: Sequence[str], path: Sequence[str], how: str) -> bool:
    """Whether a namespace begins (`prefix`) or ends (`suffix`) with a path, in which `*` is any label."""
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if how == "prefix" else namespace[len(namespace) - len(path) :]
    return all(asked in ("*", label) for label, asked in zip(part, path, strict=True))


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, asked: bool(value == asked),
    "$ne": lambda value, asked: bool(value != asked),
    "$gt": lambda value, asked: float(value) > float(asked),
    "$gte": lambda value, asked: float(value) >= float(asked),
    "$lt": lambda value, asked: float(value) < float(asked),
    "$lte": lambda value, asked: float(value) <= float(asked),
}


def matches(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Whether a value matches the fields of a filter, as bare values or with `$eq $ne $gt $gte $lt $lte`.

    Raises:
        ValueError: for an unknown operator.
    """
    return all(_compares(value.get(name), asked) for name, asked in (filter or {}).items())


def _compares(value: Any, asked: Any) -> bool:
    if isinstance(asked, Mapping):
        if any(str(name).startswith("$") for name in asked):
            return all(_apply(value, how, than) for how, than in asked.items())
        return isinstance(value, Mapping) and all(_compares(value.get(name), one) for name, one in asked.items())
    if isinstance(asked, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(asked)
            and all(_compares(one, other) for one, other in zip(value, asked, strict=True))
        )
    return bool(value == asked)


def _apply(value: Any, how: str, than: Any) -> bool:
    if how not in _COMPARISONS:
        raise ValueError(f"no operator {how}: there are {', '.join(_COMPARISONS)}")
    return _COMPARISONS[how](value, than)


def value_of(kept: Memory) -> dict[str, Any]:
    """The value of an item."""
    value: dict[str, Any] = json.loads(kept.metadata[_VALUE])
    return value


def namespace_of(kept: Memory) -> tuple[str, ...]:
    """The namespace of an item."""
    return tuple(json.loads(f"[{kept.metadata[_NAMESPACE].removesuffix(',')}]"))


def key_of(kept: Memory) -> str:
    """The key of an item."""
    return str(kept.metadata[_KEY])


def is_indexed(kept: Memory) -> bool:
    """Whether a search by meaning finds the item."""
    return bool(kept.metadata[_INDEXED])


def created_at(kept: Memory) -> datetime:
    """When the item was first put."""
    return datetime.fromisoformat(kept.metadata[_MADE])


def fields_of(kept: Memory) -> dict[str, Any]:
    """The fields of LangGraph's `Item`."""
    return {
        "value": value_of(kept),
        "key": kept.metadata[_KEY],
        "namespace": namespace_of(kept),
        "created_at": created_at(kept),
        "updated_at": kept.recorded_at,
    }


def _path(namespace: Sequence[str]) -> str:
    """A namespace as text: JSON strings, each followed by a comma, so that a prefix ends at a label's end."""
    return "".join(f"{json.dumps(label)}," for label in namespace)


def _at(value: Any, path: str) -> Any:
    """The value at a path: `$` is everything, `a.b` a field, `a[0]` or `a[*]` elements."""
    found = [value]
    for name in () if path == "$" else path.replace("[", ".[").split("."):
        found = [inner for one in found for inner in _inner(one, name)]
    return found


def _inner(value: Any, name: str) -> list[Any]:
    if name.startswith("["):
        if not isinstance(value, list):
            return []
        at = name.strip("[]")
        if at == "*":
            return value
        return value[int(at) :][:1] if at.lstrip("-").isdigit() else []
    return [value[name]] if isinstance(value, Mapping) and name in value else []


def _texts(value: Any) -> list[str]:
    """All texts in a value, and its figures."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [word for name, inner in value.items() for word in ([name] if inner is True else []) + _texts(inner)]
    if isinstance(value, list):
        return [word for inner in value for word in _texts(inner)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


class ItemStore:
    """The items of one user, by namespace and key. A value is returned exactly as it was put."""

    def __init__(self, bridge: Bridge, user_id: str) -> None:
        self._bridge = bridge
        self._user_id = user_id
        self._scope: Any = bridge.user(user_id)

    async def get(self, namespace: Sequence[str], key: str) -> Memory | None:
        """An item as it is stored; None if there is none."""
        id = piece_id(self._user_id, document_id(namespace, key), 0)
        try:
            kept: Memory = await self._bridge.ask(self._scope.get, id)
        except NotFound:
            return None
        return kept

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | Sequence[str] | None = None,
    ) -> None:
        """Stores an item, replacing an earlier one.

        Raises:
            InvalidInput: if the value is not JSON.
            MemoryDisabled: if the policy would change it, or a switch is off; the earlier one stays.
        """
        known = await self.get(namespace, key)
        made = document(namespace, key, value, index, None if known is None else created_at(known))
        written = await self._write(namespace, key, made.content, made.metadata)
        kept = await self.get(namespace, key) if written else None
        # If another put or a deletion came after this one, it counts, and this one is outdated.
        if written and (kept is None or not is_version(made, kept) or is_exact(made, kept)):
            return
        if known is not None:
            await self._write(namespace, key, known.content, known.metadata)
        else:
            await self.delete(namespace, key)
        raise refusal(namespace, key)

    async def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Deletes an item; whether there was one."""
        return bool(await self._bridge.ask(self._scope.delete_document, document_id(namespace, key)))

    async def within(self, namespace: Sequence[str]) -> list[Memory]:
        """The items of a namespace and of those below it."""
        found = await self._bridge.ask(self._scope.memories, types=["document"], filters=within(namespace))
        return list(found)

    async def scores(self, namespace: Sequence[str], query: str) -> dict[str, float]:
        """How well texts of items match a query, by the text. Of equal texts, a search shows one."""
        options = {"limit": MOST_HITS, "types": ["document"], "filters": within(namespace)}
        hits = await self._bridge.ask(self._scope.search, query, **options)
        return {hit.memory.content: hit.score for hit in hits}

    async def _write(self, namespace: Sequence[str], key: str, content: str, metadata: Mapping[str, Any]) -> list[str]:
        options = {"metadata": metadata, "chunk_size": WHOLE, "chunk_overlap": 0}
        id = document_id(namespace, key)
        return list((await self._bridge.ask(self._scope.add_document, id, content, **options)).ids)
