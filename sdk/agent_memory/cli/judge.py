"""`agent-memory judge`: a person judges samples of recalled and of extracted memories."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_memory.cli.options import BudgetOption, ConversationsOption, JsonOption, examples, invocation
from agent_memory.cli.terminal import emit, progress, stderr, stdout
from agent_memory.cli.views import table
from agent_memory.errors import InvalidInput

EXAMPLES = examples("judge locomo10.json --out judge.md", "judge --marks judge.md")


def judge(
    dataset: Annotated[Path | None, typer.Argument(metavar="DATASET", help="A file in LoCoMo's format.")] = None,
    samples: Annotated[int, typer.Option("--samples", metavar="N", min=1, help="Number of samples of each kind.")] = 50,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The seed of the random samples.")] = 0,
    budget: BudgetOption = 650,
    conversations: ConversationsOption = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="PATH", help="Keep the ingested conversations, as `eval` does.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The page to write, on which a person puts marks.")
    ] = Path("judge.md"),
    marks: Annotated[
        Path | None,
        typer.Option("--marks", metavar="FILE", help="Add up the marks of a page instead of drawing samples."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw samples for a person to judge, or add up marks.

    Half of the samples are memories that a context showed for a question (do they help?), half are extracted facts (are
    they correct?). Next to each mark the page shows two automatic checks: whether the memory comes from the evidence of
    the data set, and whether the fact's quote was said.
    """
    from agent_memory.evaluation.samples import Mark, draw, page, read_page, summary

    if (dataset is None) == (marks is None):
        raise InvalidInput("give a DATASET to draw samples from, or --marks FILE to add up")
    if marks is not None:
        report = summary(read_page(_text(marks)))
    elif dataset is not None:
        from agent_memory.evaluation import AgentMemory
        from agent_memory.evaluation.dataset import read_dataset

        if out.exists():
            raise InvalidInput(f"{out} already exists and may hold marks: choose another --out")
        chosen = read_dataset(dataset)[0][:conversations]
        with AgentMemory(store) as system, progress("Taking in") as show:
            for number, conversation in enumerate(chosen, start=1):
                system.ingest(conversation)
                show(number, len(chosen))
            drawn = draw(system, chosen, samples, seed=seed, budget=budget)
        title = f"{dataset.name}: {len(drawn)} samples of seed {seed}"
        out.write_text(page(drawn, title=title), "utf-8")
        stderr().print(f"Mark {out}, then: {invocation('judge', '--marks', str(out))}", soft_wrap=True)
        report = summary(Mark(sample.about, sample.machine, None) for sample in drawn)
    emit(report) if as_json else stdout().print(_view(report))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error


def _view(report: Mapping[str, Mapping[str, Any]]) -> object:
    columns = ["samples", "by machine", "marked", "good", "share"]
    made = table("", *columns, "majority", right=columns)
    names = {"memory": "shown, and helpful", "fact": "extracted, and correct"}
    for about, found in report.items():
        shares = ["" if found[name] is None else f"{found[name]:.0%}" for name in ("machine", "share")]
        counts = [str(found[name]) for name in ("samples", "marked", "good")]
        majority = "yes" if found["majority"] else "no"
        made.add_row(names[about], counts[0], shares[0], *counts[1:], shares[1], majority)
    return made
