"""Language tasks on OpenAI, Azure OpenAI, Microsoft Foundry, or any server that speaks OpenAI's chat protocol.

A request is always two messages: the task's prompt as the system message, and one JSON document, the task's input,
as the user message. No turn of a transcript ever is a message of its own.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agent_memory.errors import ModelError
from agent_memory.language.answers import UnusableAnswer, read_answer
from agent_memory.language.endpoints import Endpoint
from agent_memory.language.openai_client import (
    OpenAIConnection,
    RequestRejected,
    TokenProvider,
    model_errors,
    no_api_answer,
)
from agent_memory.language.prompts import ModelParameters, Prompt, PromptFolder
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.schemas import strict_schema
from agent_memory.language.tasks import Data, In, Out, Task, TaskResult
from agent_memory.models import EndpointHealth, Usage

if TYPE_CHECKING:
    import openai

_log = logging.getLogger(__name__)

LONGEST_ANSWER = 200_000
"""Characters: some 40,000 tokens, ten times what any task asks for. More comes of a model that repeats itself."""


class OpenAIChat:
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
        prompts: str | Path | None = None,
        retries: RetryPolicy | None = None,
        answer_retries: int = 2,
        parameters: ModelParameters | None = None,
    ) -> None:
        """Opens nothing yet.

        Args:
            model: the model's name; on Azure, the deployment's.
            base_url: see `OpenAIConnection`, as for the next four.
            api_key: a key.
            azure_endpoint: an Azure OpenAI or Foundry resource.
            azure_ad_token_provider: gives Entra ID tokens, in place of a key.
            client: a ready client, in place of the four before.
            prompts: the folder of the prompt files; see `agent_memory.language.prompts` for the default.
            retries: what is done about throttling, timeouts and faults of the server.
            answer_retries: how often an answer that cannot be used is asked for again.
            parameters: temperature, length and timeout of every task, ahead of what the prompts say.

        Raises:
            ConfigurationError: the arguments do not name one server and a way in, or there are no prompts.
        """
        self._model = model
        self._connection = OpenAIConnection(
            base_url=base_url,
            api_key=api_key,
            azure_endpoint=azure_endpoint,
            azure_ad_token_provider=azure_ad_token_provider,
            client=client,
        )
        self._prompts = PromptFolder(prompts)
        self._endpoint = Endpoint(retries or RetryPolicy())
        self._answer_retries = answer_retries
        self._parameters = parameters or ModelParameters()
        self._dialect = Dialect()

    @property
    def model_id(self) -> str:
        """The model's name."""
        return self._model

    def health(self) -> EndpointHealth:
        """What is known of the service."""
        return self._endpoint.health()

    def prompt_version(self, task: Task[Any, Any]) -> str:
        """The version of the task's prompt file as it is now.

        Raises:
            ConfigurationError: the prompt is missing or broken.
        """
        return self._prompts.load(task.name).version

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        """Runs one task.

        Raises:
            ModelError: retryable if the server throttled, failed or kept silent to the end of the retries; not
                retryable if it refused the request, or none of its answers could be used.
            ConfigurationError: the task's prompt is missing or broken.
        """
        request = Request.make(task, data, self._prompts.load(task.name), self._model, self._parameters)
        roomier = replace(request, max_tokens=2 * request.max_tokens)
        usage = Usage()
        problem = UnusableAnswer()
        for left in reversed(range(self._answer_retries + 1)):
            completion = await self._complete(request)
            usage += completion.cost
            try:
                text, whole = completion.answer()
                if not whole and left:
                    request = roomier
                    raise UnusableAnswer("it was cut off at the limit of its length")
                output, rejected = read_answer(task, text, data, salvage=not left)
            except UnusableAnswer as error:
                problem = error
                _log.warning(
                    "An answer of %s to %s cannot be used: %s (%d tries left)", self._model, task.name, error, left
                )
                continue
            return TaskResult(output, self._model, request.prompt.version, usage, rejected)
        attempts = self._answer_retries + 1
        raise ModelError(
            f"{self._model} gave no usable answer to {task.name!r} in {attempts} attempts: {problem}.",
            cost=usage.model_dump(),
        ) from problem

    async def close(self) -> None:
        """Closes the connection, unless it came with a client from outside. Harmless when called twice."""
        await self._connection.close()

    async def _complete(self, request: Request) -> Completion:
        """Asks once, in the dialect that this server is known to take, and learns a simpler one if it takes less."""
        client = await self._connection.client()
        dialect = self._dialect

        async def call() -> Completion:
            async with model_errors(self._model, request.timeout):
                response = await client.chat.completions.with_raw_response.create(**request.arguments(dialect))
                return Completion.read(str(response.text), self._model)

        while True:
            try:
                completion = await self._endpoint.ask(call)
            except RequestRejected as error:
                simpler = dialect.without(error.detail)
                if simpler is None:
                    raise
                _log.info(
                    "%s does not take all that was asked for, so the request is made simpler: %s", self._model, simpler
                )
                dialect = simpler
            else:
                self._dialect = dialect
                return completion


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which parts of the protocol a server takes: everything, until it refuses one."""

    json_schema: bool = True
    temperature: bool = True
    max_tokens: bool = True

    def without(self, refusal: str) -> Dialect | None:
        """The dialect without the part that a refusal names; None if it names none that is left."""
        if self.max_tokens and "max_completion_tokens" in refusal:  # newer models ask for this name instead
            return replace(self, max_tokens=False)
        if self.temperature and "temperature" in refusal:
            return replace(self, temperature=False)
        if self.json_schema and any(word in refusal.lower() for word in ("response_format", "schema", "structured")):
            return replace(self, json_schema=False)
        return None


@dataclass(frozen=True, slots=True)
class Request:
    """One task for one model, in no dialect yet."""

    model: str
    task: str
    prompt: Prompt
    schema: dict[str, Any]
    document: str
    temperature: float
    max_tokens: int
    timeout: float

    @classmethod
    def make(
        cls, task: Task[In, Out], data: In, prompt: Prompt, model: str, parameters: ModelParameters | None = None
    ) -> Request:
        """Joins a task, its input and its prompt. `parameters` count first, then the prompt's, then the task's."""
        ahead = {} if parameters is None else parameters.model_dump(exclude_none=True)
        wanted = prompt.parameters.model_copy(update=ahead)
        return cls(
            model=model,
            task=task.name,
            prompt=prompt,
            schema=strict_schema(task.output),
            document=as_document(data),
            temperature=task.temperature if wanted.temperature is None else wanted.temperature,
            max_tokens=wanted.max_tokens or task.max_tokens,
            timeout=wanted.timeout or task.timeout,
        )

    def arguments(self, dialect: Dialect) -> dict[str, Any]:
        """The arguments of the call. A schema that the server does not enforce is put into the prompt."""
        system = self.prompt.render(schema="" if dialect.json_schema else json.dumps(self.schema))
        enforced = {"name": self.task, "strict": True, "schema": self.schema}
        return {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": self.document}],
            "response_format": (
                {"type": "json_schema", "json_schema": enforced} if dialect.json_schema else {"type": "json_object"}
            ),
            "max_tokens" if dialect.max_tokens else "max_completion_tokens": self.max_tokens,
            **({"temperature": self.temperature} if dialect.temperature else {}),
        }


# Servers that build one string of all messages may take these for the marks between messages.
# The one repeat lies between brackets and takes none, so that no character is read by two attempts.
_CONTROL_MARK = re.compile(r"<(?=[|｜/\w<])|\[(?=/?[A-Z][A-Z_]*\])|[\u0085\u2028\u2029]")


def as_document(data: Data) -> str:
    """A task's input as one line of JSON in which nothing looks like the beginning of another message."""
    text = json.dumps(data.model_dump(mode="json", exclude_none=True), ensure_ascii=False)
    return _CONTROL_MARK.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text)


