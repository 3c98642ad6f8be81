"""The library over HTTP: the same scopes, whose work a server does."""

from agent_memory.remote.http import Http
from agent_memory.remote.memory import RemoteBackend

__all__ = ["Http", "RemoteBackend"]
