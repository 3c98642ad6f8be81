"""Logs: keeps other libraries' messages about each request out of a program's log, unless the program wants them.

At INFO the Cosmos SDK logs every request with its partition key, which begins with the user's id. A library must not
change the levels of other loggers. So our clients use a logger of our own, and a filter drops what `httpx` logs about
our model calls. Programs (the function app, the command line) set the levels of whole libraries with
`quiet_libraries`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

STORE_REQUESTS = logging.getLogger("agent_memory.requests")
"""Logs each request to Cosmos DB, with user ids. `setLevel(logging.INFO)` turns this on."""
if STORE_REQUESTS.level == logging.NOTSET:
    STORE_REQUESTS.setLevel(logging.WARNING)

LIBRARIES = ("azure", "httpx", "httpx2", "openai", "anthropic", "google_genai", "LiteLLM")
_HTTP_CLIENTS = ("httpx", "httpx2")
"""The HTTP clients of the openai package, before and since version 3."""
_in_our_call: ContextVar[bool] = ContextVar("in_our_call", default=False)


def quiet_libraries() -> None:
    """For programs: limits these libraries to warnings and errors. A level that was set before stays."""
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)


@contextmanager
def unlogged_requests() -> Iterator[None]:
    """Suppresses the INFO messages of HTTP clients about the requests inside the block.

    The program's own requests with the same library are logged as before. If the program has set the level of the
    library's logger, our requests are logged, too.
    """
    for name in _HTTP_CLIENTS:
        logging.getLogger(name).addFilter(_wanted)  # harmless if it is there already
    token = _in_our_call.set(True)
    try:
        yield
    finally:
        _in_our_call.reset(token)


def _wanted(record: logging.LogRecord) -> bool:
    asked_for = logging.getLogger(record.name).level != logging.NOTSET
    return asked_for or record.levelno >= logging.WARNING or not _in_our_call.get()
