"""`agent-memory doctor`: checks the models in the environment, and says what to change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_memory.cli.options import DEFAULT_STORE, JsonOption, StoreOption, examples, invocation
from agent_memory.cli.reembed import store_model
from agent_memory.cli.terminal import emit, one_line, stderr, stdout
from agent_memory.errors import AgentMemoryError

if TYPE_CHECKING:
    from agent_memory.language.examination import Examination, Finding

EXAMPLES = examples("doctor", "doctor --store memory.db --json")


def doctor(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Ask each model of the environment one small question.

    Reports how each model is called, its latency, the limits that its service states, and what to change. An extraction
    costs about 2,000 tokens. If there is a store, it also reports whether its vectors come from this embedding model.
    The exit status is 1 if a model does not answer, or if the store uses another one.
    """
    from agent_memory.language.defaults import models_named_by
    from agent_memory.language.examination import examine
    from agent_memory.settings import Environment

    environment = Environment()
    found = asyncio.run(examine(*models_named_by(environment)))
    try:
        filled_by = asyncio.run(store_model(store, environment))
    except AgentMemoryError as error:
        stderr().print(f"The store's embedding model could not be read: {error}", soft_wrap=True)
        filled_by = None
    if filled_by is not None:
        to = environment.embeddings or "PROVIDER:MODEL"
        way_out = f"Set AGENT_MEMORY_EMBEDDINGS to the store's model, or: {invocation('reembed', '--to', to)}"
        found = found.beside(filled_by, way_out)
    if as_json:
        emit(found)
    else:
        stdout().print(_shown(found))
    if not found.ok:
        raise typer.Exit(1)


def _shown(found: Examination) -> RenderableType:
    parts: list[RenderableType] = [_finding(one) for one in found.findings]
    if found.store_model:
        parts.append(Text(f"The store uses {one_line(found.store_model)}.", style="dim"))
    parts += [Text(f"{role} is switched off.", style="dim") for role in found.roles_off]
    return Group(*parts)


def _finding(one: Finding) -> RenderableType:
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_row(one.part, Text(one_line(one.model), style="bold"))
    state = f"answers, {one.seconds:.1f} s" if one.answers else Text("DOES NOT ANSWER", style="bold")
    made.add_row("state", state)
    if one.problem:
        made.add_row("problem", one_line(one.problem))
    if one.dialect:
        made.add_row("called by", one.dialect)
    if one.dimensions:
        made.add_row("vectors", f"{one.dimensions} dimensions")
    if one.usage.model_calls:
        made.add_row("cost", f"{one.usage.input_tokens} tokens in, {one.usage.output_tokens} out")
    for name, value in one.quota.items():
        made.add_row("limits", one_line(f"{name}: {value}"))
    for advice in one.advice:
        made.add_row("advice", advice)
    return Group(made, "")
