"""A store that is a file of this machine: what it does beside answering as Cosmos DB does."""

from __future__ import annotations

import asyncio
from typing import Protocol

WAITS = (0.05, 0.15, 0.3, 0.5, 1.0)
"""Seconds between the tries of a scrub that another program's reading holds up; 2 in all."""


class StoreFile(Protocol):
    """What is asked of it; `embedded_cosmos.Engine` does that."""

    def scrub(self) -> bool:
        """Takes what was deleted out of the file and its log, byte for byte; whether that could be done now."""

    def scrub_later(self) -> None:
        """Has the next `tidy` scrub."""

    def tidy(self) -> bool:
        """Deletes what has expired, and scrubs if that is due; whether nothing is due any more."""


async def scrub(file: StoreFile) -> bool:
    """Scrubs a file, a few times if need be; whether it is done. If not, it stays due."""
    for wait in WAITS:
        if await asyncio.to_thread(file.scrub):
            return True
        await asyncio.sleep(wait)
    return await asyncio.to_thread(file.scrub)
