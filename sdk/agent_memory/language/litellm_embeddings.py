"""Embeddings of any service that the package litellm knows: Cohere, Voyage, Bedrock, Gemini and others."""

from __future__ import annotations

from typing import Any

from agent_memory.extras import require
from agent_memory.language.litellm_chat import load_litellm, reached
from agent_memory.language.openai_client import model_errors
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.service_embeddings import ServiceEmbeddings

BATCH_TEXTS = 96
"""Texts of one call: as many as Cohere takes (https://docs.cohere.com/reference/embed); the others take more."""


class LiteLLMEmbeddings(ServiceEmbeddings):
    """Embeds texts in batches. Questions and memories are embedded alike, as documents."""

    def __init__(
        self,
        model: str,
        *,
        dimensions: int,
        base_url: str | None = None,
        api_key: str | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        """Does not connect yet.

        Args:
            model: service and model in litellm's form, such as `voyage/voyage-3.5` or `cohere/embed-v4.0`.
            dimensions: the length of the vectors. A model without this option must return this length by itself.
            base_url: an address other than the service's own.
            api_key: a key; by default litellm reads the variables of the service.
            retries: how to handle throttling, timeouts and faults of the service.

        Raises:
            ConfigurationError: the package litellm is missing.
        """
        require("litellm", "litellm")
        super().__init__(
            model,
            dimensions=dimensions,
            batch_texts=BATCH_TEXTS,
            retries=retries,
            address=base_url or "litellm",
            key=api_key,
        )
        self._reached = reached(base_url, api_key)

    async def close(self) -> None:
        """Nothing to free: litellm keeps its clients for the process."""

    async def _ask(self, batch: list[str], parameters: dict[str, Any]) -> str:
        litellm = await load_litellm()
        async with model_errors(self._model, self._timeout):
            answer = await litellm.aembedding(
                model=self._model,
                input=batch,
                **parameters,
                **self._reached,
                timeout=self._timeout,
                num_retries=0,
                max_retries=0,
            )
            return str(answer.model_dump_json())
