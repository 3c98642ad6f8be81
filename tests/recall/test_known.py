"""What a process knows of its store without asking: settings for a while, and whether anybody wrote."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.store import known as known_module
from agent_memory.store.containers import SUMMARIES, TURNS
from agent_memory.store.known import OTHERS_SECONDS, SETTINGS_SECONDS, Known, KnownSettings
from agent_memory.store.scope_documents import change_settings, known_document


class Clock:
    """A clock that the test sets."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        patch.setattr(known_module, "time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def test_settings_are_read_once_a_while_absent_ones_too(clock: Clock):
    settings, reads = KnownSettings(), 0

    async def read() -> dict[str, Any]:
        nonlocal reads
        reads += 1
        return {}

    for seconds in (0, SETTINGS_SECONDS, 1):
        clock.now += seconds
        assert await settings.get(("alice", "t"), read) == {}
    assert reads == 2
    await settings.get(("alice", "other"), read)
    await settings.get(("bob", "t"), read)
    assert reads == 4


async def test_a_read_that_fails_leaves_nothing_behind():
    settings = KnownSettings()

    async def fail() -> dict[str, Any]:
        raise ConnectionError

    async def read() -> dict[str, Any]:
        return {"enabled": False}

    for number in range(3):
        with pytest.raises(ConnectionError):
            await settings.get((f"user-{number}", "t"), fail)
    assert not settings._reads
    assert await settings.get(("user-0", "t"), read) == {"enabled": False}


async def test_what_was_written_while_it_was_read_is_not_kept():
    settings, may_end = KnownSettings(), asyncio.Event()

    async def slowly() -> dict[str, Any]:
        await may_end.wait()
        return {"enabled": True}

    async def off() -> dict[str, Any]:
        return {"enabled": False}

    reading = asyncio.create_task(settings.get(("alice", "t"), slowly))
    await asyncio.sleep(0)
    settings.drop(("alice", "t"))
    may_end.set()
    assert await reading == {"enabled": True}
    assert await settings.get(("alice", "t"), off) == {"enabled": False}


async def test_a_change_through_this_process_holds_at_once(memory: AsyncMemory):
    alice = memory.user("alice")
    thread = alice.thread("t")
    await alice.remember("The cat is called Tom")
    for on in (True, False, True):
        await alice.update_settings(enabled=on)
        assert bool(await alice.search("What is the cat called?")) is on
        assert bool((await thread.context("What is the cat called?")).text) is on
        await thread.update_settings(keep_turns=on)
        assert bool((await thread.add("user", "hello there")).created) is on
    await alice.forget(everything=True)
    assert await known_document(memory.runtime.store, "alice") == {}


async def test_a_change_through_another_process_holds_after_a_while(
    memory: AsyncMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    alice = memory.user("alice")
    await alice.remember("The cat is called Tom")
    assert await alice.search("What is the cat called?")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(memory.runtime.store.known, "written", lambda *_: None)
        await change_settings(memory.runtime.store, "alice", None, {"enabled": False})
    assert not (await alice.context("What is the cat called?")).text, "a context reads the settings each time"
    memory.runtime.store.known.settings.drop(("alice", "__settings__"))
    assert not await alice.search("What is the cat called?")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(memory.runtime.store.known, "written", lambda *_: None)
        await change_settings(memory.runtime.store, "alice", None, {"enabled": True})
    assert not await alice.search("What is the cat called?")
    clock.now += SETTINGS_SECONDS + 1
    assert await alice.search("What is the cat called?")


def test_a_sole_process_knows_that_no_other_wrote(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    alone = Known(alone=True)
    assert alone.may_be_fresh("alice", 60), "somebody may have written before the store was opened"
    clock.now += 100
    assert not alone.may_be_fresh("alice", 60)
    alone.written(TURNS, ("alice", "t"))
    alone.written(SUMMARIES, {"user_id": "bob", "thread_id": "t"})
    assert alone.may_be_fresh("alice", 60)
    assert not alone.may_be_fresh("bob", 60)
    monkeypatch.setattr(known_module, "MOST_KNOWN", 1)
    clock.now += 100
    alone.written(TURNS, ("carol", "t"))
    assert alone.may_be_fresh("bob", 60), "what does not fit is not known"


def test_a_process_that_shares_a_store_trusts_its_cache_only_for_a_moment(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    shared = Known(alone=False)
    clock.now += 100
    assert shared.may_be_fresh("alice", 60)
    shared.saw_no_turns("alice", clock.now)
    assert not shared.may_be_fresh("alice", 60)
    assert shared.may_be_fresh("bob", 60)
    clock.now += OTHERS_SECONDS
    assert shared.may_be_fresh("alice", 60), "another process may have written meanwhile"
    began = clock.now
    shared.written(TURNS, ("alice", "t"))
    shared.saw_no_turns("alice", began)
    assert shared.may_be_fresh("alice", 60), "a look that began before a write may not have seen it"
    clock.now += 1
    shared.saw_no_turns("alice", clock.now)
    assert not shared.may_be_fresh("alice", 60)
    shared.written(TURNS, {"user_id": "alice", "thread_id": "t"})
    assert shared.may_be_fresh("alice", 60), "what this process writes is found at once"
    monkeypatch.setattr(known_module, "MOST_KNOWN", 1)
    shared.saw_no_turns("carol", clock.now)
    shared.saw_no_turns("dave", clock.now)
    assert shared.may_be_fresh("carol", 60)


async def test_a_shared_store_is_polled_for_new_talk(
    memory: AsyncMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    store, looks = memory.runtime.store, 0
    monkeypatch.setattr(store, "known", Known(alone=False))
    clock.now += 1
    query = store.query

    async def counted(container: str, *given: Any, **parameters: Any) -> list[Any]:
        nonlocal looks
        looks += container == TURNS
        return await query(container, *given, **parameters)

    monkeypatch.setattr(store, "query", counted)
    monkeypatch.setattr("agent_memory.recall.fresh.time", SimpleNamespace(monotonic=lambda: clock.now, time=time.time))
    alice = memory.user("alice")
    await alice.search("Where is the spare key?", filters={"created_at": {"gte": "2020-01-01"}})
    await alice.thread("t").search("Where is the spare key?")
    assert looks == 2, "what a part of the turns shows says nothing of the others"
    for seconds in (0, 1, OTHERS_SECONDS):
        clock.now += seconds
        assert not await alice.search("Where is the spare key?")
    assert looks == 4
    await alice.thread("t").add("user", "The spare key lies under the mat.")
    assert await alice.search("Where is the spare key?"), "what this process writes is found at once"
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(store.known, "written", lambda *_: None)
        await memory.user("bob").search("Where is the spare key?")
        await memory.user("bob").thread("t").add("user", "The spare key is with Eve.")
    clock.now += OTHERS_SECONDS
    assert await memory.user("bob").search("Where is the spare key?")
