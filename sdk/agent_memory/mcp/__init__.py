"""The Model Context Protocol: one user's memory as tools, resources and prompts for an agent."""

from agent_memory.mcp.calls import Door, OneUser, Visit
from agent_memory.mcp.resources import make_server

__all__ = ["Door", "OneUser", "Visit", "make_server"]
