"""What a search should have given and did not, counted in operation for a share of the searches."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from api_world import client_of
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from store_requests import asked_meanwhile, record_requests

from agent_memory import AsyncMemory, Cadence
from agent_memory.compat.agent import AgentSession
from agent_memory.errors import ConfigurationError, StoreUnavailable
from agent_memory.settings import Environment, RecallSettings

BY_HAND = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
CATS = ("The cat of Maya is called Tom", "The cat of Maya sleeps on the roof", "The cat of Maya likes tuna")


def opened(share: float) -> AsyncMemory:
    """A memory as it comes that looks again at this share of its searches."""
    return AsyncMemory.local(cadence=BY_HAND, recall=RecallSettings(missed_sample=share))


async def measured(memory: AsyncMemory, searches: int) -> Any:
    """The counts, once so many searches were looked at again."""
    async with asyncio.timeout(120):
        while (counted := (await memory.health()).search_misses).measured + counted.failed < searches:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return counted


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    """The two instruments, made anew by a provider of this test."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    meter = provider.get_meter("agent_memory")
    misses = "agent_memory.recall.searcher"
    monkeypatch.setattr(f"{misses}.relevant_not_retrieved", meter.create_histogram("relevant_not_retrieved"))
    monkeypatch.setattr(f"{misses}.relevant_retrieved", meter.create_counter("relevant_retrieved"))
    yield reader
    provider.shutdown()


async def test_what_a_search_had_no_room_for_is_counted(reader: InMemoryMetricReader):
    async with opened(1.0) as memory:
        maya = memory.user("maya")
        for text in (*CATS, "The invoice of the plumber is due on Friday"):
            await maya.remember(text)
        await memory.user("bob").remember("The cat of Maya is loud")
        assert len(await maya.search("the cat of Maya", limit=1)) == 1
        counted = await measured(memory, 1)
        assert (counted.relevant_retrieved, counted.relevant_not_retrieved, counted.failed) == (1, 2, 0)
        assert len(await maya.search("the cat of Maya", limit=3)) == 3
        counted = await measured(memory, 2)
        assert (counted.relevant_retrieved, counted.relevant_not_retrieved) == (4, 2)
        data = reader.get_metrics_data()
    metrics = {m.name: m.data.data_points for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics}
    assert [(point.count, point.sum, dict(point.attributes)) for point in metrics["relevant_not_retrieved"]] == [
        (2, 2, {})
    ]
    assert [(point.value, dict(point.attributes)) for point in metrics["relevant_retrieved"]] == [(4, {})]


async def test_the_filters_of_the_search_hold_for_what_it_missed():
    async with opened(1.0) as memory:
        maya = memory.user("maya")
        await maya.remember(CATS[0])
        await maya.remember(CATS[1], kind="preference")
        gone = await maya.remember(CATS[2])
        await maya.forget(gone.id)
        await maya.search("the cat of Maya", limit=1, kinds=["fact"])
        counted = await measured(memory, 1)
        assert (counted.relevant_retrieved, counted.relevant_not_retrieved) == (1, 0)


async def test_nothing_is_counted_unless_it_is_set(monkeypatch: pytest.MonkeyPatch):
    record_requests(monkeypatch)
    asked = []
    for share in (0.0, 1.0):
        async with opened(share) as memory:
            maya = memory.user("maya")
            for text in CATS:
                await maya.remember(text)
            with asked_meanwhile() as requests:
                await maya.search("the cat of Maya", limit=1)
            asked.append(requests.total())
            assert (memory.runtime.searcher.misses is None) is (share == 0)
            counted = (await memory.health()).search_misses
            assert (counted is None) is (share == 0)
    assert RecallSettings().missed_sample == 0
    assert asked[0] == asked[1], "the call itself asks for nothing more"


async def test_only_a_share_of_searches_is_checked(monkeypatch: pytest.MonkeyPatch):
    async with opened(0.25) as memory:
        maya = memory.user("maya")
        await maya.remember(CATS[0])
        for drawn in (0.9, 0.25, 0.24, 0.5):
            monkeypatch.setattr("random.random", lambda drawn=drawn: drawn)
            await maya.search("the cat of Maya")
            running = memory.runtime.searcher.misses._running
            if running is not None:
                await running
        assert (await measured(memory, 1)).measured == 1


async def test_one_search_is_checked_at_a_time_and_the_caller_does_not_wait(monkeypatch: pytest.MonkeyPatch):
    async with opened(1.0) as memory:
        maya = memory.user("maya")
        for text in CATS:
            await maya.remember(text)
        waiting, begun, query = asyncio.Event(), [], memory.runtime.store.query

        async def slow(container: str, sql: str, *rest: Any, **parameters: Any) -> Any:
            if "true)" in sql:
                begun.append(sql)
                await waiting.wait()
            return await query(container, sql, *rest, **parameters)

        monkeypatch.setattr(type(memory.runtime.store), "query", lambda self, *rest, **given: slow(*rest, **given))
        for _ in range(5):
            assert await maya.search("the cat of Maya")
            await asyncio.sleep(0)
        assert len(begun) == 1
        waiting.set()
        assert (await measured(memory, 1)).measured == 1
        waiting.clear()
        assert await maya.search("the cat of Maya")
        await asyncio.sleep(0)
        running = memory.runtime.searcher.misses._running
        assert running is not None
    assert running.cancelled(), "it ends with the memory"


async def test_a_failed_check_does_not_reach_the_caller(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async with opened(1.0) as memory:
        maya = memory.user("maya")
        await maya.remember(CATS[0])
        query = memory.runtime.store.query

        async def broken(container: str, sql: str, *rest: Any, **parameters: Any) -> Any:
            if "true)" in sql:
                raise StoreUnavailable(f"{CATS[0]} cannot be told")
            return await query(container, sql, *rest, **parameters)

        monkeypatch.setattr(type(memory.runtime.store), "query", lambda self, *rest, **given: broken(*rest, **given))
        assert await maya.search("the cat of Maya")
        counted = await measured(memory, 1)
        assert (counted.measured, counted.failed) == (0, 1)
        assert (await maya.context("Who is the cat of Maya?")).degraded == []
    assert "looked at again: StoreUnavailable" in caplog.text
    assert CATS[0] not in caplog.text


async def test_uses_in_a_context_are_counted_and_shown_by_health_and_diagnosis():
    async with opened(1.0) as memory:
        for text in CATS:
            await memory.user("maya").remember(text)
        await memory.user("maya").context("Tell me of the cat of Maya")
        counted = await measured(memory, 1)
        assert counted.relevant_retrieved == 3
        agent = AgentSession(memory, {"agent_id": "helper"}, "maya", "s")
        assert (await agent.diagnose()).search_misses == counted
        async with client_of(memory) as client:
            told = (await client.get("/v1/admin/health", headers={"x-user-id": "operator"})).json()
            assert told["search_misses"] == counted.model_dump()


def test_the_environment_sets_the_share(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_MEMORY_RECALL_MISSED_SAMPLE", "0.01")
    assert Environment().recall.missed_sample == 0.01
    monkeypatch.setenv("AGENT_MEMORY_RECALL_MISSED_SAMPLE", "1.5")
    with pytest.raises(ConfigurationError, match="AGENT_MEMORY_RECALL_MISSED_SAMPLE: a share is a number from 0 to 1"):
        Environment().recall  # noqa: B018 - reading it is what fails
