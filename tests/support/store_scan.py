"""Every byte that a store holds, read through the SDK: what was forgotten must not be among them."""

from __future__ import annotations

import json
import re
from typing import Any

from agent_memory import AsyncMemory
from agent_memory.store.containers import container_specs


async def documents(memory: AsyncMemory, user_id: str | None = None) -> list[dict[str, Any]]:
    """All documents of all containers (or those of one user), without vectors and what the server makes up (ETags)."""
    found = []
    for spec in container_specs():
        rows = await memory.runtime.store.query(spec.name, "SELECT * FROM c")
        found += [row | {"container": spec.name} for row in rows if user_id in (None, row.get("user_id"))]
    return [{name: row[name] for name in row if name[0] != "_" and name != "embedding"} for row in found]


_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


async def scan(memory: AsyncMemory, *needles: str) -> list[str]:
    """The documents that hold one of these texts, in whatever case: container, id and the text.

    Digits count where they stand alone and outside of UUIDs, since hashes, clocks and ETags hold any four of them now
    and then.
    """
    patterns = {needle: _pattern(needle) for needle in needles}
    return [
        f"{row['container']}/{row['id']}: {needle}"
        for row in await documents(memory)
        for needle, pattern in patterns.items()
        if pattern.search(_UUID.sub("", json.dumps(row, ensure_ascii=False)))
    ]


def _pattern(needle: str) -> re.Pattern[str]:
    alone = rf"(?<![0-9a-z]){needle}(?![0-9a-z])" if needle.isdigit() else re.escape(needle)
    return re.compile(alone, re.IGNORECASE)
