"""Schema: the version of the stored documents that a store was created with.

A document of an earlier version is read as it is, and written in the new form when it changes next. The version of the
store only says which older forms it cannot contain.
"""

from __future__ import annotations

from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER
from agent_memory.store.ids import SETTINGS_THREAD, STORE_USER

SCHEMA = 2
"""What new stores begin with. 2: a user's counter holds the total of all turns. 1 is not written anywhere."""


async def keeps_totals(store: Store) -> bool:
    """Whether every user of a store has had a total from their first turn. One point read for each process."""
    if store.known.schema is None:
        document = await store.read(COUNTER, "store", (STORE_USER, SETTINGS_THREAD))
        store.known.schema = int((document or {}).get("schema", 1))
    return store.known.schema >= 2
