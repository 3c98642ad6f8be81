"""`agent-memory eval` with models: their answers, what they extract, and what the calls cost."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Group, RenderableType

from agent_memory.cli.failures import FAILED
from agent_memory.cli.terminal import emit, progress, stderr, stdout
from agent_memory.cli.views import heading, table
from agent_memory.errors import ConfigurationError, InvalidInput

if TYPE_CHECKING:
    from agent_memory.evaluation.recorded import Case, Job, Result, Row
    from agent_memory.language.tasks import ChatModel, Task


def answered(
    asked: Sequence[Case], recorded: Path | None, *, sure: bool, as_json: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures of the answers, and a row for each.

    Raises:
        ConfigurationError: if the environment names no model, and not everything is recorded.
        InvalidInput: if the recorded answers cannot be read, or nobody can confirm the cost.
    """
    from agent_memory.evaluation.recorded import ANSWERS, report

    judged, models, usage = asyncio.run(_done(ANSWERS, asked, recorded, sure=sure, as_json=as_json))
    return {**models, **report(judged), "usage": usage}, [{"answered": True, **one.row()} for one in judged]


async def _done(
    job: Job[Row, Result], rows: Sequence[Row], recorded: Path | None, *, sure: bool, as_json: bool
) -> tuple[list[Result], dict[str, str], dict[str, Any]]:
    """Does a job, after a yes to its cost. Returns the results, the names of the models, and what was used."""
    from agent_memory.evaluation.recorded import RecordedChat

    model = model_named(*job.tasks)
    first, second = (name_of(model, task) for task in job.tasks)
    chat = RecordedChat(recorded, model)
    try:
        if missing := job.missing(rows, chat):
            stderr().print(
                f"{len(rows)} {job.what}, {len(rows) - len(missing)} of them with a recorded answer:"
                f" {2 * len(missing)} calls to {first} (answers) and {second} (judge), about"
                f" {job.tokens(missing):,} tokens in and {job.tokens_out * 2 * len(missing):,} out; more if a model"
                " must be asked again",
                soft_wrap=True,
            )
            agree(model, sure=sure, as_json=as_json)
        with progress(job.what.capitalize()) as show:
            results, usage = await job.run(rows, chat, show)
    finally:
        await chat.close()
    return results, {"model": first, "judge": second}, usage.model_dump(exclude_defaults=True)


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


def check_models(recorded: Path | None) -> None:
    """Checks before a long run that the models for its end are set, unless answers were recorded.

    Raises:
        ConfigurationError: if there is none.
    """
    from agent_memory.language.tasks import ANSWER, JUDGE

    if recorded is None or not recorded.exists():
        _needed(model_named(ANSWER, JUDGE))


def agree(model: ChatModel | None, *, sure: bool, as_json: bool) -> None:
    """Asks for confirmation that calls to a model may be paid for.

    Raises:
        ConfigurationError: if there is no model.
        InvalidInput: if nobody is there to be asked.
        Abort: if the answer is no.
    """
    _needed(model)
    if sure:
        return
    if as_json or not sys.stdin.isatty():
        raise InvalidInput(
            "calling the models costs money, and there is no terminal to ask for confirmation: add --yes"
        )
    if not typer.confirm("Call the models?", err=True):
        raise typer.Abort


def _needed(model: ChatModel | None) -> None:
    if model is None:
        raise ConfigurationError(
            "no model is set, and not all answers are recorded: set AGENT_MEMORY_CHAT_MODEL with"
            " OPENAI_API_KEY or another server, or give --recorded FILE with all answers"
        )


