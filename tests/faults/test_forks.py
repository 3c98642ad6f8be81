"""A memory and processes that fork: the child is told at once, the parent goes on, and servers with workers work."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
from forks import in_child

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import ConfigurationError
from agent_memory.language.hashing import HashingEmbeddings

pytestmark = [pytest.mark.acceptance, pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")]
TOLD = "and this one is a fork of it: open a memory after the fork"


def test_a_memory_in_a_fork_says_so_at_once_and_the_parent_goes_on(tmp_path: Path):
    path = tmp_path / "m.db"
    with Memory.local(path, embedding_model=HashingEmbeddings()) as memory:
        thread = memory.user("alice").thread("t")
        thread.add("user", "I live in Lisbon")
        uses: list[Callable[[], object]] = [
            lambda: thread.add("user", "never"),
            lambda: memory.user("bob").search("Lisbon"),
            lambda: memory.drain(timeout=5),
            memory.health,
            memory.close,
            memory.close,
        ]

        def child() -> str:
            for use in uses:
                with pytest.raises(ConfigurationError, match=TOLD):
                    use()
            with pytest.raises(ConfigurationError, match="is open in another process"):
                Memory.local(path)
            return "told"

        assert in_child(child) == "told"
        thread.add("user", "and work in Porto")
        assert memory.drain(timeout=300) == 0
        other = f"from agent_memory import Memory; Memory.local({str(path)!r})"
        process = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
        assert "is open in another process" in process.stderr, "the lock is still the parent's"
    with Memory.local(path, embedding_model=HashingEmbeddings()) as memory:
        assert len(memory.user("alice").thread("t").turns()) == 2


async def test_an_async_memory_in_a_fork_says_so_at_once_and_the_parent_goes_on(tmp_path: Path):
    async with AsyncMemory.local(tmp_path / "m.db", embedding_model=HashingEmbeddings()) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add("user", "I live in Lisbon")

        async def use() -> str:
            for work in (
                thread.add("user", "never"),
                thread.turns(),
                memory.user("alice").forget(everything=True),
                memory.drain(),
                memory.open(),
                memory.close(),
            ):
                with pytest.raises(ConfigurationError, match=TOLD):
                    await work
            health = await memory.health()
            assert not health.ok
            assert TOLD in " ".join(health.warnings)
            context = await thread.context("Where do I live?")
            assert context.degraded
            return "told"

        assert in_child(lambda: asyncio.run(use())) == "told"
        await thread.add("user", "and work in Porto")
        assert len(await thread.turns()) == 2


async def test_a_local_memory_made_ahead_of_the_fork_is_not_opened_after_it(tmp_path: Path):
    memory = AsyncMemory.local(tmp_path / "m.db", embedding_model=HashingEmbeddings())

    async def begin() -> str:
        with pytest.raises(ConfigurationError, match=TOLD):
            await memory.open()
        return "told"

    assert in_child(lambda: asyncio.run(begin())) == "told"
    async with memory:
        assert (await memory.health()).ok


WSGI = """
import os
from agent_memory import Memory
from agent_memory.errors import AgentMemoryError
from agent_memory.language.hashing import HashingEmbeddings

def opened():
    return Memory.local("m.db", embedding_model=HashingEmbeddings())

memory = opened() if os.environ.get("OPENED") == "at import" else None

def application(environ, start_response):
    try:
        thread = memory.user("alice").thread("t")
        thread.add("user", "I live in Lisbon")
        status, body = "200 OK", str(len(thread.turns()))
    except AgentMemoryError as error:
        status, body = "500 Error", f"{type(error).__name__}: {error}"
    start_response(status, [("Content-Type", "text/plain")])
    return [body.encode()]
"""
POST_FORK = """
def post_fork(server, worker):
    import app
    app.memory = app.opened()

def worker_exit(server, worker):
    import app
    app.memory.close()
"""
ASGI = """
from agent_memory import AsyncMemory
from agent_memory.language.hashing import HashingEmbeddings

async def application(scope, receive, send):
    global memory
    if scope["type"] == "lifespan":
        await receive()
        memory = AsyncMemory.local("m.db", embedding_model=HashingEmbeddings())
        await memory.open()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await memory.close()
        await send({"type": "lifespan.shutdown.complete"})
        return
    thread = memory.user("alice").thread("t")
    await thread.add("user", "I live in Lisbon")
    body = str(len(await thread.turns())).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
"""
LISTENING = re.compile(r"(?:Listening at|running on):? (http://127\.0\.0\.1:\d+)")


@contextmanager
def server(folder: Path, app: str, *arguments: str, config: str = "", **env: str) -> Iterator[tuple[str, Path]]:
    """A server of `app` in a folder of its own: its URL, and the file of what it says."""
    (folder / "app.py").write_text(app)
    (folder / "gunicorn.conf.py").write_text(config)
    log = folder / "log.txt"
    command: Sequence[str] = [sys.executable, "-m", *arguments]
    with (
        log.open("w") as said,
        subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, env={**os.environ, **env}) as process,
    ):
        try:
            yield LISTENING.findall(await_text(log, LISTENING))[0], log
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def await_text(log: Path, pattern: re.Pattern[str], seconds: float = 60) -> str:
    deadline = time.monotonic() + seconds
    while not pattern.search(text := log.read_text()):
        assert time.monotonic() < deadline, text
        time.sleep(0.1)
    return text


def gunicorn(*options: str) -> list[str]:
    pytest.importorskip("gunicorn", reason="gunicorn is a development dependency: uv sync")
    return ["gunicorn", "--bind", "127.0.0.1:0", "--workers", "1", *options, "app:application"]


def get(url: str) -> httpx.Response:
    return httpx.get(url, timeout=60)


def test_gunicorn_with_a_memory_that_each_worker_opens(tmp_path: Path):
    with server(tmp_path, WSGI, *gunicorn(), config=POST_FORK) as (url, _):
        assert [get(url).text for _ in range(2)] == ["1", "2"]


def test_gunicorn_with_a_memory_opened_before_the_fork_gets_an_error(tmp_path: Path):
    with server(tmp_path, WSGI, *gunicorn("--preload"), OPENED="at import") as (url, _):
        answer = get(url)
        assert answer.status_code == 500
        assert answer.text.startswith("ConfigurationError: this memory was opened by process")
        assert TOLD in answer.text


def test_gunicorn_with_an_asgi_app_that_opens_its_memory_in_the_lifespan(tmp_path: Path):
    with server(tmp_path, ASGI, *gunicorn("--worker-class", "asgi")) as (url, log):
        assert [get(url).text for _ in range(2)] == ["1", "2"], log.read_text()


def test_a_second_uvicorn_worker_gets_an_error_that_the_file_is_in_use(tmp_path: Path):
    arguments = ["uvicorn", "app:application", "--port", "0", "--lifespan", "on", "--workers", "2"]
    with server(tmp_path, ASGI, *arguments) as (_, log):
        text = await_text(log, re.compile("Only one may use it at a time"))
        assert "ConfigurationError: cannot open m.db: m.db is open in another process" in text
        assert "start: agent-memory serve --store m.db" in text
