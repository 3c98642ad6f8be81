"""`recent_k`: of what is new a model reads the newest only, and the rest counts as covered."""

from datetime import UTC, datetime, timedelta

import httpx2 as httpx
import pytest
from api_world import client_of, serving
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.scopes import AsyncThreadScope, AsyncUserScope
from agent_memory.settings import Limits

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


def facts(count: int, first: int = 0) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": f"fact: shelf {n}=holds {n} books", "created_at": MARCH + timedelta(minutes=n)}
        for n in range(first, first + count)
    ]


def read_by(chat: ScriptedChat) -> list[str]:
    """What the model was shown, over all its calls."""
    return [turn.content for data in chat.seen for turn in getattr(data, "turns", [])]


@pytest.mark.req("S1-27")
@pytest.mark.parametrize("step", ["extract", "summarize"])
async def test_only_the_newest_of_the_new_turns_are_read(memory: AsyncMemory, chat: ScriptedChat, step: str):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(facts(50))  # more than one run covers
    await thread.process(step, recent_k=3)
    assert read_by(chat) == [f"fact: shelf {n}=holds {n} books" for n in (47, 48, 49)]
    assert (await thread.process(step)).turns == 0
    await thread.add_many(facts(2, first=50))
    await thread.process(step, recent_k=3)
    assert read_by(chat)[3:] == [f"fact: shelf {n}=holds {n} books" for n in (50, 51)]


@pytest.mark.req("S1-27")
async def test_a_limit_above_what_one_run_covers_is_kept_too(chat: ScriptedChat):
    limits = Limits(batch_turns=4)
    async with opened(chat, limits=limits) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add_many(facts(25))
        assert (await thread.process("summarize", recent_k=10)).turns == 10
        assert read_by(chat) == [f"fact: shelf {n}=holds {n} books" for n in range(15, 25)]
        summary = await thread.summary()
        assert summary is not None
        assert summary.turn_count == 10
        assert (await thread.process("summarize")).turns == 0


@pytest.mark.req("S1-27")
async def test_what_is_left_unread_is_found_by_its_words(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(facts(5))
    assert (await thread.process("extract", recent_k=1)).created == 1
    assert [one.content for one in await thread.memories(types=["fact"])] == ["shelf 4=holds 4 books"]
    hits = await memory.user("alice").search("shelf 0 holds 0 books")
    assert any("shelf 0=" in hit.memory.content for hit in hits)


@pytest.mark.req("S1-27")
async def test_a_profile_reads_the_newest_memories(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await alice.thread("t1").add_many(facts(5))
    await alice.thread("t1").process("extract")
    await alice.process("profile", recent_k=2)
    profile = await alice.profile()
    assert profile is not None
    assert profile.personal == ["shelf 4=holds 4 books", "shelf 3=holds 3 books"]
    calls = chat.calls["profile"]
    await alice.process("profile")
    assert chat.calls["profile"] == calls, "the rest counts as covered"


async def refuses(scope: AsyncThreadScope | AsyncUserScope, step: str, recent_k: int, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        await scope.process(step, recent_k=recent_k)  # type: ignore[arg-type]


@pytest.mark.req("S1-27")
async def test_it_is_refused_where_it_means_nothing(memory: AsyncMemory):
    alice = memory.user("alice")
    await refuses(alice.thread("t1"), "index", 3, "index knows no recent_k")
    await refuses(alice.thread("t1"), "archive", 3, "archive knows no recent_k")
    await refuses(alice, "reconcile", 3, "reconcile knows no recent_k")
    await refuses(alice.thread("t1"), "extract", 0, "from 1 to 10000, not 0")
    await refuses(alice, "profile", 10_001, "from 1 to 10000, not 10001")


@pytest.mark.req("S1-27", "S1-58")
async def test_over_http(memory: AsyncMemory, chat: ScriptedChat):
    await memory.user("alice").thread("t1").add_many(facts(5))
    async with client_of(memory) as http:
        http.headers["x-user-id"] = "alice"
        run = await http.post("/v1/process/summary", json={"thread_id": "t1", "recent_k": 2})
        assert run.json()["result"]["turns"] == 2
        for step, recent_k in (("index", 2), ("summarize", 0), ("reconcile", 2)):
            asked = {"recent_k": recent_k} | ({} if step == "reconcile" else {"thread_id": "t1"})
            refused: httpx.Response = await http.post(f"/v1/process/{step}", json=asked)
            assert refused.status_code == 400
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        assert (await remote.user("alice").thread("t1").process("extract", recent_k=1)).created == 1
        await remote.user("alice").process("profile", recent_k=1)
    assert read_by(chat)[:2] == [f"fact: shelf {n}=holds {n} books" for n in (3, 4)]
