"""Language tasks on Anthropic's Messages API, or on a server that speaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from pydantic import ValidationError

from agent_memory.extras import require
from agent_memory.language.clients import LazyClient, call_errors, http_options, no_api_answer
from agent_memory.language.dialects import Dialect
from agent_memory.language.openai_protocol import read_body
from agent_memory.language.requests import Completion, Request, quota_of
from agent_memory.language.service_chat import ChatOptions, ServiceChat
from agent_memory.language.tasks import Data
from agent_memory.models import Usage

if TYPE_CHECKING:
    import anthropic

ADDRESS = "https://api.anthropic.com"


class AnthropicChat(ServiceChat):
    """Runs tasks on a Claude model."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: anthropic.AsyncAnthropic | None = None,
        **options: Unpack[ChatOptions],
    ) -> None:
        """Does not connect yet.

        Args:
            model: the model's name.
            base_url: a server that speaks this protocol; default: Anthropic's.
            api_key: a key; default: ANTHROPIC_API_KEY.
            client: a ready client, instead of both. Its own retries are switched off.
            options: see `ChatOptions`.

        Raises:
            ConfigurationError: the package anthropic is missing, or there are no prompts.
        """
        require("anthropic", "anthropic")

        def open_it() -> anthropic.AsyncAnthropic:
            import anthropic

            http = anthropic.DefaultAsyncHttpxClient(**http_options())
            return anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url, max_retries=0, http_client=http)

        given = None if client is None else client.with_options(max_retries=0)
        self._client = LazyClient(open_it, lambda opened: opened.close(), given)
        address = base_url or ADDRESS if client is None else str(client.base_url)
        key = api_key if client is None else client.api_key
        super().__init__(model, "messages", address, key, **options)

    async def _ask(self, request: Request, dialect: Dialect) -> Completion:
        import anthropic

        client = await self._client.get()
        async with call_errors(anthropic, anthropic.AnthropicError, self._model, request.timeout):
            arguments = message_arguments(request, dialect)
            async with client.messages.with_streaming_response.create(**arguments, timeout=request.timeout) as answer:
                body = await read_body(answer.iter_bytes(), self._model)
            return read_message(body, self._model, answer.headers)

    async def _close(self) -> None:
        await self._client.close()


def message_arguments(request: Request, dialect: Dialect) -> dict[str, Any]:
    """The arguments of a message."""
    structure: dict[str, dict[str, Any]] = {
        "schema": {"output_config": {"format": {"type": "json_schema", "schema": request.schema}}},
        "tool": {
            "tools": [{"name": request.task, "input_schema": request.schema}],
            "tool_choice": {"type": "tool", "name": request.task},
        },
        "text": {},
    }
    messages = [{"role": "user", "content": request.document}]
    said = {"model": request.model, "system": request.system(dialect), "messages": messages}
    limits = request.limits(dialect)
    # The client has no argument for a temperature since version 2; models before Opus 4.7 still take one.
    more = {"extra_body": {"temperature": limits.pop("temperature")}} if "temperature" in limits else {}
    return said | structure[dialect.structure] | limits | more


class _Block(Data):
    type: str = ""
    text: str | None = None
    input: dict[str, Any] | None = None


class _Usage(Data):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class _Message(Data):
    content: list[_Block]
    stop_reason: str | None = None
    usage: _Usage = _Usage()


def read_message(body: str, model: str, headers: Mapping[str, str]) -> Completion:
    """Reads a message.

    Raises:
        ModelError: retryable, if it is not of the protocol.
    """
    try:
        answer = _Message.model_validate_json(body)
    except ValidationError as error:
        raise no_api_answer(model, "it is not a message") from error
    counted = answer.usage
    read = (counted.input_tokens, counted.cache_creation_input_tokens, counted.cache_read_input_tokens)
    usage = Usage(
        model_calls=1,
        input_tokens=sum(n or 0 for n in read),
        cached_tokens=counted.cache_read_input_tokens or 0,
        output_tokens=counted.output_tokens or 0,
    )
    called = next((block.input for block in answer.content if block.type == "tool_use" and block.input), None)
    text = "".join(block.text or "" for block in answer.content if block.type == "text")
    return Completion(
        text if called is None else json.dumps(called),
        usage,
        whole=answer.stop_reason not in ("max_tokens", "model_context_window_exceeded"),
        trouble="the model refused" if answer.stop_reason == "refusal" else None,
        quota=quota_of(headers),
    )
