"""The offline adapter: runs the language tasks by rules, in the process, with no model."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

from agent_memory.errors import ModelError
from agent_memory.language.aside import aside
from agent_memory.language.tasks import (
    HYDE,
    QUERY_REWRITE,
    RERANK,
    SELECT,
    Data,
    HydeOutput,
    In,
    Out,
    QueryRewriteOutput,
    RerankOutput,
    SelectOutput,
    Task,
    TaskResult,
)
from agent_memory.models import Usage

_MODULES = {
    "extract": "extract", "reconcile": "reconcile", "summarize": "summarize", "profile": "profile",
    "archive": "archive", "consolidate": "conclude", "synthesize": "conclude", "reflect": "conclude",
    "reflect_on": "conclude",
}  # fmt: skip
"""Where the rules of a task are; the function has the task's name."""
_AT_ONCE: dict[str, Callable[[Any], Data]] = {
    QUERY_REWRITE.name: lambda data: QueryRewriteOutput(query=" ".join([data.question, *data.terms])),
    # Words and vectors have been compared already; rules know nothing better, and make no answer up.
    RERANK.name: lambda data: RerankOutput(refs=[note.ref for note in data.notes]),
    SELECT.name: lambda data: SelectOutput(refs=[note.ref for note in data.notes]),
    HYDE.name: lambda data: HydeOutput(answer=data.question),
}
"""Tasks that a search waits for, and that take no time."""


class OfflineChat:
    """A `ChatModel` without a model: it chooses and sorts what people said, and makes up nothing.

    Deterministic: the same input gives the same output. It reads English, knows common wordings only, and leaves
    out what it does not recognise.
    """

    MODEL_ID: ClassVar[str] = "offline-extractive"
    PROMPT_VERSION: ClassVar[str] = "rules-7"

    @property
    def model_id(self) -> str:
        """What derived documents name as their maker."""
        return self.MODEL_ID

    def prompt_version(self, task: Task[Any, Any]) -> str:
        """The version of the rules, which is one for all tasks."""
        return self.PROMPT_VERSION

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        """Runs one task, in the thread of the rules if it takes time.

        Raises:
            ModelError: not retryable, for a task that there are no rules for.
        """
        if task.name in _AT_ONCE:
            output: Data = _AT_ONCE[task.name](data)
        else:
            output = await aside(_perform, task.name, data)
        if not isinstance(output, task.output):
            raise ModelError(f"the offline rules for {task.name!r} do not give a {task.output.__name__}")
        return TaskResult(output, self.MODEL_ID, self.PROMPT_VERSION, Usage())

    async def close(self) -> None:
        """Nothing to free."""


def _perform(name: str, data: Any) -> Data:
    if name not in _MODULES:
        raise ModelError(f"the offline adapter has no rules for the task {name!r}; use a language model for it")
    # The rules bring their libraries with them, so they are imported when a task first needs them.
    module = import_module(f"agent_memory.language.offline.{_MODULES[name]}")
    output: Data = getattr(module, name)(data)
    return output
