"""`agent-memory status` and `doctor`: a store at a glance, and whether everything that is set up answers."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.live import Live
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
from agent_memory.cli.terminal import clean, counted, emit, one_line, shown_json, stderr, stdout
from agent_memory.cli.views import day, day_and_time, table
from agent_memory.errors import AgentMemoryError
from agent_memory.models import iso, now

if TYPE_CHECKING:
    from agent_memory.language.examination import Examination, Finding
    from agent_memory.models import EndpointHealth, Health, Stats

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
            from agent_memory.cli.status import watch  # models are heavy, and no other command needs them for its help

            watch(memory.health, store, interval, as_json=as_json)
            return
        health = memory.health()
        users = {user: memory.user(user).stats() for user in memory.users()}
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


@dataclass(frozen=True, slots=True)
class Sample:
    """The state at one moment."""

    at: datetime
    health: Health

    @property
    def lag(self) -> float:
        """How long the oldest waiting turn has waited, in seconds; 0 if none waits."""
        since = self.health.oldest_unprocessed
        return 0.0 if since is None else max(0.0, (self.at - since).total_seconds())

    @property
    def tokens(self) -> int:
        """How many tokens background work has used in the process that answers, since it started."""
        usage = self.health.usage
        return usage.input_tokens + usage.output_tokens + usage.embedded_tokens

    def row(self) -> dict[str, Any]:
        """The line of JSON."""
        health = self.health
        return {
            "at": iso(self.at),
            "ok": health.ok,
            "unprocessed_turns": health.unprocessed_turns,
            "lag_seconds": round(self.lag, 1),
            "dead_letters": health.dead_letters,
            "paused_users": health.paused_users,
            "budget": health.budget and health.budget.model_dump(mode="json"),
            "tokens": self.tokens,
            "model_calls": health.usage.model_calls,
            "request_units": round(health.usage.request_units, 1),
            "models": {name: model.model_dump(mode="json") for name, model in health.models.items()},
            "warnings": health.warnings,
        }


def watch(
    look: Callable[[], Health],
    store: str,
    interval: float,
    *,
    as_json: bool,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Shows what `look` returns every `interval` seconds until Ctrl-C: in place at a terminal, else line by line."""
    try:
        if as_json:
            _watch_as_lines(look, interval, pause)
        else:
            _watch_live(look, store, interval, pause)
    except KeyboardInterrupt as stopped:
        if type(stopped) is not KeyboardInterrupt:  # SIGTERM, which the command handles differently
            raise


def _watch_as_lines(look: Callable[[], Health], interval: float, pause: Callable[[float], None]) -> None:
    while True:
        row = Sample(now(), look()).row()
        sys.stdout.write(shown_json(json.dumps(row, ensure_ascii=False)) + "\n")
        sys.stdout.flush()
        pause(interval)


def _watch_live(look: Callable[[], Health], store: str, interval: float, pause: Callable[[float], None]) -> None:
    console = stdout()
    before: Sample | None = None
    # In a pipe nothing can be overwritten: each refresh is printed below the one before.
    with Live(console=console, auto_refresh=False) if console.is_terminal else nullcontext() as live:
        while True:
            sample = Sample(now(), look())
            shown = view(store, sample, before)
            if live is None:
                console.print(shown, "")
            else:
                live.update(shown, refresh=True)
            before = sample
            pause(interval)


def view(store: str, sample: Sample, before: Sample | None) -> RenderableType:
    """The view of a sample; with the previous one, also the rates."""
    health = sample.health
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_row("store", f"{clean(store)}, {day_and_time(sample.at)} (Ctrl-C to stop)")
    made.add_row("state", "ok" if health.ok else Text("NOT OK", style="bold"))
    made.add_row("waiting", counted(health.unprocessed_turns, "turn") + _moved(sample, before))
    made.add_row("lag", f"{sample.lag:.0f} s" if sample.lag else "none")
    made.add_row("dead letters", str(health.dead_letters))
    made.add_row("tokens", f"{sample.tokens:,} in {counted(health.usage.model_calls, 'call')}" + _spent(sample, before))
    made.add_row("request units", f"{health.usage.request_units:,.0f}")
    if health.paused_users:
        made.add_row("paused", f"{counted(health.paused_users, 'user')}, whose budget for today is spent")
    if health.budget:
        made.add_row("budget", f"{health.budget.tokens:,} of {health.budget.most_tokens:,} tokens today, for all users")
    for name, model in health.models.items():
        made.add_row(name, _model(model, sample.at))
    for warning in health.warnings:
        made.add_row("warning", one_line(warning))
    return made


def _moved(sample: Sample, before: Sample | None) -> str:
    if before is None or (seconds := (sample.at - before.at).total_seconds()) <= 0:
        return ""
    fewer = before.health.unprocessed_turns - sample.health.unprocessed_turns
    return f", {abs(fewer) / seconds:.1f} a second {'fewer' if fewer > 0 else 'more'}" if fewer else ""


def _spent(sample: Sample, before: Sample | None) -> str:
    more = 0 if before is None else sample.tokens - before.tokens
    return f", {more:,} since the last refresh" if more > 0 else ""


def _model(model: EndpointHealth, at: datetime) -> str:
    """The state of a model's service, from the circuit breaker."""
    if model.answers is False:
        left = model.next_attempt_at
        again = f", called again in {max(0.0, (left - at).total_seconds()):.0f} s" if left else ""
        pauses = f", pause {model.pauses}" if model.pauses else ""
        since = f" since {day_and_time(model.failing_since)}" if model.failing_since else ""
        return f"fails ({model.fault}){since}{pauses}{again}"
    if model.recovering:
        return "recovers"
    return "answers" if model.answers else "not called yet"
