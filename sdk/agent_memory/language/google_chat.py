"""Language tasks on Google's Gemini models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Unpack

from agent_memory.errors import ModelError
from agent_memory.extras import require
from agent_memory.language.clients import (
    LazyClient,
    is_broken_connection,
    no_api_answer,
    status_error,
    timed_out,
    unreachable,
)
from agent_memory.language.dialects import Dialect
from agent_memory.language.requests import Completion, Request, quota_of
from agent_memory.language.service_chat import ChatOptions, ServiceChat
from agent_memory.models import Usage
from agent_memory.telemetry import unlogged_requests
from agent_memory.text.patterns import linear

if TYPE_CHECKING:
    from google import genai
    from google.genai.types import GenerateContentResponse

ADDRESS = "https://generativelanguage.googleapis.com"
_CUT_OFF = "MAX_TOKENS"
_STOPPED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"})
_RETRY_DELAY = linear(r"""['"]retryDelay['"]: ['"](\d+)""")


class GoogleChat(ServiceChat):
    """Runs tasks on a Gemini model."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: genai.Client | None = None,
        **options: Unpack[ChatOptions],
    ) -> None:
        """Does not connect yet.

        Args:
            model: the model's name.
            base_url: a server that speaks this protocol; default: Google's.
            api_key: a key; default: GEMINI_API_KEY or GOOGLE_API_KEY.
            client: a ready client, instead of both, such as one for Vertex AI.
            options: see `ChatOptions`.

        Raises:
            ConfigurationError: the package google-genai is missing, or there are no prompts.
        """
        require("google.genai", "google")

        def open_it() -> genai.Client:
            from google import genai

            return genai.Client(api_key=api_key, http_options={"base_url": base_url} if base_url else None)

        self._client = LazyClient(open_it, lambda opened: opened.aio.aclose(), client)
        super().__init__(model, "generate", base_url or ADDRESS, api_key, **options)

    async def _ask(self, request: Request, dialect: Dialect) -> Completion:
        client = await self._client.get()
        async with _errors(self._model, request.timeout):
            answer = await client.aio.models.generate_content(
                model=request.model, contents=request.document, config=generation_config(request, dialect)
            )
            return read_content(answer)

    async def _close(self) -> None:
        await self._client.close()


def generation_config(request: Request, dialect: Dialect) -> Any:
    """The options of a request. The client's own retries are switched off."""
    structure: dict[str, dict[str, Any]] = {
        "schema": {"response_mime_type": "application/json", "response_json_schema": request.schema},
        "object": {"response_mime_type": "application/json"},
        "text": {},
    }
    effort = {} if dialect.effort is None else {"thinking_config": {"thinking_level": dialect.effort}}
    said = {"system_instruction": request.system(dialect), "http_options": {"retry_options": {"attempts": 1}}}
    return said | structure[dialect.structure] | request.limits(dialect) | effort


def read_content(answer: GenerateContentResponse) -> Completion:
    """Reads an answer, without the thoughts in it."""
    counted = answer.usage_metadata
    thought = (counted and counted.thoughts_token_count) or 0
    usage = Usage(
        model_calls=1,
        input_tokens=(counted and counted.prompt_token_count) or 0,
        cached_tokens=(counted and counted.cached_content_token_count) or 0,
        output_tokens=((counted and counted.candidates_token_count) or 0) + thought,
    )
    http = answer.sdk_http_response
    quota = quota_of((http and http.headers) or {})
    if not answer.candidates:
        blocked = answer.prompt_feedback is not None and answer.prompt_feedback.block_reason is not None
        return Completion("", usage, trouble="a content filter stopped it" if blocked else "it is empty", quota=quota)
    first = answer.candidates[0]
    reason = str(getattr(first.finish_reason, "value", first.finish_reason))
    parts = (first.content and first.content.parts) or []
    text = "".join(part.text or "" for part in parts if not part.thought)
    trouble = "a content filter stopped it" if reason in _STOPPED else None
    return Completion(text, usage, reason != _CUT_OFF, trouble, thought, quota)


@asynccontextmanager
async def _errors(model: str, timeout: float) -> AsyncIterator[None]:
    """Limits one call in time, and turns its failures into a ModelError that says whether a retry helps."""
    from google.genai import errors

    try:
        async with asyncio.timeout(timeout):
            with unlogged_requests():
                yield
    except TimeoutError as error:
        raise timed_out(model, timeout) from error
    except errors.APIError as error:
        refused = status_error(model, error.code, f"{error.code} - {error.message}", error.details)
        if isinstance(refused, ModelError) and (asked := _RETRY_DELAY.search(str(error.details))):
            refused.retry_after = float(asked[1])
        raise refused from error
    except ValueError as error:
        raise no_api_answer(model, str(error)) from error
    except Exception as error:
        if is_broken_connection(error):
            raise unreachable(model, error) from error
        raise
