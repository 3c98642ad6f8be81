"""The HTTP API: the same scopes over HTTP, as an ASGI app that the function app and any server can run."""

from agent_memory.api.app import create_app
from agent_memory.api.credentials import HeaderIdentity
from agent_memory.api.explorer import Explorer
from agent_memory.api.identity import Identity
from agent_memory.api.processing import InlineProcessing, Processing
from agent_memory.api.settings import ApiSettings

__all__ = ["ApiSettings", "Explorer", "HeaderIdentity", "Identity", "InlineProcessing", "Processing", "create_app"]
