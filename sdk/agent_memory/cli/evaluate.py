"""`agent-memory eval` and `judge`: how well a search finds what answers a question, and samples for people to judge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType

from agent_memory.cli.answered import by_judge, by_labels
from agent_memory.cli.failures import FAILED
from agent_memory.cli.options import BudgetOption, ConversationsOption, JsonOption, examples, invocation
from agent_memory.cli.terminal import emit, one_line, progress, stderr, stdout
from agent_memory.cli.views import heading, miss_view, table
from agent_memory.errors import ConfigurationError, InvalidInput

if TYPE_CHECKING:
    from agent_memory.evaluation import Adapter


EXAMPLES = examples(
    "eval locomo10.json",
    "eval locomo10.json --store eval.db --json --out answers.jsonl --plot recall.png",
    "eval locomo10.json --adapter my_adapters:OtherMemory",
    "eval locomo10.json --answers --recorded answers.jsonl",
    "eval --extraction sentences.jsonl --json",
    "eval --extraction sentences.jsonl --judge --recorded marks.jsonl",
)
WHERE = "LoCoMo is at github.com/snap-research/locomo: data/locomo10.json (CC BY-NC 4.0)"


def evaluate(
    dataset: Annotated[
        Path | None, typer.Argument(metavar="DATASET", help=f"A file of LoCoMo, LongMemEval or BEAM, as JSON. {WHERE}.")
    ] = None,
    extraction: Annotated[
        Path | None,
        typer.Option(
            "--extraction",
            metavar="FILE",
            help="Labelled messages: measure what the rules extract from them without a model.",
        ),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="With --extraction: one model extracts, and another marks the result.")
    ] = False,
    adapter: Annotated[
        str | None,
        typer.Option("--adapter", metavar="MODULE:NAME", help="Another system: a callable that returns an Adapter."),
    ] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Whether to measure plain searches for comparison.")
    ] = True,
    conversations: ConversationsOption = None,
    budget: BudgetOption = 650,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="PATH", help="Keep the ingested conversations for the next run."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write every result as a line of JSON.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw recall as PNG, SVG or PDF.")] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Let a model answer the questions, and another judge the answers.")
    ] = False,
    recorded: Annotated[
        Path | None,
        typer.Option("--recorded", metavar="FILE", help="Save the models' answers here, and reuse them in later runs."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation of the cost.")] = False,
    show_misses: Annotated[
        bool,
        typer.Option("--misses", help="For each missed question, show why, and what ranks before its evidence."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure recall on conversations with known answers.

    Evidence recall at k: of the turns that answer a question, the share that is among the first k turns found. A memory
    counts as the turns that it comes from. Overall figures leave adversarial questions out.

    With --answers, the model set in the environment answers each question from its context, and the model of the role
    `judge` decides whether the answer is correct. The command first prints how many calls and tokens it needs.
    Questions that stay without an answer are in no share; the exit status is 1 if all do.

    With --extraction it measures memories instead of recall: by the labels of the file, or with --judge by a rubric,
    which it prints.
    """
    if extraction is not None:
        if judge:
            by_judge(extraction, recorded, out, sure=yes, as_json=as_json)
        else:
            by_labels(extraction, out, as_json=as_json)
        return
    if judge:
        raise InvalidInput("--judge marks what is extracted: add --extraction FILE")
    if dataset is None:
        raise InvalidInput(f"there is nothing to measure: give a DATASET or --extraction FILE. {WHERE}")
    from agent_memory.cli.answered import answered, check_models
    from agent_memory.evaluation import AgentMemory, baselines as plain_searches, evaluate as run
    from agent_memory.evaluation.adapters import CachedEmbeddings
    from agent_memory.evaluation.dataset import read_dataset
    from agent_memory.evaluation.misses import misses, report as misses_report
    from agent_memory.evaluation.recorded import cases
    from agent_memory.language.defaults import default_embeddings

    if answers:
        check_models(recorded)
    given, skipped = read_dataset(dataset)
    chosen = given[:conversations]
    embeddings = CachedEmbeddings(default_embeddings())
    made = AgentMemory(store, embeddings=embeddings) if adapter is None else load_adapter(adapter)
    opened: AbstractContextManager[Any] = made if isinstance(made, AbstractContextManager) else nullcontext(made)
    with opened as system, progress("Evaluating") as show:
        others = plain_searches(embeddings) if baselines else []
        done = run(system, chosen, baselines=others, budget=budget, progress=show)
        asked = cases(system, chosen, budget) if answers else []
        missed = misses(system, chosen) if show_misses else []
    report = {"dataset": dataset.name, "questions_without_evidence": skipped, **done.report()}
    if show_misses:
        report["misses"] = misses_report(missed)
    rows = done.rows()
    if answers:
        report["answers"], more = answered(asked, recorded, sure=yes, as_json=as_json)
        rows += more
    if out is not None:
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    if plot is not None:
        from agent_memory.evaluation.plot import draw, recall_panels

        draw(f"{report['dataset']}: {report['overall']['questions']} questions", recall_panels(report), plot)
    if as_json:
        emit(report)
    else:
        stdout().print(view(report))
        stdout().print(*map(miss_view, missed), sep="\n")
    if answers and 0 < len(asked) == report["answers"]["failed"]:
        raise typer.Exit(FAILED)


