"""Items in order: the read feed (all of them) and the change feed (each at its latest version)."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from embedded_cosmos.binary_vectors import WHOLE, WITH_VECTORS, sound_whole
from embedded_cosmos.catalog import Container
from embedded_cosmos.errors import bad_request
from embedded_cosmos.partition import EpkRange
from embedded_cosmos.storage import Storage

DEFAULT_PAGE_ROWS = 1000
MAX_PAGE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of one partition as JSON, and the position of the next rows, if there are more."""

    rows: list[bytes]
    continuation: str | None
    range_id: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Some changed items as JSON with their `_lsn`, and the token to continue after them."""

    rows: list[bytes]
    token: str


def read_feed(
    storage: Storage, container: Container, epks: EpkRange, limit: int | None, continuation: str | None
) -> Page:
    """The items of a range, in the order of their keys. The token names the last item, so writes do not disturb it.

    A page ends where its partition does.
    """
    after = (epks.min, "") if continuation is None else _parse_position(continuation)
    partition = container.partitions.holding(after[0])
    within = epks & partition.epks
    cursor = storage.execute(_ITEMS, (container.number, within.min, within.max, *after))
    rows: list[bytes] = []
    size = 0
    for epk, item_id, *stored in cursor:
        body = sound_whole(item_id, *stored)
        if len(rows) >= (limit or DEFAULT_PAGE_ROWS) or (rows and body and size + len(body) > MAX_PAGE_BYTES):
            cursor.close()
            return Page(rows, _format_position(*after), partition.id)
        if body is not None:
            rows.append(body)
            size += len(body)
        after = (epk, item_id)
    has_next = within.max < epks.max
    return Page(rows, _format_position(within.max, "") if has_next else None, partition.id)


def change_feed(
    storage: Storage,
    container: Container,
    epks: EpkRange,
    limit: int | None,
    token: str | None,
    since: str | None,
) -> Changes:
    """The items of a range that changed after `token` ("*": after now) and not before the date `since`.

    A page never parts the items of one transaction, which share a sequence number, even if it grows past `limit`.
    """
    if token == "*":
        return Changes([], _format_lsn(container.lsn))
    after = 0 if token is None else _parse_lsn(token)
    cursor = storage.execute(_CHANGES, (container.number, after, _timestamp(since), epks.min, epks.max))
    rows: list[bytes] = []
    size = 0
    for lsn, item_id, *stored in cursor:
        body = sound_whole(item_id, *stored)
        is_full = len(rows) >= (limit or DEFAULT_PAGE_ROWS) or (rows and body and size + len(body) > MAX_PAGE_BYTES)
        if is_full and lsn != after:
            cursor.close()
            return Changes(rows, _format_lsn(after))
        if body is not None:
            rows.append(b'%b,"_lsn":%d}' % (body[:-1], lsn))
            size += len(body)
        after = lsn
    return Changes(rows, _format_lsn(container.lsn))


_ITEMS = f"""
SELECT epk, id, {WHOLE} FROM {WITH_VECTORS}
WHERE container = ? AND epk >= ? AND epk < ? AND (epk, id) > (?, ?) ORDER BY epk, id
"""
_CHANGES = f"""
SELECT lsn, id, {WHOLE} FROM {WITH_VECTORS}
WHERE container = ? AND lsn > ? AND ts >= ? AND epk >= ? AND epk < ? ORDER BY lsn, number
"""


def _format_position(epk: str, item_id: str) -> str:
    return f"{epk}.{base64.urlsafe_b64encode(item_id.encode()).decode()}"


def _parse_position(token: str) -> tuple[str, str]:
    epk, _, item_id = token.partition(".")
    try:
        return epk, base64.urlsafe_b64decode(item_id).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise bad_request(f"The continuation token is not one of a read feed: {token}") from None


def _format_lsn(lsn: int) -> str:
    return f'"{lsn}"'


def _parse_lsn(token: str) -> int:
    try:
        return int(token.strip('"'))
    except ValueError:
        raise bad_request(f"The continuation token is not one of a change feed: {token}") from None


def _timestamp(date: str | None) -> int:
    if date is None:
        return 0
    try:
        return int(parsedate_to_datetime(date).astimezone(UTC).timestamp())
    except ValueError:
        raise bad_request(f"'If-Modified-Since' is not an HTTP date: {date}") from None
