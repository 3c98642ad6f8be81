"""`agent-memory mcp`: one user's memory for an agent that starts this command and talks to it over stdin and stdout."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from agent_memory.cli.failures import INTERRUPTED, TERMINATED, with_hint
from agent_memory.cli.options import DEFAULT_STORE, StoreFileOption, examples
from agent_memory.errors import AgentMemoryError, ConfigurationError, InvalidInput
from agent_memory.extras import how_to_install

if TYPE_CHECKING:
    from agent_memory.mcp import Door
    from agent_memory.mcp.calls import Work

T = TypeVar("T")

GONE = 1
"""The exit status if nobody reads the answers any more."""

EXAMPLES = examples("mcp --user ann", "mcp --store ~/memory.db --user ann", "mcp --url https://host --user ann")


def mcp(
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="ID", envvar="AGENT_MEMORY_USER", help="The user whose memory it serves."),
    ] = None,
    store: StoreFileOption = DEFAULT_STORE,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            envvar="MEMORY_URL",
            help="A server instead of a store (with its key in MEMORY_KEY).",
        ),
    ] = None,
) -> None:
    """Serve one user's memory to an agent (MCP).

    Speaks the Model Context Protocol over stdin and stdout. Programs such as Claude, VS Code, Cursor and Copilot start
    it themselves; the page "Use it with MCP" of the documentation has the configuration for each. They pass few
    environment variables on: list those that this command needs in their configuration. A server offers the same at
    /mcp.
    """
    import asyncio

    if user is None:
        raise with_hint(InvalidInput("no user is set"), "name the user with --user, or in AGENT_MEMORY_USER")
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ImportError as error:
        missing = ConfigurationError(f"the Model Context Protocol needs the extra 'mcp': {error}")
        raise with_hint(missing, how_to_install("mcp")) from error
    ended = asyncio.run(_serve(os.path.expanduser(store), url, user))
    if ended:
        # A thread may still wait for stdin, and nothing would end it.
        sys.stderr.flush()
        os._exit(ended)


async def _serve(store: str, url: str | None, user: str) -> int:
    """Serves until stdin ends or a signal comes; returns the exit status."""
    import asyncio

    from agent_memory.store.ids import check_id

    check_id(user, "--user")
    async with _door(store, url, user) as door:
        from agent_memory.mcp import make_server

        talk = asyncio.create_task(make_server(door).run_stdio_async())
        signalled = asyncio.create_task(_signalled())
        await asyncio.wait({talk, signalled}, return_when=asyncio.FIRST_COMPLETED)
        if not talk.done():
            return signalled.result()
        signalled.cancel()
        gone = False
        try:
            await talk
        except* BrokenPipeError:  # the program that started this one left before it had its answer
            gone = True
        return GONE if gone else 0


@asynccontextmanager
async def _door(store: str, url: str | None, user: str) -> AsyncIterator[Door]:
    """The connection to the user's memory. It opens in the background, so the program need not wait."""
    import asyncio

    from agent_memory import AsyncMemory
    from agent_memory.mcp import OneUser
    from agent_memory.mcp.calls import for_user
    from agent_memory.settings import Environment
    from agent_memory.sharing.shared import SharedStore

    env = Environment()
    if url is not None or env.cosmos_endpoint is not None:
        there = env if url is None else env.model_copy(update={"memory_url": url, "cosmos_endpoint": None})
        async with AsyncMemory.from_env(there) as memory:
            yield OneUser(memory, user)
        return
    here = env.model_copy(update={"store": store, "memory_url": None})
    shared = SharedStore(Path(store), lambda: AsyncMemory.from_env(here))

    class Shared:
        async def ask(self, work: Work[T]) -> T:
            return await shared.ask(lambda memory: for_user(memory, user, work))

    async def open_early() -> None:
        try:
            memory, _ = await shared.open()
            await memory.warm()
        except AgentMemoryError as error:
            print(f"error: {error}", file=sys.stderr, flush=True)  # each call reports it too

    opening = asyncio.create_task(open_early())
    try:
        yield Shared()
    finally:
        opening.cancel()
        await shared.close()


async def _signalled() -> int:
    """Waits for a signal that ends the process; returns the exit status, as shells define it."""
    import asyncio

    loop = asyncio.get_running_loop()
    told: asyncio.Future[int] = loop.create_future()

    def end(status: int) -> None:
        if not told.done():
            told.set_result(status)

    if sys.platform != "win32":
        loop.add_signal_handler(signal.SIGTERM, end, TERMINATED)
        loop.add_signal_handler(signal.SIGINT, end, INTERRUPTED)
    return await told
