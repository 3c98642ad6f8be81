"""A store that is a local file: what it does beyond the Cosmos DB protocol."""

from __future__ import annotations

import asyncio
from typing import Protocol

WAITS = (0.05, 0.15, 0.3, 0.5, 1.0)
"""Seconds between tries of a scrub while another program reads the file; 2 in all."""


class StoreFile(Protocol):
    """What a store needs of its file; `embedded_cosmos.Engine` has these methods."""

    @property
    def is_in_place(self) -> bool:
        """Whether the file was neither deleted nor replaced since it was opened."""

    def scrub(self) -> bool:
        """Removes the bytes of deleted data from the file and its log; False if that is impossible now."""

    def scrub_later(self) -> None:
        """Makes the next `tidy` scrub."""

    def tidy(self) -> bool:
        """Deletes what has expired, and scrubs if that is due; True if nothing is left to do."""


async def scrub(file: StoreFile) -> bool:
    """Tries a few times to scrub a file; False if it could not. The scrub then stays due."""
    for wait in WAITS:
        if await asyncio.to_thread(file.scrub):
            return True
        await asyncio.sleep(wait)
    return await asyncio.to_thread(file.scrub)
