"""What the clients of model services have in common: when they are opened, and what goes wrong in a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from agent_memory.language.refusals import no_api_answer, status_error, timed_out, unreachable
from agent_memory.logs import unlogged_requests

C = TypeVar("C")


class LazyClient(Generic[C]):
    """A client that is opened on first use. A client that a caller passes in stays the caller's."""

    def __init__(self, open_it: Callable[[], C], close: Callable[[C], Awaitable[None]], given: C | None = None) -> None:
        self._open = open_it
        self._close = close
        self._given = given
        self._opened: C | None = None
        self._opening = asyncio.Lock()

    async def get(self) -> C:
        """The client. Importing its library takes a second, so a thread does it and the event loop stays free."""
        if self._given is not None:
            return self._given
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open)
            return self._opened

    async def close(self) -> None:
        """Closes the client if it was opened here. Harmless when called twice."""
        client, self._opened = self._opened, None
        if client is not None:
            await self._close(client)


@asynccontextmanager
async def call_errors(library: Any, base: type[Exception], model: str, timeout: float) -> AsyncIterator[None]:
    """Limits one call in time, and turns its failures into a ModelError that says whether a retry helps.

    Args:
        library: a client's package whose errors have the names of those of openai.
        base: the root of its errors.
        model: the model that is called.
        timeout: seconds.
    """
    try:
        async with asyncio.timeout(timeout):
            with unlogged_requests():
                yield
    except (TimeoutError, library.APITimeoutError) as error:
        raise timed_out(model, timeout) from error
    except library.APIConnectionError as error:
        raise unreachable(model, error.__cause__ or error) from error
    except library.APIStatusError as error:
        body = getattr(error, "body", None)  # what litellm raises by itself has neither
        headers = getattr(getattr(error, "response", None), "headers", None)
        message = f"{error.status_code} - {_said(body) or error.message}"
        raise status_error(model, error.status_code, message, body, headers) from error
    except base as error:
        raise no_api_answer(model, str(error)) from error


def _said(body: object) -> str | None:
    """The service's message, without the text that its client puts around it."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else inner
    return None if said is None else str(said)
