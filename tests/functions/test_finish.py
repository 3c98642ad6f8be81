"""What an orchestration has done is noted by what it has read, also if a replica lags behind the change feed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from memories import opened

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

from azure.core.pipeline.transport import AsyncHttpResponse, HttpRequest
from scripted_model import ScriptedChat

import embedded_cosmos
from agent_memory import Cadence
from agent_memory.processing import intake
from agent_memory.processing.activities import run_workflow
from agent_memory.processing.due import due_work
from agent_memory.processing.intake import count_turns
from agent_memory.processing.starts import of_work
from agent_memory.settings import Environment
from agent_memory.store.containers import TURNS
from azure_functions.wiring import Parts
from embedded_cosmos import AsyncTransport

CADENCE = Cadence(extract=2, summarize=0, profile=0, reconcile=0, idle_seconds=0)
HIDDEN: set[str] = set()
"""The turns that the replica does not show yet."""

CURSORS: list[bytes] = []
"""The cursor of extraction as it was read, from the beginning."""
LATE: list[bytes] = []
"""What the replica still has as that cursor: one for each of the next reads."""


class Lagging(AsyncTransport):
    """A replica that is behind: queries and point reads of turns do not show the newest."""

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        """Answers a request as the replica does."""
        response = await super().send(request, **options)
        if request.method == "GET" and "/docs/cursor_extract" in str(request.url) and response.status_code == 200:
            CURSORS.append(response.body())
            if LATE:
                response._body = LATE.pop()  # type: ignore[attr-defined]
        if HIDDEN and "/colls/memories_turns/docs" in str(request.url):
            body = json.loads(response.body() or b"{}")
            shown = [one for one in body.get("Documents", ()) if not _is_hidden(one)]
            if len(shown) < len(body.get("Documents", ())):
                response._body = json.dumps(body | {"Documents": shown, "_count": len(shown)}).encode()  # type: ignore[attr-defined]
        return response


def _is_hidden(row: Any) -> bool:
    return (row if isinstance(row, str) else row.get("id", "")) in HIDDEN


@pytest.fixture
async def parts(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Parts]:
    monkeypatch.setattr(embedded_cosmos, "AsyncTransport", Lagging)
    async with opened(chat, cadence=CADENCE) as memory:
        assert memory.runtime.worker is not None
        await memory.runtime.worker.stop()
        yield Parts(memory, Environment(), CADENCE)
    for kept in (HIDDEN, CURSORS, LATE):
        kept.clear()


async def extract(parts: Parts, *, gave_up: bool = False) -> int:
    """What the function app does for due extraction; up to which count it is noted."""
    runtime = parts.runtime
    counter = await runtime.counters.get("alice", "t1")
    [work] = due_work([counter], CADENCE)
    await run_workflow("extract", {"user_id": "alice", "thread_id": "t1"}, runtime.activities)
    given = of_work(work).input
    assert await parts.starter(None).finish("extract", given | ({"gave_up": True} if gave_up else {})) == 0
    return (await runtime.counters.get("alice", "t1")).done.get("extract", 0)


async def say(parts: Parts, *ids: str) -> None:
    thread, runtime = parts.memory.user("alice").thread("t1"), parts.runtime
    await thread.add_many([{"role": "user", "content": f"fact: {one}=value of {one}", "id": one} for one in ids])
    HIDDEN.clear()
    await count_turns(runtime.tools, runtime.counters, await runtime.store.query(TURNS, "SELECT * FROM c"))


async def test_a_turn_that_the_replica_did_not_show_stays_due_and_is_read_later(parts: Parts):
    await say(parts, "one", "two")
    HIDDEN.add("two")
    assert await extract(parts) == 1
    counter = await parts.runtime.counters.get("alice", "t1")
    assert counter.pending == 1, "the next sweep or batch finds it"
    HIDDEN.clear()
    assert await extract(parts) == 2
    assert len(await parts.memory.user("alice").memories()) == 2
    assert (await parts.runtime.counters.get("alice", "t1")).pending == 0


async def test_a_turn_that_was_deleted_is_not_waited_for(parts: Parts, monkeypatch: pytest.MonkeyPatch):
    await say(parts, "one", "two")
    await parts.runtime.store.delete(TURNS, "two", ("alice", "t1"))  # it has expired
    assert await extract(parts) == 1, "it may still show up"
    monkeypatch.setattr(intake, "LAG_SECONDS", -10)
    assert await extract(parts) == 2


async def test_a_turn_that_is_there_and_was_not_read_stays_due_however_old_it_is(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
):
    await say(parts, "one", "two")
    monkeypatch.setattr(intake, "LAG_SECONDS", -10)
    counter = await parts.runtime.counters.get("alice", "t1")
    assert await intake.covered(parts.runtime.tools, counter, "extract", 2) == 0


async def test_who_is_switched_off_and_a_useless_model_are_not_asked_again(parts: Parts):
    await say(parts, "one", "two")
    HIDDEN.add("two")
    assert await extract(parts, gave_up=True) == 2
    HIDDEN.clear()
    await say(parts, "three", "four")
    await parts.memory.user("alice").update_settings(enabled=False)
    assert await extract(parts) == 4


async def test_a_cursor_that_the_replica_has_from_before_costs_calls_but_doubles_nothing(
    parts: Parts, chat: ScriptedChat
):
    await say(parts, "one", "two")
    assert await extract(parts) == 2
    before = CURSORS[-1]
    await say(parts, "three", "four")
    assert await extract(parts) == 4
    await say(parts, "five", "six")
    LATE.extend([before] * 3)  # for two runs, and for the look at what the first left undone
    assert await extract(parts) == 6
    assert not LATE
    assert chat.calls["extract"] == 2 + 3, "each stale read costs a call, whose commit is refused"
    facts = [fact.content for fact in await parts.memory.user("alice").memories(types=["fact"])]
    assert len(facts) == len(set(facts)) == 6
