"""Under load a server makes contexts wait for their turn, so that each is whole."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from api_world import client_of, serving
from policy_world import QUIET
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.api.admission import Admission, Busy, Load, Turns
from agent_memory.api.credentials import ApiKeys, new_key
from agent_memory.api.identity import Caller
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.settings import RecallSettings


class OneAtATime(HashingEmbeddings):
    """An embedding model that takes a while for each question, and answers one at a time, as a busy processor does."""

    takes = 0.0

    def __init__(self) -> None:
        super().__init__()
        self._free = asyncio.Lock()

    async def embed(self, texts: list[str]) -> Embedded:
        async with self._free:
            await asyncio.sleep(self.takes)
        return await super().embed(texts)


async def contexts(load: Load | None) -> list[list[str]]:
    """What the contexts of 60 users lack who ask at the same time."""
    embeddings = OneAtATime()
    memory = AsyncMemory.local(
        chat_model=ScriptedChat(),
        embedding_model=embeddings,
        cadence=QUIET,
        recall=RecallSettings(context_timeout=3.0),
    )
    async with memory, serving(memory, load=load) as url, AsyncMemory.remote(url) as there:
        users = [there.user(f"user {number}") for number in range(20)]
        for user in users:
            await user.thread("t").add("user", "My locker code is 4711.")
        embeddings.takes = 0.15
        found = await asyncio.gather(*(user.context("What is my locker code?") for user in users))
        assert load is None or all("4711" in context.text for context in found)
        return [context.degraded for context in found]


async def test_contexts_that_come_at_once_are_slower_and_not_poorer():
    assert any(await contexts(None))
    assert not any(await contexts(Load()))


async def test_users_take_turns():
    turns = Turns(Load(at_once=2))
    order: list[str] = []
    at_work = most = 0

    async def one(who: str) -> None:
        nonlocal at_work, most
        async with turns.turn(who):
            at_work += 1
            most = max(most, at_work)
            order.append(who)
            await asyncio.sleep(0)
            at_work -= 1

    await asyncio.gather(*(one(who) for who in ["greedy"] * 6 + ["ann", "bob"]))
    assert most == 2
    assert order[:5] == ["greedy", "greedy", "greedy", "ann", "bob"]
    assert len(order) == 8
    async with asyncio.timeout(5), turns.turn("ann"), turns.turn("bob"):  # both turns are free again
        pass


async def test_who_waits_too_long_or_goes_away_leaves_the_turn_to_others():
    turns = Turns(Load(at_once=1, most_waiting=1, seconds=0.05))
    async with turns.turn("ann"):
        waits = asyncio.create_task(turns._take("bob"))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await turns._take("too many")
        waits.cancel()
        await asyncio.wait([waits])
        with pytest.raises(Busy):
            await turns._take("too long")
    async with asyncio.timeout(5), turns.turn("ann"):
        pass


async def test_who_goes_away_as_the_turn_comes_takes_it_from_nobody():
    turns = Turns(Load(at_once=1))
    async with turns.turn("ann"):
        waits = asyncio.create_task(turns._take("bob"))
        await asyncio.sleep(0)
    waits.cancel()  # the turn is his by now
    await asyncio.wait([waits])
    async with asyncio.timeout(5), turns.turn("cem"):
        pass


async def test_a_request_without_a_turn_is_asked_to_come_again(memory: AsyncMemory):
    async with client_of(memory, load=Load(at_once=0, seconds=0.01, retry_after=7)) as http:
        ann = {"x-user-id": "ann"}
        for path, body in (("/v1/context", {"query": "q"}), ("/v1/search", {"query": "q"})):
            answer = await http.post(path, json=body, headers=ann)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
            assert answer.json()["error"]["code"] == "store_unavailable"
        assert (await http.get("/v1/stats", headers=ann)).status_code == 200


async def test_who_has_no_credentials_does_not_wait(memory: AsyncMemory):
    key, entry = new_key("ann", user="ann")
    full = Load(at_once=0, most_waiting=0)
    async with client_of(memory, ApiKeys([entry]), load=full, rate_limit="2/minute") as http:
        for path in ("/v1/context", "/v1/search", "/v1/threads/t/turns"):
            for headers in ({}, {"x-api-key": "invented"}, {"authorization": "Bearer invented"}):
                answer = await http.post(path, json={"query": "q"}, headers=headers)
                assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthenticated")
                assert "www-authenticate" in answer.headers
        hers = [await http.post("/v1/search", json={"query": "q"}, headers={"x-api-key": key}) for _ in range(3)]
        assert [answer.status_code for answer in hers] == [503, 503, 429]


async def test_a_caller_with_many_cookies_is_one_caller(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    key, entry = new_key("ann", user="ann")
    waited: list[object] = []

    @asynccontextmanager
    async def turn(_: Turns, who: object) -> AsyncIterator[None]:
        waited.append(who)
        yield

    monkeypatch.setattr(Turns, "turn", turn)
    async with client_of(memory, ApiKeys([entry]), load=Load()) as http:
        for number in range(3):
            headers = {"x-api-key": key, "cookie": f"a={number}"}
            assert (await http.post("/v1/search", json={"query": "q"}, headers=headers)).status_code == 200
    assert len(waited) == 3
    assert len(set(waited)) == 1


async def test_a_client_that_has_gone_is_not_answered():
    asked: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append((await receive())["body"].decode())
        await asyncio.sleep(0.05)

    admission = Admission(app, Load(at_once=1))

    async def request(body: str, *, gone: bool) -> None:
        messages = iter([{"type": "http.request", "body": body.encode()}])

        async def receive() -> Any:
            for message in messages:
                return message
            await asyncio.sleep(0 if gone else 60)
            return {"type": "http.disconnect"}

        known = {"caller": Caller("ann", "ann")}
        scope = {"type": "http", "path": "/v1/context", "headers": [], "state": known}
        await admission(scope, receive, lambda message: None)

    await asyncio.gather(request("first", gone=False), request("gone", gone=True), request("last", gone=False))
    assert asked == ["first", "last"]
