"""The values of the first level of the key, read from one document each.

`SELECT DISTINCT VALUE c.user FROM c` lists all users of a container. All documents of a shard have the same value, so
nothing needs to be loaded.
"""

from __future__ import annotations

from collections.abc import Iterable

from embedded_cosmos.bodies import sound_body
from embedded_cosmos.catalog import Container
from embedded_cosmos.partition import MAX_EPK
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.values import Json
from embedded_cosmos.storage import Storage


def key_values(storage: Storage, container: Container, query: ast.Query, shards: Iterable[str]) -> list[Json] | None:
    """The rows of such a query over these shards; None if it asks for something else, or a value is not a text."""
    if not _asks_for(query, container):
        return None
    name = container.properties.key_segments[0][0]
    found: list[Json] = []
    for shard in shards:
        item_id, body = storage.execute(_FIRST, (container.number, shard, shard + MAX_EPK)).fetchone()
        value = (sound_body(item_id, body) or {}).get(name)
        if not isinstance(value, str):
            return None  # documents without a proper key are in one shard, whatever they have there
        found.append(value)
    return found


def _asks_for(query: ast.Query, container: Container) -> bool:
    properties = container.properties
    if properties.partition_key_version != 2 or properties.computed_properties or len(query.sources) != 1:
        return False
    [source], select = query.sources, query.select
    if select.kind != "value" or not select.distinct or select.top is not None or query.limit is not None:
        return False
    if query.where is not None or query.group_by or query.order_by or source.iterate:
        return False
    place = ast.property_of(select.items[0].expression)
    is_item = isinstance(source.origin, ast.Identifier) and place is not None and place[0] == source.alias
    return is_item and place is not None and (place[1],) == properties.key_segments[0]


_FIRST = "SELECT id, body FROM items WHERE container = ? AND epk >= ? AND epk < ? ORDER BY epk LIMIT 1"