class _Tokens(Data):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Message(Data):
    content: str | None = None
    refusal: str | None = None


class _Choice(Data):
    message: _Message
    finish_reason: str | None = None


class Completion(Data):
    """What the protocol's answer says that matters here. The client itself checks nothing of an answer."""

    choices: list[_Choice]
    usage: _Tokens | None = None

    @classmethod
    def read(cls, body: str, model: str) -> Completion:
        """Reads a response.

        Raises:
            ModelError: retryable, if it is not of the protocol: a proxy's page, say.
        """
        try:
            return cls.model_validate_json(body)
        except ValidationError as error:
            raise no_api_answer(model, "it is no chat completion") from error

    @property
    def cost(self) -> Usage:
        """One call, and the tokens if the server counts them."""
        tokens = self.usage or _Tokens()
        return Usage(model_calls=1, input_tokens=tokens.prompt_tokens or 0, output_tokens=tokens.completion_tokens or 0)

    def answer(self) -> tuple[str, bool]:
        """The text, and whether it is whole.

        Raises:
            UnusableAnswer: there is none.
        """
        if not self.choices:
            raise UnusableAnswer("it is empty")
        choice = self.choices[0]
        if choice.message.refusal:
            raise UnusableAnswer("the model refused")
        if choice.finish_reason == "content_filter":
            raise UnusableAnswer("a content filter stopped it")
        text = choice.message.content or ""
        if len(text) > LONGEST_ANSWER:
            raise UnusableAnswer(f"it is longer than {LONGEST_ANSWER} characters")
        return text, choice.finish_reason != "length"
