"""`agent-memory serve`, `explore` and `api-key`: the HTTP API and the explorer of a store, and keys for callers."""

from __future__ import annotations

import ipaddress
import os
import sys
import webbrowser
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_memory.cli.failures import with_hint
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
from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.extras import how_to_install

if TYPE_CHECKING:
    from agent_memory.api import ApiSettings

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
    console.print("Its entry, for the list in AGENT_MEMORY_API_KEYS_FILE:", sep="\n")
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
