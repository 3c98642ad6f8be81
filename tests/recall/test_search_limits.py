"""How many results a search gives: as many as are asked for, up to a hundred, or an error."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from api_world import client_of, serving
from policy_world import opened
from scripted_model import ScriptedChat
from typer.testing import CliRunner

from agent_memory import AsyncMemory, InvalidInput, Memory
from agent_memory.cli.main import app
from agent_memory.models import MemoryConfig

CATS = 110


async def many_cats(memory: AsyncMemory) -> None:
    alice = memory.user("alice")
    await asyncio.gather(*(alice.remember(f"The cat with number {number} is called Tom") for number in range(CATS)))


async def test_a_hundred_are_found_here_over_http_and_remotely(memory: AsyncMemory):
    await many_cats(memory)
    assert len(await memory.user("alice").search("cat", limit=100)) == 100
    async with client_of(memory) as http:
        answer = await http.post("/v1/search", json={"query": "cat", "limit": 100}, headers={"X-User-Id": "alice"})
        assert len(answer.json()["hits"]) == 100
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        assert len(await remote.user("alice").search("cat", limit=100)) == 100


@pytest.mark.parametrize("limit", [0, -1, 101, 10**9, "many", 5.5])
async def test_any_other_limit_is_an_error_wherever_it_is_asked_for(memory: AsyncMemory, limit: object):
    with pytest.raises(InvalidInput, match="limit"):
        await memory.user("alice").search("cat", limit=limit)  # type: ignore[arg-type]
    async with client_of(memory) as http:
        answer = await http.post("/v1/search", json={"query": "cat", "limit": limit}, headers={"X-User-Id": "alice"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        with pytest.raises(InvalidInput, match="limit"):
            await remote.user("alice").search("cat", limit=limit)  # type: ignore[arg-type]


def test_the_command_line_shows_that_too(tmp_path: Path):
    store = str(tmp_path / "memory.db")
    with Memory.local(store) as memory:
        memory.user("alice").remember("The cat is called Tom")
    result = CliRunner().invoke(app, ["search", "cat", "--store", store, "--limit", "101"])
    assert result.exit_code != 0
    assert "1 to 100" in result.output


async def test_what_the_operator_or_the_request_allows_is_said_in_the_log(
    chat: ScriptedChat, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO", "agent_memory")
    async with opened(chat) as memory:
        for number in range(8):
            await memory.user("alice").remember(f"The cat with number {number} is called Tom")
        asked = memory.user("alice", config=MemoryConfig(retrieval_limit=3))
        assert len(await asked.search("cat", limit=8)) == 3
        assert "at most 3 hits, not 8: the request's own limit" in caplog.text
        await memory.assign_tier("alice", "basic")
        assert len(await memory.user("alice").search("cat", limit=8)) == 5
        assert "at most 5 hits, not 8: the tier basic" in caplog.text


@pytest.mark.parametrize("zone", ["UTC", "Etc/GMT+12", "Pacific/Kiritimati"])
@pytest.mark.parametrize("at", [datetime.min, datetime.max])
async def test_the_ends_of_the_calendar_are_times_to_ask_at(memory: AsyncMemory, zone: str, at: datetime):
    """The first hours of the year 1 were an `OverflowError`."""
    alice = memory.user("alice")
    await alice.update_settings(time_zone=zone)
    await alice.remember("My cat is called Tom")
    for question in ("my cat", "my cat yesterday", "my cat next month", "my cat in 99999999 years"):
        found = await alice.search(question, as_of=at.replace(tzinfo=UTC))
        assert [hit.memory.content for hit in found] == (["My cat is called Tom"] if at == datetime.max else [])


@pytest.mark.parametrize(("limit", "shown"), [(1, ["900"]), (2, ["900", "800"])])
async def test_a_newer_value_counts_among_the_results_of_a_context(memory: AsyncMemory, limit: int, shown: list[str]):
    thread = memory.user("alice").thread("t1")
    lines = ("The rent is 800 euros, said Ana in the kitchen.", "The rent is 900 euros.")
    await thread.add_many(
        [
            {"role": "user", "content": line, "created_at": datetime(2026, month, 1, tzinfo=UTC)}
            for month, line in enumerate(lines, 1)
        ]
    )
    await thread.process("index")
    narrow = memory.user("alice", config=MemoryConfig(retrieval_limit=limit))
    context = await narrow.context("Is the rent 800 euros, what Ana said in the kitchen?")
    assert [word for word in context.text.split() if word in ("800", "900")] == shown
