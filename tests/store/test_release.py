"""The store file of the release before this one is read and carried on (`tools/record_release.py` made it)."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_memory import AsyncMemory, Cadence
from agent_memory.cli.options import AbsentEmbeddings
from agent_memory.errors import ConfigurationError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.settings import PolicySettings
from agent_memory.store.containers import COUNTER, container_specs
from agent_memory.store.ids import COUNTERS_THREAD

RELEASE = Path(__file__).parents[1] / "data/release"
TURNS = {"alice": {"trip": 4}, "bob": {"work": 3, "home": 2}}


async def test_a_store_of_the_previous_release_is_read_and_carried_on(tmp_path: Path):
    file = tmp_path / "memory.db"
    file.write_bytes(gzip.decompress((RELEASE / "store.db.gz").read_bytes()))
    cadence = Cadence(extract=1, summarize=1, profile=1, reconcile=0, idle_seconds=0)
    async with AsyncMemory.local(file, embedding_model=HashingEmbeddings(), cadence=cadence) as memory:
        alice, counters = memory.user("alice"), memory.runtime.counters
        for user, threads in TURNS.items():
            for thread, turns in threads.items():
                assert len(await memory.user(user).thread(thread).turns()) == turns
        known = {fact.content for fact in await alice.memories()}
        assert any("Lisbon" in fact for fact in known)
        assert any("$10,000" in fact for fact in known)
        assert (await alice.search("Where do I live?"))[0].memory.content
        assert await alice.profile() is not None
        assert await alice.thread("trip").summary() is not None
        assert [(await counters.user(user)).turns for user in TURNS] == [4, 5]
        assert (await memory.health()).unprocessed_turns == 3, "the counters say 0: no step was due for who wrote them"
        assert [(await memory.user(user).stats()).unprocessed_turns for user in TURNS] == [1, 2]

        await alice.thread("trip").add("user", "My brother is called Tom.")
        await memory.user("bob").thread("home").add("user", "I moved to Bergen in March.")
        assert await memory.drain(timeout=300) == 0
        for user, counted in (("alice", 5), ("bob", 6)):
            document = await memory.runtime.store.read(COUNTER, "user", (user, COUNTERS_THREAD))
            assert document is not None
            assert document["turns"] == counted, "the total was taken over from the counters of the threads"
        assert (await memory.health()).unprocessed_turns == 0
        for user, threads in TURNS.items():
            assert (await memory.user(user).stats()).unprocessed_turns == 0
            assert [info.unprocessed_turns for info in await memory.user(user).threads()] == [0] * len(threads)
        facts = {fact.content for fact in await alice.memories()}
        assert known <= facts
        assert any("Tom" in fact for fact in facts)
        await memory.user("bob").forget(everything=True)
        assert await memory.user("bob").threads() == []


async def test_a_store_of_another_embedding_model_is_refused_as_it_is(tmp_path: Path):
    file = tmp_path / "memory.db"
    file.write_bytes(gzip.decompress((RELEASE / "store.db.gz").read_bytes()))
    with closing(sqlite3.connect(file)) as stored:
        stored.execute("PRAGMA journal_mode = WAL")  # as the engine leaves its files
    before = file.read_bytes()
    another = AbsentEmbeddings("another", 384)
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="made by hashing-384"):
            async with AsyncMemory.local(file, embedding_model=another):
                pass
        assert file.read_bytes() == before, "whoever goes back to the earlier version can still open it"
    async with AsyncMemory.local(file, embedding_model=HashingEmbeddings()) as memory:
        assert await memory.user("alice").search("Where do I live?")
    assert file.read_bytes() != before


async def test_what_a_later_version_stored_is_read_after_a_way_back(tmp_path: Path):
    """A later version may store more fields. Two versions also run beside each other while one is deployed."""
    file, later = tmp_path / "memory.db", {"field_of_later": 1}
    cadence = Cadence(extract=1, summarize=1, profile=1, reconcile=0, idle_seconds=0)
    vectors, policy = HashingEmbeddings(), PolicySettings(audit_days=30)
    async with AsyncMemory.local(file, embedding_model=vectors, cadence=cadence, policy=policy) as memory:
        alice, store = memory.user("alice"), memory.runtime.store
        await memory.set_extraction({"instructions": "Remember invoices."})
        await alice.thread("trip").add("user", "I live in Lisbon.")
        await alice.remember("Allergic to peanuts")
        await alice.update_settings(deny_categories=["health"])
        assert await memory.drain(timeout=300) == 0
        assert await alice.audit()
        for spec in container_specs():
            for row in await store.query(spec.name, "SELECT * FROM c"):
                fields = {name: value for name, value in row.items() if name[0] != "_"} | later
                if "entries" in row:
                    fields["entries"] = [entry | later for entry in row["entries"]]
                if "extraction" in row:
                    fields["extraction"] = row["extraction"] | later
                await store.upsert(spec.name, fields)
    async with AsyncMemory.local(file, embedding_model=vectors, cadence=cadence, policy=policy) as memory:
        alice = memory.user("alice")
        assert len(await alice.audit()) > 1
        given = await memory.extraction()
        assert given is not None
        assert given.instructions == "Remember invoices."
        assert (await alice.settings()).deny_categories == ["health"]
        await alice.thread("trip").add("user", "My brother is called Tom.")
        assert await memory.drain(timeout=300) == 0
        assert {"I live in Lisbon.", "My brother is called Tom."} <= {fact.content for fact in await alice.memories()}
        assert await alice.profile() is not None
        assert await alice.thread("trip").summary() is not None
