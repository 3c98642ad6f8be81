"""The cache of hits: saves searches, and never tells what has changed, or what is another's."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.core.exceptions import ServiceResponseError
from broken_embeddings import BrokenEmbeddings
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.models import knowledge, now
from agent_memory.recall import searcher as cache_module
from agent_memory.recall.searcher import HitCache, cache_key
from agent_memory.settings import RecallSettings
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES, TURNS

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
CACHED = RecallSettings(cache_seconds=60)


class Counting(HashingEmbeddings):
    """How often a search was really made: each embeds its query."""

    asked = 0

    async def embed(self, texts: list[str]) -> Embedded:
        self.asked += 1
        return await super().embed(texts)


def opened(embeddings: HashingEmbeddings, recall: RecallSettings = CACHED) -> AsyncMemory:
    return AsyncMemory.local(chat_model=ScriptedChat(), embedding_model=embeddings, cadence=NEVER, recall=recall)


@pytest.mark.req("S3-16", "S0-014")
async def test_a_search_that_was_made_is_not_made_again():
    embeddings = Counting()
    async with opened(embeddings) as memory:
        alice = memory.user("alice")
        await alice.remember("The cat is called Tom")
        first = await alice.search("How is the cat called?")
        embeddings.asked = 0
        again = await alice.search("How is the cat called?")
        assert again == first
        assert embeddings.asked == 0
        again[0].memory.metadata["x"] = "changed by its caller"
        assert await alice.search("How is the cat called?") == first
        for other in (
            alice.search("How is the cat called?", limit=4),
            alice.search("How is the cat called?", types=["fact"]),
            alice.search("How is the cat called"),
            alice.thread("t").search("How is the cat called?"),
        ):
            before = embeddings.asked
            await other
            assert embeddings.asked == before + 1


@pytest.mark.req("S3-37")
async def test_every_write_of_memories_makes_the_next_search_a_real_one():
    embeddings = Counting()
    async with opened(embeddings) as memory:
        alice = memory.user("alice")
        fact = await alice.remember("The cat is called Tom")
        query = "How is the cat called?"

        async def told() -> list[str]:
            return [hit.memory.content for hit in await alice.search(query)]

        assert await told() == ["The cat is called Tom"]
        new = await alice.update(fact.id, content="The cat is called Felix")
        assert await told() == ["The cat is called Felix"]
        await alice.thread("t").add("user", "fact: the cat is called Felix by all")
        await alice.thread("t").process("extract")
        assert len(await told()) > 1
        await alice.forget(new.id)
        assert "The cat is called Felix" not in await told()


async def test_what_is_said_makes_the_next_search_a_real_one_too():
    async with opened(HashingEmbeddings()) as memory:
        alice, query = memory.user("alice"), "How is the cat called?"
        await alice.remember("The cat is called Tom")
        assert len(await alice.search(query)) == 1
        await alice.thread("t").add("user", "By the way, the cat is called Felix by the children")
        assert any("Felix" in hit.memory.content for hit in await alice.search(query))


async def test_a_thread_is_recalled_by_its_current_switch_and_not_its_earlier_one():
    async with opened(HashingEmbeddings()) as memory:
        alice, query = memory.user("alice"), "How is the cat called?"
        diary = alice.thread("diary")
        await diary.add("user", "fact: the cat is called Tom", created_at=datetime(2026, 3, 1, tzinfo=UTC))
        await diary.process("extract")
        for on in (True, False, True):
            await diary.update_settings(enabled=on)
            for _ in range(2):
                assert any("Tom" in hit.memory.content for hit in await alice.search(query)) is on


async def test_what_was_found_without_vectors_is_searched_again_once_they_are_back():
    embeddings = BrokenEmbeddings()
    async with opened(embeddings) as memory:
        alice, query = memory.user("alice"), "How is the cat called?"
        await alice.remember("The cat is called Tom")
        embeddings.error = ModelError("no embeddings today")
        assert [hit.similarity for hit in await alice.search(query)] == [None]
        embeddings.error = None
        (hit,) = await alice.search(query)
        assert hit.similarity is not None


@pytest.mark.req("S3-16", "S3-37", "S0-088")
async def test_two_processes_and_two_users():
    # Two memories share nothing but the store, as two processes do.
    async with opened(Counting()) as writer:
        store = writer.runtime.store
        reader = AsyncMemory(
            store,
            chat_model=ScriptedChat(),
            embedding_model=Counting(),
            cadence=NEVER,
            process="functions",
            provision=False,
            recall=CACHED,
        )
        query = "How is the cat called?"
        await writer.user("alice").remember("The cat is called Tom")
        await writer.user("bob").remember("The cat is called Felix")
        for _ in range(2):
            assert [h.memory.content for h in await reader.user("alice").search(query)] == ["The cat is called Tom"]
            assert [h.memory.content for h in await reader.user("bob").search(query)] == ["The cat is called Felix"]
        await writer.user("alice").remember("The cat is called Tom, or Tommy")
        assert len(await reader.user("alice").search(query)) == 2


@pytest.mark.parametrize("made", [True, False], ids=["made all the same", "not made"])
async def test_a_write_whose_answer_was_lost_invalidates_cached_searches(monkeypatch: pytest.MonkeyPatch, made: bool):
    async with opened(HashingEmbeddings()) as memory:
        alice, container = memory.user("alice"), memory.runtime.store.container(MEMORIES)
        await alice.remember("The cat is called Tom")
        assert len(await alice.search("How is the cat called?")) == 1
        create = container.create_item

        async def lost(*args: Any, **kwargs: Any) -> None:
            if made:
                await create(*args, **kwargs)
            raise ServiceResponseError("the connection broke")

        monkeypatch.setattr(container, "create_item", lost)
        with pytest.raises(StoreUnavailable):
            await alice.remember("The cat is called Tommy by the children")
        assert len(await alice.search("How is the cat called?")) == 1 + made


async def test_without_the_cache_nothing_is_marked_and_with_it_an_erased_user_leaves_nothing():
    async with opened(HashingEmbeddings(), recall=RecallSettings()) as memory:
        await memory.user("alice").remember("The cat is called Tom")
        assert await memory.runtime.store.read_mark("alice") is None
    async with opened(HashingEmbeddings()) as memory:
        alice = memory.user("alice")
        await alice.remember("The cat is called Tom")
        assert await memory.runtime.store.read_mark("alice") is not None
        await alice.forget(everything=True)
        for container in (MEMORIES, TURNS, SUMMARIES, COUNTER):
            assert await memory.runtime.store.count(container, ("alice",)) == 0


@pytest.mark.req("S0-014")
def test_entries_expire_and_the_oldest_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cache_module, "MOST_ENTRIES", 2)
    cache = HitCache(60)
    for key in ("a", "b"):
        cache.put(key, [])
    cache.get("a")
    cache.put("c", [])
    assert [cache.get(key) for key in ("a", "b", "c")] == [[], None, []]
    expired = HitCache(-1)
    expired.put("a", [])
    assert expired.get("a") is None
    assert cache_key("a", "b") != cache_key("ab")


async def test_a_cached_hit_shows_days_in_the_zone_of_the_user():
    async with opened(HashingEmbeddings()) as memory:
        alice = memory.user("alice")
        late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
        await alice.thread("t").add("user", "The cat is called Tom", created_at=late)
        await alice.thread("t").process("index")
        assert (await alice.search("Tom"))[0].memory.content.startswith("[1 March 2026]")
        await alice.update_settings(time_zone="Asia/Tokyo")
        assert (await alice.search("Tom"))[0].memory.content.startswith("[2 March 2026]")


async def test_a_cached_hit_that_expired_since_is_not_shown(monkeypatch: pytest.MonkeyPatch):
    async with opened(HashingEmbeddings()) as memory:
        alice = memory.user("alice")
        await alice.remember("The cat is called Tom", expires_at=now() + timedelta(hours=1))
        assert len(await alice.search("Tom")) == 1
        monkeypatch.setattr(knowledge, "now", lambda: now() + timedelta(hours=2))
        assert await alice.search("Tom") == []
