"""`agent-memory status`: a store at a glance: its contents, waiting work and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_memory.cli.options import DEFAULT_STORE, JsonOption, StoreOption, examples, existing_store, invocation
from agent_memory.cli.terminal import clean, counted, emit, one_line, stdout
from agent_memory.cli.views import day, day_and_time, table

if TYPE_CHECKING:
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
            " A store file is also processed meanwhile; for a server, its own work is shown.",
        ),
    ] = False,
    interval: Annotated[
        float,
        typer.Option("--interval", metavar="SECONDS", min=SHORTEST, max=LONGEST, help="Seconds between two refreshes."),
    ] = 2.0,
    as_json: JsonOption = False,
) -> None:
    """Show what the store holds and what is waiting."""
    with existing_store(store) as memory:
        if watched:
            from agent_memory.cli.watch import watch  # models are heavy, and no other command needs them for its help

            watch(memory.health, store, interval, as_json=as_json)
            return
        health = memory.health()
        users = {user: memory.user(user).stats() for user in memory.users()}
    size = Path(store).stat().st_size if Path(store).exists() else None
    if as_json:
        emit({"health": health, "bytes": size, "users": users})
    else:
        console = stdout()
        console.print(_parts(store, size, health, users.values()), _users(users, console.width), sep="\n")
    if not health.ok:
        raise typer.Exit(1)


def _parts(store: str, size: int | None, health: Health, users: Collection[Stats]) -> RenderableType:
    types: Counter[str] = sum((Counter(counts.memories_by_type) for counts in users), Counter())
    which = ", ".join(f"{number} {name}" for name, number in types.most_common())
    held = f"{which}; {sum(counts.superseded for counts in users)} replaced" if which else "none"
    since = f" since {day_and_time(health.oldest_unprocessed)}" if health.oldest_unprocessed else ""
    waiting = f"{counted(health.unprocessed_turns, 'turn')}{since}; {invocation('process', '--store', store)}"
    letters = f"{health.dead_letters}; {invocation('dead-letters', '--store', store)}"
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_row("store", f"{clean(health.store)}{'' if size is None else f', {size / 1e6:.1f} MB'}")
    made.add_row("state", "ok" if health.ok else Text("NOT OK", style="bold"))
    made.add_row("models", f"{health.chat_model}, {health.embedding_model}")
    made.add_row("memories", held)
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
