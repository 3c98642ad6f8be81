"""The figures behind the model: the code's requests to the store for each turn, and prices.

`python benchmarks/fleet.py --measure` writes `measured.json` from the code. `prices.json` is a table with its date.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_memory.errors import InvalidInput


class Prices(BaseModel):
    """List prices, in `currency`, as of `date`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: str
    currency: str
    source: str
    chat_input_per_million_tokens: float
    chat_output_per_million_tokens: float
    embeddings_per_million_tokens: float
    cosmos_serverless_per_million_ru: float
    cosmos_autoscale_per_100_ru_hour: float
    cosmos_storage_per_gb_month: float
    functions_per_gb_second: float
    functions_per_million_executions: float
    queue_operations_per_million: float
    logs_per_gb: float


@dataclass(frozen=True, slots=True)
class Work:
    """The cost of one run of an orchestration: sequential requests, activities, request units by container."""

    in_a_row: float
    activities: float
    units: dict[str, float]


@dataclass(frozen=True, slots=True)
class Measured:
    """The costs of the code, on the measured sample.

    The feed's figures are straight lines: a constant for each batch, and what each thread and each user in it adds.
    `runs` says how many orchestrations 100 turns start.
    """

    date: str
    batch: int
    feed_in_a_row: tuple[float, float, float]
    feed_units: dict[str, tuple[float, float, float]]
    runs: dict[str, float]
    work: dict[str, Work]
    finish: Work
    add: Work
    context: Work
    tokens_in: float
    tokens_out: float
    tokens_embedded: float
    embedding_calls: float
    """Of background work; each context has one more."""
    model_calls: float

    def feed_seconds(self, threads: float, users: float, latency: float) -> float:
        """The duration of a batch of these threads and users, if a request to the store takes `latency` seconds."""
        constant, by_thread, by_user = self.feed_in_a_row
        return (constant + by_thread * threads + by_user * users) * latency


def measured() -> Measured:
    """The packaged figures."""
    found = _packaged("measured.json")
    works = {name: _work(one) for name, one in found["work"].items()}
    return Measured(
        date=found["date"],
        batch=found["batch"],
        feed_in_a_row=tuple(found["feed_in_a_row"]),
        feed_units={name: tuple(line) for name, line in found["feed_units"].items()},
        runs={name: count / 100 for name, count in found["runs_per_100_turns"].items()},
        work=works,
        finish=_work(found["finish"]),
        add=_work(found["add"]),
        context=_work(found["context"]),
        tokens_in=found["tokens_in_per_100_turns"] / 100,
        tokens_out=found["tokens_out_per_100_turns"] / 100,
        tokens_embedded=found["tokens_embedded_per_100_turns"] / 100,
        embedding_calls=found["embedding_calls_per_100_turns"] / 100,
        model_calls=found["model_calls_per_100_turns"] / 100,
    )


def prices(path: Path | None = None) -> Prices:
    """The packaged price table, or that of a file. Raises InvalidInput if the file is not a price table."""
    try:
        given = _packaged("prices.json") if path is None else json.loads(path.read_text(encoding="utf-8"))
        return Prices.model_validate(given)
    except (OSError, ValueError, ValidationError) as error:
        raise InvalidInput(f"{path} is not a price table: {error}") from error


def _packaged(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files(__package__) / name).read_text(encoding="utf-8"))
    return found


def _work(given: dict[str, Any]) -> Work:
    return Work(given["in_a_row"], given["activities"], given["units"])
