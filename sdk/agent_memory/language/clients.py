"""What the clients of model services have in common: when they are opened, and what goes wrong in a call.

A status says whose fault it is, and whether a retry helps.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from agent_memory.errors import ModelError
from agent_memory.language.endpoints import UNUSABLE, ModelRefused
from agent_memory.language.retries import retry_after
from agent_memory.models import now
from agent_memory.telemetry import unlogged_requests
from agent_memory.text.patterns import linear

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


MOST_REDIRECTS = 3


def http_options() -> dict[str, Any]:
    """Options of an HTTP client that follows few redirects, and none to another server: it would get the talk."""
    return {"max_redirects": MOST_REDIRECTS, "event_hooks": {"response": [_require_same_server]}}


async def _require_same_server(response: Any) -> None:
    if response.has_redirect_location:
        here, there = response.url, response.url.join(response.headers["location"])
        if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
            raise ConnectionError(f"it redirects to another server, {there.scheme}://{there.netloc.decode()}")


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
        raise unreachable(model, error) from error
    except library.APIStatusError as error:
        body = getattr(error, "body", None)  # what litellm raises by itself has neither
        headers = getattr(getattr(error, "response", None), "headers", None)
        message = f"{error.status_code} - {_said(body) or error.message}"
        raise status_error(model, error.status_code, message, body, headers) from error
    except base as error:
        raise no_api_answer(model, str(error)) from error
    except Exception as error:
        # The clients pass on what their HTTP library raises while a body is read.
        if is_broken_connection(error):
            message = f"{model} broke off its answer: {_reason(error)}."
            raise ModelError(message, retryable=True, fault="unreachable") from error
        raise


_HTTP_LIBRARIES = frozenset({"aiohttp", "httpx", "httpx2", "httpcore", "httpcore2"})


def is_broken_connection(error: BaseException) -> bool:
    """Whether a connection or an HTTP library failed: it was refused or reset, or a body broke off."""
    return isinstance(error, OSError) or type(error).__module__.split(".")[0] in _HTTP_LIBRARIES


def _said(body: object) -> str | None:
    """The service's message, without the text that its client puts around it."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else inner
    return None if said is None else str(said)


LONGEST_MESSAGE = 500
"""Maximum characters of a service's message to pass on."""
_ABOUT_THE_INPUT = frozenset({400, 413, 422})
"""Statuses of a request that this server will never accept unchanged."""
_MAY_PASS = frozenset({408, 409, 425, 429})
_FAULTS = {401: "credentials", 403: "credentials", 402: "quota", 404: "not_found"}
_NOT_OF_THE_INPUT = (
    # Anthropic returns 400 for an empty account: https://docs.claude.com/en/api/errors
    (linear(r"(?i)credit balance is too low|insufficient_quota|billing_error"), "quota"),
    # Google returns 400 for a wrong key: https://ai.google.dev/gemini-api/docs/troubleshooting
    (linear(r"(?i)api key not valid|api_key_invalid|api key expired"), "credentials"),
    # LiteLLM's proxy returns 400 for an unknown name.
    (linear(r"(?i)invalid model name passed"), "not_found"),
)
"""Messages that services send with the status of a bad request although every request would fail."""
_SPENT = linear(r"insufficient_quota|PerDay")
"""How OpenAI and Google report a quota that is spent for longer than a retry can wait."""
_OF_ANOTHER_PROTOCOL = linear(r"(?i)v1/responses")
"""OpenAI's message with a 404 for a model without chat completions."""


class RequestRejected(ModelError):
    """The server did not accept the form of the request (400 or 422). `detail` is its full message."""

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message)
        self.detail = detail


def status_error(
    model: str, status: int, message: str, body: object = None, headers: Mapping[str, str] | None = None
) -> ModelError | ModelRefused:
    """The error for a failed response.

    Args:
        model: The model that was called.
        status: The HTTP status.
        message: The service's message, which is passed on, shortened.
        body: The full response.
        headers: The response headers, which may ask for a wait.
    """
    said = f"{model} refused the call. {message[:LONGEST_MESSAGE]}"
    detail = f"{message} {body}"
    if status in _ABOUT_THE_INPUT or (status == 404 and _OF_ANOTHER_PROTOCOL.search(detail)):
        fault = next((fault for words, fault in _NOT_OF_THE_INPUT if words.search(detail)), None)
        return RequestRejected(said, detail) if fault is None else _refused(said, fault)
    if status in _MAY_PASS or status >= 500:
        wait = retry_after(headers or {}, now())
        return ModelError(said, retryable=True, retry_after=wait, fault=_transient_fault(status, detail))
    # A revoked key or a wrong name says nothing about the input: no range may be given up for it.
    return _refused(said, _FAULTS.get(status, "refused"))


def _refused(said: str, fault: str) -> ModelRefused:
    advice = (
        "Look at the account's balance." if fault == "quota" else "Check the key, the endpoint and the model's name."
    )
    return ModelRefused(f"{said} {advice}", fault=fault)


def _transient_fault(status: int, detail: str) -> str:
    if status == 408:
        return "timeout"
    if status >= 500:
        return "server_error"
    return "quota" if _SPENT.search(detail) else "throttled"


def timed_out(model: str, timeout: float) -> ModelError:
    """The error for a service that did not answer in time; `timeout` in seconds."""
    return ModelError(f"{model} did not answer within {timeout:g} s.", retryable=True, fault="timeout")


def unreachable(model: str, error: BaseException) -> ModelError:
    """The error for a service that cannot be reached."""
    return ModelError(f"{model} cannot be reached: {_reason(error)}.", retryable=True, fault="unreachable")


def _reason(error: BaseException) -> str:
    """What the innermost error with a message says: a client's own is general, and that of a reset is empty."""
    said, cause = str(error), error.__cause__ or error.__context__
    while cause is not None:
        said, cause = str(cause) or said, cause.__cause__ or cause.__context__
    return said.rstrip(".")[:LONGEST_MESSAGE] or type(error).__name__


def no_api_answer(model: str, problem: str) -> ModelError:
    """The error for a success status without a valid response: a proxy's page, an error body, half an envelope.

    It says nothing about the input, so it counts as a temporary fault.
    """
    message = f"{model} returned something that does not follow its protocol: {problem[:LONGEST_MESSAGE]}."
    return ModelError(message, retryable=True, fault="no_api_answer")


def unusable(model: str, problem: object) -> ModelError:
    """The error for a service that gives no usable answer to the control question, and so to nothing."""
    message = f"{model} gives no usable answer to anything: {str(problem)[:LONGEST_MESSAGE]}"
    return ModelError(message, retryable=True, fault=UNUSABLE)
