"""Embeddings of OpenAI, Azure OpenAI, Microsoft Foundry, or any server that speaks OpenAI's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from agent_memory.language.openai_client import OpenAIConnection, TokenProvider, model_errors
from agent_memory.language.openai_protocol import LARGEST_BODY, read_body
from agent_memory.language.service_embeddings import EmbeddingOptions, ServiceEmbeddings

if TYPE_CHECKING:
    import openai

_BYTES_PER_NUMBER = 40
"""Maximum bytes of a vector's number in JSON, each on an indented line of its own."""


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
        **options: Unpack[EmbeddingOptions],
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
            options: see `EmbeddingOptions`.

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
            address=self._connection.address,
            key=self._connection.key,
            **options,
        )

    async def close(self) -> None:
        """Closes the connection, unless it came with a client from outside. Harmless when called twice."""
        await self._connection.close()

    async def _ask(self, batch: list[str], parameters: dict[str, Any]) -> str:
        client = await self._connection.client()
        async with (
            model_errors(self._model, self._timeout),
            client.embeddings.with_streaming_response.create(
                model=self._model, input=batch, encoding_format="float", **parameters
            ) as answer,
        ):
            most = LARGEST_BODY + len(batch) * self._dimensions * _BYTES_PER_NUMBER
            return await read_body(answer.iter_bytes(), self._model, most)
