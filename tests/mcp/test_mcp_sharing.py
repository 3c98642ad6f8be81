"""Several processes on one store file: the second goes through the first, and takes over when that is gone."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_world import data_of, over_stdio, text_of
from typer.testing import CliRunner

from agent_memory import AsyncMemory, Cadence
from agent_memory.api.server import running
from agent_memory.cli.main import app
from agent_memory.errors import ConfigurationError, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.processing.worker import Worker
from agent_memory.sharing import shared
from agent_memory.sharing.note import Note, answers, find_host, note_path, read_note, remove_note, write_note
from agent_memory.sharing.shared import SharedStore

QUICK = {"AGENT_MEMORY_EMBEDDINGS": "local:hashing", "AGENT_MEMORY_CHAT": "local:rules"}
NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


def shared_store(path: Path) -> SharedStore:
    return SharedStore(path, lambda: AsyncMemory.local(path, embedding_model=HashingEmbeddings(), cadence=NEVER))


async def remember(memory: AsyncMemory) -> str:
    return (await memory.user("alice").remember("Lives in Lisbon")).id


async def test_the_second_goes_through_the_first_and_takes_over_when_it_ends(tmp_path: Path):
    path = tmp_path / "m.db"
    (tmp_path / "link.db").symlink_to(path)
    first, second, third = shared_store(path), shared_store(tmp_path / "link.db"), shared_store(path)
    try:
        made = await first.ask(remember)
        assert await second.ask(remember) == made
        assert await third.ask(remember) == made
        assert (await first.open())[1] is None
        host = (await second.open())[1]
        assert host is not None
        await first.close()
        assert not note_path(path).exists()
        # Two find out at once; one of them opens the file, and the other goes through it.
        assert await asyncio.gather(second.ask(remember), third.ask(remember)) == [made, made]
        hosts = [(await store.open())[1] for store in (second, third)]
        assert sorted(one is None for one in hosts) == [False, True]
    finally:
        for store in (second, third):
            await store.close()
    assert not note_path(path).exists()


async def test_work_that_lost_its_process_is_begun_anew(tmp_path: Path):
    path = tmp_path / "m.db"
    first, second = shared_store(path), shared_store(path)
    await first.open()
    await second.open()
    tried: list[AsyncMemory] = []

    async def work(memory: AsyncMemory) -> str:
        tried.append(memory)
        if len(tried) == 1:
            await first.close()
            raise StoreUnavailable("the connection broke")
        return await remember(memory)

    assert await second.ask(work)
    assert len(tried) == 2
    assert tried[0] is not tried[1]
    await second.close()


async def test_work_whose_processes_keep_ending_is_given_up_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "m.db"
    first, second = shared_store(path), shared_store(path)
    await first.open()
    monkeypatch.setattr(shared, "answers", lambda host: False)
    tries: list[int] = []

    async def work(memory: AsyncMemory) -> str:
        tries.append(1)
        raise StoreUnavailable("the connection broke")

    with pytest.raises(StoreUnavailable, match="the connection broke"):
        await second.ask(work)
    assert len(tries) == 3
    await second.close()
    await first.close()


async def test_the_second_may_do_what_the_operator_may(tmp_path: Path):
    path = tmp_path / "m.db"
    first, second = shared_store(path), shared_store(path)
    await first.ask(remember)
    assert await second.ask(AsyncMemory.users) == ["alice"]
    await second.close()
    await first.close()


async def test_background_work_gives_way_to_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gave: list[Worker] = []
    monkeypatch.setattr(Worker, "give_way", lambda self: gave.append(self))
    store = SharedStore(tmp_path / "m.db", lambda: AsyncMemory.local(tmp_path / "m.db"))
    memory, _ = await store.open()
    assert gave == [memory.runtime.worker]
    await store.close()


async def test_an_error_of_a_process_that_still_runs_is_reported(tmp_path: Path):
    path = tmp_path / "m.db"
    first, second = shared_store(path), shared_store(path)
    await first.open()
    tries: list[int] = []

    async def work(memory: AsyncMemory) -> str:
        tries.append(1)
        raise StoreUnavailable("the disk is full")

    with pytest.raises(StoreUnavailable, match="disk is full"):
        await second.ask(work)
    assert tries == [1]
    await second.close()
    await first.close()


async def test_a_holder_that_shares_nothing_is_named_at_once(tmp_path: Path):
    path = tmp_path / "m.db"
    store = shared_store(path)
    async with AsyncMemory.local(path, embedding_model=HashingEmbeddings()):
        write_note(path, Note("http://127.0.0.1:9", "left over"))
        waiting = asyncio.create_task(store.ask(remember))  # it may be about to share
        await asyncio.sleep(0.05)
        assert not waiting.done()
        os.utime(tmp_path / "m.db-lock", (0, 0))  # as if it had been open for long
        with pytest.raises(ConfigurationError, match="open in another engine of this process") as refused:
            await waiting
        assert "agent-memory serve --store" in "".join(refused.value.__notes__)
    assert await store.ask(remember)
    note = read_note(path)
    assert note is not None
    assert note.key != "left over"
    await store.close()


async def test_a_holder_that_ends_is_waited_for(tmp_path: Path):
    path = tmp_path / "m.db"
    store = shared_store(path)
    async with AsyncMemory.local(path, embedding_model=HashingEmbeddings()):
        waiting = asyncio.create_task(store.ask(remember))
        await asyncio.sleep(0.05)
    assert await waiting
    await store.close()


async def test_another_mistake_is_not_waited_for(tmp_path: Path):
    def broken() -> AsyncMemory:
        raise ConfigurationError("the variable is wrong")

    with pytest.raises(ConfigurationError, match="variable is wrong"):
        await SharedStore(tmp_path / "m.db", broken).open()


async def test_without_the_engine_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "embedded_cosmos", None)
    with pytest.raises(ConfigurationError, match="extra 'local'"):
        await shared_store(tmp_path / "m.db").open()


def test_a_note_is_for_its_owner_alone(tmp_path: Path):
    store, note = tmp_path / "m.db", Note("http://127.0.0.1:9", "secret")
    before = os.umask(0)
    try:
        write_note(store, note)
    finally:
        os.umask(before)
    assert note_path(store).stat().st_mode & 0o777 == 0o600
    assert read_note(store) == note
    assert [one.name for one in tmp_path.iterdir()] == ["m.db-host"]

    for mode in (0o640, 0o604, 0o660):
        note_path(store).chmod(mode)
        assert read_note(store) is None
    note_path(store).chmod(0o600)
    for said in ("", "[]", "{}", '{"url": "http://127.0.0.1:9"}', '{"url": "http://evil.example", "key": "x"}'):
        note_path(store).write_text(said)
        assert read_note(store) is None
    note_path(store).unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(json.dumps(note._asdict()))
    elsewhere.chmod(0o600)
    note_path(store).symlink_to(elsewhere)
    assert read_note(store) is None


def test_only_ones_own_note_is_taken_back(tmp_path: Path):
    store = tmp_path / "m.db"
    write_note(store, Note("http://127.0.0.1:9", "newer"))
    remove_note(store, Note("http://127.0.0.1:8", "older"))
    assert note_path(store).exists()
    remove_note(store, Note("http://127.0.0.1:9", "newer"))
    assert not note_path(store).exists()


async def test_a_stranger_on_the_port_of_an_old_note_gets_no_key(tmp_path: Path):
    heard: list[Any] = []

    async def stranger(scope: Any, receive: Any, send: Any) -> None:
        heard.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"17")]})
        await send({"type": "http.response.body", "body": b'{"proof": "mine"}'})

    async with running(stranger) as url:  # type: ignore[arg-type]
        write_note(tmp_path / "m.db", Note(url, "4711-secret"))
        assert await asyncio.to_thread(find_host, tmp_path / "m.db") is None
    assert len(heard) == 1
    assert b"4711" not in heard[0]["query_string"] + b"".join(value for _, value in heard[0]["headers"])


def test_a_port_without_a_server_is_no_obstacle():
    assert not answers(Note("http://127.0.0.1:9", "x"))


@pytest.mark.acceptance
async def test_processes_share_a_store_and_survive_the_death_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    store = tmp_path / "m.db"
    line = [sys.executable, "-m", "agent_memory.cli", "serve", "--store", str(store), "--port", "0"]
    search = ["search", "peanuts", "--user", "alice", "--store", str(store)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:  # noqa: ASYNC220  # outlives no await
        try:
            assert server.stdout is not None
            assert server.stdout.readline().startswith("ready ")
            ide = over_stdio("--store", str(store), "--user", "alice", env=QUICK)
            async with ide, over_stdio(mode="legacy", env=QUICK | named(store)) as desktop:
                made = data_of(await ide.call_tool("remember", {"content": "Allergic to peanuts"}))["memory"]["id"]
                assert made in text_of(await desktop.call_tool("search", {"query": "peanuts"}))
                assert "peanuts" in (await asyncio.to_thread(CliRunner().invoke, app, search)).stdout
                server.send_signal(signal.SIGKILL)
                server.wait()
                assert note_path(store).exists()
                found = await asyncio.gather(*(one.call_tool("search", {"query": "peanuts"}) for one in (ide, desktop)))
                assert [made in text_of(one) for one in found] == [True, True]
                assert data_of(await desktop.call_tool("remember", {"content": "Likes tea"}))
                assert "tea" in text_of(await ide.call_tool("search", {"query": "tea"}))
        finally:
            server.kill()
    assert not note_path(store).exists()


def named(store: Path) -> dict[str, str]:
    return {"AGENT_MEMORY_STORE": str(store), "AGENT_MEMORY_USER": "alice"}


def call(id: int) -> bytes:
    """A call over stdin."""
    asked = {"name": "remember", "arguments": {"content": "Likes tea"}, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": asked}).encode() + b"\n"


def started(store: Path) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "agent_memory.cli", "mcp"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(line, env=os.environ | QUICK | named(store), **pipes)  # type: ignore[call-overload, no-any-return]


@pytest.mark.acceptance
def test_a_signal_ends_it_and_frees_the_file(tmp_path: Path):
    store = tmp_path / "m.db"
    with started(store) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(call(1))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 143
    assert not note_path(store).exists()


@pytest.mark.acceptance
def test_a_program_that_leaves_before_its_answer_leaves_no_traceback(tmp_path: Path):
    store = tmp_path / "m.db"
    with started(store) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(call(1))
        process.stdin.close()
        assert process.wait(timeout=120) == 1
        assert b"BrokenPipe" not in process.stderr.read()
    assert not note_path(store).exists()


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
