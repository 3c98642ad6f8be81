"""The text of a query as it is sent: confined to the key that it goes to, and with its lists written out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agent_memory.text.patterns import linear

_FROM = " FROM c"
_KEY = ("c.user_id = @user_id", "c.thread_id = @thread_id")


@lru_cache(maxsize=1024)
def confined(sql: str, levels: int) -> str:
    """The query with a condition that confines it to one user (`levels` 1) or one thread (2): `@user_id`, `@thread_id`.

    The condition repeats the key because not every store heeds the key. An image of Microsoft's emulator answered
    queries to a prefix with the documents of all users (issue 329 of the emulator's repository).

    Raises:
        ValueError: if the query does not read `FROM c`.
    """
    select, found, rest = sql.partition(_FROM)
    if not found:
        raise ValueError(f"this query cannot be confined to a key, because it does not read{_FROM}: {sql}")
    head, ordered, order = rest.rpartition(" ORDER BY ")
    where = (head if ordered else rest).removeprefix(" WHERE ")
    key = " AND ".join(_KEY[:levels])
    return f"{select}{_FROM} WHERE {key}{f' AND ({where})' if where else ''}{ordered}{order if ordered else ''}"


_LISTED = linear(r"(?P<operand>c\.[\w.\[\]]+) IN \(@(?P<name>\w+)\)")
_MOST_LISTED = 1024
"""Values that are written out; the service takes 6,000."""


def listed(sql: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The query with a parameter for each value of a list in `c.id IN (@ids)`, and its parameters.

    An index answers `IN`. Nothing says that it answers `ARRAY_CONTAINS(@ids, c.id)`, which reads a list of the query
    and not of the document; without it, each context would read all documents of its user. Values are repeated up to
    a power of two, so that few texts differ.
    """
    if " IN (@" not in sql:
        return sql, dict(parameters)
    given = dict(parameters)

    def written(match: re.Match[str]) -> str:
        operand, name = match["operand"], match["name"]
        values = list(parameters[name])
        if not values:
            return "false"
        if len(values) > _MOST_LISTED:
            return f"ARRAY_CONTAINS(@{name}, {operand})"
        if f"ARRAY_CONTAINS(@{name}," not in sql:
            given.pop(name, None)
        values += values[-1:] * ((1 << (len(values) - 1).bit_length()) - len(values))
        given.update((f"{name}_{number}", value) for number, value in enumerate(values))
        return f"{operand} IN ({', '.join(f'@{name}_{number}' for number in range(len(values)))})"

    return _LISTED.sub(written, sql), given
