"""Language tasks on a model's service: what the adapters of all services share.

A request is always two messages: the task's prompt as the system message, and one JSON document, the task's input, as
the user message. No turn of a transcript is ever a separate message. An adapter sends this to its service in a dialect,
and reads the response.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

from agent_memory.errors import ModelError
from agent_memory.language.answer_text import UnusableAnswer
from agent_memory.language.answers import read_answer
from agent_memory.language.clients import RequestRejected, unusable
from agent_memory.language.dialects import LARGEST_SIZE, Deployment, Dialect, ProtocolName, deployment
from agent_memory.language.endpoints import QUESTION, Gate, at_once, shared_endpoint
from agent_memory.language.prompts import ModelParameters, PromptFolder
from agent_memory.language.requests import Completion, Request
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.tasks import EXTRACT, ExtractInput, In, Out, Task, TaskResult, TurnView
from agent_memory.models import EndpointHealth, Usage, now

_log = logging.getLogger(__name__)

LONGEST_ANSWER = 200_000
"""Maximum characters: about 40,000 tokens, ten times the limit of any task. A longer answer comes from a model that
repeats itself."""


ANSWER_RETRIES = 2
"""How often an unusable answer is requested again, by default."""


class ChatOptions(TypedDict, total=False):
    """The keyword options of every chat adapter. Each has a default."""

    prompts: str | Path | None
    """The folder of the prompt files; see `agent_memory.language.prompts` for the default."""
    retries: RetryPolicy | None
    """How to handle throttling, timeouts and faults of the service."""
    answer_retries: int
    """How often an unusable answer is requested again; default: `ANSWER_RETRIES`."""
    parameters: ModelParameters | None
    """Temperature, length and timeout of every task, which override the prompts'."""


class ServiceChat(ABC):
    """Runs tasks on a service. A subclass makes the calls."""

    def __init__(
        self, model: str, protocol: ProtocolName, address: str, key: str | None = None, **options: Unpack[ChatOptions]
    ) -> None:
        """Does not connect yet.

        Args:
            model: the model's name, as the service knows it.
            protocol: the protocol of the service.
            address: the service's address. What the library learns about the model is stored under the address and the
            name.
            key: the key, if one was given: adapters with the same key pause together when the service fails.
            options: see `ChatOptions`.

        Raises:
            ConfigurationError: there are no prompts.
        """
        self._model = model
        self._prompts = PromptFolder(options.get("prompts"))
        self._endpoint = shared_endpoint(address, model, key, options.get("retries"))
        self._answer_retries = options.get("answer_retries", ANSWER_RETRIES)
        self._parameters = options.get("parameters") or ModelParameters()
        self._deployment = deployment(protocol, address, model)
        self.quota: Mapping[str, str] = {}
        """The limits in the last response, under the names of its headers."""

    @property
    def model_id(self) -> str:
        """The model's name."""
        return self._model

    @property
    def deployment(self) -> Deployment:
        """What this process has learned of the model."""
        return self._deployment

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
            ModelError: retryable if the server throttled, failed or did not respond until the last retry; not
                retryable if it refused the request, or none of its answers could be used.
            ConfigurationError: the task's prompt is missing or broken.
        """
        request = Request.make(task, data, self._prompts.load(task.name), self._model, self._parameters)
        return await self._endpoint.judge(partial(self._run, task, data, request), self._control)

    async def _run(self, task: Task[In, Out], data: In, first: Request, gate: Gate) -> TaskResult[Out]:
        request = replace(first, size=self._deployment.sizes.get(task.name, 1))
        usage, problem, spelled = Usage(), UnusableAnswer(), False
        for left in reversed(range(self._answer_retries + 1)):
            completion, dialect = await self._complete(request, gate, spelled=spelled)
            usage += completion.usage
            try:
                _require_text(completion)
                if not completion.whole and left:
                    request = replace(request, size=_roomier(request, dialect, completion))
                    raise UnusableAnswer("it was cut off at the limit of its length")
                spelled = True  # if this answer is invalid, the next request describes the valid form
                output, rejected = read_answer(task, completion.text, data, salvage=not left)
            except UnusableAnswer as error:
                problem = error
                _log.warning(
                    "An answer of %s to %s cannot be used: %s (%d tries left)", self._model, task.name, error, left
                )
                continue
            if dialect.spelled:
                self._deployment.learn(dialect)
            if completion.whole:
                self._deployment.needed(task.name, request.size)
            return TaskResult(output, self._model, request.prompt.version, usage, rejected)
        attempts = self._answer_retries + 1
        raise ModelError(
            f"{self._model} gave no usable answer to {task.name!r} in {attempts} attempts: {problem}.",
            cost=usage.model_dump(),
        ) from problem

    async def _control(self) -> None:
        """Asks for the memories in a plain statement.

        Raises:
            ModelError: retryable, if the service gives no usable answer to that either.
        """
        turn = TurnView(ref="t1", role="user", content=QUESTION, created_at=now())
        data = ExtractInput(turns=[turn])
        request = Request.make(EXTRACT, data, self._prompts.load(EXTRACT.name), self._model, self._parameters)
        try:
            completion, _ = await self._complete(replace(request, size=LARGEST_SIZE), at_once, spelled=True)
            _require_text(completion)
            read_answer(EXTRACT, completion.text, data)
        except (RequestRejected, UnusableAnswer) as error:
            raise unusable(self._model, error) from error

    async def close(self) -> None:
        """Closes the connection, unless it came with a client from outside. Harmless when called twice."""
        await self._close()

    @abstractmethod
    async def _ask(self, request: Request, dialect: Dialect) -> Completion:
        """Calls the service once.

        Raises:
            RequestRejected: if it did not accept the form of the request.
            ModelError: if it failed.
            ModelRefused: if it refuses every request.
        """

    @abstractmethod
    async def _close(self) -> None: ...

    async def _complete(self, request: Request, gate: Gate, *, spelled: bool) -> tuple[Completion, Dialect]:
        """Asks in the dialect that this deployment is known to take, and finds a simpler one if it takes less."""
        dialect = self._deployment.dialect
        if spelled and not dialect.shows_schema:
            dialect = replace(dialect, spelled=True)
        tried = {dialect}
        while True:
            try:
                completion = await gate(partial(self._ask, request, dialect))
            except RequestRejected as error:
                simpler = dialect.without(error.detail, tried)
                if simpler is not None:
                    dialect = simpler
                    tried.add(dialect)
                elif request.size > 1:
                    request = replace(request, size=1)
                else:
                    raise
            else:
                self.quota = completion.quota or self.quota
                if len(tried) > 1:
                    self._deployment.learn(replace(dialect, spelled=self._deployment.dialect.spelled))
                return completion, dialect


def _require_text(completion: Completion) -> None:
    if completion.trouble is not None:
        raise UnusableAnswer(completion.trouble)
    if len(completion.text) > LONGEST_ANSWER:
        raise UnusableAnswer(f"it is longer than {LONGEST_ANSWER} characters")


def _roomier(request: Request, dialect: Dialect, completion: Completion) -> int:
    """The size for an answer that was cut off: double, or four times the last if reasoning used up the length."""
    if completion.text.strip() and completion.thought * 2 < completion.usage.output_tokens:
        return max(request.size, 2 * dialect.room)
    return min(4 * max(request.size, dialect.room), LARGEST_SIZE)
