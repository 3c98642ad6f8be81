"""OpenAI's two protocols, Chat Completions and Responses: the form of requests and answers.

Pure functions, for every client of these protocols. The clients themselves do not check answers.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from agent_memory.language.clients import no_api_answer
from agent_memory.language.dialects import Dialect
from agent_memory.language.requests import Completion, Request, quota_of
from agent_memory.language.tasks import Data
from agent_memory.models import Usage
from agent_memory.text.halves import without_halves

Arguments = dict[str, Any]
_FILTERED = "a content filter stopped it"
_REFUSED = "the model refused"
_EMPTY = "it is empty"
T = TypeVar("T")
D = TypeVar("D", bound=Data)
LARGEST_BODY = 8_000_000
"""Maximum bytes of a response, unpacked: forty times the longest answer. More is not read."""


def chat_arguments(request: Request, dialect: Dialect) -> Arguments:
    """The arguments of a chat completion."""
    messages = [
        {"role": "system", "content": request.system(dialect)},
        {"role": "user", "content": request.document},
    ]
    schema = {"name": request.task, "strict": True, "schema": request.schema}
    structure: dict[str, Arguments] = {
        "schema": {"response_format": {"type": "json_schema", "json_schema": schema}},
        "object": {"response_format": {"type": "json_object"}},
        "tool": {
            "tools": [{"type": "function", "function": {"name": request.task, "parameters": request.schema}}],
            "tool_choice": {"type": "function", "function": {"name": request.task}},
        },
        "text": {},
    }
    effort = {} if dialect.effort is None else {"reasoning_effort": dialect.effort}
    limits = request.limits(dialect)
    return {"model": request.model, "messages": messages} | structure[dialect.structure] | limits | effort


def responses_arguments(request: Request, dialect: Dialect) -> Arguments:
    """The arguments of a response. Nothing of it is stored by the service."""
    schema = {"type": "json_schema", "name": request.task, "strict": True, "schema": request.schema}
    structure: dict[str, Arguments] = {
        "schema": {"text": {"format": schema}},
        "object": {"text": {"format": {"type": "json_object"}}},
        "tool": {
            "tools": [{"type": "function", "name": request.task, "parameters": request.schema, "strict": True}],
            "tool_choice": {"type": "function", "name": request.task},
        },
        "text": {},
    }
    effort = {} if dialect.effort is None else {"reasoning": {"effort": dialect.effort}}
    said = {"instructions": request.system(dialect), "input": request.document, "store": False}
    return {"model": request.model} | said | structure[dialect.structure] | request.limits(dialect) | effort


def _or_none(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """Unreadable fields around an answer count as missing, because the answer itself has been paid for."""
    try:
        return read(value)
    except ValidationError:
        return None


Beside = Annotated[T | None, WrapValidator(_or_none)]
_Count = Beside[Annotated[int, Field(ge=0)]]


class _Details(Data):
    reasoning_tokens: _Count = None


class _Read(Data):
    cached_tokens: _Count = None


class _ChatUsage(Data):
    prompt_tokens: _Count = None
    completion_tokens: _Count = None
    prompt_tokens_details: Beside[_Read] = None
    completion_tokens_details: Beside[_Details] = None


class _Function(Data):
    arguments: str | dict[str, Any] | None = None


class _Call(Data):
    function: _Function | None = None


class _Part(Data):
    type: str = "text"
    text: str | None = None
    refusal: str | None = None


class _Message(Data):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None

    def text(self) -> str:
        """The answer: the arguments of a tool if it was called, else the text without thoughts."""
        if self.tool_calls and (call := self.tool_calls[0].function) and call.arguments:
            return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or ""


class _Choice(Data):
    message: _Message
    finish_reason: Beside[str] = None


class _Chat(Data):
    choices: list[_Choice]
    usage: Beside[_ChatUsage] = None


def read_chat(body: str, model: str, headers: Mapping[str, str] | None = None) -> Completion:
    """Reads a chat completion.

    Raises:
        ModelError: retryable, if it does not follow the protocol, like a proxy's page.
    """
    answer = _read(_Chat, body, model, "it is no chat completion")
    counted = answer.usage or _ChatUsage()
    usage = Usage(
        model_calls=1,
        input_tokens=counted.prompt_tokens or 0,
        cached_tokens=(counted.prompt_tokens_details or _Read()).cached_tokens or 0,
        output_tokens=counted.completion_tokens or 0,
    )
    quota = quota_of(headers or {})
    if not answer.choices:
        return Completion("", usage, trouble=_EMPTY, quota=quota)
    choice = answer.choices[0]
    trouble = _REFUSED if choice.message.refusal else _FILTERED if choice.finish_reason == "content_filter" else None
    thought = (counted.completion_tokens_details or _Details()).reasoning_tokens or 0
    whole = choice.finish_reason != "length"
    return Completion(choice.message.text(), usage, whole, trouble, thought, quota)


class _ResponsesUsage(Data):
    input_tokens: _Count = None
    output_tokens: _Count = None
    input_tokens_details: Beside[_Read] = None
    output_tokens_details: Beside[_Details] = None


class _Item(Data):
    type: str = ""
    content: list[_Part] | None = None
    arguments: str | None = None


class _Incomplete(Data):
    reason: str | None = None


class _Responses(Data):
    output: list[_Item] = Field(min_length=0)
    status: str | None = None
    incomplete_details: _Incomplete | None = None
    usage: Beside[_ResponsesUsage] = None


def read_responses(body: str, model: str, headers: Mapping[str, str] | None = None) -> Completion:
    """Reads a response. Raises ModelError: retryable, if it is not of the protocol."""
    answer = _read(_Responses, body, model, "it is not a response")
    counted = answer.usage or _ResponsesUsage()
    usage = Usage(
        model_calls=1,
        input_tokens=counted.input_tokens or 0,
        cached_tokens=(counted.input_tokens_details or _Read()).cached_tokens or 0,
        output_tokens=counted.output_tokens or 0,
    )
    parts = [part for item in answer.output if item.type == "message" for part in item.content or []]
    calls = [item.arguments for item in answer.output if item.type == "function_call" and item.arguments]
    text = calls[0] if calls else "".join(part.text or "" for part in parts if part.type == "output_text")
    reason = (answer.incomplete_details or _Incomplete()).reason
    refused = any(part.refusal for part in parts)
    trouble = _REFUSED if refused else _FILTERED if reason == "content_filter" else None
    thought = (counted.output_tokens_details or _Details()).reasoning_tokens or 0
    return Completion(text, usage, reason != "max_output_tokens", trouble, thought, quota_of(headers or {}))


async def read_body(chunks: AsyncIterator[bytes], model: str, most: int = LARGEST_BODY) -> str:
    """A response as text. Raises ModelError: retryable, if it is larger than `most` bytes."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            raise no_api_answer(model, f"it is more than {most // 1_000_000} MB")
    return body.decode(errors="replace")


def _read(kind: type[D], body: str, model: str, problem: str) -> D:
    try:
        return kind.model_validate_json(without_halves(body.removeprefix("\ufeff")))
    except ValidationError as error:
        raise no_api_answer(model, problem) from error
