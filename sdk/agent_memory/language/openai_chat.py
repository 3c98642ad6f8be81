"""Language tasks on OpenAI, Azure OpenAI, Microsoft Foundry, or any server that speaks one of OpenAI's protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from agent_memory.language.dialects import Dialect
from agent_memory.language.openai_client import OpenAIConnection, TokenProvider, model_errors
from agent_memory.language.openai_protocol import (
    chat_arguments,
    read_body,
    read_chat,
    read_responses,
    responses_arguments,
)
from agent_memory.language.requests import Completion, Request
from agent_memory.language.service_chat import ChatOptions, ServiceChat

if TYPE_CHECKING:
    import openai


class OpenAIChat(ServiceChat):
    """Runs tasks on a chat model."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        azure_endpoint: str | None = None,
        azure_ad_token_provider: TokenProvider | None = None,
        client: openai.AsyncOpenAI | None = None,
        **options: Unpack[ChatOptions],
    ) -> None:
        """Does not connect yet.

        Args:
            model: the model's name; on Azure, the deployment's.
            base_url: see `OpenAIConnection`, as for the next four.
            api_key: a key.
            azure_endpoint: an Azure OpenAI or Foundry resource.
            azure_ad_token_provider: returns Entra ID tokens, instead of a key.
            client: a ready client, instead of the four above.
            options: see `ChatOptions`.

        Raises:
            ConfigurationError: the arguments do not name one server with credentials, or there are no prompts.
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
            "chat",
            self._connection.address,
            self._connection.key,
            **options,
        )

    async def _ask(self, request: Request, dialect: Dialect) -> Completion:
        client = await self._connection.client()
        async with model_errors(self._model, request.timeout):
            if dialect.protocol == "responses":
                arguments = responses_arguments(request, dialect)
                async with client.responses.with_streaming_response.create(**arguments) as given:
                    body = await read_body(given.iter_bytes(), self._model)
                return read_responses(body, self._model, given.headers)
            arguments = chat_arguments(request, dialect)
            async with client.chat.completions.with_streaming_response.create(**arguments) as answer:
                body = await read_body(answer.iter_bytes(), self._model)
            return read_chat(body, self._model, answer.headers)

    async def _close(self) -> None:
        await self._connection.close()
