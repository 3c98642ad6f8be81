"""Answers under an Idempotency-Key: kept in the store, so that it does not matter which instance is asked."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest
from api_world import client_of
from rivals import after_query
from scripted_model import ScriptedChat
from store_requests import asked_meanwhile, record_requests
from store_scan import documents, scan

from agent_memory import AsyncMemory
from agent_memory.api import binding
from agent_memory.forgetting.deletion import finish_forgettings
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.scopes import forgetting
from agent_memory.store import queries, replies as kept_replies
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.replies import claim_key, forget_replies, keep_reply

KEY = {"idempotency-key": "key-1", "x-user-id": "alice"}
TEA = {"content": "Drinks oolong in the afternoon"}


class SlowEmbeddings(HashingEmbeddings):
    """Counts what it is asked, and takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def embed(self, texts: list[str]) -> Embedded:
        self.asked += 1
        await asyncio.sleep(0.2)
        return await super().embed(texts)


class HeldEmbeddings(HashingEmbeddings):
    """Answers when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def embed(self, texts: list[str]) -> Embedded:
        await self.go_on.wait()
        return await super().embed(texts)


@pytest.fixture
async def instances(memory: AsyncMemory) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Three instances over one store."""
    async with client_of(memory) as one, client_of(memory) as two, client_of(memory) as three:
        yield [one, two, three]


async def claim(memory: AsyncMemory) -> None:
    """What an instance leaves that dies at its work."""
    async with client_of(memory) as http:
        await http.post("/v1/memories", json=TEA, headers=KEY)
    (reply,) = [row for row in await documents(memory, "alice") if row["type"] == "reply"]
    store, partition = memory.runtime.store, ("alice", reply["thread_id"])
    stored = await store.read(reply["container"], reply["id"], partition)
    assert stored is not None
    await store.replace(reply["container"], {**stored, "state": "claimed"}, stored["_etag"])


async def test_of_many_at_once_one_does_the_work_and_all_get_its_answer():
    embeddings = SlowEmbeddings()
    async with (
        AsyncMemory.local(chat_model=ScriptedChat(), embedding_model=embeddings) as memory,
        client_of(memory) as one,
        client_of(memory) as two,
    ):
        before = embeddings.asked
        asked = [http.post("/v1/memories", json=TEA, headers=KEY) for http in (one, two) * 4]
        answers = await asyncio.gather(*asked)
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.text for answer in answers}) == 1
        assert embeddings.asked == before + 1


async def test_another_instance_gives_the_same_answer_with_its_headers(
    instances: list[httpx.AsyncClient], memory: AsyncMemory
):
    made = (await instances[0].post("/v1/memories", json=TEA, headers={"x-user-id": "alice"})).json()
    path = f"/v1/memories/{made['id']}"
    answers = [await http.patch(path, json={"content": "Drinks sencha"}, headers=KEY) for http in instances]
    assert {(one.status_code, one.text, one.headers["etag"], one.headers["content-type"]) for one in answers} == {
        (200, answers[0].text, answers[0].headers["etag"], "application/json")
    }
    other = await instances[1].patch(path, json={"content": "Drinks coffee"}, headers=KEY)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "conflict")
    mine = await instances[2].post("/v1/memories", json=TEA, headers=KEY | {"x-user-id": "bob"})
    assert mine.status_code == 201


async def test_a_request_that_failed_frees_its_key_for_another(instances: list[httpx.AsyncClient]):
    for http in instances:
        assert (await http.post("/v1/memories", json={"content": " "}, headers=KEY)).status_code == 400
    assert (await instances[0].post("/v1/memories", json=TEA, headers=KEY)).status_code == 201


