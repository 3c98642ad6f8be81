"""`agent-memory explore`: opens the explorer over a store."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from agent_memory.cli.failures import with_hint
from agent_memory.cli.options import DEFAULT_STORE, examples, invocation, is_url
from agent_memory.cli.serve import api_settings, run
from agent_memory.errors import InvalidInput

KEY_VARIABLE = "AGENT_MEMORY_EXPLORER_KEY"
EXAMPLES = examples(
    "explore",
    "explore .quickstart/memory.db",
    "explore team.db --port 8900 --no-browser",
    "explore https://memory.example",
)


def explore(
    store: Annotated[
        str | None, typer.Argument(metavar="[STORE]", help="The store file, or the address of a server.")
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
        missing = InvalidInput(f"there is no store at {wanted}")
        raise with_hint(missing, f"create one with: {invocation('ingest', 'FILE', '--store', wanted)}")
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
