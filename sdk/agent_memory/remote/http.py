"""Requests to the HTTP API: their size, credentials, retries, and errors turned back into ours."""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from io import BytesIO
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

import aiohttp
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json
from yarl import URL

from agent_memory import errors
from agent_memory.contract.schemas import MAX_TURNS, NDJSON
from agent_memory.errors import AgentMemoryError, ConfigurationError, InvalidInput, ModelError, StoreUnavailable
from agent_memory.models import TurnInput
from agent_memory.store.ids import group_of

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

    from agent_memory.runtime import Runtime

ATTEMPTS = 4
FIRST_WAIT = 0.25
LONGEST_WAIT = 30.0
"""Maximum wait, in seconds. If a server asks for a longer wait, the request fails immediately."""
_LATER = {429, 502, 503, 504}
_CODES: dict[str, type[AgentMemoryError]] = {
    kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AgentMemoryError)
}
_OTHER_CODES: dict[str, type[AgentMemoryError]] = {
    "unauthenticated": ConfigurationError,
    "forbidden": ConfigurationError,
    "no_such_path": ConfigurationError,
    "too_large": InvalidInput,
    "rate_limited": StoreUnavailable,
}


M = TypeVar("M", bound=BaseModel)


def read(model: type[M], answer: Any) -> M:
    """An answer of a server as a model. Fields that a newer server added are ignored.

    Raises:
        ConfigurationError: if it has another form.
    """
    try:
        return model.model_validate(answer, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(
            f"the server's answer has a form that this version does not know ({place}: {first['msg']}): the server may"
            " be of another version, or not be this API"
        ) from error


class Http:
    """A connection to one server.

    It repeats a request that got no answer, or that the server asks to repeat later. That is safe: a read changes
    nothing, and a write has an Idempotency-Key, unless repeating it is harmless.
    """

    def __init__(
        self,
        base_url: str,
        credential: str | AsyncTokenCredential | None,
        *,
        token_scope: str | None,
        function_key: str | None,
        timeout: float,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"{base_url!r} is not the URL of a server")
        if credential is not None and not isinstance(credential, str) and token_scope is None:
            raise ConfigurationError("a token credential needs token_scope, such as api://<app id>/.default")
        self.base_url = base_url.rstrip("/")
        self._credential = credential
        self._token_scope = token_scope
        self._function_key = function_key
        self._limit = timeout
        self._timeout = aiohttp.ClientTimeout(timeout)
        self._session: aiohttp.ClientSession | None = None

    @property
    def runtime(self) -> Runtime:
        """Always raises: parts of the memory are not available over HTTP."""
        raise ConfigurationError("this is not available over HTTP: open the store itself")

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._session is not None

    async def __aenter__(self) -> Self:
        """Opens it. Harmless when open."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        if self._credential is not None and not isinstance(self._credential, str):
            await self._credential.close()

    async def send(
        self,
        verb: str,
        path: str,
        *,
        user_id: str | None = None,
        body: Mapping[str, Any] | None = None,
        lines: str | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        repeatable: bool = False,
        reads: bool = False,
    ) -> Any:
        """Sends a request, and repeats it if needed; returns the JSON of its answer.

        A request that `reads`, as every GET does, takes at most `timeout` seconds with all its repetitions.

        Raises:
            AgentMemoryError: what the server raised; ConfigurationError, if it does not accept the credentials;
                StoreUnavailable, if it does not answer.
        """
        sent = {"Accept": "application/json", **(headers or {})}
        if user_id is not None:
            sent |= _owner(user_id)
        if verb != "GET" and not repeatable:
            sent["Idempotency-Key"] = str(uuid.uuid4())
        if body is not None:
            sent["Content-Type"] = "application/json"
        data = None if body is None else _encode(body)
        if lines is not None:
            data, sent["Content-Type"] = lines.encode(), NDJSON
        params = {} if query is None else _plain(json.loads(_encode(query)))
        limit = self._limit if timeout is None else timeout
        end = time.monotonic() + limit if reads or verb == "GET" else None
        for attempt in range(1, ATTEMPTS + 1):
            try:
                left = limit if end is None else max(0.01, end - time.monotonic())
                return await self._once(verb, path, sent, data, params, left)
            except _Later as later:
                wait = FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1.5) if later.wait is None else later.wait
                longest = LONGEST_WAIT if end is None else min(LONGEST_WAIT, end - time.monotonic())
                if attempt == ATTEMPTS or wait > longest:
                    raise later.error from later.__cause__
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def lines(self, path: str, *, user_id: str, body: Mapping[str, Any], **headers: str) -> AsyncIterator[str]:
        """The lines of an answer as they arrive. The request is sent once. Raises AgentMemoryError as `send`."""
        if self._session is None:
            raise StoreUnavailable("the memory is not open: use `async with`, or call open() first")
        sent = {"Content-Type": "application/json", **headers, **_owner(user_id), **await self._credentials()}
        url = URL(f"{self.base_url}{path}", encoded=True)
        try:
            async with self._session.post(url, headers=sent, data=_encode(body), allow_redirects=False) as answer:
                if answer.status >= 300:
                    raise _error(answer.status, await answer.read(), None)
                rest = b""
                async for chunk in answer.content.iter_any():
                    *whole, rest = (rest + chunk).split(b"\n")
                    for line in whole:
                        yield line.decode()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise StoreUnavailable(f"{self.base_url} does not answer: {str(error) or type(error).__name__}") from error

    async def _once(
        self, verb: str, path: str, headers: dict[str, str], data: bytes | None, params: Any, timeout: float
    ) -> Any:
        if self._session is None:
            raise StoreUnavailable("the memory is not open: use `async with`, or call open() first")
        limit = aiohttp.ClientTimeout(timeout)
        url = URL(f"{self.base_url}{path}", encoded=True).update_query(params)
        try:
            body = None if data is None else BytesIO(data)
            async with self._session.request(
                verb,
                url,
                headers=headers | await self._credentials(),
                data=body,
                timeout=limit,
                allow_redirects=False,
            ) as answer:
                content = await answer.read()
                status, said = answer.status, answer.headers.get("Retry-After", "")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _Later(
                StoreUnavailable(f"{self.base_url} does not answer: {str(error) or type(error).__name__}")
            ) from error
        if status < 300:
            try:
                return json.loads(content) if content else None
            except ValueError:
                raise ConfigurationError(f"{self.base_url} answered {status} without JSON: is it this API?") from None
        wait = float(said) if said.isdigit() else None
        refusal = _error(status, content, wait)
        if status in _LATER and refusal.retryable:
            raise _Later(refusal, wait)
        raise refusal

    async def _credentials(self) -> dict[str, str]:
        headers = {} if self._function_key is None else {"X-Functions-Key": self._function_key}
        if isinstance(self._credential, str):
            headers["Authorization"] = f"Bearer {self._credential}"
        elif self._credential is not None:
            token = await self._credential.get_token(self._token_scope or "")
            headers["Authorization"] = f"Bearer {token.token}"
        return headers


def _owner(user_id: str) -> dict[str, str]:
    """The header that says whose memory a request is for. Raises InvalidInput if a header cannot carry the id."""
    if user_id != user_id.strip(" \t"):
        raise InvalidInput("a user_id must not begin or end with a space, because HTTP would remove it")
    group = group_of(user_id)
    return {"X-User-Id": user_id} if group is None else {"X-Group-Id": group}


class MemberHttp(Http):
    """A connection on which a member of a group acts."""

    def __init__(self, http: Http, member: str) -> None:
        self._of = http
        self._member = member

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._of.is_open

    async def send(self, verb: str, path: str, *, headers: Mapping[str, str] | None = None, **asked: Any) -> Any:
        """Sends a request that names the member."""
        return await self._of.send(verb, path, headers={**(headers or {}), "X-User-Id": self._member}, **asked)

    async def lines(self, path: str, *, user_id: str, body: Mapping[str, Any], **headers: str) -> AsyncIterator[str]:
        """The lines of the answer to a request that names the member."""
        member = {**headers, "X-User-Id": self._member}
        async for line in self._of.lines(path, user_id=user_id, body=body, **member):
            yield line


class _Later(Exception):
    """A temporary error, and the seconds to wait before the next try, if known."""

    def __init__(self, error: AgentMemoryError, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait = wait


def error_of(code: str, message: str, *, retryable: bool = False, retry_after: float | None = None) -> AgentMemoryError:
    """The error that a code of the API means."""
    if code == ModelError.code:
        return ModelError(message, retryable=retryable, retry_after=retry_after)
    return (_CODES | _OTHER_CODES).get(code, AgentMemoryError)(message)


def _error(status: int, content: bytes, retry_after: float | None) -> AgentMemoryError:
    try:
        told = json.loads(content)["error"]
        code, message = str(told["code"]), str(told["message"])
    except (ValueError, KeyError, TypeError):
        kind = StoreUnavailable if status >= 500 or status in _LATER else ConfigurationError
        return kind(f"the server answered {status}, and not in the form of this API")
    return error_of(code, message, retryable=status in _LATER - {502}, retry_after=retry_after)


def _encode(values: Mapping[str, Any]) -> bytes:
    try:
        text = to_json(values, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError) as error:
        raise InvalidInput(f"this cannot be written as JSON: {error}") from error
    return text


def _plain(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Values for a query string: lists as repeated names, booleans as in JSON."""
    pairs = [(name, one) for name, value in values.items() for one in (value if isinstance(value, list) else [value])]
    return [(name, str(one).lower() if isinstance(one, bool) else str(one)) for name, one in pairs]


REQUEST_BYTES = 3_000_000
"""Maximum bytes of the turns in one request; the server accepts 4 MB."""


def in_requests(turns: list[TurnInput]) -> list[list[TurnInput]]:
    """Turns in pieces that a request can hold."""
    parts: list[list[TurnInput]] = []
    room = 0
    for turn in turns:
        size = len(turn.model_dump_json().encode())
        if not parts or size > room or len(parts[-1]) == MAX_TURNS:
            parts.append([])
            room = REQUEST_BYTES
        parts[-1].append(turn)
        room -= size
    return parts


def pieces(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """An export in independent pieces, each with the number of lines done after it.

    Each begins with the header, and with the line of the thread that the turns in it belong to.
    """
    head = thread = ""
    piece: list[str] = []
    size = done = 0
    for line in lines:
        text = line.rstrip("\r\n")
        if piece and size + len(text.encode()) > REQUEST_BYTES:
            yield "\n".join(piece), done
            piece, size = [one for one in (head, thread) if one], len(head.encode()) + len(thread.encode())
        done += 1
        head = head or text
        if _is_thread(text):
            thread = text
        piece.append(text)
        size += len(text.encode()) + 1
    if piece:
        yield "\n".join(piece), done


def _is_thread(line: str) -> bool:
    """Whether a line of an export begins a thread; the server refuses invalid JSON."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(read, dict) and read.get("type") == "thread"
