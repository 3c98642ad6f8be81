"""Operations: finds the operation of a request from its verb, path and headers."""

from __future__ import annotations

from typing import Literal, get_args
from urllib.parse import unquote

from embedded_cosmos.messages import IS_BATCH, IS_UPSERT, Request

Operation = Literal[
    "read",
    "create",
    "upsert",
    "replace",
    "patch",
    "delete",
    "batch",
    "query",
    "read_feed",
    "change_feed",
    "delete_by_key",
    "metadata",
]
"""An operation on items, or `metadata` for everything else: account, databases, containers, ranges, offers."""

OPERATIONS: frozenset[Operation] = frozenset(get_args(Operation))
ITEM_OPERATIONS: frozenset[Operation] = OPERATIONS - {"metadata"}

_BY_VERB: dict[str, Operation] = {"GET": "read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}


def segments_of(path: str) -> list[str]:
    """The names in a path, unquoted."""
    return [unquote(segment) for segment in path.split("/") if segment]


def operation_of(request: Request) -> Operation:
    """The operation that a request asks for."""
    match segments_of(request.path):
        case ["dbs", _, "colls", _, "docs"]:
            return _of_all_items(request)
        case ["dbs", _, "colls", _, "docs", _]:
            return _BY_VERB.get(request.method, "metadata")
        case ["dbs", _, "colls", _, "operations", "partitionkeydelete"]:
            return "delete_by_key"
    return "metadata"


def _of_all_items(request: Request) -> Operation:
    if request.method == "GET":
        return "read_feed" if request.headers.get("a-im") is None else "change_feed"
    if request.is_query:
        return "query"
    if request.flag(IS_BATCH):
        return "batch"
    return "upsert" if request.flag(IS_UPSERT) else "create"
