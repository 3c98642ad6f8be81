"""The worker: what the change feed sets off, and what is left after a restart."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from memories import opened
from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import AsyncMemory, Cadence, Memory
from agent_memory.errors import ModelError, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.processing import intake
from agent_memory.processing.due import Work
from agent_memory.processing.worker import DRAIN_STALLS, PARALLEL, Pace
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES, TURNS
from agent_memory.store.counted import ThreadCounter
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import to_document
from agent_memory.store.ids import SETTINGS_THREAD, USER_THREAD, cursor_id


async def until(condition, seconds: float = 300.0) -> None:
    """Waits for background work; fails if it does not happen."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - what it waits for happens in the background
            await asyncio.sleep(0.02)


@pytest.mark.req("S1-41", "S1-42", "S1-43", "S1-45", "S1-59")
async def test_crossing_a_threshold_starts_the_work_and_staying_below_does_not(chat: ScriptedChat):
    cadence = Cadence(extract=5, summarize=3, profile=0, reconcile=0, idle_seconds=0)
    async with opened(chat, cadence=cadence) as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add_many([{"role": "user", "content": f"fact: k{n}=value {n}"} for n in range(4)])

        async def summarized() -> bool:
            return await alice.thread("t1").summary() is not None

        await until(summarized)
        assert chat.calls["extract"] == 0
        await alice.thread("t1").add("user", "fact: the=fifth turn")

        async def extracted() -> bool:
            return len(await alice.memories()) == 5

        await until(extracted)
        assert chat.calls == {"summarize": 1, "extract": 1}


