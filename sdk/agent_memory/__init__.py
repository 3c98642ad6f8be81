"""Agent Memory Toolkit: a memory that outlives an agent's context window.

Each name is imported on first use, so `import agent_memory` alone loads neither the Cosmos SDK nor pydantic.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agent_memory.errors import (
    AgentMemoryError,
    ConfigurationError,
    Conflict,
    InvalidInput,
    MemoryDisabled,
    ModelError,
    NotFound,
    QuotaExceeded,
    StaticMemoryError,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from agent_memory.language.minilm import MiniLMEmbeddings
    from agent_memory.language.offline.chat import OfflineChat
    from agent_memory.language.openai_chat import OpenAIChat
    from agent_memory.language.openai_embeddings import OpenAIEmbeddings
    from agent_memory.memory import AsyncMemory
    from agent_memory.models import Signals
    from agent_memory.recall.injection import inject
    from agent_memory.settings import Cadence
    from agent_memory.sync import Memory

__all__ = [
    "AgentMemoryError",
    "AsyncMemory",
    "Cadence",
    "ConfigurationError",
    "Conflict",
    "InvalidInput",
    "Memory",
    "MemoryDisabled",
    "MiniLMEmbeddings",
    "ModelError",
    "NotFound",
    "OfflineChat",
    "OpenAIChat",
    "OpenAIEmbeddings",
    "QuotaExceeded",
    "Signals",
    "StaticMemoryError",
    "StoreUnavailable",
    "inject",
]

_HOMES = {
    "AsyncMemory": "agent_memory.memory",
    "Cadence": "agent_memory.settings",
    "Memory": "agent_memory.sync",
    "MiniLMEmbeddings": "agent_memory.language.minilm",
    "OfflineChat": "agent_memory.language.offline.chat",
    "OpenAIChat": "agent_memory.language.openai_chat",
    "OpenAIEmbeddings": "agent_memory.language.openai_embeddings",
    "Signals": "agent_memory.models",
    "inject": "agent_memory.recall.injection",
}
"""The modules of the names that are imported on first use."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
