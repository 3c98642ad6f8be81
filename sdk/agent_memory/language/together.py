"""One call for two tasks over the same turns: a chat model that an extraction and a summary share while both think."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import Any, cast

from agent_memory.errors import ConfigurationError, ModelError
from agent_memory.language.endpoints import ModelPaused, ModelRefused
from agent_memory.language.tasks import (
    EXTRACT,
    EXTRACT_AND_SUMMARIZE,
    SUMMARIZE,
    ChatModel,
    Data,
    ExtractAndSummarizeInput,
    ExtractInput,
    In,
    Out,
    SummarizeInput,
    Task,
    TaskResult,
)
from agent_memory.models import Usage

logger = logging.getLogger("agent_memory")

_HALVES = {EXTRACT.name: "extraction", SUMMARIZE.name: "summary"}


@dataclass(frozen=True, slots=True)
class _Half:
    """One half of a shared call: the answer (None: ask again alone), and the cost that it bears."""

    result: TaskResult[Any] | None = None
    spent: Usage = field(default_factory=Usage)


class Together:
    """A `ChatModel` for an extraction and a summary that think at the same time.

    Who asks first waits until the other one asks too, or has `left`. If both ask about the same turns, one call
    answers both. Otherwise, and where the shared answer cannot be used, each asks alone, as if there were no other.
    The extraction bears the cost of a shared call.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._waiting: tuple[Data, asyncio.Future[_Half]] | None = None
        self._alone = False

    @property
    def model_id(self) -> str:
        """That of the model behind it."""
        return self._chat.model_id

    def prompt_version(self, task: Task[Any, Any]) -> str:
        """That of the model behind it."""
        return self._chat.prompt_version(task)

    async def close(self) -> None:
        """Nothing to free: the model behind it is somebody else's."""

    def left(self) -> None:
        """Notes that one of the two will make no more calls."""
        self._alone = True
        if self._waiting is not None:
            (_, answer), self._waiting = self._waiting, None
            _give(answer, _Half())

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        """Runs one task, together with the other one's if they go together.

        Raises:
            ModelError: as the model behind it; one that may pass is raised to both.
            ModelRefused: as the model behind it.
        """
        half = _Half() if self._alone or task.name not in _HALVES else await self._half(data)
        if half.result is not None:
            return half.result
        try:
            result = await self._chat.run(task, data)
        except ModelError as error:
            error.cost = (Usage.model_validate(error.cost) + half.spent).model_dump()
            raise
        return replace(result, usage=result.usage + half.spent)

    async def _half(self, data: Data) -> _Half:
        if self._waiting is None:
            answer: asyncio.Future[_Half] = asyncio.get_running_loop().create_future()
            self._waiting = data, answer
            return await answer
        (other, answer), self._waiting = self._waiting, None
        theirs: _Half | ModelError | ModelRefused = _Half()
        try:
            shared = _joined(data, other)
            if shared is None:
                return _Half()
            halves = await self._ask(shared)
            theirs = halves[type(other)]
            return halves[type(data)]
        except ModelError as error:
            # What the call cost is charged once, to the one who raises the error with it.
            kind = ModelPaused if isinstance(error, ModelPaused) else ModelError
            theirs = kind(str(error), retryable=error.retryable, retry_after=error.retry_after, fault=error.fault)
            raise
        except ModelRefused as error:
            theirs = ModelRefused(str(error), fault=error.fault)
            raise
        finally:
            _give(answer, theirs)

    async def _ask(self, shared: ExtractAndSummarizeInput) -> dict[type[Data], _Half]:
        """The halves of one answer, by the type of the input. Both are empty if there is no prompt for the shared call.

        Raises:
            ModelError: if the model is unavailable.
            ModelRefused: if the service refuses every call.
        """
        try:
            answer = await self._chat.run(EXTRACT_AND_SUMMARIZE, shared)
        except ModelError as error:
            if error.retryable:
                raise
            logger.warning("one call for facts and summary gave nothing usable; each is asked for alone: %s", error)
            return {ExtractInput: _Half(spent=Usage.model_validate(error.cost)), SummarizeInput: _Half()}
        except ModelRefused:
            raise
        except ConfigurationError as error:  # a caller's prompts folder may be older than this task
            logger.warning("facts and summary are asked for one by one: %s", error)
            return {ExtractInput: _Half(), SummarizeInput: _Half()}

        def half(name: str, spent: Usage) -> _Half:
            output: Data | None = getattr(answer.output, name)
            own = f"{name}: "
            lines = [line.removeprefix(own) for line in answer.rejected if line.startswith(own)]
            if output is None:
                logger.warning("the %s in a shared answer cannot be used, and is asked for alone: %s", name, lines)
                return _Half(spent=spent)
            result = replace(cast(TaskResult[Any], answer), output=output, usage=spent, rejected=lines)
            return _Half(result)

        return {ExtractInput: half("extraction", answer.usage), SummarizeInput: half("summary", Usage())}


def _joined(one: Data, other: Data) -> ExtractAndSummarizeInput | None:
    """The input of one call for both; None if they do not read the same turns."""
    extraction, summary = (one, other) if isinstance(one, ExtractInput) else (other, one)
    if not (isinstance(extraction, ExtractInput) and isinstance(summary, SummarizeInput)):
        return None
    if (extraction.turns, extraction.never) != (summary.turns, summary.never):
        return None
    return ExtractAndSummarizeInput(**(dict(summary) | dict(extraction)))


def _give(answer: asyncio.Future[_Half], half: _Half | ModelError | ModelRefused) -> None:
    if answer.done():  # who waited was cancelled
        return
    if isinstance(half, ModelError | ModelRefused):
        answer.set_exception(half)
    else:
        answer.set_result(half)
