"""Memories for tests: a model that does as it is told, hashed words as vectors, and nothing that runs by itself."""

from pathlib import Path
from typing import Any

from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
"""A cadence with which no step runs by itself."""


def opened(chat: Any = None, path: Path | str | None = None, **options: Any) -> AsyncMemory:
    """A memory to be entered, in RAM or in a file. The options are those of `AsyncMemory.local`."""
    given = {"chat_model": chat or ScriptedChat(), "embedding_model": HashingEmbeddings(), "cadence": NEVER}
    return AsyncMemory.local(path, **(given | options))
