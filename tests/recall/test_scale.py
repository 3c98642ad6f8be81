"""What a search costs, and that it costs a user nothing how many others there are."""

import time
from types import SimpleNamespace

import pytest
from scripted_model import ScriptedChat
from store_requests import count_trips, trips_meanwhile

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings, embed_text
from agent_memory.language.tasks import Embedded
from agent_memory.models import Memory as Remembered, Usage, content_hash, now
from agent_memory.recall import rarity
from agent_memory.settings import RecallSettings
from agent_memory.store import known
from agent_memory.store.documents import create, to_document

WORDS = "garden river piano budget flight cat lentils marathon Oslo contract sister bicycle tea winter novel".split()


async def fill(memory: AsyncMemory, user_id: str, number: int, first: int = 0) -> None:
    """Facts of two words each, with their vectors, as extraction would leave them."""
    embeddings, clock = memory.runtime.tools.embeddings, now()
    texts = [f"The {WORDS[n % 15]} and the {WORDS[n // 15 % 15]} number {n}" for n in range(first, number)]
    vectors = (await embeddings.embed(texts)).vectors
    documents = [
        to_document(
            Remembered(
                id=f"{user_id}-{n}", user_id=user_id, thread_id="t", type="fact", kind="fact", content=text,
                created_at=clock, recorded_at=clock, content_hash=content_hash(text),
                embedding_model=embeddings.model_id,
            ),
            vector,
        )
        for n, (text, vector) in enumerate(zip(texts, vectors, strict=True), first)
    ]  # fmt: skip
    for start in range(0, len(documents), 100):
        await memory.runtime.store.batch(
            "memories", (user_id, "t"), [create(document) for document in documents[start : start + 100]]
        )


class OnTheLoop(HashingEmbeddings):
    """Embeds at once: how long a thread takes must not tell which requests leave together."""

    async def embed(self, texts: list[str]) -> Embedded:
        return Embedded([embed_text(text) for text in texts], Usage())


async def milliseconds(memory: AsyncMemory, user_id: str) -> float:
    """The least processor time of a search: whatever else the machine does only adds to it."""
    times = []
    for n in range(15):
        began = time.process_time()
        await memory.user(user_id).search(f"Where is the {WORDS[n]}?", limit=10)
        times.append((time.process_time() - began) * 1000)
    return min(times)


@pytest.mark.acceptance
@pytest.mark.req("S0-093")
@pytest.mark.parametrize("strict", ["0", "1"], ids=["fast", "as in Azure"])
async def test_requests_to_the_store_do_not_grow_with_the_memories(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch, strict: str
):
    """`benchmarks/trips.py` has bytes, request units and milliseconds (`docs/operations.md`)."""
    count_trips(monkeypatch)
    monkeypatch.setenv("EMBEDDED_COSMOS_STRICT", strict)
    quiet = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    embeddings, clock = OnTheLoop(), Clock(monkeypatch)
    async with AsyncMemory.local(chat_model=chat, embedding_model=embeddings, cadence=quiet) as memory:
        alice = memory.user("alice")
        thread = alice.thread("t")
        for n in range(6):
            await thread.add("user" if n % 2 == 0 else "assistant", f"We spoke of the {WORDS[n]}, did we not?")
        await thread.process("index")
        there = 0
        for number in (500, 2_000):
            await fill(memory, "alice", number, there)
            there = number
            clock.now += 2 * RecallSettings().fresh_seconds  # nothing was said lately
            await thread.context("Where was I?")  # reads what a process reads once in a while
            await alice.search("Where was I?")
            with trips_meanwhile() as search:
                assert len(await alice.search("Where are the garden and the river?", limit=10)) == 10
            with trips_meanwhile() as context:
                assert (await thread.context("Where are the garden and the river?")).degraded == []
            with trips_meanwhile() as add:
                await thread.add("user", "We speak of the garden again")
            assert search.requests <= 3, "vectors beside words, and the talk around them"
            assert search.sequential <= 2
            assert search.documents < 110
            assert search.bytes < 20_000
            assert context.requests <= 6, "the scope and its last turns, and standing instructions too"
            assert context.sequential <= 3
            assert context.documents < 150
            assert (add.requests, add.sequential) == (1, 1)


class Clock:
    """The clock by which a process knows what it knows."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        for module in (known, rarity):
            patch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.mark.req("S0-004")
async def test_a_search_takes_no_longer_for_other_users_memories(memory: AsyncMemory):
    await fill(memory, "alice", 500)
    alone = await milliseconds(memory, "alice")
    for number in range(10):
        await fill(memory, f"user{number}", 200)
    # Of five times as many memories; a search that looked at all would take several times as long.
    assert await milliseconds(memory, "alice") < 2 * alone
    found = await memory.user("alice").search("the garden and the river", limit=20)
    assert {hit.memory.user_id for hit in found} == {"alice"}


@pytest.mark.req("S0-077")
def test_cosines_of_different_models_do_not_compare():
    """Models of few dimensions place related texts nearer to each other than large ones do."""
    settings = RecallSettings()
    assert settings.threshold("all-MiniLM-L6-v2-int8") == 0.3
    assert settings.threshold("text-embedding-of-tomorrow") == 0.6
    assert RecallSettings(thresholds={"text-embedding": 0.45}).threshold("text-embedding-of-tomorrow") == 0.45
