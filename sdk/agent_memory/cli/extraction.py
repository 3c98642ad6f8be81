"""`agent-memory eval --extraction`: what is extracted from labelled messages, by their labels or by a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from agent_memory.cli.answered import agree, model_named, name_of
from agent_memory.cli.terminal import emit, progress, stderr, stdout
from agent_memory.cli.views import heading, table

if TYPE_CHECKING:
    from agent_memory.evaluation.extraction import Labelled
    from agent_memory.evaluation.recorded import RecordedChat

OUT_EACH = 150
"""Tokens of an answer, for the estimate: two memories, or their marks. A choice."""


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
    from agent_memory.evaluation.extraction import lines, read_labels
    from agent_memory.evaluation.marking import report

    rows = read_labels(path)
    run, names = asyncio.run(_judged(rows, recorded, sure=sure, as_json=as_json))
    figures = {
        "dataset": path.name,
        **names,
        **report(run.marked),
        "usage": run.usage.model_dump(exclude_defaults=True),
    }
    if out is not None:
        out.write_text(lines(one.line() for one in run.marked), "utf-8")
    if as_json:
        emit(figures)
    else:
        stdout().print(_view(figures))


async def _judged(rows: list[Labelled], recorded: Path | None, *, sure: bool, as_json: bool) -> tuple[Any, Any]:
    from agent_memory.evaluation.extraction import message_of
    from agent_memory.evaluation.marking import mark_all
    from agent_memory.evaluation.recorded import RecordedChat
    from agent_memory.language.tasks import EXTRACT, MARK

    model = model_named(EXTRACT, MARK)
    chat = RecordedChat(recorded, model)
    try:
        missing = [row for row in rows if not chat.has(EXTRACT, message_of(row))]
        if missing:
            stderr().print(_cost(rows, missing, chat), soft_wrap=True)
            agree(model, sure=sure, as_json=as_json)
        with progress("Marking") as show:
            run = await mark_all(rows, chat, show)
    finally:
        await chat.close()
    return run, {"model": name_of(model, EXTRACT), "judge": name_of(model, MARK)}


def _cost(rows: list[Labelled], missing: list[Labelled], chat: RecordedChat) -> str:
    """What will be asked of the models. What is extracted is not known yet, so the marks count for every message."""
    from agent_memory.evaluation.extraction import message_of
    from agent_memory.evaluation.marking import to_mark
    from agent_memory.language.prompts import PromptFolder
    from agent_memory.language.tasks import EXTRACT, MARK
    from agent_memory.text.tokens import ApproximateTokens

    prompts, count = PromptFolder(), ApproximateTokens()
    sizes = {task.name: count.count(prompts.load(task.name).render()) for task in (EXTRACT, MARK)}
    asked = [(EXTRACT.name, message_of(row)) for row in missing] + [(MARK.name, to_mark(row, [])) for row in missing]
    tokens = sum(sizes[name] + count.count(data.model_dump_json()) for name, data in asked)
    return (
        f"{len(rows)} messages, {len(rows) - len(missing)} of them with a recorded answer: at most {len(asked)} calls,"
        f" about {tokens:,} tokens in and {OUT_EACH * len(asked):,} out"
    )


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
        made,
    )
