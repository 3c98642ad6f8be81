"""The library over HTTP: the same scopes, whose work a server does."""

from agent_memory.remote.memory import RemoteMemory

__all__ = ["RemoteMemory"]
