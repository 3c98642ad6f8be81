"""One memory that expires: nothing shows it from then on, and the store deletes it."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from api_world import serving

import embedded_cosmos
from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import now
from agent_memory.store.containers import MEMORIES

PASSWORD = "The guest password is swordfish"


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the clock by which memories expire; that of the store stays, as if it had not deleted yet."""

    def move(seconds: float) -> None:
        monkeypatch.setattr("agent_memory.models.knowledge.now", lambda: now() + timedelta(seconds=seconds))
        monkeypatch.setattr("agent_memory.transfer.export.now", lambda: now() + timedelta(seconds=seconds))

    return move


async def stored(memory: AsyncMemory, id: str) -> dict[str, Any] | None:
    return await memory.runtime.store.read(MEMORIES, id, ("alice", "__user__"))


async def test_nothing_shows_what_has_expired(memory: AsyncMemory, later: Callable[[float], None]):
    alice = memory.user("alice")
    secret = await alice.remember(PASSWORD, ttl=60)
    await alice.remember("The guest room has a password on the wall")
    assert secret.expires_at is not None
    kept = await stored(memory, secret.id) or {}
    assert (secret.expires_at - now()).total_seconds() <= kept["ttl"] <= 60
    assert secret.id in [hit.memory.id for hit in await alice.search("guest password")]
    later(61)
    assert secret.id not in [hit.memory.id for hit in await alice.search("guest password", include_superseded=True)]
    assert "swordfish" not in (await alice.context("What is the guest password?")).text
    assert secret.id not in [one.id for one in await alice.memories(include_superseded=True)]
    assert "Swordfish" not in [entity.name for entity in await alice.entities()]
    lines: list[str] = []
    await alice.export(lines.append)
    assert not any("swordfish" in line for line in lines)
    for gone in (alice.get(secret.id), alice.update(secret.id, content="x"), alice.why(secret.id)):
        with pytest.raises(NotFound):
            await gone
    again = await alice.remember(PASSWORD)
    assert again.id != secret.id


async def test_a_listing_pages_past_what_has_expired(memory: AsyncMemory, later: Callable[[float], None]):
    alice = memory.user("alice")
    for n in range(9):
        await alice.remember(f"Locker number {n} is free", ttl=60 if n % 2 else None)
    later(61)
    found, cursor = [], None
    while True:
        page = await alice.memories(limit=2, cursor=cursor)
        found += [one.content for one in page]
        cursor = page.next
        if cursor is None:
            break
    assert sorted(found) == [f"Locker number {n} is free" for n in range(0, 9, 2)]


async def test_the_store_deletes_it(monkeypatch: pytest.MonkeyPatch):
    passed = [0.0]
    engine = partial(embedded_cosmos.Engine, clock=lambda: time.time() + passed[0])
    monkeypatch.setattr(embedded_cosmos, "Engine", engine)
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        secret = await memory.user("alice").remember(PASSWORD, ttl=3600)
        passed[0] = 1800
        assert await stored(memory, secret.id) is not None
        passed[0] = 3605
        assert await stored(memory, secret.id) is None
        assert await memory.user("alice").memories() == []


async def test_expiry_is_set_moved_and_taken_back(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.update_settings(retention_days={"fact": 10})
    fact = await alice.remember("The bike is red")
    assert (await stored(memory, fact.id) or {})["ttl"] == 864_000
    at = now() + timedelta(hours=1)
    fact = await alice.update(fact.id, expires_at=at, pinned=True)
    document = await stored(memory, fact.id) or {}
    assert (fact.expires_at, fact.pinned) == (at, True)
    assert (at - now()).total_seconds() <= document["ttl"] <= 3_600
    newer = await alice.update(fact.id, content="The bike is blue")
    assert newer.expires_at == at
    kept = await stored(memory, newer.id) or {}
    assert (at - now()).total_seconds() <= kept["ttl"] <= 3_600
    assert (await alice.remember("The bike is blue", ttl=120)).id == newer.id
    assert 110 <= (await stored(memory, newer.id) or {})["ttl"] <= 120
    lasting = await alice.update(newer.id, expires_at="never")
    assert lasting.expires_at is None
    assert (await stored(memory, newer.id) or {})["ttl"] == 864_000
    await alice.remember("The bike is blue", expires_at=now() + timedelta(days=100))
    assert (await stored(memory, newer.id) or {})["ttl"] == 864_000


@pytest.mark.parametrize(
    "wrong",
    [
        {"ttl": 0},
        {"ttl": -1},
        {"ttl": True},
        {"ttl": 1.5},
        {"ttl": 2**31},
        {"expires_at": datetime(2020, 1, 1, tzinfo=UTC)},
        {"expires_at": "tomorrow"},
        {"expires_at": datetime(2999, 1, 1, tzinfo=UTC), "ttl": 5},
    ],
)
async def test_what_is_no_expiry_is_refused(memory: AsyncMemory, wrong: dict[str, Any]):
    alice = memory.user("alice")
    with pytest.raises(InvalidInput):
        await alice.remember("x", **wrong)
    fact = await alice.remember("The bike is red")
    with pytest.raises(InvalidInput):
        await alice.update(fact.id, **wrong)


async def test_an_import_leaves_out_what_has_expired(memory: AsyncMemory, later: Callable[[float], None]):
    await memory.user("alice").remember(PASSWORD, ttl=60)
    lines: list[str] = []
    await memory.user("alice").export(lines.append)
    assert any(json.loads(line).get("expires_at") for line in lines)
    await memory.user("bob").import_lines(lines)
    (copy,) = await memory.user("bob").memories()
    assert copy.expires_at is not None
    later(61)
    receipt = await memory.user("carol").import_lines(lines)
    assert receipt.unwanted == {"memory": 1}
    assert await memory.user("carol").memories() == []


async def test_over_http(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        alice = remote.user("alice")
        at = now().replace(microsecond=0) + timedelta(hours=1)
        fact = await alice.remember(PASSWORD, expires_at=at, agent_id="porter")
        assert (fact.expires_at, fact.agent_id) == (at, "porter")
        assert (await alice.update(fact.id, expires_at="never")).expires_at is None
        assert (await alice.update(fact.id, ttl=60)).expires_at is not None
        with pytest.raises(InvalidInput):
            await alice.remember("x", ttl=0)
