"""`agent-memory estimate`: what a number of users needs in Azure, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_memory.cli.options import JsonOption, examples
from agent_memory.cli.terminal import emit, stdout
from agent_memory.cli.views import heading, table

if TYPE_CHECKING:
    from agent_memory.scale.model import Estimate

EXAMPLES = examples(
    "estimate --users 1000",
    "estimate --users 1000000 --turns-per-day 10 --autoscale-ru 40000 --instances 400",
    "estimate --users 100000 --json",
)


def estimate(
    users: Annotated[
        int, typer.Option("--users", metavar="N", min=1, max=1_000_000_000, help="Number of active users.")
    ],
    turns_per_day: Annotated[
        float,
        typer.Option("--turns-per-day", metavar="D", min=0.001, max=100_000, help="Turns that each user writes a day."),
    ] = 10.0,
    contexts: Annotated[
        float,
        typer.Option("--contexts-per-turn", metavar="C", min=0, max=100, help="Contexts requested for each turn."),
    ] = 0.5,
    peak: Annotated[
        float,
        typer.Option(
            "--peak", metavar="FACTOR", min=1, max=1000, help="Load of the busiest hour, as a multiple of the average."
        ),
    ] = 4.0,
    autoscale_ru: Annotated[
        int,
        typer.Option(
            "--autoscale-ru", metavar="RU", min=0, help="Highest RU/s of each container (1000 or more); 0: serverless."
        ),
    ] = 0,
    instances: Annotated[
        int, typer.Option("--instances", metavar="N", min=1, max=1000, help="Maximum instances of the function app.")
    ] = 40,
    chat_capacity: Annotated[
        int, typer.Option("--chat-capacity", metavar="K", min=1, help="Quota of the chat model, 1,000 tokens a minute.")
    ] = 30,
    embedding_capacity: Annotated[
        int,
        typer.Option(
            "--embedding-capacity", metavar="K", min=1, help="Quota of the embedding model, 1,000 tokens a minute."
        ),
    ] = 30,
    dimensions: Annotated[
        int, typer.Option("--dimensions", metavar="N", min=1, max=4096, help="Length of a vector.")
    ] = 1536,
    scheduler: Annotated[
        bool, typer.Option("--scheduler", help="Use a Durable Task Scheduler instead of the storage account.")
    ] = False,
    price_table: Annotated[
        Path | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="Your prices as JSON, in the format of agent_memory/scale/prices.json of the package.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate resources and costs in Azure for a number of users."""
    from agent_memory.scale.figures import measured, prices
    from agent_memory.scale.model import Cloud, Load, estimate as estimated

    if 0 < autoscale_ru < 1000:
        raise typer.BadParameter("autoscale starts at 1000 RU/s; 0 means serverless", param_hint="--autoscale-ru")
    found = estimated(
        Load(users, turns_per_day, contexts, peak),
        Cloud(autoscale_ru, instances, chat_capacity, embedding_capacity, scheduler, dimensions=dimensions),
        measured(),
        prices(price_table),
    )
    if as_json:
        emit(found.to_json())
    else:
        stdout().print(_view(found))


def _enough(users: int) -> str:
    return f"{users:,} users" if users < 10**9 else "any number"


def _view(found: Estimate) -> RenderableType:
    needs = Table.grid(padding=(0, 2))
    lag = "the change feed falls behind" if found.lag_p99 is None else f"{found.lag_p99:g} s"
    rows = {
        "turns a second": f"{found.turns_a_second:g} on average, {found.peak_turns_a_second:g} at the peak",
        "leases of the change feed": f"{found.leases}, each handles {found.turns_a_second_a_lease:g} turns a second",
        "wait to be counted, 99 of 100 turns": lag,
        "orchestrations a second": f"{found.orchestrations_a_second:g}, {found.durable_messages_a_second:g} messages",
        "instances of the function app": str(found.instances),
        "tokens of the chat model a minute": f"{found.tokens_a_minute:,.0f}",
        "requests to the embedding model a minute": f"{found.embedding_requests_a_minute:,.0f}",
        "RU/s": ", ".join(f"{name} {value:,.0f}" for name, value in found.ru_a_second.items()),
        "RU/s of the hottest partition": f"{found.hottest_partition_ru:,.0f}",
        "GB after a month": ", ".join(f"{name} {size:,.1f}" for name, size in found.storage_gb.items()),
    }
    for name, value in rows.items():
        needs.add_row(name, value)
    limits = table("limit", "used", "enough for", "setting", right=["used", "enough for"])
    for limit in found.limits:
        limits.add_row(limit.name, f"{limit.used:.0%}", _enough(limit.users), limit.setting)
    cost = table("item", "a month", right=["a month"])
    for item, price in found.cost.items():
        cost.add_row(item, f"{price:,.2f}")
    cost.add_row("sum", Text(f"{found.total:,.2f}", style="bold"))
    load = found.load
    return Group(
        heading(f"{load.users:,} users with {load.turns_per_day:g} turns a day, at the peak"),
        needs,
        heading("What runs out first"),
        limits,
        heading("What it costs"),
        cost,
        heading("Assumed"),
        *(Text(f"- {one}") for one in found.assumptions),
    )
