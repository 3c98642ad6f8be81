"""The audit: who read or changed what, in ids."""

import asyncio
from datetime import timedelta

import pytest
from api_world import client_of
from policy_world import opened
from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import Memory, audit
from agent_memory.api import HeaderIdentity
from agent_memory.audit import MOST_IDS, Actor, Auditor, acting
from agent_memory.errors import InvalidInput, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import now
from agent_memory.settings import PolicySettings
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import BATCH_OPERATIONS, Document

SECRET = "the launch code is 4711"


async def test_the_user_sees_who_read_and_changed_what(chat: ScriptedChat):
    async with opened(chat, audit_days=30) as memory:
        alice = memory.user("alice")
        start = now()
        with acting(Actor("support-7", "api", "203.0.113.9")):
            fact = await alice.remember(f"Remember: {SECRET}")
            await alice.search(SECRET)
        between = now()
        await alice.thread("t1").context(SECRET)
        await alice.update(fact.id, content="The launch code has changed")
        await alice.forget(id=fact.id, dry_run=True)
        entries = await alice.audit()
        assert [(e.action, e.changes, e.actor, e.via) for e in reversed(entries)] == [
            ("remember", True, "support-7", "api"),
            ("search", False, "support-7", "api"),
            ("context", False, "application", "sdk"),
            ("update", True, "application", "sdk"),
            ("forget", False, "application", "sdk"),
        ]
        by_action = {entry.action: entry for entry in entries}
        assert by_action["search"].ids == by_action["remember"].ids == [fact.id]
        assert by_action["search"].address == "203.0.113.9"
        assert by_action["context"].thread_id == "t1"
        assert [e.action for e in await alice.audit(limit=2)] == ["forget", "update"]
        assert [e.action for e in await alice.audit(since=between)] == ["forget", "update", "context"]
        assert await alice.audit(since=entries[0].at) == entries[:1]
        assert await alice.audit(since=start + timedelta(hours=1)) == []
        assert await memory.user("bob").audit() == []
        with pytest.raises(InvalidInput):
            await alice.audit(limit=0)
        rows = await memory.runtime.store.query(SUMMARIES, 'SELECT * FROM c WHERE c.type = "audit"')
        assert SECRET not in str(rows)
        assert {row["ttl"] for row in rows} == {30 * 86_400}


async def test_over_http_the_caller_is_noted(chat: ScriptedChat):
    async with opened(chat, audit_days=30) as memory, client_of(memory, HeaderIdentity(allowed=True)) as http:
        await http.post("/v1/search", json={"query": "cat"}, headers={"x-user-id": "alice"})
        answer = await http.get("/v1/audit", headers={"x-user-id": "alice"})
        ((entry),) = answer.json()["entries"]
        assert (entry["action"], entry["via"], entry["address"]) == ("search", "api", "127.0.0.1")
        assert entry["actor"]
        assert (await http.get("/v1/audit", headers={"x-user-id": "bob"})).json() == {"entries": []}


@simulated_time
async def test_entries_are_written_behind_the_operations_many_at_a_time(chat: ScriptedChat):
    async with opened(chat, audit_days=30) as memory:
        store = memory.runtime.store
        auditor = Auditor(store, 30, delay=10)
        for _ in range(BATCH_OPERATIONS + 1):
            auditor.note("alice", "search", changes=False, thread_id=None, ids=[str(n) for n in range(200)])
        assert await store.count(SUMMARIES, ("alice",)) == 0
        await asyncio.sleep(11)
        assert await store.count(SUMMARIES, ("alice",)) == 2
        newest = (await auditor.entries("alice", None, 500))[0]
        assert (newest.ids, newest.count) == ([str(n) for n in range(100)], 200)
        await auditor.close()


async def test_what_cannot_be_written_waits(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch):
    async with opened(chat, audit_days=30) as memory:
        alice = memory.user("alice")
        store = memory.runtime.store
        await alice.search("cat")

        async def unavailable(*_: object) -> None:
            raise StoreUnavailable("throttled")

        with monkeypatch.context() as broken:
            broken.setattr(store, "create", unavailable)
            assert await alice.audit() == []
        assert [entry.action for entry in await alice.audit()] == ["search"]


async def test_of_too_many_that_wait_the_newest_are_kept(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(audit, "MOST_WAITING", 3)
    async with opened(chat, audit_days=30) as memory:
        store = memory.runtime.store

        async def unavailable(*_: object) -> None:
            raise StoreUnavailable("throttled")

        auditor = Auditor(store, 30)
        for number in range(5):
            auditor.note("alice", "search", changes=False, thread_id=None, ids=[str(number)])
        with monkeypatch.context() as broken:
            broken.setattr(store, "create", unavailable)
            await auditor.flush()
        assert [entry.ids for entry in await auditor.entries("alice", None, 9)] == [["4"], ["3"], ["2"]]
        await auditor.close()


async def test_a_write_that_is_under_way_is_not_cut_short_at_the_end(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    async with opened(chat, audit_days=30) as memory:
        store, written = memory.runtime.store, asyncio.Event()
        create = store.create

        async def slow(container: str, document: Document) -> Document:
            created = await create(container, document)
            written.set()
            await asyncio.sleep(0.05)  # the answer is on its way
            return created

        auditor = Auditor(store, 30, delay=0.01)
        with monkeypatch.context() as patched:
            patched.setattr(store, "create", slow)
            for user_id in ("alice", "bob"):
                auditor.note(user_id, "search", changes=False, thread_id=None, ids=["cat"])
            await written.wait()
            await auditor.close()
        for user_id in ("alice", "bob"):
            assert [entry.action for entry in await auditor.entries(user_id, None, 9)] == ["search"], user_id


async def test_the_audit_goes_with_the_user(chat: ScriptedChat):
    async with opened(chat, audit_days=30) as memory:
        alice = memory.user("alice")
        await alice.remember("The cat is called Tom")
        await alice.audit()
        await alice.search("cat")
        await alice.forget(everything=True)
        await memory.runtime.auditor.flush()
        assert await memory.runtime.store.count(SUMMARIES, ("alice",)) == 0


async def test_without_days_there_is_no_audit(chat: ScriptedChat):
    async with opened(chat) as memory:
        await memory.user("alice").search("cat")
        assert await memory.user("alice").audit() == []
        assert await memory.runtime.store.count(SUMMARIES, ("alice",)) == 0


def test_the_actor_reaches_the_loop_of_the_synchronous_face(chat: ScriptedChat):
    policy = PolicySettings(audit_days=1)
    with Memory.local(chat_model=chat, embedding_model=HashingEmbeddings(), policy=policy) as memory:
        with acting(Actor("ann", "cli")):
            memory.user("alice").search("cat")
        assert [(entry.actor, entry.via) for entry in memory.user("alice").audit()] == [("ann", "cli")]


@pytest.mark.parametrize("letter", ["x", "é"])
async def test_entries_with_the_longest_ids_are_written(chat: ScriptedChat, letter: str):
    """A hundred writes of a hundred turns within a second: their ids have no room in one document."""
    async with opened(chat, audit_days=30) as memory:
        auditor = Auditor(memory.runtime.store, 30, delay=60.0)
        ids = [f"{number}-".ljust(255, letter) for number in range(MOST_IDS)]
        for _ in range(BATCH_OPERATIONS):
            auditor.note("alice", "add_many", changes=True, thread_id="t" * 255, ids=ids)
        entries = await auditor.entries("alice", None, 1000)
        assert [entry.ids for entry in entries] == [ids] * BATCH_OPERATIONS
