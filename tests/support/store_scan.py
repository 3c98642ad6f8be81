"""Every byte that a store holds, read through the SDK: what was forgotten must not be among them."""

from __future__ import annotations

import json
from typing import Any

from agent_memory import AsyncMemory
from agent_memory.store.containers import container_specs


async def documents(memory: AsyncMemory, user_id: str | None = None) -> list[dict[str, Any]]:
    """All documents of all containers (or those of one user), without their vectors."""
    found = []
    for spec in container_specs():
        rows = await memory.runtime.store.query(spec.name, "SELECT * FROM c")
        found += [row | {"container": spec.name} for row in rows if user_id in (None, row.get("user_id"))]
    for row in found:
        row.pop("embedding", None)
    return found


async def scan(memory: AsyncMemory, *needles: str) -> list[str]:
    """The documents that hold one of these texts, in whatever case: container, id and the text."""
    return [
        f"{row['container']}/{row['id']}: {needle}"
        for row in await documents(memory)
        for needle in needles
        if needle.lower() in json.dumps(row, ensure_ascii=False).lower()
    ]
