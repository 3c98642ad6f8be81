"""Agents that talk to a memory over the Model Context Protocol, by the real client."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.settings import PolicySettings

GENERATIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
"""How a client connects, and the version of the protocol that it then speaks."""


_ON_DEMAND = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


def memory_in_ram(**options: Any) -> AsyncMemory:
    """A memory that makes nothing of turns by itself."""
    return AsyncMemory.local(
        chat_model=ScriptedChat(),
        embedding_model=HashingEmbeddings(),
        cadence=_ON_DEMAND,
        policy=PolicySettings(audit_days=1),
        **options,
    )


@asynccontextmanager
async def over_http(url: str, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    """A client of `/mcp`."""
    http = httpx2.AsyncClient(headers=headers, timeout=60)
    async with http, Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client:
        yield client


def over_stdio(*arguments: str, mode: str = "auto", env: Mapping[str, str] | None = None) -> Client:
    """A client of `agent-memory mcp`, as a process that sees no variables but these."""
    command = ["-m", "agent_memory.cli", "mcp", *arguments]
    return Client(StdioServerParameters(command=sys.executable, args=command, env=dict(env or {})), mode=mode)


def text_of(result: CallToolResult) -> str:
    """What the model reads."""
    return "\n".join(getattr(block, "text", "") for block in result.content)


def data_of(result: CallToolResult) -> Any:
    """What the client gets, of a call that went well."""
    assert not result.is_error, text_of(result)
    return result.structured_content
