"""Agent Memory Toolkit: a memory that outlives an agent's context window."""

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
    "ModelError",
    "NotFound",
    "QuotaExceeded",
    "Signals",
    "StaticMemoryError",
    "StoreUnavailable",
    "inject",
]
