"""Memories for tests: a model that does as it is told, hashed words as vectors, and nothing that runs by itself."""

from datetime import datetime
from pathlib import Path
from typing import Any

from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Memory, now

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
"""A cadence with which no step runs by itself."""


def opened(chat: Any = None, path: Path | str | None = None, **options: Any) -> AsyncMemory:
    """A memory to be entered, in RAM or in a file. The options are those of `AsyncMemory.local`."""
    given = {"chat_model": chat or ScriptedChat(), "embedding_model": HashingEmbeddings(), "cadence": NEVER}
    return AsyncMemory.local(path, **(given | options))


def fact(content: str, at: datetime | None = None, /, **fields: Any) -> Memory:
    """A fact of user `u`, said and recorded at a time (now, by default)."""
    said = now() if at is None else at
    made = {"id": content, "user_id": "u", "thread_id": "t", "type": "fact", "content": content}
    return Memory.model_validate(made | {"created_at": said, "recorded_at": said} | fields)
