"""`agent-memory eval --answers`: the estimated cost, the answers, and a table of the results."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from agent_memory.cli.terminal import progress, stderr
from agent_memory.cli.views import heading, table
from agent_memory.errors import ConfigurationError, InvalidInput

if TYPE_CHECKING:
    from agent_memory.evaluation.answering import Case
    from agent_memory.language.tasks import ChatModel, Task


def answered(
    asked: Sequence[Case], recorded: Path | None, *, sure: bool, as_json: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures of the answers, and a row for each.

    Raises:
        ConfigurationError: if the environment names no model, and not everything is recorded.
        InvalidInput: if the recorded answers cannot be read, or nobody can confirm the cost.
    """
    return asyncio.run(_answered(asked, recorded, sure=sure, as_json=as_json))


_OUT = 60
"""Tokens of an answer or a verdict, for the estimate. A choice."""


async def _answered(
    asked: Sequence[Case], recorded: Path | None, *, sure: bool, as_json: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    from agent_memory.evaluation.answering import answer_all, cost, report
    from agent_memory.evaluation.recorded import RecordedChat
    from agent_memory.language.prompts import PromptFolder
    from agent_memory.language.tasks import ANSWER, JUDGE
    from agent_memory.text.tokens import ApproximateTokens

    model = model_named(ANSWER, JUDGE)
    chat = RecordedChat(recorded, model)
    try:
        prompts = PromptFolder()
        expected = cost(asked, chat, ApproximateTokens(), lambda task: prompts.load(task.name).render())
        if expected.calls and expected.recorded < len(asked):
            stderr().print(
                f"{len(asked)} questions, {expected.recorded} of them with a recorded answer: {expected.calls} calls to"
                f" {name_of(model, ANSWER)} (answers) and {name_of(model, JUDGE)} (judge),"
                f" about {expected.input_tokens:,} tokens in and {_OUT * expected.calls:,} out",
                soft_wrap=True,
            )
            agree(model, sure=sure, as_json=as_json)
        with progress("Answering") as show:
            run = await answer_all(asked, chat, show)
    finally:
        await chat.close()
    return {
        "model": name_of(model, ANSWER),
        "judge": name_of(model, JUDGE),
        **report(run.judged),
        "usage": run.usage.model_dump(exclude_defaults=True),
    }, [{"answered": True, **one.row()} for one in run.judged]


def model_named(*tasks: Task[Any, Any]) -> ChatModel | None:
    """The model that the environment names for these tasks; None if rules would have to do one of them."""
    from agent_memory.language.defaults import models_named_by
    from agent_memory.language.offline import OfflineChat
    from agent_memory.language.roles import model_of
    from agent_memory.settings import Environment

    chat, _ = models_named_by(Environment())
    if chat is None or any(isinstance(model_of(chat, task), OfflineChat | None) for task in tasks):
        return None
    return chat


def name_of(chat: ChatModel | None, task: Task[Any, Any]) -> str:
    """The name of the model that does a task."""
    from agent_memory.language.roles import model_of

    model = None if chat is None else model_of(chat, task)
    return "recorded" if model is None else model.model_id


def agree(model: ChatModel | None, *, sure: bool, as_json: bool) -> None:
    """Asks for confirmation that calls to a model may be paid for.

    Raises:
        ConfigurationError: if there is no model.
        InvalidInput: if nobody is there to be asked.
        Abort: if the answer is no.
    """
    if model is None:
        raise ConfigurationError(
            "no model is set, and not all answers are recorded: set AGENT_MEMORY_CHAT_MODEL with"
            " OPENAI_API_KEY or another server, or give --recorded FILE with all answers"
        )
    if sure:
        return
    if as_json or not sys.stdin.isatty():
        raise InvalidInput(
            "calling the models costs money, and there is no terminal to ask for confirmation: add --yes"
        )
    if not typer.confirm("Ask them?", err=True):
        raise typer.Abort


def answers_view(rated: Mapping[str, Any]) -> list[RenderableType]:
    """The figures of the answers as a table."""
    names = ["questions", "correct", "95 %"]
    made = table("", *names, right=names)
    for label, figures in {"all": rated["overall"], **rated["categories"]}.items():
        share, spread = f"{figures['correct']:.1%}", f"{figures['low']:.1%} to {figures['high']:.1%}"
        made.add_row(label, str(figures["questions"]), share, spread)
    failed = f", {rated['failed']} without an answer" if rated["failed"] else ""
    return [
        heading(f"Answers by {rated['model']}, judged by {rated['judge']}"),
        made,
        f"{rated['context_tokens']:.0f} tokens of context a question{failed} (overall without adversarial)",
    ]
