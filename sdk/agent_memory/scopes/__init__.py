"""Scopes: everything a caller can do, always for one user, or one thread of theirs (docs/decisions/0001)."""

from agent_memory.scopes.static import AsyncStaticScope as AsyncStaticScope
from agent_memory.scopes.thread import AsyncThreadScope as AsyncThreadScope
from agent_memory.scopes.user import AsyncGroupScope as AsyncGroupScope, AsyncUserScope as AsyncUserScope
from agent_memory.scopes.user_memories import RememberedType as RememberedType
from agent_memory.steps.table import (
    ThreadStep as ThreadStep,
    UserStep as UserStep,
)
