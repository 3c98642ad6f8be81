"""Run the engine as a server: `python -m embedded_cosmos --path memory.db`."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import logging
import os
import signal
import ssl
import sys
from pathlib import Path

from embedded_cosmos.auth import WELL_KNOWN_KEY, Authorizer
from embedded_cosmos.engine import STRICT_PARTITIONS, Engine
from embedded_cosmos.errors import EngineFileError
from embedded_cosmos.faults import FaultPlan
from embedded_cosmos.server import LOOPBACK, Server

DEFAULT_PORT = 8081
KEY_VARIABLE = "EMBEDDED_COSMOS_KEY"


def main(arguments: list[str] | None = None) -> int:
    """Serve until stopped; returns the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO if options.log else logging.WARNING, format="%(asctime)s %(message)s")
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    if not _is_loopback(options.host):
        if not options.allow_remote:
            return _fail(f"{options.host} can be reached from other machines. Use --allow-remote if you want that.")
        _warn_of_strangers(options)
    try:
        authorizer = Authorizer(options.key, allow_aad=options.allow_aad, known_as=[options.host, *options.known_as])
        faults = None if options.faults is None else FaultPlan.from_file(options.faults)
        tls = _tls(options)
    except (OSError, ValueError) as error:
        return _fail(str(error))
    try:
        with Engine(
            options.path,
            synchronous=options.synchronous,
            faults=faults,
            strict=options.strict or None,
            partitions=options.partitions,
        ) as engine:
            asyncio.run(_serve(Server(engine, authorizer, tls), options.host, options.port))
    except (EngineFileError, OSError) as error:
        return _fail(str(error))
    return 0


async def _serve(server: Server, host: str, port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(signal_number, stop.set)
        except NotImplementedError:
            # On Windows, event loops have no signal handlers, so a plain one handles Ctrl-C and the end of the process.
            signal.signal(signal_number, lambda *_: loop.call_soon_threadsafe(stop.set))
    try:
        url = await server.start(host, port)
        print(f"ready {url}", flush=True)
        await stop.wait()
    finally:
        await server.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m embedded_cosmos", description="A Cosmos DB account on this machine.")
    parser.add_argument("--path", help="the store file; without it, everything is in RAM and lost at the end")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"0 takes a free port (default: {DEFAULT_PORT})")
    parser.add_argument("--host", default=LOOPBACK, help=f"where to listen (default: {LOOPBACK})")
    parser.add_argument("--allow-remote", action="store_true", help="allow a host that other machines can reach")
    parser.add_argument("--tls", action="store_true", help="serve HTTPS, with a self-signed certificate")
    parser.add_argument(
        "--certificate", type=Path, help="a PEM file for key and certificate, which clients can trust; needs --tls"
    )
    parser.add_argument(
        "--key",
        default=os.environ.get(KEY_VARIABLE, WELL_KNOWN_KEY),
        help=f"the account key, in base64 (default: ${KEY_VARIABLE}, or else the well-known key of the emulator)",
    )
    parser.add_argument(
        "--known-as",
        action="append",
        default=[],
        metavar="NAME",
        help="a host name with dots under which clients reach the server; needed only with the well-known key",
    )
    parser.add_argument("--allow-aad", action="store_true", help="accept any Entra ID token, unchecked")
    parser.add_argument(
        "--synchronous", choices=("NORMAL", "FULL"), default="NORMAL", help="FULL: writes survive a power failure too"
    )
    parser.add_argument("--faults", type=Path, help="a JSON file with the faults to inject")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="simulate several physical partitions, so that clients must merge their answers",
    )
    parser.add_argument(
        "--partitions",
        type=_positive,
        default=STRICT_PARTITIONS,
        help=f"number of partitions with --strict (default: {STRICT_PARTITIONS})",
    )
    parser.add_argument("--log", action="store_true", help="write a line to stderr for each request")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _tls(options: argparse.Namespace) -> ssl.SSLContext | None:
    if not options.tls:
        if options.certificate is not None:
            raise ValueError("--certificate needs --tls.")
        return None
    try:
        from embedded_cosmos.certificates import server_context
    except ImportError:
        raise ValueError("--tls needs the package 'cryptography'.") from None
    return server_context(options.host, options.certificate)


def _warn_of_strangers(options: argparse.Namespace) -> None:
    reasons = [f"warning: {options.host} can be reached from other machines."]
    if options.key == WELL_KNOWN_KEY:
        reasons.append("The account key is the well-known one, so anybody there can read and write: use --key.")
    if not options.tls:
        reasons.append("The traffic is not encrypted: use --tls.")
    print(" ".join(reasons), file=sys.stderr)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _fail(reason: str) -> int:
    print(f"error: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
