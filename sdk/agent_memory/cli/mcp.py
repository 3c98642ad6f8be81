"""`agent-memory mcp`: one user's memory for an agent that starts this command and talks to it over stdin and stdout."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from agent_memory.cli.failures import with_hint
from agent_memory.cli.options import DEFAULT_STORE, examples
from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.extras import how_to_install

EXAMPLES = examples("mcp --user ann", "mcp --store ~/memory.db --user ann", "mcp --url https://host --user ann")


def mcp(
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", envvar="AGENT_MEMORY_USER", help="Whose memory it is.")
    ] = None,
    store: Annotated[
        str,
        typer.Option("--store", metavar="PATH", envvar="AGENT_MEMORY_STORE", help="The store file; made if missing."),
    ] = DEFAULT_STORE,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", envvar="MEMORY_URL", help="A server instead (MEMORY_KEY is its key)."),
    ] = None,
) -> None:
    """Serve one user's memory to an agent (MCP).

    It speaks the Model Context Protocol over stdin and stdout. Programs such as Claude, VS Code, Cursor and Copilot
    start it themselves: the page "Use it with MCP" of the documentation has the lines for each. They give it few
    variables of the environment: name in their configuration those that it needs. A server has the same at /mcp.
    """
    import asyncio

    if user is None:
        raise with_hint(InvalidInput("whose memory is it?"), "name the user with --user, or in AGENT_MEMORY_USER")
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ImportError as error:
        missing = ConfigurationError(f"the Model Context Protocol needs the extra 'mcp': {error}")
        raise with_hint(missing, how_to_install("mcp")) from error
    asyncio.run(_serve(os.path.expanduser(store), url, user))


async def _serve(store: str, url: str | None, user: str) -> None:
    from agent_memory import AsyncMemory
    from agent_memory.mcp import OneUser, make_server
    from agent_memory.settings import Environment

    named = {"memory_url": url} if url is not None else {"store": store, "memory_url": None}
    env = Environment().model_copy(update=named | {"cosmos_endpoint": None})
    async with AsyncMemory.from_env(env) as memory:
        memory.user(user)
        await make_server(OneUser(memory, user)).run_stdio_async()
