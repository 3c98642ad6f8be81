"""Serving an open store to other processes of the same person on this machine."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Query

from agent_memory.api import InlineProcessing, create_app
from agent_memory.api.credentials import ApiKeys, new_key
from agent_memory.api.server import running
from agent_memory.memory import AsyncMemory
from agent_memory.sharing.note import PROOF_PATH, Note, proof, remove_note, write_note

logger = logging.getLogger("agent_memory")


@asynccontextmanager
async def hosting(memory: AsyncMemory, store: Path) -> AsyncIterator[None]:
    """Serves an open memory to processes that find its file in use, while the block runs.

    If the note cannot be written, it only logs a warning.
    """
    key, entry = new_key("another process", acts_for_users=True, operates=True)
    app = create_app(memory, InlineProcessing(memory.runtime), ApiKeys([entry]))
    _add_proof(app, key)
    async with running(app) as url:
        note = Note(url, key)
        try:
            write_note(store, note)
        except OSError as error:
            logger.warning("Other programs cannot share %s: the note next to it cannot be written (%s)", store, error)
        try:
            yield
        finally:
            remove_note(store, note)


def _add_proof(app: FastAPI, key: str) -> None:
    async def prove(challenge: Annotated[str, Query(min_length=16, max_length=100)]) -> dict[str, str]:
        """Shows that this process left the note."""
        return {"proof": proof(key, challenge)}

    app.add_api_route(PROOF_PATH, prove, include_in_schema=False)
