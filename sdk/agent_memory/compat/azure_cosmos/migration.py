"""Reading a database that `azure-cosmos-agent-memory` wrote, and taking it over."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from typing import Any

from azure.cosmos.aio import CosmosClient

from agent_memory.errors import NotFound
from agent_memory.memory import AsyncMemory
from agent_memory.models import ImportReceipt
from agent_memory.store.calls import translated
from agent_memory.transfer.formats import as_export

CONTAINERS = ("memories_turns", "memories")
"""Its containers with turns and memories. Summaries are created again from these."""
Progress = Callable[[str, int], None]
"""Receives each imported user, and how many documents they had."""


async def documents(client: CosmosClient, database: str) -> AsyncIterator[dict[str, Any]]:
    """The documents of a database, without their vectors.

    Raises:
        NotFound: if it has no such containers.
        StoreUnavailable: if it does not answer.
    """
    for name in CONTAINERS:
        try:
            with translated():
                async for row in client.get_database_client(database).get_container_client(name).read_all_items():
                    yield {key: value for key, value in row.items() if not key.startswith("_") and key != "embedding"}
        except NotFound as error:
            raise NotFound(f"the database {database} has no container {name}: another program wrote it") from error


async def migrate(
    memory: AsyncMemory, client: CosmosClient, database: str = "ai_memory", progress: Progress | None = None
) -> dict[str, ImportReceipt]:
    """Imports every user of a database that `azure-cosmos-agent-memory` wrote. Repeating it adds nothing.

    Turns keep their ids and times, memories their history; both are embedded by this memory's model. Turns count as
    processed. The database is only read.

    Returns:
        By user, what was new and what existed already.

    Raises:
        NotFound: if it is not such a database.
        InvalidInput: if it holds something else.
    """
    by_user: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    async for document in documents(client, database):
        by_user[str(document["user_id"])].append(document)
    receipts = {}
    for user_id, found in sorted(by_user.items()):
        lines = list(as_export("\n".join(json.dumps(one) for one in found)))
        receipts[user_id] = await memory.user(user_id).import_lines(lines)
        if progress is not None:
            progress(user_id, len(found))
    return receipts
