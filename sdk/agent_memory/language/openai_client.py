"""A connection to OpenAI, Azure OpenAI, Microsoft Foundry, or any server that speaks OpenAI's protocol.

Azure is reached through its v1 endpoint, `{endpoint}/openai/v1/`, which takes the plain client, the deployment's
name as the model, and a key or an Entra ID token as bearer: there is no API version to keep up with.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_memory.errors import ConfigurationError, ModelError
from agent_memory.extras import how_to_install
from agent_memory.language.endpoints import ModelRefused
from agent_memory.language.retries import retry_after
from agent_memory.logs import unlogged_requests
from agent_memory.models import now

if TYPE_CHECKING:
    import openai

TokenProvider = Callable[[], str | Awaitable[str]]
"""Gives an Entra ID token: what azure-identity's `get_bearer_token_provider` returns, sync or async."""
_LONGEST_MESSAGE = 500
_ABOUT_THE_INPUT = frozenset({400, 413, 422})
"""Statuses of a request that this server will never take as it is."""
_MAY_PASS = frozenset({408, 409, 425, 429})
_FAULTS = {401: "credentials", 403: "credentials", 402: "quota", 404: "not_found"}


class RequestRejected(ModelError):
    """The server did not accept the request as it stands (400 or 422). `detail` is all that it said."""

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message)
        self.detail = detail


class OpenAIConnection:
    """Opens one client when it is first needed, and closes it. A client given from outside stays its owner's."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        azure_endpoint: str | None = None,
        azure_ad_token_provider: TokenProvider | None = None,
        client: openai.AsyncOpenAI | None = None,
    ) -> None:
        """Checks that the arguments name one server and a way in.

        Args:
            base_url: a server that speaks OpenAI's protocol; OpenAI itself if none is named here or by
                OPENAI_BASE_URL.
            api_key: the key; if none, OPENAI_API_KEY (never sent to Azure). Servers of one's own often want none.
            azure_endpoint: any address of an Azure OpenAI or Foundry resource, such as `https://NAME.openai.azure.com`.
            azure_ad_token_provider: gives Entra ID tokens, in place of a key.
            client: a ready client, in place of all the others. Its own retries are switched off.

        Raises:
            ConfigurationError: the arguments contradict each other, a key is missing, or openai is not installed.
        """
        if find_spec("openai") is None:
            raise ConfigurationError(f"The package openai is missing: {how_to_install('openai')}.")
        if client is not None and (base_url or api_key or azure_endpoint or azure_ad_token_provider):
            raise ConfigurationError("A client is given, so base_url, api_key and the azure arguments have no use.")
        if azure_endpoint and base_url:
            raise ConfigurationError("Give base_url or azure_endpoint, not both.")
        if azure_ad_token_provider and api_key:
            raise ConfigurationError("Give api_key or azure_ad_token_provider, not both.")
        self._base_url = azure_base_url(azure_endpoint) if azure_endpoint else base_url
        self._key = api_key if azure_endpoint else api_key or os.environ.get("OPENAI_API_KEY")
        self._token_provider = azure_ad_token_provider
        self._given = client
        self._opened: openai.AsyncOpenAI | None = None
        self._opening = asyncio.Lock()
        if client is None and not (self._key or azure_ad_token_provider):
            if azure_endpoint:
                raise ConfigurationError("Azure OpenAI needs an api_key or an azure_ad_token_provider.")
            if not (base_url or os.environ.get("OPENAI_BASE_URL")):
                raise ConfigurationError("OpenAI needs an api_key (or OPENAI_API_KEY).")

    async def client(self) -> openai.AsyncOpenAI:
        """The client, without retries of its own."""
        async with self._opening:
            if self._opened is None:
                # Importing openai takes a second, in which the event loop should do other things.
                self._opened = await asyncio.to_thread(self._open)
            return self._opened

    def _open(self) -> openai.AsyncOpenAI:
        import openai

        if self._given is not None:
            return self._given.with_options(max_retries=0)
        key = _async_provider(self._token_provider) if self._token_provider else self._key or "none"
        return openai.AsyncOpenAI(api_key=key, base_url=self._base_url, max_retries=0)

    async def close(self) -> None:
        """Closes the client if it was opened here. Harmless when called twice."""
        client, self._opened = self._opened, None
        if client is not None and self._given is None:
            await client.close()


def azure_base_url(endpoint: str) -> str:
    """The v1 endpoint of an Azure resource, whichever of its addresses was copied from the portal.

    Raises:
        ConfigurationError: it is not an address.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("https", "http") or not parts.netloc:
        raise ConfigurationError(f"azure_endpoint is not an address like https://NAME.openai.azure.com: {endpoint!r}.")
    return f"{parts.scheme}://{parts.netloc}/openai/v1/"


def _async_provider(provider: TokenProvider) -> Callable[[], Awaitable[str]]:
    async def token() -> str:
        try:
            # A sync provider may go to the network; calling an async one only makes the awaitable.
            given = provider() if inspect.iscoroutinefunction(provider) else await asyncio.to_thread(provider)
            return given if isinstance(given, str) else await given
        except Exception as error:
            message = f"There is no Entra ID token to be had: {error}"
            raise ModelError(message, retryable=True, fault="credentials") from error

    return token


@asynccontextmanager
async def model_errors(model: str, timeout: float) -> AsyncIterator[None]:
    """Bounds one call in time, and turns what can go wrong in it into a ModelError that says if a retry helps."""
    import openai

    try:
        async with asyncio.timeout(timeout):
            with unlogged_requests():
                yield
    except (TimeoutError, openai.APITimeoutError) as error:
        raise ModelError(f"{model} did not answer within {timeout:g} s.", retryable=True, fault="timeout") from error
    except openai.APIConnectionError as error:
        reason = error.__cause__ or error
        raise ModelError(f"{model} cannot be reached: {reason}.", retryable=True, fault="unreachable") from error
    except openai.APIStatusError as error:
        raise _status_error(model, error) from error
    except openai.OpenAIError as error:
        raise no_api_answer(model, str(error)) from error


def no_api_answer(model: str, problem: str) -> ModelError:
    """The error for a success that is no answer of the protocol: a proxy's page, an error body, half an envelope.

    It says nothing of the input, so it counts as a fault that may pass.
    """
    message = f"{model} gave something that is no answer of OpenAI's protocol: {problem[:_LONGEST_MESSAGE]}."
    return ModelError(message, retryable=True, fault="no_api_answer")


def _status_error(model: str, error: openai.APIStatusError) -> ModelError | ModelRefused:
    status = error.status_code
    message = f"{model} refused the call. {error.message[:_LONGEST_MESSAGE]}"  # it begins with the status
    if status in _ABOUT_THE_INPUT:
        return RequestRejected(message, f"{error.message} {error.body}")
    if status in _MAY_PASS or status >= 500:
        wait = retry_after(error.response.headers, now())
        return ModelError(message, retryable=True, retry_after=wait, fault=_transient_fault(error))
    # A revoked key or a wrong name says nothing of the input: no range may be given up for it.
    advice = "Check the key, the endpoint and the model's name."
    return ModelRefused(f"{message} {advice}", fault=_FAULTS.get(status, "refused"))


def _transient_fault(error: openai.APIStatusError) -> str:
    if error.status_code == 408:
        return "timeout"
    if error.status_code >= 500:
        return "server_error"
    return "quota" if error.code == "insufficient_quota" else "throttled"
