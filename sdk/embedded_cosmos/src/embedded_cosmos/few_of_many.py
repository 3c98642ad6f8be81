"""The few documents with a text in a field, found in the file, so that a query over all users loads none of them.

`SELECT … FROM c WHERE c.field = "text" AND …` concerns only documents whose JSON has `"field":"text"`. SQLite finds
them without parsing. The query then runs on these alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from embedded_cosmos.binary_vectors import StoredDocuments
from embedded_cosmos.bodies import sound_body
from embedded_cosmos.catalog import Container
from embedded_cosmos.query.execute import Scope, execute
from embedded_cosmos.query.filters import conjuncts
from embedded_cosmos.query.index import Shard
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.values import Json
from embedded_cosmos.storage import Storage

MOST = 5000
"""With more documents than this, loading is not much slower."""


def few_of_many(storage: Storage, container: Container, query: ast.Query, scope: Scope) -> list[Json] | None:
    """The rows of the query. None if it asks for something else, for many documents, or for a damaged one."""
    marks = list(_marks(query))
    if not marks or query.order_by or container.properties.computed_properties:
        return None
    where = (container.number, scope.epk_min, scope.epk_max)
    rows = storage.execute(_FEW, (*where, max(marks, key=len), MOST + 1)).fetchall()
    documents = [sound_body(item_id, body) for _, _, item_id, body in rows[:MOST]]
    if len(rows) > MOST or None in documents:
        return None
    shard = Shard(container.properties, StoredDocuments(storage, container, scope.epk_min, scope.epk_max).document)
    for (number, epk, _, _), document in sorted(zip(rows, documents, strict=True), key=lambda pair: pair[0][0]):
        assert document is not None
        shard.put(number, document, epk)
    return execute(query, [shard], scope, container.properties)


def _marks(query: ast.Query) -> Iterator[bytes]:
    """What the JSON of each document that the query is about has; nothing for a query by id, which finds damage."""
    if len(query.sources) != 1 or not isinstance(query.sources[0].origin, ast.Identifier) or query.sources[0].iterate:
        return
    compared = list(_texts(query))
    if not any(name == "id" for name, _ in compared):
        yield from (orjson.dumps({name: text})[1:-1] for name, text in compared)


def _texts(query: ast.Query) -> Iterator[tuple[str, str]]:
    """The fields that must have a text, each with the text."""
    for condition in conjuncts(query.where):
        if not isinstance(condition, ast.Binary) or condition.operator != "=":
            continue
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            place = ast.property_of(side)
            text = other.value if isinstance(other, ast.Literal) else None
            if place and place[0] == query.sources[0].alias and isinstance(text, str):
                yield place[1], text


_FEW = (
    "SELECT number, epk, id, body FROM items WHERE container = ? AND epk >= ? AND epk < ? AND instr(body, ?) > 0"
    " LIMIT ?"
)
