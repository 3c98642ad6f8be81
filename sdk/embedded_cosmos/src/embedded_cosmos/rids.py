"""Resource ids: the base64 names that Cosmos DB gives to stored resources, and the links made from them.

A database has four bytes, a container four more, an item eight more, so a rid names its owners too. `/` is written
as `-`, as rids stand in paths.
"""

from __future__ import annotations

import base64
import binascii

_CONTAINER_BIT = 0x8000_0000


def database_rid(database: int) -> str:
    """The rid of a database."""
    return _encode(database.to_bytes(4, "big"))


def container_rid(database: int, container: int) -> str:
    """The rid of a container."""
    return _encode(database.to_bytes(4, "big") + (container | _CONTAINER_BIT).to_bytes(4, "big"))


def item_rid(database: int, container: int, item: int) -> str:
    """The rid of an item."""
    owners = database.to_bytes(4, "big") + (container | _CONTAINER_BIT).to_bytes(4, "big")
    return _encode(owners + item.to_bytes(8, "big"))


def offer_rid(offer: int) -> str:
    """The rid of an offer, which no database owns."""
    return _encode(offer.to_bytes(3, "big"))


def last_number(rid: str) -> int | None:
    """The number of the database, container, item or offer that a rid names, or None if it is not a rid."""
    try:
        raw = base64.b64decode(rid.replace("-", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None
    match len(raw):
        case 3 | 4:
            return int.from_bytes(raw, "big")
        case 8:
            return int.from_bytes(raw[4:], "big") & ~_CONTAINER_BIT
        case 16:
            return int.from_bytes(raw[8:], "big")
        case _:
            return None


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode().replace("/", "-")
