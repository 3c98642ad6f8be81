"""Jobs for two models: one does a task for each row, another judges the result. Results that were recorded are free."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agent_memory.errors import ModelError
from agent_memory.evaluation.recorded import RecordedChat
from agent_memory.language.prompts import PromptFolder
from agent_memory.language.tasks import Data, In, Out, Task
from agent_memory.models import Usage
from agent_memory.text.tokens import ApproximateTokens

AT_ONCE = 8
"""Rows that are worked on at the same time. A choice."""

Row = TypeVar("Row")
Result = TypeVar("Result")


class Counted:
    """A chat model that adds up what its calls cost."""

    def __init__(self, chat: RecordedChat) -> None:
        self._chat = chat
        self.usage = Usage()

    async def run(self, task: Task[In, Out], data: In) -> Out:
        """The output for a task.

        Raises:
            ModelError: as the model does.
        """
        try:
            result = await self._chat.run(task, data)
        except ModelError as error:
            self.usage += Usage.model_validate(error.cost)
            raise
        self.usage += result.usage
        return result.output


@dataclass(frozen=True, slots=True)
class Job(Generic[Row, Result]):
    """A job for two models.

    Attributes:
        what: What the rows are, as in "20 questions".
        tasks: The tasks of the first and of the second model.
        inputs: The inputs of both for a row, for the estimate: the second one without the first one's output.
        one: Does a row.
        failed: The result of a row for which a model failed, with the reason.
        tokens_out: Tokens of an output, for the estimate. A choice.
    """

    what: str
    tasks: tuple[Task[Any, Any], Task[Any, Any]]
    inputs: Callable[[Row], tuple[Data, Data]]
    one: Callable[[Counted, Row], Awaitable[Result]]
    failed: Callable[[Row, str], Result]
    tokens_out: int

    def missing(self, rows: Sequence[Row], chat: RecordedChat) -> list[Row]:
        """The rows for which the first model must be called."""
        return [row for row in rows if not chat.has(self.tasks[0], self.inputs(row)[0])]

    def tokens(self, rows: Sequence[Row]) -> int:
        """About how many tokens are sent for rows."""
        prompts, count = PromptFolder(), ApproximateTokens()
        fixed = sum(count.count(prompts.load(task.name).render()) for task in self.tasks)
        return sum(fixed + sum(count.count(data.model_dump_json()) for data in self.inputs(row)) for row in rows)

    async def run(
        self, rows: Sequence[Row], chat: RecordedChat, progress: Callable[[int, int], None]
    ) -> tuple[list[Result], Usage]:
        """Does all rows; returns the results and what they cost."""
        counted = Counted(chat)
        places = asyncio.Semaphore(AT_ONCE)
        done = 0

        async def one(row: Row) -> Result:
            nonlocal done
            async with places:
                try:
                    return await self.one(counted, row)
                except ModelError as error:
                    return self.failed(row, str(error))
                finally:
                    done += 1
                    progress(done, len(rows))

        return list(await asyncio.gather(*map(one, rows))), counted.usage
