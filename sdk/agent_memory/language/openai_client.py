"""A connection to OpenAI, Azure OpenAI, Microsoft Foundry, or any server that speaks OpenAI's protocol.

Azure is reached through its v1 endpoint, `{endpoint}/openai/v1/`, which takes the plain client, the deployment's
name as the model, and a key or an Entra ID token as bearer: there is no API version to keep up with.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_memory.errors import ConfigurationError, ModelError
from agent_memory.extras import require
from agent_memory.language.clients import LazyClient, call_errors, http_options

if TYPE_CHECKING:
    import openai

TokenProvider = Callable[[], str | Awaitable[str]]
"""Gives an Entra ID token: what azure-identity's `get_bearer_token_provider` returns, sync or async."""


class OpenAIConnection:
    """Opens one client on first use, and closes it. A client that a caller passes in stays the caller's."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        azure_endpoint: str | None = None,
        azure_ad_token_provider: TokenProvider | None = None,
        client: openai.AsyncOpenAI | None = None,
    ) -> None:
        """Checks that the arguments name one server with credentials.

        Args:
            base_url: a server that speaks OpenAI's protocol; default: OPENAI_BASE_URL, else OpenAI itself.
            api_key: the key; default: OPENAI_API_KEY (never sent to Azure). Your own server may need none.
            azure_endpoint: any address of an Azure OpenAI or Foundry resource, such as `https://NAME.openai.azure.com`.
            azure_ad_token_provider: returns Entra ID tokens, instead of a key.
            client: a ready client, instead of all the others. Its own retries are switched off.

        Raises:
            ConfigurationError: the arguments contradict each other, a key is missing, or openai is not installed.
        """
        require("openai", "openai")
        if client is not None and (base_url or api_key or azure_endpoint or azure_ad_token_provider):
            raise ConfigurationError("Pass either a client, or base_url, api_key and the azure arguments.")
        if azure_endpoint and base_url:
            raise ConfigurationError("Give base_url or azure_endpoint, not both.")
        if azure_ad_token_provider and api_key:
            raise ConfigurationError("Give api_key or azure_ad_token_provider, not both.")
        self._base_url = azure_base_url(azure_endpoint) if azure_endpoint else base_url
        self._key = api_key if azure_endpoint else api_key or os.environ.get("OPENAI_API_KEY")
        self._token_provider = azure_ad_token_provider
        given = None if client is None else client.with_options(max_retries=0)
        self._client = LazyClient(self._open, lambda opened: opened.close(), given)
        self._given = client
        if client is None and not (self._key or azure_ad_token_provider):
            if azure_endpoint:
                raise ConfigurationError("Azure OpenAI needs an api_key or an azure_ad_token_provider.")
            if not (base_url or os.environ.get("OPENAI_BASE_URL")):
                raise ConfigurationError("OpenAI needs an api_key (or OPENAI_API_KEY).")

    @property
    def address(self) -> str:
        """The server's address."""
        if self._given is not None:
            return str(self._given.base_url)
        return self._base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"

    @property
    def key(self) -> str | None:
        """The key that was given; None for sign-in by identity."""
        return self._key if self._given is None else self._given.api_key

    async def client(self) -> openai.AsyncOpenAI:
        """The client, with its own retries switched off."""
        return await self._client.get()

    def _open(self) -> openai.AsyncOpenAI:
        import openai

        key = _async_provider(self._token_provider) if self._token_provider else self._key or "none"
        http = openai.DefaultAsyncHttpxClient(**http_options())
        return openai.AsyncOpenAI(api_key=key, base_url=self._base_url, max_retries=0, http_client=http)

    async def close(self) -> None:
        """Closes the client if it was opened here. Harmless when called twice."""
        await self._client.close()


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
            message = f"No Entra ID token is available: {error}"
            raise ModelError(message, retryable=True, fault="unreachable") from error

    return token


def model_errors(model: str, timeout: float) -> AbstractAsyncContextManager[None]:
    """Limits one call in time, and turns its failures into a ModelError that says whether a retry helps."""
    import openai

    return call_errors(openai, openai.OpenAIError, model, timeout)
