"""Export, import and erasure over HTTP, and the deletions under other systems' paths."""

from collections.abc import AsyncIterator

import httpx2 as httpx
import pytest
from api_world import client_of, serving

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput

ALICE = {"x-user-id": "alice"}


@pytest.fixture
async def http(memory: AsyncMemory) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(memory) as client:
        client.headers.update(ALICE)
        yield client


async def filled(memory: AsyncMemory) -> str:
    """Alice has said something in two projects and keeps a fact; the fact's id."""
    alice = memory.user("alice")
    for project in ("home", "work"):
        chat = alice.thread(f"t-{project}", project_id=project)
        await chat.add("user", f"fact: {project}=a place with a long nämé ✓")
        await chat.process("extract")
    return (await alice.remember("Allergic to peanuts")).id


async def test_an_export_comes_over_and_goes_in_pieces(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_memory.remote.http.REQUEST_BYTES", 2500)
    await filled(memory)
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        lines: list[str] = []
        local: list[str] = []
        assert await remote.user("alice").export(lines.append) == len(lines)
        await memory.user("alice").export(local.append)
        assert sorted(lines[1:]) == sorted(local[1:])  # the header tells the time
        done: list[int] = []
        receipt = await remote.user("carol").import_lines(lines, progress=done.append)
        assert len(done) > 1
        assert done[-1] == len(lines)
        assert receipt.created["turn"] == 2
        kept = {one.content for one in await memory.user("carol").memories()}
        assert kept == {one.content for one in await memory.user("alice").memories()}
        assert len(kept) == 3
        again = await remote.user("carol").import_lines(lines)
        assert sum(again.created.values()) == 0
        for bad in (["no json"], ['{"type": "song"}'], ["[1]"]):
            with pytest.raises(InvalidInput):
                await remote.user("carol").import_lines(bad)


async def test_a_separator_of_lines_within_a_text_does_not_end_a_line_of_an_export(
    http: httpx.AsyncClient, memory: AsyncMemory
):
    """JSON may hold them as they are; Python's `splitlines` splits there."""
    said = "one\u2028two\u2029three\x85four"
    await memory.user("alice").thread("t1").add("user", said)
    lines: list[str] = []
    await memory.user("alice").export(lines.append)
    body = "\r\n".join(lines).encode()
    receipt = await http.post("/v1/import", content=body, headers={"x-user-id": "carol"})
    assert receipt.json()["created"]["turn"] == 1
    assert [turn.content for turn in await memory.user("carol").thread("t1").turns()] == [said]


@pytest.mark.req("S0-062", "S3-26")
async def test_a_memory_is_forgotten_by_its_id(http: httpx.AsyncClient, memory: AsyncMemory):
    for prefix in ("/v1/memory", "/api/memory/memories", "/memory/memories"):
        kept = await filled(memory)
        foreign = await http.delete(f"{prefix}/{kept}", headers={"x-user-id": "bob"})
        none = await http.delete(f"{prefix}/none", headers={"x-user-id": "bob"})
        assert (foreign.status_code, none.status_code) == (404, 404)
        assert foreign.json()["error"]["code"] == none.json()["error"]["code"] == "not_found"
        assert (await http.get(f"/v1/memories/{kept}")).status_code == 200
        receipt = await http.delete(f"{prefix}/{kept}")
        assert receipt.status_code == 200
        assert kept in receipt.json()["deleted"]["fact"]
        assert (await http.get(f"/v1/memories/{kept}")).status_code == 404
        assert (await http.delete(f"{prefix}/{kept}")).status_code == 404


@pytest.mark.req("S0-063")
async def test_a_project_is_forgotten(http: httpx.AsyncClient, memory: AsyncMemory):
    await filled(memory)
    assert (await http.delete("/v1/memory?project_id=work&user_id=bob")).status_code == 403
    assert (await http.delete("/v1/memory")).status_code == 400
    assert (await http.delete("/v1/memory?project_id=work&user_id=alice")).status_code == 200
    left = {one["content"] for one in (await http.get("/v1/memories")).json()["memories"]}
    assert left == {"home=a place with a long nämé ✓", "Allergic to peanuts"}
    assert (await http.get("/v1/threads/t-work/turns")).json()["turns"] == []


@pytest.mark.req("S0-064")
async def test_a_topic_is_forgotten_after_its_memories_were_shown(http: httpx.AsyncClient, memory: AsyncMemory):
    await filled(memory)
    everywhere = {"query": "a place", "thread_id": "t-home", "include_sources": False, "dry_run": True}
    assert (await http.post("/v1/memory/forget", json=everywhere)).status_code == 200
    asked = {"query": "peanuts"}
    shown = (await http.post("/v1/memory/forget", json=asked | {"dry_run": True})).json()
    assert shown["dry_run"] is True
    assert any("peanuts" in str(item) for item in shown["items"])
    assert len((await http.get("/v1/memories")).json()["memories"]) == 3
    assert (await http.post("/v1/memory/forget", json=asked)).json()["dry_run"] is False
    assert len((await http.get("/v1/memories")).json()["memories"]) == 2


@pytest.mark.req("S3-27")
async def test_all_memories_go_if_it_is_meant(http: httpx.AsyncClient, memory: AsyncMemory):
    await filled(memory)
    await memory.user("bob").remember("Bob likes tea")
    await memory.user("alice").update_settings(auto_store=False)
    for unsure in ("", "?confirm=false", "?confirm=1"):
        assert (await http.delete(f"/api/memory/memories{unsure}")).status_code == 400
    assert (await http.get("/api/memory/memories")).json()["total"] == 3
    assert (await http.delete("/api/memory/memories?confirm=true")).status_code == 200
    assert (await http.get("/api/memory/memories")).json()["total"] == 0
    assert (await memory.user("alice").settings()).auto_store is False
    assert len(await memory.user("bob").memories()) == 1


@pytest.mark.req("S3-46")
async def test_a_user_is_erased(http: httpx.AsyncClient, memory: AsyncMemory):
    await filled(memory)
    await memory.user("bob").remember("Bob likes tea")
    assert (await http.delete("/v1/users/me")).status_code == 200
    assert await memory.users() == ["bob"]
    assert (await http.get("/v1/stats")).json()["turns"] == 0


@pytest.mark.req("S2-41", "S3-45", "S4-43")
async def test_a_thread_is_cleared_or_deleted(http: httpx.AsyncClient, memory: AsyncMemory):
    await filled(memory)
    assert (await http.post("/v1/threads/t-home/clear")).json() == {"cleared": 1}
    assert (await http.get("/v1/threads/t-home/view")).json()["turns"] == []
    assert (await http.delete("/v1/threads/t-home")).status_code == 200
    assert (await http.get("/v1/threads/t-home/turns")).json()["turns"] == []
    assert len((await http.get("/v1/memories")).json()["memories"]) == 3
    assert (await http.delete("/v1/threads/t-work?include_memories=true")).status_code == 200
    assert len((await http.get("/v1/memories")).json()["memories"]) == 2
