"""Embeddings of OpenAI, Azure OpenAI, Microsoft Foundry, or any server that speaks OpenAI's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_memory.language.openai_client import OpenAIConnection, TokenProvider, model_errors
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.service_embeddings import ServiceEmbeddings
from agent_memory.text.tokens import TokenCounter

if TYPE_CHECKING:
    import openai


class OpenAIEmbeddings(ServiceEmbeddings):
    """Embeds texts in batches. Vectors come back in order and with length 1."""

    def __init__(
        self,
        model: str = "text-embedding-3-large",
        *,
        dimensions: int = 1536,
        base_url: str | None = None,
        api_key: str | None = None,
        azure_endpoint: str | None = None,
        azure_ad_token_provider: TokenProvider | None = None,
        client: openai.AsyncOpenAI | None = None,
        tokens: TokenCounter | None = None,
        text_tokens: int = 8000,
        batch_texts: int = 256,
        batch_tokens: int = 100_000,
        timeout: float = 60.0,
        retries: RetryPolicy | None = None,
    ) -> None:
        """Does not connect yet.

        Args:
            model: the model's name; on Azure, the deployment's.
            dimensions: the length of the vectors. A model without this option must return this length by itself.
            base_url: see `OpenAIConnection`, as for the next four.
            api_key: a key.
            azure_endpoint: an Azure OpenAI or Foundry resource.
            azure_ad_token_provider: returns Entra ID tokens, instead of a key.
            client: a ready client, instead of the four above.
            tokens: counts tokens as the model does; default: OpenAI's encoding for embeddings.
            text_tokens: the maximum length of one text; the rest is cut off. OpenAI's models take 8,191.
            batch_texts: the maximum number of texts in one call.
            batch_tokens: the maximum number of tokens in one call.
            timeout: seconds for one call.
            retries: how to handle throttling, timeouts and faults of the server.

        Raises:
            ConfigurationError: the arguments do not name one server with credentials.
        """
        self._connection = OpenAIConnection(
            base_url=base_url,
            api_key=api_key,
            azure_endpoint=azure_endpoint,
            azure_ad_token_provider=azure_ad_token_provider,
            client=client,
        )
        super().__init__(
            model,
            dimensions=dimensions,
            tokens=tokens,
            text_tokens=text_tokens,
            batch_texts=batch_texts,
            batch_tokens=batch_tokens,
            timeout=timeout,
            retries=retries,
            address=self._connection.address,
            key=self._connection.key,
        )

    async def close(self) -> None:
        """Closes the connection, unless it came with a client from outside. Harmless when called twice."""
        await self._connection.close()

    async def _ask(self, batch: list[str], parameters: dict[str, Any]) -> str:
        client = await self._connection.client()
        async with model_errors(self._model, self._timeout):
            response = await client.embeddings.with_raw_response.create(
                model=self._model, input=batch, encoding_format="float", **parameters
            )
            return str(response.text)