async def test_a_batch_that_jumps_over_thresholds_fires_once(chat: ScriptedChat):
    cadence = Cadence(extract=5, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    async with opened(chat, cadence=cadence) as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add_many([{"role": "user", "content": f"fact: k{n}=value {n}"} for n in range(17)])

        async def extracted() -> bool:
            return len(await alice.memories()) == 17

        await until(extracted)
        await memory.drain(timeout=10)
        assert chat.calls["extract"] == 1


@pytest.mark.req("S1-18")
async def test_a_quiet_thread_is_processed_whatever_its_count(chat: ScriptedChat):
    cadence = Cadence(idle_seconds=1.0)
    async with opened(chat, cadence=cadence) as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add("user", "fact: I live in=Lisbon, since May")

        async def profiled() -> bool:
            return await alice.profile() is not None

        await until(profiled)
        assert [m.content for m in await alice.memories()] == ["I live in=Lisbon, since May"]


class _StuckOnImports(ScriptedChat):
    """Answers nothing about imported talk until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.released, self.stuck = asyncio.Event(), asyncio.Event(), 0

    async def run(self, task, data):
        if "imported" in repr(data):
            self.stuck += 1
            self.asked.set()
            await self.released.wait()
        return await super().run(task, data)


async def test_live_talk_is_processed_while_an_import_is_under_way():
    chat, cadence = _StuckOnImports(), Cadence(extract=2, summarize=0, profile=0, reconcile=0, idle_seconds=0.5)
    async with opened(chat, cadence=cadence) as memory:
        assert memory.runtime.worker is not None
        memory.runtime.worker._pace = Pace(clock=0.0)
        alice = memory.user("alice")
        for number in range(8):
            said = [{"role": "user", "content": f"fact: k{number}{n}=imported {n}", "backfill": True} for n in range(2)]
            await alice.thread(f"old{number}").add_many(said)
        await asyncio.wait_for(chat.asked.wait(), 60)
        for number in range(2):
            await alice.thread("today").add("user", f"fact: live{number}=said today")

        async def learned(count: int) -> bool:
            return len(await alice.memories()) == count

        await until(lambda: learned(2))
        assert {one.thread_id for one in await alice.memories()} == {"today"}
        await asyncio.sleep(1.2)  # two more sweeps find the same threads
        assert chat.stuck <= PARALLEL
        chat.released.set()
        await until(lambda: learned(18))
        before = chat.calls["extract"]
        assert await memory.drain(timeout=300) == 0
        assert chat.calls["extract"] == before == 9


async def test_an_import_that_is_under_way_is_finished_by_drain():
    chat, cadence = _StuckOnImports(), Cadence(extract=2, summarize=0, profile=0, reconcile=0, idle_seconds=0.5)
    async with opened(chat, cadence=cadence) as memory:
        thread = memory.user("alice").thread("old")
        await thread.add_many([{"role": "user", "content": "fact: city=imported, Lisbon", "backfill": True}] * 2)
        await asyncio.wait_for(chat.asked.wait(), 60)
        assert await asyncio.wait_for(memory.drain(timeout=0.2), 120) == 2, "it does not wait for a stuck import"
        chat.released.set()
        assert await memory.drain(timeout=300) == 0
        assert [one.thread_id for one in await memory.user("alice").memories()] == ["old"]


@pytest.mark.req("S1-18", "S3-06")
async def test_the_end_of_a_conversation_processes_it(memory: AsyncMemory):
    alice = memory.user("alice")
    thread = alice.thread("t1")
    await thread.add("user", "fact: I live in=Lisbon, since May")
    result = await thread.end()
    assert (result.turns, result.created) == (1, 4)  # the fact, the summary, the archived session, the profile
    assert await alice.profile() is not None
    assert await thread.summary() is not None


async def test_draining_processes_all_and_says_how_far_it_is(memory: AsyncMemory):
    for user in ("alice", "bob"):
        for thread in ("t1", "t2"):
            await (
                memory.user(user)
                .thread(thread)
                .add_many([{"role": "user", "content": f"fact: {user} {thread}{n}=x{n}"} for n in range(3)])
            )
    left: list[int] = []
    assert await memory.drain(timeout=30, progress=left.append) == 0
    assert left[0] == 12
    assert left[-1] == 0
    assert left == sorted(left, reverse=True)
    for user in ("alice", "bob"):
        stats = await memory.user(user).stats()
        assert (stats.turns, stats.unprocessed_turns, stats.threads, stats.memories) == (6, 0, 2, 6)
    assert (await memory.health()).unprocessed_turns == 0


@simulated_time
async def test_turns_whose_counting_failed_are_counted_later(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch):
    failures: list[str] = []
    count = intake.count_turns

    async def count_turns(*page: Any) -> Any:
        if not failures:
            failures.append("once")
            raise StoreUnavailable("away")
        return await count(*page)

    monkeypatch.setattr(intake, "count_turns", count_turns)
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    async with opened(chat, cadence=cadence) as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add("user", "fact: locker code=4711")
        await memory.drain(timeout=30)
        assert failures == ["once"]
        assert [fact.content for fact in await alice.memories()] == ["locker code=4711"]


async def test_what_a_model_cannot_do_now_is_left_and_done_later(chat: ScriptedChat):
    down = True
    chat.fault = lambda task, call: ModelError("down", retryable=True, retry_after=0) if down else None
    async with opened(chat, cadence=Cadence(idle_seconds=0)) as memory:
        await memory.user("alice").thread("t1").add("user", "fact: I live in=Lisbon, since May")
        assert await memory.drain(timeout=3) == 1
        down = False
        assert await memory.drain(timeout=300) == 0
        assert len(await memory.user("alice").memories()) == 1


@simulated_time
async def test_draining_goes_on_as_long_as_it_gets_further(chat: ScriptedChat):
    threads, answered = DRAIN_STALLS + 3, float("-inf")

    def once_a_pass(task: str, call: int) -> ModelError | None:
        nonlocal answered
        clock = asyncio.get_running_loop().time()
        if clock - answered < 1:
            return ModelError("busy", retryable=True, retry_after=0)
        answered = clock
        return None

    chat.fault = once_a_pass
    async with opened(chat, cadence=Cadence(extract=9, summarize=0, profile=0, reconcile=0, idle_seconds=0)) as memory:
        for number in range(threads):
            await memory.user("alice").thread(f"t{number}").add("user", f"fact: place {number}=Lisbon, since May")
        assert await memory.drain() == 0


@simulated_time
async def test_what_is_due_is_done_while_turns_are_written_faster_than_they_are_counted(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    count, end = intake.count_turns, asyncio.get_running_loop().time() + 60
    async with opened(chat, cadence=cadence) as memory:
        alice, bob = memory.user("alice"), memory.user("bob")

        async def slowly(*given: Any) -> Any:
            await asyncio.sleep(0.4)
            if asyncio.get_running_loop().time() < end:
                await bob.thread("t1").add("user", "good morning")
            return await count(*given)

        monkeypatch.setattr(intake, "count_turns", slowly)
        await alice.thread("t1").add("user", "fact: I live in=Lisbon, since May")
        await asyncio.sleep(10)
        assert [fact.content for fact in await alice.memories()] == ["I live in=Lisbon, since May"]
        assert asyncio.get_running_loop().time() < end
        assert await memory.drain() == 0


@simulated_time
async def test_a_failure_is_repeated_soon_even_if_the_sweep_of_idle_threads_succeeds(chat: ScriptedChat):
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0, idle_seconds=60)
    chat.fault = lambda task, call: ModelError("busy", retryable=True, retry_after=0) if call == 1 else None
    async with opened(chat, cadence=cadence) as memory:
        assert memory.runtime.worker is not None
        memory.runtime.worker._pace = Pace(poll=3600.0)
        await asyncio.sleep(40)  # the next pass also looks for idle threads, and finds none
        alice = memory.user("alice")
        await alice.thread("t1").add("user", "fact: I live in=Lisbon, since May")
        await asyncio.sleep(60)
        assert chat.calls["extract"] == 2
        assert len(await alice.memories()) == 1


async def test_a_reopened_store_goes_on_where_it_stopped(tmp_path: Path, chat: ScriptedChat):
    path = tmp_path / "memory.db"
    quiet = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    async with opened(chat, path, cadence=quiet) as memory:
        await memory.user("alice").thread("t1").add("user", "fact: I live in=Lisbon, since May")
        await memory.drain(timeout=5)
    async with AsyncMemory.local(path, chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        await memory.user("alice").thread("t1").add("user", "fact: my cat is=Tom, and he is grey")
        assert await memory.drain(timeout=300) == 0
        assert len(await memory.user("alice").memories()) == 2


@pytest.mark.req("S1-44")
async def test_many_writers_of_one_counter_lose_no_turn(memory: AsyncMemory):
    counters = memory.runtime.counters
    for n in range(20):  # of another type, so that the worker leaves them to this test
        note = {"id": f"turn-{n}", "type": "note", "user_id": "alice", "thread_id": "t1"}
        await memory.runtime.store.create(TURNS, note)

    async def count(n: int) -> None:
        await counters.count("alice", "t1", [(f"turn-{n}", 1000 + n % 2)])

    await asyncio.gather(*(count(n) for n in range(20)))
    assert (await counters.get("alice", "t1")).count == 20
    document = await memory.runtime.store.read(COUNTER, "counter", ("alice", "t1"))
    assert document is not None
    assert document["count"] == 20


def test_the_synchronous_face_works(tmp_path: Path):
    with Memory.local(tmp_path / "m.db", chat_model=ScriptedChat(), embedding_model=HashingEmbeddings()) as memory:
        chat = memory.user("alice").thread("hawaii")
        chat.add("user", "fact: I live in=Lisbon, since May")
        assert memory.drain() == 0
        assert "Lisbon" in chat.context("Where do I live?").text
    memory.close()


@pytest.mark.parametrize(
    ("container", "broken"),
    [
        (MEMORIES, {"id": cursor_id("reconcile"), "thread_id": USER_THREAD, "type": "nothing we wrote"}),
        (SUMMARIES, {"id": "settings", "thread_id": SETTINGS_THREAD, "type": "settings", "tier": "removed"}),
    ],
    ids=["a broken document", "a tier that is gone"],
)
async def test_what_cannot_be_read_of_one_user_does_not_keep_the_others_waiting(
    chat: ScriptedChat, container: str, broken: dict[str, str]
):
    cadence = Cadence(extract=1, summarize=0, profile=2, reconcile=1, idle_seconds=0)
    async with opened(chat, cadence=cadence) as memory:
        store = memory.runtime.store
        thread = memory.user("alice").thread("t")
        await thread.add("user", "fact: one=alice says so")
        [first] = await thread.turns()
        await store.create(container, broken | {"user_id": "alice"})
        await store.create(TURNS, to_document(first.model_copy(update={"id": "another"})))
        told = [{"role": "user", "content": f"fact: {key}=bob says so"} for key in ("one", "two")]
        await memory.user("bob").thread("t").add_many(told)

        async def bob_has_a_profile() -> bool:
            return await memory.user("bob").profile() is not None

        await until(bob_has_a_profile)


@simulated_time
async def test_beside_requests_rules_do_one_thing_after_the_other_and_a_model_elsewhere_several(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    most = 0
    due = [ThreadCounter(f"user{n}", "t", Cursor(count=Cadence().extract)) for n in range(8)]
    for model, expected in ((OfflineChat(), 1), (chat, 4)):
        running = most = 0
        async with AsyncMemory.local(chat_model=model, embedding_model=HashingEmbeddings()) as memory:
            worker = memory.runtime.worker
            assert worker is not None
            worker.give_way()

            async def piece(work: Work) -> bool:
                nonlocal running, most
                running += 1
                most = max(most, running)
                await asyncio.sleep(0.01)
                running -= 1
                return True

            monkeypatch.setattr(worker, "_run", piece)
            assert await worker._run_due(due)
        assert most == expected


def test_the_work_goes_on_in_another_event_loop_if_its_own_is_closed(chat: ScriptedChat):
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    memory = opened(chat, cadence=cadence)
    alice = memory.user("alice")

    async def first() -> None:
        await memory.open()
        await alice.thread("t").add("user", "fact: tea=green")

    async def second() -> None:
        await alice.thread("t").add("user", "fact: coffee=black")

        async def extracted() -> bool:
            return len(await alice.memories(types=["fact"])) == 2

        await until(extracted, 30)
        await memory.close()

    asyncio.run(first())
    asyncio.run(second())


def test_a_memory_whose_event_loop_is_closed_can_be_closed(chat: ScriptedChat):
    memory = AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings())
    asyncio.run(memory.open())
    asyncio.run(memory.close())
