"""Metrics of processing, as OpenTelemetry reads them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from agent_memory import AsyncMemory, telemetry
from agent_memory.processing import intake
from agent_memory.processing.intake import count_turns
from agent_memory.steps import extract


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    """The two instruments, made anew: a process has one provider for life, and other tests of it count too."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    meter = provider.get_meter("test")
    monkeypatch.setattr(intake, "change_feed_lag", meter.create_histogram(name_of(telemetry.change_feed_lag)))
    monkeypatch.setattr(extract, "exact_dedup_skipped", meter.create_counter(name_of(telemetry.exact_dedup_skipped)))
    yield reader
    provider.shutdown()


def name_of(instrument: Any) -> str:
    """The name of the product's own instrument: without a provider, OpenTelemetry makes one that stands in for it."""
    return str(getattr(instrument, "name", None) or instrument._name)


def points(reader: InMemoryMetricReader, name: str) -> list[Any]:
    data = reader.get_metrics_data()
    found = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics if m.name == name]
    return [point for metric in found for point in metric.data.data_points]


async def test_how_far_the_change_feed_is_behind_is_the_age_of_its_oldest_turn(
    memory: AsyncMemory, reader: InMemoryMetricReader
) -> None:
    now = int(time.time())
    turn = {"type": "turn", "user_id": "alice", "thread_id": "t"}
    batch = [turn | {"id": "a", "_ts": now - 400}, turn | {"id": "b", "_ts": now}]
    await count_turns(memory.runtime.tools, memory.runtime.counters, batch)
    await count_turns(memory.runtime.tools, memory.runtime.counters, [{"type": "note", "_ts": now - 9000}])
    (point,) = points(reader, "change_feed_lag")
    assert point.count == 1
    assert 400 <= point.max < 460


@pytest.mark.req("S1-37")
async def test_what_is_known_word_for_word_is_counted(memory: AsyncMemory, reader: InMemoryMetricReader) -> None:
    chat = memory.user("alice").thread("t")
    for number in range(2):
        await chat.add("user", "fact: city=Oslo, as I said before", id=str(number))
        await chat.process("extract")
    assert [point.value for point in points(reader, "exact_dedup_skipped")] == [1]