def load_adapter(name: str) -> Adapter:
    """Creates the system that `module:attribute` names.

    Raises:
        ConfigurationError: if it does not exist, or lacks the methods of an adapter.
    """
    from agent_memory.evaluation import Adapter

    module, _, attribute = name.partition(":")
    try:
        made = getattr(import_module(module), attribute)()
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"no adapter {one_line(name)} (module:attribute): {error}") from error
    if not isinstance(made, Adapter):
        raise ConfigurationError(f"{name} is not an adapter: it needs name, ingest, search and context")
    return made


def view(report: Mapping[str, Any]) -> RenderableType:
    """The report as tables."""
    overall = report["overall"]
    parts: list[RenderableType] = [
        f"{report['dataset']}: {report['conversations']} conversations, {report['turns']} turns, "
        f"{overall['questions']} questions (without adversarial)",
        heading("Overall"),
        _figures({report["system"]: overall, **report["baselines"]}),
        heading(f"{report['system']}, by category"),
        _figures(report["categories"]),
    ]
    told = report["context"]
    if "hit" in told:
        parts += [
            heading(f"Context of {told['budget']} tokens"),
            f"some evidence {told['hit']:.1%}, all evidence {told['all_evidence']:.1%}, "
            f"{told['tokens']:.0f} tokens on average, {told['milliseconds_p50']:.1f} ms, "
            f"{told['useful_lines']:.1%} of the lines from evidence",
        ]
    if rated := report.get("answers"):
        from agent_memory.cli.answered import answers_view

        parts += answers_view(rated)
    updates, unanswerable = report["updates"], report["abstention"]
    if updates["questions"]:
        parts.append(
            f"Changes: {updates['questions']} questions; today's answer in {updates['current']}, only an older one in "
            f"{updates['stale_only']}, both without a mark in {updates['both_unmarked']}"
        )
    if unanswerable["questions"]:
        parts.append(f"Unanswerable: {unanswerable['questions']} questions, {unanswerable['tokens']:.0f} tokens each")
    if curve := report["relevance"]:
        shares = ", ".join(f"{step} {one['evidence']:.0%} of {one['contexts']}" for step, one in curve.items())
        parts.append(f"Contexts that contain evidence, by relevance (from): {shares}")
    if missed := report.get("misses"):
        counts = ", ".join(f"{name} {number}" for name, number in missed["classes"].items())
        parts.append(f"Missed, at least in part: {missed['count']} questions ({counts})")
    return Group(*parts)


def _figures(rows: Mapping[str, Mapping[str, float]]) -> RenderableType:
    names: Sequence[str] = [name for name in next(iter(rows.values())) if name not in ("questions", "milliseconds_p50")]
    made = table("", "questions", *names, "ms", right=["questions", *names, "ms"])
    for label, figures in rows.items():
        made.add_row(label, *_cells(figures, names))
    return made


def _cells(figures: Mapping[str, float], names: Iterable[str]) -> list[str]:
    if not figures["questions"]:
        return ["0"]
    shares = (f"{figures[name]:.1%}" for name in names)
    return [f"{figures['questions']}", *shares, f"{figures['milliseconds_p50']:.1f}"]


JUDGE_EXAMPLES = examples("judge locomo10.json --out judge.md", "judge --marks judge.md")


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
        with AgentMemory(store) as system, progress("Ingesting") as show:
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
    columns = ["samples", "automatic", "marked", "good", "share"]
    made = table("", *columns, "majority", right=columns)
    names = {"memory": "shown, and helpful", "fact": "extracted, and correct"}
    for about, found in report.items():
        shares = ["" if found[name] is None else f"{found[name]:.0%}" for name in ("machine", "share")]
        counts = [str(found[name]) for name in ("samples", "marked", "good")]
        majority = "yes" if found["majority"] else "no"
        made.add_row(names[about], counts[0], shares[0], *counts[1:], shares[1], majority)
    return made