def answers_view(rated: Mapping[str, Any]) -> list[RenderableType]:
    """The figures of the answers as a table."""
    names = ["questions", "correct", "95 %"]
    made = table("", *names, right=names)
    for label, figures in {"all": rated["overall"], **rated["categories"]}.items():
        share, spread = f"{figures['correct']:.1%}", f"{figures['low']:.1%} to {figures['high']:.1%}"
        made.add_row(label, str(figures["questions"]), share, spread)
    failed = f", {rated['failed']} without an answer, in none of these shares" if rated["failed"] else ""
    return [
        heading(f"Answers by {rated['model']}, judged by {rated['judge']}"),
        made,
        f"{rated['context_tokens']:.0f} tokens of context a question{failed} (overall without adversarial)",
        *_reasons(rated),
    ]


def _reasons(figures: Mapping[str, Any]) -> list[str]:
    return [f"{times} x: {why}" for why, times in list(figures["failures"].items())[:_MOST_REASONS]]


_MOST_REASONS = 3
"""Reasons of failed calls that are shown, the most frequent first. A choice."""


def by_labels(path: Path, out: Path | None, *, as_json: bool) -> None:
    """Measures what the rules extract, by the labels of each message.

    Raises:
        InvalidInput: if the file has no labelled messages.
    """
    from agent_memory.evaluation.extraction import lines, read_labels, score
    from agent_memory.language.offline import OfflineChat
    from agent_memory.language.tasks import EXTRACT, ExtractInput, ExtractOutput

    chat = OfflineChat()

    async def extract(data: ExtractInput) -> ExtractOutput:
        return (await chat.run(EXTRACT, data)).output

    report, judged = asyncio.run(score(read_labels(path), extract))
    if out is not None:
        out.write_text(lines(judged), "utf-8")
    if as_json:
        emit({"dataset": path.name, **report})
        return
    names = [name for name, value in report.items() if not isinstance(value, dict) and name != "messages"]
    shown = table("", *names, right=names)
    for label, figures in {"all": report, **report["lang"], **report["domain"]}.items():
        shares = ("-" if figures[name] is None else f"{figures[name]:.1%}" for name in names[1:])
        shown.add_row(label, str(figures["memories"]), *shares)
    stdout().print(Group(f"{path.name}: {report['messages']} messages", shown))


def by_judge(path: Path, recorded: Path | None, out: Path | None, *, sure: bool, as_json: bool) -> None:
    """Measures what the environment's model extracts, by the marks of the model of the role `judge`.

    Raises:
        ConfigurationError: if the environment names no model, and not everything is recorded.
        InvalidInput: if a file cannot be read, or nobody is there to say yes to the cost.
    """
    from agent_memory.evaluation.extraction import MARKING, lines, read_labels, report

    marked, models, usage = asyncio.run(_done(MARKING, read_labels(path), recorded, sure=sure, as_json=as_json))
    figures = {"dataset": path.name, **models, **report(marked), "usage": usage}
    if out is not None:
        out.write_text(lines(one.line() for one in marked), "utf-8")
    if as_json:
        emit(figures)
    else:
        stdout().print(_view(figures))
    if 0 < figures["messages"] == figures["failed"]:
        raise typer.Exit(FAILED)


def _view(figures: Mapping[str, Any]) -> RenderableType:
    """The figures as a table, below the rubric."""
    from agent_memory.language.prompts import PromptFolder

    rubric = PromptFolder().load("mark").render().partition("# The rubric")[2].partition("\n# ")[0].strip()
    names = ["of", "share", "95 %"]
    made = table("", *names, right=names)
    for label in ("good", "weak", "bad", "recall", "agreement"):
        one = figures[label]
        known = "-" if one["share"] is None else f"{one['share']:.1%}"
        made.add_row(label, str(one["of"]), known, f"{one['low']:.1%} to {one['high']:.1%}")
    left = ", ".join(f"{figures[name]} {name}" for name in ("unmarked", "failed") if figures[name])
    return Group(
        heading(f"Extracted by {figures['model']}, marked by {figures['judge']}"),
        rubric,
        f"{figures['dataset']}: {figures['messages']} messages, {figures['memories']} memories"
        + (f" ({left})" if left else ""),
        *_reasons(figures),
        made,
    )