async def test_a_claim_is_waited_for_and_taken_over_when_its_owner_is_dead(
    memory: AsyncMemory, instances: list[httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
):
    await claim(memory)
    monkeypatch.setattr(binding, "WAIT_SECONDS", 0.1)
    waited = await instances[0].post("/v1/memories", json=TEA, headers=KEY)
    assert (waited.status_code, waited.json()["error"]["code"]) == (503, "store_unavailable")
    assert "retry-after" in waited.headers
    monkeypatch.setattr(kept_replies, "CLAIM_SECONDS", 0)
    assert (await instances[0].post("/v1/memories", json=TEA, headers=KEY)).status_code == 201
    # The dead one was only slow: what it answers now replaces nothing.
    document, ours = await claim_key(memory.runtime.store, "alice", "slow", "a request")
    assert ours
    await claim_key(memory.runtime.store, "alice", "slow", "a request")
    await kept_replies.keep_reply(
        memory.runtime.store, document, {"status": 200, "headers": {}, "body": "said too late"}
    )
    assert await scan(memory, "said too late") == []


async def test_an_answer_does_not_outlive_a_forgetting(memory: AsyncMemory, instances: list[httpx.AsyncClient]):
    await instances[0].post("/v1/memories", json=TEA, headers=KEY)
    assert any("reply" in found for found in await scan(memory, "oolong"))
    await memory.user("alice").forget(query="oolong", dry_run=True)
    assert any("reply" in found for found in await scan(memory, "oolong"))
    await memory.user("alice").forget(query="oolong")
    assert await scan(memory, "oolong") == []
    # A repetition of the write, under way since before, does not bring it back.
    again = await instances[1].post("/v1/memories", json=TEA, headers=KEY)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict")
    assert await scan(memory, "oolong") == []


async def test_what_is_answered_during_a_forgetting_is_not_kept(
    memory: AsyncMemory, instances: list[httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
):
    made = (await instances[0].post("/v1/memories", json=TEA, headers={"x-user-id": "alice"})).json()
    done, go_on = asyncio.Event(), asyncio.Event()
    real = binding.keep_reply

    async def late(*given: Any) -> None:
        done.set()
        await go_on.wait()
        await real(*given)

    monkeypatch.setattr(binding, "keep_reply", late)
    path = f"/v1/memories/{made['id']}"
    patch = asyncio.create_task(instances[0].patch(path, json={"pinned": True}, headers=KEY))
    await done.wait()
    await memory.user("alice").forget(query="oolong")
    go_on.set()
    answer = await patch
    assert (answer.status_code, "oolong" in answer.text) == (200, True)
    assert await scan(memory, "oolong") == []
    assert (await instances[1].patch(path, json={"pinned": True}, headers=KEY)).status_code == 409


async def test_a_write_that_fails_during_a_forgetting_still_frees_its_key(memory: AsyncMemory):
    store = memory.runtime.store
    held, _ = await claim_key(store, "alice", "key-1", "a request")
    await kept_replies.forget_replies(store, "alice")
    await kept_replies.free_key(store, held)
    _, ours = await claim_key(store, "alice", "key-1", "another request")
    assert ours


async def test_a_dry_run_keeps_no_answer_and_its_key_serves_the_forgetting(
    memory: AsyncMemory, instances: list[httpx.AsyncClient]
):
    await memory.user("alice").remember(TEA["content"])
    asked = {"query": "oolong", "dry_run": True}
    dry = await instances[0].post("/v1/memory/forget", json=asked, headers=KEY)
    assert [item["content"] for item in dry.json()["items"]] == [TEA["content"]]
    assert not [row for row in await documents(memory) if row["type"] == "reply"]
    receipts = [await http.post("/v1/memory/forget", json={"query": "oolong"}, headers=KEY) for http in instances]
    assert {(one.status_code, one.text) for one in receipts} == {(200, receipts[0].text)}  # its own answer is kept
    assert receipts[0].json()["deleted"] == dry.json()["deleted"]


async def test_a_deleted_thread_and_a_finished_forgetting_clear_answers_too(
    memory: AsyncMemory, instances: list[httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
):
    alice = memory.user("alice")
    await alice.thread("t1").add("user", "fact: drink=oolong in the afternoon")
    await memory.drain(timeout=30)
    (fact,) = await alice.memories()
    patched = await instances[0].patch(f"/v1/memories/{fact.id}", json={"pinned": True}, headers=KEY)
    assert "oolong" in patched.text
    await alice.thread("t1").delete()
    assert not any("reply" in found for found in await scan(memory, "oolong"))
    second = KEY | {"idempotency-key": "key-2"}

    async def killed(*given: object, **named: object) -> None:
        raise ConnectionError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "carry_out", killed)
        with pytest.raises(ConnectionError):
            await alice.forget(query="oolong")
    await instances[0].patch(f"/v1/memories/{fact.id}", json={"pinned": False}, headers=second)
    await finish_forgettings(memory.runtime.store, memory.runtime.counters)
    assert await scan(memory, "oolong") == []


async def test_many_answers_are_cleared_together(monkeypatch: pytest.MonkeyPatch):
    record_requests(monkeypatch)
    async with AsyncMemory.local(chat_model=ScriptedChat(), embedding_model=HashingEmbeddings()) as memory:
        store = memory.runtime.store
        reply = {"status": 200, "headers": {}, "body": "Drinks oolong"}
        for number in range(120):
            held, _ = await claim_key(store, "alice", f"key-{number}", "a request")
            await kept_replies.keep_reply(store, held, reply)
        with asked_meanwhile() as asked:
            await kept_replies.forget_replies(store, "alice")
        assert asked.total() == 3  # a query and two batches
        assert await scan(memory, "oolong") == []


async def test_a_slow_write_gives_signs_of_life_and_waiting_for_it_only_reads(monkeypatch: pytest.MonkeyPatch):
    record_requests(monkeypatch)
    monkeypatch.setattr(binding, "RENEW_SECONDS", 0.05)
    embeddings = HeldEmbeddings()
    async with (
        AsyncMemory.local(chat_model=ScriptedChat(), embedding_model=embeddings) as memory,
        client_of(memory) as one,
        client_of(memory) as two,
    ):

        async def sign_of_life(after: str) -> str:
            while True:
                for row in await documents(memory, "alice"):
                    if row["type"] == "reply" and row["claimed_at"] > after:
                        return str(row["claimed_at"])
                await asyncio.sleep(0.02)

        embeddings.go_on.clear()
        first = asyncio.create_task(one.post("/v1/memories", json=TEA, headers=KEY))
        async with asyncio.timeout(60):
            await sign_of_life(await sign_of_life(await sign_of_life("")))
        with asked_meanwhile() as asked:
            waiting = asyncio.create_task(two.post("/v1/memories", json=TEA, headers=KEY))
            async with asyncio.timeout(60):
                while sum(count for request, count in asked.items() if request[0] == "GET") < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            embeddings.go_on.set()
            second = await waiting
        answer = await first
        assert (answer.status_code, answer.text) == (201, second.text)  # kept, though the claim was renewed
        assert sum(count for request, count in asked.items() if request[0] == "POST" and request[-2] == "409") == 1


async def test_answers_are_the_users_own_for_ten_minutes_and_in_no_export(
    memory: AsyncMemory, instances: list[httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
):
    await instances[0].post("/v1/memories", json=TEA, headers=KEY)
    monkeypatch.setattr(binding, "MOST_BYTES", 10)
    large = {"content": "Owns a large boat"}
    headers = KEY | {"idempotency-key": "key-2"}
    assert (await instances[0].post("/v1/memories", json=large, headers=headers)).status_code == 201
    assert (await instances[1].post("/v1/memories", json=large, headers=headers)).status_code == 409
    found = [row for row in await documents(memory) if row["type"] == "reply"]
    assert {(row["user_id"], row["thread_id"], row["ttl"]) for row in found} == {("alice", "__replies__", 600)}
    assert "key-1" not in str(found)
    lines: list[str] = []
    await memory.user("alice").export(lines.append)
    assert not any("__replies__" in line or '"reply"' in line for line in lines)
    await memory.user("alice").forget(everything=True)
    assert await documents(memory, "alice") == []


async def test_an_answer_that_is_kept_while_answers_are_forgotten_is_forgotten_too(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    store = memory.runtime.store
    mine, _ = await claim_key(store, "alice", "key-1", "request")

    async def answered() -> bool:
        await keep_reply(store, mine, {"body": "Drinks oolong"})
        return True

    after_query(monkeypatch, store, SUMMARIES, queries.TELLING_REPLIES, answered)
    await forget_replies(store, "alice")
    known, _ = await claim_key(store, "alice", "key-1", "request", waiting=True)
    assert (known["state"], "reply" in known) == ("gone", False)
