"""`agent-memory serve`, `explore`, `mcp` and `api-key`: the interfaces of a store, and keys for callers."""

from __future__ import annotations

import ipaddress
import os
import signal
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from agent_memory.cli.failures import FAILED, INTERRUPTED, TERMINATED, with_hint
from agent_memory.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    StoreFileOption,
    acting_as_operator,
    examples,
    is_url,
    no_store,
)
from agent_memory.cli.terminal import emit, stdout
from agent_memory.errors import AgentMemoryError, ConfigurationError, InvalidInput
from agent_memory.extras import how_to_install

if TYPE_CHECKING:
    from agent_memory.api import ApiSettings

if TYPE_CHECKING:
    from agent_memory.mcp import Door
    from agent_memory.mcp.calls import Work

SERVE_EXAMPLES = examples("serve", "serve --store team.db --port 8080", "serve --from-env --host 0.0.0.0")
KEY_EXAMPLES = examples("api-key laptop --user alice", "api-key backend --acts-for-users")
DEFAULT_PORT = 8900
SWITCH_SECONDS = 0.0001
"""How long the rules' thread may hold the interpreter's lock before a request gets it, in seconds; a request asks for
the lock again after each row that it reads. With Python's default of 5 ms, a search took seconds while turns were
processed (`benchmarks/hostile.py`)."""


def serve(
    store: StoreFileOption = DEFAULT_STORE,
    from_env: Annotated[
        bool, typer.Option("--from-env", help="Serve the store set in the environment (Cosmos DB) instead.")
    ] = False,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="The port; 0 picks a free one.")
    ] = DEFAULT_PORT,
) -> None:
    """Serve the HTTP API, and the explorer at /ui/, until Ctrl-C.

    Prints "ready URL" when it accepts requests, and then an address of the explorer. That address signs in one browser;
    once it is used, the command prints a new one.

    AGENT_MEMORY_API_KEYS_FILE (see api-key) or AGENT_MEMORY_JWT_ISSUER with AGENT_MEMORY_JWT_AUDIENCE define who may
    call it. Without them, it trusts the header x-user-id of programs on this machine, and refuses requests with a key.
    """
    settings = api_settings()
    if not settings.knows_callers and not _is_loopback(host):
        hint = "set AGENT_MEMORY_API_KEYS_FILE (see agent-memory api-key --help), or AGENT_MEMORY_JWT_ISSUER"
        raise with_hint(InvalidInput(f"on {host} anybody could call the API, and no credentials are configured"), hint)
    run(settings, None if from_env else store, host, port, lambda url: print(f"ready {url}", flush=True))


def api_settings() -> ApiSettings:
    """The settings of the API in the environment.

    Raises:
        ConfigurationError: if the server packages are not installed.
    """
    try:
        from agent_memory.api import ApiSettings
    except ImportError as error:
        missing = ConfigurationError(f"serving needs the extra 'server': {error}")
        raise with_hint(missing, how_to_install("server")) from error
    return ApiSettings()


def run(
    settings: ApiSettings,
    store: str | None,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    on_address: Callable[[str], None] = lambda address: print(f"explorer {address}", flush=True),
) -> None:
    """Serves a store, by default the one in the environment, until a signal.

    Args:
        settings: Who may call it.
        store: The store file.
        host: The address to listen on.
        port: The port; 0 picks a free one.
        on_ready: Called with the URL when requests are accepted.
        on_address: Called with each address that signs a browser in to the explorer.
    """
    import asyncio

    with acting_as_operator():
        asyncio.run(_serve(settings, store, host, port, on_ready, on_address))


async def _serve(
    settings: ApiSettings,
    store: str | None,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    on_address: Callable[[str], None],
) -> None:
    from agent_memory import AsyncMemory
    from agent_memory.api import HeaderIdentity, InlineProcessing, create_app
    from agent_memory.api.admission import WITH_A_SERVER, Load
    from agent_memory.api.events import STREAM_SECONDS
    from agent_memory.api.server import serve
    from agent_memory.settings import Environment
    from agent_memory.sharing.shared import hosting

    sys.setswitchinterval(SWITCH_SECONDS)
    identity = settings.identity(header=HeaderIdentity(allowed=not settings.knows_callers))
    env = Environment()
    if store is not None:
        env = env.model_copy(update={"store": store, "cosmos_endpoint": None, "memory_url": None})
    async with AsyncMemory.from_env(env) as memory:
        await memory.warm()
        if memory.runtime.worker is not None:
            memory.runtime.worker.give_way()
        explorer = settings.explorer()
        app = create_app(
            memory,
            InlineProcessing(memory.runtime),
            identity,
            rate_limit=settings.rate_limit,
            allowed_origins=settings.allowed_origins,
            mcp=settings.mcp(streams=True),
            explorer=explorer,
            stream_seconds=STREAM_SECONDS,
            load=Load() if memory.runtime.store.in_process else WITH_A_SERVER,
        )

        def ready(url: str) -> None:
            explorer.on_used = lambda: on_address(explorer.address(url))
            on_ready(url)
            on_address(explorer.address(url))

        async with nullcontext() if store is None else hosting(memory, Path(store)):
            await serve(app, host, port, ready)


