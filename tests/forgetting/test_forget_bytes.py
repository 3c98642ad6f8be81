"""After a forgetting no byte of the store file, its log or its index holds a forgotten word, while it stays open.

A server is also tried with an SQLite that by itself overwrites nothing (`pysqlite3`).
"""

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from file_bytes import traces

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import NotFound
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.processing.worker import Pace
from agent_memory.scopes import AsyncUserScope

SUPPORT = Path(__file__).parents[2] / "sdk/embedded_cosmos/tests/support"
WORDS = ("zorptak", "quizzabella", "847315296")
"""Long enough to be in no random id by chance."""
TOLD = "My landlady is Quizzabella Zorptak and her phone number is 847315296."
OTHERS = 60


async def tell(memory: AsyncMemory) -> AsyncUserScope:
    """A user who tells a secret between much else, all of it processed."""
    user = memory.user("alice")
    await user.thread("home").add_many(
        [{"role": "user", "content": f"{text} " * (number % 7 + 1)} for number, text in enumerate(["I like tea."] * 20)]
    )
    await user.thread("home").add("user", TOLD, id="told")
    await user.thread("home").add("assistant", "Quizzabella Zorptak, 847315296: noted.")
    await user.thread("work").add_many([{"role": "user", "content": f"Task {n} is done."} for n in range(OTHERS)])
    await user.remember(TOLD)
    await memory.drain(timeout=60)
    return user


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[AsyncMemory, Path]]:
    path = tmp_path / "m.db"
    async with AsyncMemory.local(path, embedding_model=HashingEmbeddings()) as memory:
        yield memory, path


async def by_id(user: AsyncUserScope) -> None:
    for memory in await user.memories(include_superseded=True):
        if "zorptak" in memory.content.lower():
            with contextlib.suppress(NotFound):  # it went with another one
                await user.forget(memory.id)
    with contextlib.suppress(NotFound):
        await user.forget("told")


async def by_query(user: AsyncUserScope) -> None:
    await user.forget(query="my landlady Quizzabella Zorptak")
    await user.forget(query="847315296")


async def changed_and_forgotten(user: AsyncUserScope) -> None:
    [memory] = [m for m in await user.memories() if m.source == "user" and "Zorptak" in m.content and not m.quote][:1]
    newer = await user.update(memory.id, content="My landlady is somebody else now")
    await user.forget(newer.id)
    await by_query(user)


async def thread_and_memories(user: AsyncUserScope) -> None:
    await user.thread("home").forget()
    await by_query(user)


async def everything(user: AsyncUserScope) -> None:
    await user.forget(everything=True)


async def all_of_a_time(user: AsyncUserScope) -> None:
    await user.forget(since=datetime(2020, 1, 1, tzinfo=UTC))


WAYS: dict[str, Callable[[AsyncUserScope], Awaitable[None]]] = {
    "id": by_id,
    "query": by_query,
    "update": changed_and_forgotten,
    "thread": thread_and_memories,
    "everything": everything,
    "time": all_of_a_time,
}


@pytest.mark.parametrize("way", list(WAYS))
async def test_no_byte_is_left_while_the_store_is_open(opened: tuple[AsyncMemory, Path], way: str):
    memory, path = opened
    user = await tell(memory)
    assert set(traces(path, *WORDS)) == {"m.db-wal"} or "m.db" in traces(path, *WORDS)
    await WAYS[way](user)
    assert traces(path, *WORDS) == {}
    assert (await memory.health()).ok


async def test_a_deleted_thread_leaves_no_byte_of_its_talk(tmp_path: Path):
    path = tmp_path / "m.db"
    async with AsyncMemory.local(path, embedding_model=HashingEmbeddings()) as memory:
        thread = memory.user("alice").thread("home")
        await memory.user("alice").update_settings(auto_store=False)
        await thread.add("user", TOLD)
        assert traces(path, *WORDS)
        await thread.delete()
        assert traces(path, *WORDS) == {}


