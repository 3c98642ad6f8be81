"""A talk that turns to another topic is worked off ahead of its count."""

from collections import Counter
from collections.abc import Iterator

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.processing.due import INDEX, Work, due_work
from agent_memory.processing.intake import count_turns
from agent_memory.processing.starts import drifted_work, topic_changes
from agent_memory.processing.worker import Worker
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, TURNS

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
DRIFT = Cadence(extract=50, summarize=50, profile=0, reconcile=0, idle_seconds=0, drift=0.6)
TRIP = [
    "fact: our flight to Hawaii in May=booked",
    "fact: our hotel in Hawaii for May=at the beach",
    "fact: the flight and the hotel in Hawaii=paid in May",
    "fact: our budget for the hotel in Hawaii in May=fixed",
]
KITCHEN = ["fact: kitchen cabinet painters=quoted green", "fact: kitchen cabinet painters=start with green doors"]


class CountingEmbeddings(HashingEmbeddings):
    """Notes what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: Counter[str] = Counter()

    async def embed(self, texts):
        self.given.update(texts)
        return await super().embed(texts)


def opened(chat: ScriptedChat, embeddings: HashingEmbeddings | None = None) -> AsyncMemory:
    return AsyncMemory.local(chat_model=chat, embedding_model=embeddings or HashingEmbeddings(), cadence=NEVER)


async def hear(memory: AsyncMemory, worker: Worker, line: str, role: str = "user") -> None:
    """One turn, and what it sets off; the change feed brings all turns so far, again and again."""
    runtime = memory.runtime
    await memory.user("alice").thread("t").add(role, line)
    documents = await runtime.store.query(TURNS, "SELECT * FROM c")
    for _ in range(2):
        assert await worker._run_due(await count_turns(runtime.tools, worker.counters, documents))


@pytest.mark.req("S0-044")
async def test_another_topic_starts_extraction_and_summary_ahead_of_their_count(chat: ScriptedChat):
    embeddings = CountingEmbeddings()
    async with opened(chat, embeddings) as memory:
        worker = Worker(memory.runtime.tools, DRIFT)
        for line in TRIP:
            await hear(memory, worker, line)
            await hear(memory, worker, "Noted, I will keep that in mind.", "agent")
        await hear(memory, worker, KITCHEN[0])
        assert chat.calls.total() == 0, "one turn may be an aside"
        await hear(memory, worker, KITCHEN[1])
        assert chat.calls == {"extract": 1, "summarize": 1}
        assert len(await memory.user("alice").memories()) == 6
        assert (await memory.user("alice").stats()).unprocessed_turns == 0
        for _ in range(3):
            await hear(memory, worker, "fact: kitchen cabinet painters=green doors, still")
        assert chat.calls == {"extract": 1, "summarize": 1}, "the topic has changed once"
        assert {embeddings.given[f"user: {line}"] for line in TRIP + KITCHEN} == {1}


@pytest.mark.parametrize(
    "cadence", [Cadence(50, 50, 0, 0, idle_seconds=0), Cadence(0, 0, 0, 0, idle_seconds=0, drift=0.6)]
)
async def test_without_a_threshold_or_without_steps_nothing_is_started(chat: ScriptedChat, cadence: Cadence):
    async with opened(chat) as memory:
        worker = Worker(memory.runtime.tools, cadence)
        for line in TRIP + KITCHEN:
            await hear(memory, worker, line)
        assert chat.calls.total() == 0
        assert await memory.runtime.store.query(MEMORIES, queries.TYPES) == [], "nothing is indexed for it either"


async def test_a_drift_is_found_again_by_the_next_worker_and_not_after_it_was_worked_off(chat: ScriptedChat):
    async with opened(chat) as memory:
        runtime = memory.runtime
        await memory.user("alice").thread("t").add_many([{"role": "user", "content": line} for line in TRIP + KITCHEN])
        documents = await runtime.store.query(TURNS, "SELECT * FROM c")
        [counter] = await count_turns(runtime.tools, runtime.counters, documents)
        assert due_work([counter], DRIFT) == [Work(INDEX, "alice", "t", 6, 1)]
        assert await drifted_work(runtime.tools, DRIFT, counter) == [], "nothing is indexed yet"
        await memory.user("alice").thread("t").process("index")
        due = await drifted_work(runtime.tools, DRIFT, counter)
        assert due == [Work(step, "alice", "t", 6, 1, "drift-0") for step in ("extract", "summarize")]
        await memory.user("alice").thread("t").add("user", KITCHEN[1])
        [more] = await count_turns(runtime.tools, runtime.counters, await runtime.store.query(TURNS, "SELECT * FROM c"))
        await memory.user("alice").thread("t").process("index")
        again = await drifted_work(runtime.tools, DRIFT, more)
        assert [one.count for one in again] == [7, 7]
        assert [one.instance_id for one in again] == [one.instance_id for one in due], "one run for one change"
        [next_, _] = await drifted_work(runtime.tools, DRIFT, more.ran("extract", 3).ran("summarize", 3))
        assert next_.instance_id != due[0].instance_id
        assert next_.instance_id not in {Work("extract", "alice", "t", n, 1).instance_id for n in range(9)}
        assert await drifted_work(runtime.tools, DRIFT, counter.ran("extract", 6)) == due[1:]
        done = counter.ran("extract", 6).ran("summarize", 6)
        assert await drifted_work(runtime.tools, DRIFT, done) == []
        assert due_work([done.ran(INDEX, 6)], DRIFT) == []


async def test_a_count_that_is_reached_needs_no_look(chat: ScriptedChat):
    async with opened(chat) as memory:
        runtime = memory.runtime
        await memory.user("alice").thread("t").add_many([{"role": "user", "content": line} for line in TRIP])
        [counter] = await count_turns(
            runtime.tools, runtime.counters, await runtime.store.query(TURNS, "SELECT * FROM c")
        )
        assert due_work([counter], Cadence(extract=4, summarize=0, drift=0.5)) == [Work("extract", "alice", "t", 4, 4)]


A, B = [1.0, 0.0], [0.0, 1.0]


@pytest.mark.parametrize(
    ("talk", "changes"),
    [
        ([A, A, A, B, B], [3]),
        ([A, A, B, B, B, B], []),  # two turns are no topic yet
        ([A, A, A, B, A, A], []),  # an aside
        ([A, A, A, B, B, B, A, A], [3, 6]),
        ([], []),
    ],
)
def test_a_topic_is_three_turns_and_is_left_by_two(talk: list[list[float]], changes: list[int]):
    assert topic_changes(dict(enumerate(talk)), 0.6) == changes


def test_a_long_talk_is_looked_at_once():
    """Each look may add to the sums what came since the last, and not the whole topic again."""

    class Read(list[float]):
        """A vector that counts how often it is read."""

        reads = 0

        def __iter__(self) -> Iterator[float]:
            Read.reads += 1
            return super().__iter__()

    for turns in (20, 80):
        Read.reads = 0
        assert topic_changes({n: Read(A) for n in range(turns)}, 0.6) == []
        assert Read.reads <= 4 * turns
