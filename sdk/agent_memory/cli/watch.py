"""`agent-memory status --watch`: waiting work and failures, refreshed until Ctrl-C."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agent_memory.cli.terminal import clean, counted, one_line, shown_json, stdout
from agent_memory.cli.views import day_and_time
from agent_memory.models import iso, now

if TYPE_CHECKING:
    from agent_memory.models import EndpointHealth, Health


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
