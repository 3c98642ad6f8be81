"""The HTTP API: the same scopes over HTTP, as an ASGI app that the function app and any server can run."""

from agent_memory.api.app import create_app
from agent_memory.api.identity import HeaderIdentity, Identity
from agent_memory.api.processing import InlineProcessing, Processing

__all__ = ["HeaderIdentity", "Identity", "InlineProcessing", "Processing", "create_app"]
