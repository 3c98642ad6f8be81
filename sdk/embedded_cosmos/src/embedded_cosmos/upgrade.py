"""Brings store files of earlier versions up to date: vectors leave the bodies, and the file is rewritten.

Documents are changed a few hundred at a time, each time in one transaction. If the process dies, the next opening does
the rest. If the disk is full, or another program reads the file, the store works as it is, only slower.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable

from embedded_cosmos.binary_vectors import SET_VECTORS, apart
from embedded_cosmos.bodies import sound_body
from embedded_cosmos.catalog import Container
from embedded_cosmos.errors import EngineFileError
from embedded_cosmos.storage import Storage

LOG = logging.getLogger(__name__)
_DOCUMENTS_AT_ONCE = 500


def upgrade(storage: Storage, containers: Iterable[Container]) -> None:
    """Bring the file up to date, if an earlier version wrote it. Raises EngineFileError if that cannot begin."""
    if not storage.is_outdated:
        return
    try:
        storage.begin_upgrade()
    except sqlite3.OperationalError as error:
        raise EngineFileError(f"{storage.path} cannot be brought up to date: {error}.") from error
    LOG.warning("%s is rewritten once for this version; 100,000 documents take about half a minute", storage.path)
    lengths = {each.number: each.properties.vector_fields for each in containers if each.properties.vector_fields}
    try:
        last = 0
        while rows := storage.execute(_NEXT, (last, _DOCUMENTS_AT_ONCE)).fetchall():
            with storage.transaction():
                for number, container, item_id, body in rows:
                    document = sound_body(item_id, body) if container in lengths else None
                    if document is not None:
                        kept, vectors = apart(document, body, lengths[container])
                        if vectors is not None:
                            storage.execute("UPDATE items SET body = ? WHERE number = ?", (kept, number))
                            storage.execute(SET_VECTORS, (number, *vectors))
            last = rows[-1][0]
        storage.rewrite()
    except sqlite3.OperationalError as error:
        LOG.warning("%s could not be rewritten, which is tried again at the next opening: %s", storage.path, error)
    storage.scrub()


_NEXT = "SELECT number, container, id, body FROM items WHERE number > ? ORDER BY number LIMIT ?"
