"""A chat model from a function that takes the messages of a chat and returns the text of the answer."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_memory.errors import AgentMemoryError, InvalidInput, ModelError
from agent_memory.language.answer_text import UnusableAnswer
from agent_memory.language.answers import read_answer
from agent_memory.language.custom import answer_schema, guidance
from agent_memory.language.prompts import PromptFolder
from agent_memory.language.requests import as_document
from agent_memory.language.tasks import (
    REPLY,
    ChatModel,
    In,
    MessageView,
    Out,
    ReplyInput,
    Task,
    TaskResult,
)
from agent_memory.models import Usage

Messages = Sequence[Mapping[str, Any]]
ChatFunction = Callable[[list[dict[str, Any]]], str | Awaitable[str]]
"""Takes messages with `role` and `content`, returns the text of the answer; awaited if it is asynchronous."""
Provider = ChatModel | ChatFunction


class CallableChat:
    """A `ChatModel` made from a function, which gets the prompt of each task and its input as two messages."""

    def __init__(
        self,
        call: ChatFunction,
        *,
        model_id: str = "callable",
        prompts: str | Path | None = None,
        answer_retries: int = 1,
    ) -> None:
        """Makes no call yet.

        Args:
            call: The function.
            model_id: The model's name in derived documents.
            prompts: The folder of the prompt files; see `agent_memory.language.prompts` for the default.
            answer_retries: How often an unusable answer is requested again.

        Raises:
            ConfigurationError: if there are no prompts.
        """
        self._call = call
        self._model_id = model_id
        self._prompts = PromptFolder(prompts)
        self._answer_retries = answer_retries

    @property
    def model_id(self) -> str:
        """The model's name in derived documents."""
        return self._model_id

    def prompt_version(self, task: Task[Any, Any]) -> str:
        """The version of the task's prompt file as it is now."""
        return self._prompts.load(task.name).version

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        """Runs one task.

        Raises:
            ModelError: if the function failed (retryable), or none of its answers could be used (not retryable).
        """
        prompt = self._prompts.load(task.name)
        schema = json.dumps(answer_schema(task, data))
        messages = [
            {"role": "system", "content": prompt.render(schema=schema) + guidance(data)},
            {"role": "user", "content": as_document(data)},
        ]
        problem: UnusableAnswer | None = None
        for left in reversed(range(self._answer_retries + 1)):
            try:
                output, rejected = read_answer(task, await ask(self._call, messages), data, salvage=not left)
            except UnusableAnswer as error:
                problem = error
                continue
            return TaskResult(output, self._model_id, prompt.version, Usage(model_calls=1), rejected)
        raise ModelError(f"{self._model_id} gave no usable answer to {task.name!r}: {problem}") from problem

    async def close(self) -> None:
        """Nothing to free."""


def as_chat_model(provider: Provider) -> ChatModel:
    """A chat model from a provider: a model as it is, or a function.

    Raises:
        InvalidInput: if it is neither a chat model nor a function.
    """
    if isinstance(provider, ChatModel):
        return provider
    if callable(provider):
        return CallableChat(provider, model_id=getattr(provider, "__name__", "callable"))
    raise InvalidInput(f"a provider is a chat model, or a function of messages; not {provider!r:.60}")


async def reply(provider: Provider, messages: Messages) -> str:
    """The next message of a conversation. A function gets the messages unchanged.

    Raises:
        ModelError: if the model failed, or returned no text.
        InvalidInput: if the provider is neither a chat model nor a function.
    """
    if isinstance(provider, ChatModel) or not callable(provider):
        shown = [MessageView(role=str(one["role"]), content=str(one["content"])) for one in messages]
        return (await as_chat_model(provider).run(REPLY, ReplyInput(messages=shown))).output.reply
    return await ask(provider, messages)


async def ask(call: ChatFunction, messages: Messages) -> str:
    """A function's answer to messages.

    Raises:
        ModelError: if it failed, or returned no text.
    """
    try:
        answer = call([dict(message) for message in messages])
        text = await answer if inspect.isawaitable(answer) else answer
    except AgentMemoryError:
        raise
    except Exception as error:
        raise ModelError(f"the chat function failed: {error!r:.300}", retryable=True) from error
    if not isinstance(text, str) or not text.strip():
        raise ModelError(f"the chat function gave no text: {text!r:.60}")
    return text
