"""Telemetry: spans and metrics have the names of the conventions, and say nothing of users or of what they said."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from agent_memory import AsyncMemory, telemetry
from agent_memory.errors import ModelError, NotFound
from agent_memory.language import endpoints
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.retries import RetryPolicy
from agent_memory.models import Usage
from agent_memory.processing import activities, intake

REQUEST_CHARGE = "azure.cosmosdb.client.operation.request_charge"
TOKEN_USAGE = "gen_ai.client.token.usage"
USER, SAID = "zoe-of-telemetry", "My locker code is QX-4711."


class Watched:
    """What the SDK of OpenTelemetry would send."""

    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    @property
    def points(self) -> dict[str, list[Any]]:
        data = self.reader.get_metrics_data()
        metrics = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics] if data else []
        return {metric.name: list(metric.data.data_points) for metric in metrics}


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    watched = Watched()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(watched.exporter))
    meters = MeterProvider([watched.reader])
    meter = meters.get_meter("test")
    monkeypatch.setattr(telemetry, "_tracer", tracers.get_tracer("test"))
    monkeypatch.setattr(telemetry, "_request_charge", meter.create_histogram(REQUEST_CHARGE))
    monkeypatch.setattr(telemetry, "_token_usage", meter.create_histogram(TOKEN_USAGE))
    monkeypatch.setattr(activities, "write_to_recall", meter.create_histogram("write_to_recall"))
    monkeypatch.setattr(intake, "change_feed_lag", meter.create_histogram("change_feed_lag"))
    monkeypatch.setattr(endpoints, "model_pauses", meter.create_counter("model_pauses"))
    monkeypatch.setattr(endpoints, "models_paused", meter.create_up_down_counter("models_paused"))
    yield watched
    meters.shutdown()
    tracers.shutdown()


async def test_operations_are_spans_and_requests_are_counted_by_what_they_are_for(watched: Watched):
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        ann = memory.user(USER)
        thread = ann.thread("monday")
        await thread.add("user", SAID)
        assert await memory.drain(timeout=300) == 0
        kept = await ann.remember("Allergic to peanuts")
        await ann.update(kept.id, content="Allergic to nuts")
        hits = await thread.search("locker")
        context = await thread.context("What is my locker code?")
        with pytest.raises(NotFound):
            await ann.forget(id="nothing-like-it")
    spans = {span.name: span for span in watched.spans}
    assert list(dict.fromkeys(span.name for span in watched.spans)) == [
        "upsert_memory",
        "create_memory",
        "update_memory",
        "search_memory",
        "delete_memory",
    ]
    for name, span in spans.items():
        assert span.attributes is not None
        assert span.attributes["gen_ai.operation.name"] == name
        assert span.attributes["gen_ai.memory.store.id"] == "embedded"
        assert span.kind is SpanKind.INTERNAL
    created, failed = spans["create_memory"].attributes, spans["delete_memory"]
    assert created is not None
    assert (created["gen_ai.memory.record.count"], created["gen_ai.memory.record.id"]) == (1, kept.id)
    assert "gen_ai.conversation.id" not in created
    first = watched.spans[0].attributes
    assert first is not None
    assert first["gen_ai.conversation.id"] == "monday"
    searches = [span.attributes for span in watched.spans if span.name == "search_memory"]
    assert [one["gen_ai.memory.record.count"] for one in searches if one] == [
        len(hits),
        sum("id" in used for used in context.used),
    ]
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "not_found"
    assert not failed.status.is_ok

    points = watched.points
    charged = {point.attributes["agent_memory.operation"]: point.sum for point in points[REQUEST_CHARGE]}
    assert {"upsert_memory", "search_memory", "index", "extract", "create_memory"} <= charged.keys()
    assert min(charged.values()) >= 0
    assert 0 <= points["write_to_recall"][0].max < 60
    assert points["change_feed_lag"][0].count == 1

    said = " ".join([*(span.to_json() for span in watched.spans), *map(str, points.values())])
    assert USER not in said
    assert "QX-4711" not in said
    assert "peanuts" not in said


async def test_a_pause_of_a_failing_model_is_counted_and_ends(watched: Watched):
    endpoint = endpoints.Endpoint(RetryPolicy(attempts=1, first_pause=0.01))
    fails = True

    async def call() -> str:
        if fails:
            raise ModelError("no", retryable=True, fault="timeout")
        return "yes"

    with pytest.raises(ModelError):
        await endpoint.ask(call)
    points = watched.points
    assert points["models_paused"][0].value == 1
    assert dict(points["model_pauses"][0].attributes) == {"error.type": "timeout"}
    endpoint._resume, fails = 0.0, False
    assert await endpoint.ask(call) == "yes"
    assert watched.points["models_paused"][0].value == 0


def test_tokens_are_counted_by_step_and_kind(watched: Watched):
    telemetry.note_usage("extract", Usage(input_tokens=100, output_tokens=20, embedded_tokens=7))
    kinds = ("gen_ai.operation.name", "gen_ai.token.type", "agent_memory.step")
    found = {tuple(point.attributes[name] for name in kinds): point.sum for point in watched.points[TOKEN_USAGE]}
    assert found == {
        ("chat", "input", "extract"): 100,
        ("chat", "output", "extract"): 20,
        ("embeddings", "input", "extract"): 7,
    }
