"""Scopes: everything a caller can do, always for one user, or one thread of theirs (docs/decisions/0001)."""

from agent_memory.scopes.group import AsyncGroupScope
from agent_memory.scopes.static import AsyncStaticScope
from agent_memory.scopes.thread import AsyncThreadScope
from agent_memory.scopes.user import AsyncUserScope
from agent_memory.scopes.user_memories import RememberedType
from agent_memory.steps.table import ThreadStep, UserStep

__all__ = [
    "AsyncGroupScope",
    "AsyncStaticScope",
    "AsyncThreadScope",
    "AsyncUserScope",
    "RememberedType",
    "ThreadStep",
    "UserStep",
]
