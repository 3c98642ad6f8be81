"""Run the function app on this machine: `python -m functions_host --store .func/memory.db`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

from functions_host.errors import HostError
from functions_host.settings import apply_settings, read_settings, read_settings_file

DEFAULT_PORT = 7071
DEFAULT_STATE = Path(".func/host.db")


def main(arguments: list[str] | None = None) -> int:
    """Runs until it is stopped. Returns the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO if options.log else logging.WARNING, format="%(asctime)s %(message)s")
    for noisy in ("azure_functions_runtime", "embedded_cosmos", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    root = options.app.resolve()
    # The library finds the app's folder through this variable, as on the platform.
    os.environ.setdefault("AzureWebJobsScriptRoot", str(root))
    # Durable Functions loads an agent framework if there is one, for seconds. The deployed app has none.
    sys.modules.setdefault("agents", None)  # type: ignore[arg-type]  # what Python itself has for a missing module
    try:
        apply_settings(read_settings(root) if options.settings is None else read_settings_file(options.settings))
        asyncio.run(make_store() if options.make_store else _run(options, root))
    except HostError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


async def make_store() -> None:
    """Creates the store that the settings name, and prints that.

    Raises:
        HostError: if that fails.
    """
    from agent_memory.errors import AgentMemoryError
    from functions_host.local_store import make_containers

    try:
        await make_containers()
    except AgentMemoryError as error:
        raise HostError(f"the store cannot be created: {error}") from error
    print(f"the store is ready: {os.environ.get('COSMOS_DB_ENDPOINT')}")


async def _run(options: argparse.Namespace, root: Path) -> None:
    from functions_host.host import Options, serve

    host = Options(root, options.state, options.port, options.poll)
    if options.store is None:
        await serve(host)
        return
    from functions_host.local_store import local_store

    async with local_store(options.store) as url:
        print(f"Cosmos DB {url}", flush=True)
        await serve(host)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m functions_host", description=__doc__)
    parser.add_argument("--app", type=Path, default=Path(), help="the folder with host.json (default: this one)")
    parser.add_argument(
        "--settings", type=Path, help="the settings file (default: local.settings.json, or else the sample)"
    )
    parser.add_argument(
        "--store",
        type=Path,
        help="also serve this file as the Cosmos DB account that the settings name; made if missing",
    )
    parser.add_argument(
        "--make-store", action="store_true", help="create the store in the account that the settings name, and exit"
    )
    parser.add_argument(
        "--state", type=Path, default=DEFAULT_STATE, help=f"file for orchestrations (default: {DEFAULT_STATE})"
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"0 takes a free port (default: {DEFAULT_PORT})")
    parser.add_argument("--poll", type=float, help="seconds between reads of a change feed (default: the binding's)")
    parser.add_argument("--log", action="store_true", help="log what the host does")
    return parser


if __name__ == "__main__":
    sys.exit(main())
