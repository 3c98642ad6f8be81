"""`agent-memory status` and `doctor`: a store at a glance, and whether everything that is set up answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_memory.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    examples,
    existing_store,
    invocation,
    is_url,
)
from agent_memory.cli.reembed import store_model
from agent_memory.cli.terminal import clean, counted, emit, one_line, stderr, stdout
from agent_memory.cli.views import day, day_and_time, table
from agent_memory.errors import AgentMemoryError, ConfigurationError

if TYPE_CHECKING:
    from agent_memory import Memory
    from agent_memory.language.examination import Examination, Finding
    from agent_memory.models import Health, Stats


BAR = 12
"""Characters of the longest bar."""
SHOWN_USERS = 20
ROOMY = 90
"""Terminals with fewer columns get a short table."""


EXAMPLES = examples(
    "status",
    "status --watch",
    "status --watch --interval 10 --json --store https://memory.example",
)

SHORTEST, LONGEST = 0.2, 3600.0
"""Seconds between two refreshes."""


def status(
    store: StoreOption = DEFAULT_STORE,
    watched: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Refresh until Ctrl-C; with --json print a line of JSON each time."
            " For a store file, it also processes what waits; for a server, it shows the server's work.",
        ),
    ] = False,
    interval: Annotated[
        float,
        typer.Option("--interval", metavar="SECONDS", min=SHORTEST, max=LONGEST, help="Seconds between two refreshes."),
    ] = 2.0,
    as_json: JsonOption = False,
) -> None:
    """Show what the store holds and what is waiting. With --watch, also process what waits in a store file."""
    from agent_memory.settings import Environment

    with existing_store(store, needs_model=False) as memory:
        if watched:
            from agent_memory.cli.watch import watch  # models are heavy, and no other command needs them for its help

            watch(memory.health, store, interval, as_json=as_json)
            return
        health = memory.health()
        users = _counts(memory, store)
    endpoint = None if is_url(store) else Environment().cosmos_endpoint
    if endpoint is not None:
        stderr().print(
            f"This is the store file {store}, and not the account in COSMOS_DB_ENDPOINT. To see that one, name the URL"
            " of its server with --store.",
            soft_wrap=True,
        )
    size = Path(store).stat().st_size if Path(store).exists() else None
    if as_json:
        emit({"health": health, "bytes": size, "users": users})
    else:
        console = stdout()
        console.print(_parts(store, size, health, None if users is None else users.values()))
        if users is not None:
            console.print(_users(users, console.width))
    if not health.ok:
        raise typer.Exit(1)


def _counts(memory: Memory, store: str) -> dict[str, Stats] | None:
    """What each user has; None for an operator of a server who may not act for its users."""
    users = memory.users()
    try:
        return {user: memory.user(user).stats() for user in users}
    except ConfigurationError as refused:
        if not is_url(store):
            raise
        stderr().print(f"The counts of its {counted(len(users), 'user')} are not shown: {refused}", soft_wrap=True)
        return None


def _held(users: Collection[Stats]) -> str:
    types: Counter[str] = sum((Counter(counts.memories_by_type) for counts in users), Counter())
    which = ", ".join(f"{number} {name}" for name, number in types.most_common())
    return f"{which}; {sum(counts.superseded for counts in users)} replaced" if which else "none"


def _parts(store: str, size: int | None, health: Health, users: Collection[Stats] | None) -> RenderableType:
    since = f" since {day_and_time(health.oldest_unprocessed)}" if health.oldest_unprocessed else ""
    waiting = f"{counted(health.unprocessed_turns, 'turn')}{since}; {invocation('process', '--store', store)}"
    letters = f"{health.dead_letters}; {invocation('dead-letters', '--store', store)}"
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_row("store", f"{clean(health.store)}{'' if size is None else f', {size / 1e6:.1f} MB'}")
    made.add_row("state", "ok" if health.ok else Text("NOT OK", style="bold"))
    made.add_row("models", f"{health.chat_model}, {health.embedding_model}")
    if users is not None:
        made.add_row("memories", _held(users))
    made.add_row("waiting", waiting if health.unprocessed_turns else "nothing, all turns are processed")
    made.add_row("dead letters", letters if health.dead_letters else "none")
    for warning in health.warnings:
        made.add_row("warning", one_line(warning))
    return made


def _users(users: Mapping[str, Stats], width: int) -> RenderableType:
    if not users:
        return "\nThe store is empty."
    most = max(counts.memories for counts in users.values()) or 1
    largest = sorted(users.items(), key=lambda item: (-item[1].memories, item[0]))[:SHOWN_USERS]
    bars = {user: "█" * -(-counts.memories * BAR // most) for user, counts in largest}
    columns: dict[str, Callable[[str, Stats], str]] = {
        "user": lambda user, _: one_line(user, 24),
        "threads": lambda _, counts: str(counts.threads),
        "turns": lambda _, counts: str(counts.turns),
        "waiting": lambda _, counts: str(counts.unprocessed_turns),
        "memories": lambda _, counts: str(counts.memories),
        "": lambda user, _: bars[user],
        "replaced": lambda _, counts: str(counts.superseded),
        "newest": lambda _, counts: counts.paused or day(counts.newest_memory),
    }
    if width < ROOMY:
        columns = {name: columns[name] for name in ("user", "turns", "waiting", "memories", "newest")}
    made = table(*columns, right=set(columns) - {"user", "", "newest"})
    for user, counts in largest:
        made.add_row(*(cell(user, counts) for cell in columns.values()))
    more = [Text(f"and {len(users) - len(largest)} more users", style="dim")] if len(users) > len(largest) else []
    return Group("", made, *more)


DOCTOR_EXAMPLES = examples("doctor", "doctor --store memory.db --json")


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
        made.add_row("API", one.dialect)
    if one.dimensions:
        made.add_row("vectors", f"{one.dimensions} dimensions")
    if one.usage.model_calls:
        made.add_row("cost", f"{one.usage.input_tokens} tokens in, {one.usage.output_tokens} out")
    for name, value in one.quota.items():
        made.add_row("limits", one_line(f"{name}: {value}"))
    for advice in one.advice:
        made.add_row("advice", advice)
    return Group(made, "")