def api_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the key, used in limits and logs.")],
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="The user whose memory it opens.")] = None,
    acts_for_users: Annotated[
        bool, typer.Option("--acts-for-users", help="For a service that names the user in the header x-user-id.")
    ] = False,
    operates: Annotated[
        bool, typer.Option("--operates", help="Allows operations on all users: health, dead letters.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Create a key for the HTTP API.

    Prints the key, and its entry for the key file, which holds only a hash. AGENT_MEMORY_API_KEYS_FILE is the path of
    that file.
    """
    try:
        from agent_memory.api.credentials import new_key
    except ImportError as error:
        missing = ConfigurationError(f"keys need the extra 'server': {error}")
        raise with_hint(missing, how_to_install("server")) from error
    if user is None and not acts_for_users and not operates:
        raise InvalidInput("a key needs --user, --acts-for-users or --operates")
    key, entry = new_key(name, user=user, acts_for_users=acts_for_users, operates=operates)
    if as_json:
        emit({"key": key, "entry": entry})
        return
    console = stdout()
    console.print("The key, which is shown only once:", f"  {key}", sep="\n")
    console.print(
        "Its entry. The file that AGENT_MEMORY_API_KEYS_FILE names holds a JSON list of these, [ENTRY, ENTRY]:"
    )
    console.print(f"  {entry.model_dump_json()}", soft_wrap=True)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


KEY_VARIABLE = "AGENT_MEMORY_EXPLORER_KEY"
EXPLORE_EXAMPLES = examples(
    "explore",
    "explore .quickstart/memory.db",
    "explore team.db --port 8900 --no-browser",
    "explore https://memory.example",
)


def explore(
    store: Annotated[
        str | None, typer.Argument(metavar="STORE", help="The store file, or the address of a server.")
    ] = None,
    store_option: Annotated[
        str, typer.Option("--store", metavar="PATH|URL", envvar="AGENT_MEMORY_STORE", help="The same, as an option.")
    ] = DEFAULT_STORE,
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="The port; 0 picks a free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser, if this is a terminal.")
    ] = True,
) -> None:
    """Show a memory in a browser.

    Shows what the memory holds and why, what a question finds, and what forgetting would delete. Serves the store on
    this machine only, until Ctrl-C. The printed address signs in one browser; once it is used, the command prints a new
    one.

    With the address of a server, opens the explorer of that server. If AGENT_MEMORY_EXPLORER_KEY holds the key of that
    server, the printed address signs in one browser with an operator's rights, within ten minutes.
    """
    wanted = store or store_option
    if is_url(wanted):
        key_is_set = bool(os.environ.get(KEY_VARIABLE))
        address = api_settings().explorer().address(wanted) if key_is_set else f"{wanted.rstrip('/')}/ui/"
        _show(address, browser=browser)
        return
    if not Path(wanted).exists():
        raise no_store(wanted)
    opened = False

    def on_address(url: str) -> None:
        nonlocal opened
        _show(url, browser=browser and not opened)
        opened = True

    run(api_settings(), wanted, "127.0.0.1", port, lambda url: print(f"ready {url}", flush=True), on_address)


def _show(address: str, *, browser: bool) -> None:
    """Prints an address, and opens it if this is a terminal."""
    print(f"explorer {address}", flush=True)
    if browser and sys.stdout.isatty():
        webbrowser.open(address)


T = TypeVar("T")

GONE = 1
"""The exit status if nobody reads the answers any more."""

MCP_EXAMPLES = examples("mcp --user ann", "mcp --store ~/memory.db --user ann", "mcp --url https://host --user ann")


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
    ended = asyncio.run(_serve_mcp(os.path.expanduser(store), url, user))
    if ended:
        # A thread may still wait for stdin, and nothing would end it.
        sys.stderr.flush()
        os._exit(ended)


async def _serve_mcp(store: str, url: str | None, user: str) -> int:
    """Serves until stdin ends or a signal comes; returns the exit status."""
    import asyncio

    from agent_memory.store.ids import check_id

    check_id(user, "--user")
    unopened: list[AgentMemoryError] = []
    async with _door(store, url, user, unopened) as door:
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
        return GONE if gone else FAILED if unopened else 0


@asynccontextmanager
async def _door(store: str, url: str | None, user: str, unopened: list[AgentMemoryError]) -> AsyncIterator[Door]:
    """The connection to the user's memory. It opens in the background, so the program need not wait.

    While the store cannot be opened, `unopened` holds the error.
    """
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
            if unopened:
                await shared.open()
                unopened.clear()
            return await shared.ask(lambda memory: for_user(memory, user, work))

    async def open_early() -> None:
        try:
            memory, _ = await shared.open()
            await memory.warm()
        except AgentMemoryError as error:
            unopened.append(error)
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
