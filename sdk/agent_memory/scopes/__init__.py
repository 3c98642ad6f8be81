"""Scopes: everything a caller can do, always for one user, or one thread of theirs (docs/decisions/0001)."""

from agent_memory.scopes.static import AsyncStaticScope
from agent_memory.scopes.thread import AsyncThreadScope, ThreadStep
from agent_memory.scopes.user import AsyncUserScope, UserStep
from agent_memory.scopes.user_memories import RememberedType

__all__ = ["AsyncStaticScope", "AsyncThreadScope", "AsyncUserScope", "RememberedType", "ThreadStep", "UserStep"]
