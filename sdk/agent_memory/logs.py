"""What the libraries beneath write about each request: kept out of a program's log unless it asks for it.

At INFO the Cosmos SDK writes every request with its partition key, which begins with the user's id. A library may not
set the levels of others, so our clients write to a logger of our own, and what `httpx` says of our model calls is
filtered. Programs (the function app, the command line) set the levels of whole libraries with `quiet_libraries`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

STORE_REQUESTS = logging.getLogger("agent_memory.requests")
"""Each request to Cosmos DB, with user ids. `setLevel(logging.INFO)` on it turns them on."""
if STORE_REQUESTS.level == logging.NOTSET:
    STORE_REQUESTS.setLevel(logging.WARNING)

LIBRARIES = ("azure", "httpx", "httpx2", "openai")
_HTTP_CLIENTS = ("httpx", "httpx2")
"""Those of the openai package, before and since version 3."""
_in_our_call: ContextVar[bool] = ContextVar("in_our_call", default=False)


def quiet_libraries() -> None:
    """Lets the libraries beneath write warnings and errors alone; for programs. A level that somebody set stays."""
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)


@contextmanager
def unlogged_requests() -> Iterator[None]:
    """Around a request that we make with somebody else's HTTP client: it writes no INFO about it.

    The program's own requests with the same library are written as before, and so are ours if it has set the level of
    the library's logger.
    """
    for name in _HTTP_CLIENTS:
        logging.getLogger(name).addFilter(_wanted)  # harmless when it is there
    token = _in_our_call.set(True)
    try:
        yield
    finally:
        _in_our_call.reset(token)


def _wanted(record: logging.LogRecord) -> bool:
    asked_for = logging.getLogger(record.name).level != logging.NOTSET
    return asked_for or record.levelno >= logging.WARNING or not _in_our_call.get()
