"""A fleet of users in simulated time, on costs measured from the real code: how far it scales, and what limits it.

    python benchmarks/fleet.py                        the table from 1,000 to 10 million users
    python benchmarks/fleet.py --noisy --backfill     one user who writes 100 times the rest; a million imported turns
    python benchmarks/fleet.py --measure              measures the code anew, and writes scale/measured.json

`fleet_measure.py` runs the real feed, counters, starts and workflows on the embedded engine and counts what they ask.
`fleet_simulation.py` has users write, and everything else wait for what it needs. Ten million users come from the model
in `agent_memory.scale`, which the table compares with the simulation at each size.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fleet_simulation import Fleet, Scene

from agent_memory.evaluation.plot import Panel, draw
from agent_memory.scale.figures import Measured, measured, prices
from agent_memory.scale.model import (
    Cloud,
    Load,
    estimate,
)

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

MEASURED = Path(__file__).parents[1] / "sdk/agent_memory/scale/measured.json"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
ENOUGH = {"chat_capacity": 1_000_000, "embedding_capacity": 1_000_000, "instances": 1000}
"""Quotas of the models and instances that are no limit, to see the others."""


def deployment(users: int) -> Cloud:
    """A deployment for so many users: the first limits of a smaller one are moved as `estimate` says."""
    cloud = Cloud(**ENOUGH)  # type: ignore[arg-type]
    if users >= 100_000:
        cloud = replace(cloud, scheduler=True)
    if users >= 100_000:  # more than a serverless container holds soon
        peak = max(estimate(Load(users), cloud, measured(), prices()).ru_a_second.values())
        cloud = replace(cloud, autoscale_ru=max(10_000, int(-(-peak * 1.5 // 10_000)) * 10_000))
    return cloud


def simulate(
    users: int, scene: Scene, seconds: float, figures: Measured, chat_capacity: int | None = None
) -> dict[str, Any]:
    """One size; its figures, and how long that took here."""
    began = time.process_time()
    cloud = deployment(users)
    cloud = cloud if chat_capacity is None else replace(cloud, chat_capacity=chat_capacity)
    fleet = Fleet(Load(users), cloud, figures, replace(scene), seconds)
    fleet.run()
    return fleet.report() | {"simulated_seconds": seconds, "processor_seconds": round(time.process_time() - began, 1)}


def table(rows: list[dict[str, Any]]) -> str:
    """The figures for a person."""
    names = {
        "users": "users",
        "turns_a_second": "turns/s",
        "leases": "leases",
        "lag_p99": "lag p99 s",
        "until_extracted_p99": "facts p99 s",
        "hottest_partition_ru": "hottest RU/s",
        "durable_messages_a_second": "messages/s",
        "instances": "instances",
        "cost_a_month": "USD/month",
    }
    lines = ["".join(f"{name:>14}" for name in names.values())]
    for row in rows:
        lines.append("".join(f"{'-' if row[name] is None else row[name]:>14}" for name in names))
    return "\n".join(lines)


def panels(rows: list[dict[str, Any]]) -> list[Panel]:
    """The table as pictures: how long work waits, what it needs, and what it costs, by the number of users."""
    lines = {
        ("Waiting", "seconds, p99"): {"until counted": "lag_p99", "until extracted": "until_extracted_p99"},
        ("Load", "a second"): {"RU of the hottest partition": "hottest_partition_ru", "turns": "turns_a_second"},
        ("Cost", "USD a month"): {"cost": "cost_a_month"},
    }
    return [
        Panel(
            title,
            "users",
            unit,
            {name: [(row["users"], row[key] or None) for row in rows] for name, key in named.items()},
            logarithmic=True,
        )
        for (title, unit), named in lines.items()
    ]


def expected(users: int, figures: Measured) -> dict[str, Any]:
    """A size too large to simulate, from the model."""
    found = estimate(Load(users), deployment(users), figures, prices())
    return {
        "users": users,
        "turns_a_second": found.peak_turns_a_second,
        "leases": found.leases,
        "lag_p99": found.lag_p99,
        "until_extracted_p99": None,
        "hottest_partition_ru": found.hottest_partition_ru,
        "durable_messages_a_second": found.durable_messages_a_second,
        "instances": found.instances,
        "cost_a_month": round(found.total),
        "first_limit": f"{found.first_limit.name}, enough for {found.first_limit.users:,} users",
        "model": True,
    }


def main() -> int:
    """Runs what is asked for; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--measure", action="store_true", help="measure the code anew")
    options.add_argument("--users", type=int, action="append", help="a size, instead of all")
    options.add_argument("--seconds", type=float, help="simulated time; else 300,000 turns long")
    options.add_argument("--noisy", action="store_true", help="user 0 writes 100 times the rest")
    options.add_argument("--backfill", type=int, default=0, metavar="TURNS", help="turns that are imported meanwhile")
    options.add_argument("--backfill-rate", type=float, default=0, metavar="PER_SECOND", help="how fast")
    options.add_argument(
        "--backfill-at-once", type=int, default=20, metavar="USERS", help="imported users processed at the same time"
    )
    options.add_argument("--chat-capacity", type=int, metavar="THOUSANDS", help="tokens of the chat model a minute")
    options.add_argument("--json", action="store_true", help="print JSON only")
    options.add_argument("--plot", type=Path, metavar="FILE", help="draw the table as PNG, SVG or PDF, too")
    arguments = options.parse_args()
    if arguments.measure:
        from fleet_measure import figures_of, measure

        found = figures_of(measure(), datetime.now(UTC).date().isoformat())
        MEASURED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"written: {MEASURED}")
        return 0
    figures = measured()
    scene = Scene(
        100 if arguments.noisy else 0, arguments.backfill, arguments.backfill_rate, arguments.backfill_at_once
    )
    rows = []
    for users in arguments.users or SIZES:
        load = Load(users)
        seconds = arguments.seconds or min(3600.0, 300_000 / (load.turns_a_second * load.peak))
        rows.append(simulate(users, scene, seconds, figures, arguments.chat_capacity))
    if not arguments.users:
        rows.append(expected(10_000_000, figures))
    print(json.dumps(rows, indent=2) if arguments.json else table(rows))
    if arguments.plot:
        draw("A fleet of users, simulated", panels(rows), arguments.plot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