async def test_scrubbing_that_a_reader_blocks_is_reported_and_done_in_the_background(
    opened: tuple[AsyncMemory, Path], monkeypatch: pytest.MonkeyPatch
):
    memory, path = opened
    monkeypatch.setattr(memory.runtime.worker, "_pace", Pace(poll=0.05, tidy=0.05))
    user = await tell(memory)
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM items").fetchone()
    receipt = await user.forget(everything=True)
    assert [line for line in receipt.pending if "another program reads the file" in line] != []
    assert await user.memories() == []
    reader.close()
    await gone(path)


async def test_what_expires_leaves_no_byte(opened: tuple[AsyncMemory, Path], monkeypatch: pytest.MonkeyPatch):
    memory, path = opened
    monkeypatch.setattr(memory.runtime.worker, "_pace", Pace(poll=0.05, tidy=0.05))
    user = memory.user("alice")
    await user.update_settings(auto_store=False)
    await user.thread("home").add_many([{"role": "user", "content": TOLD, "ttl": 1}])
    assert traces(path, *WORDS)
    await gone(path)


async def test_a_forgetting_whose_caller_disconnected_is_scrubbed_too(
    opened: tuple[AsyncMemory, Path], monkeypatch: pytest.MonkeyPatch
):
    memory, path = opened
    user = await tell(memory)
    store = memory.runtime.store

    async def cancelled() -> bool:
        raise asyncio.CancelledError

    monkeypatch.setattr(store, "scrub", cancelled)
    with pytest.raises(asyncio.CancelledError):
        await user.forget(everything=True)
    await store.tidy()
    assert traces(path, *WORDS) == {}


async def gone(path: Path, seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while traces(path, *WORDS):  # noqa: ASYNC110 - the file rings no bell
            await asyncio.sleep(0.1)


OTHER_SQLITE = pytest.param(
    [str(SUPPORT / "other_sqlite.py"), "agent_memory.cli"],
    id="pysqlite3",
    marks=pytest.mark.skipif(sys.platform != "linux", reason="pysqlite3-binary has wheels for Linux alone"),
)


@pytest.fixture(params=[pytest.param(["-m", "agent_memory.cli"], id="sqlite3"), OTHER_SQLITE])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Memory, Path]]:
    """A client of a server that is kept running, and the server's file."""
    path = tmp_path / "m.db"
    command = [sys.executable, *request.param, "serve", "--store", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[1]
            with Memory.remote(url) as memory:
                yield memory, path
        finally:
            process.kill()


@contextlib.contextmanager
def reading(memory: Memory) -> Iterator[list[int]]:
    """Another user reads all the while; how many answers they got."""
    stop, answers = threading.Event(), []

    def read() -> None:
        while not stop.wait(0.02):  # often enough to read during each change, without a core of its own
            answers.append(len(memory.user("bob").search("tea")))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield answers
    finally:
        stop.set()
        thread.join()


@pytest.mark.acceptance
def test_a_running_server_keeps_no_byte(served: tuple[Memory, Path]):
    memory, path = served
    memory.user("bob").remember("I like tea")
    user = memory.user("alice")
    user.thread("home").add("user", TOLD)
    user.thread("home").add("assistant", "Quizzabella Zorptak, 847315296: noted.")
    user.thread("home").process("extract")
    user.thread("home").process("index")
    assert traces(path, *WORDS)
    with reading(memory) as answers:
        user.forget(query="my landlady Quizzabella Zorptak")
        user.forget(query="847315296")
        assert traces(path, *WORDS) == {}
        user.thread("home").add("user", TOLD)
        user.remember(TOLD)
        assert traces(path, *WORDS)
        user.forget(everything=True)
        assert traces(path, *WORDS) == {}
        user.update_settings(auto_store=False)
        user.thread("home").add_many([{"role": "user", "content": TOLD, "ttl": 1}])
        assert traces(path, *WORDS)
        deadline = time.monotonic() + 300
        while traces(path, *WORDS) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert traces(path, *WORDS) == {}
    assert len(answers) > 5
