"""What an operator meets when something is missing: a folder, a right, a key, a model, a file."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import run

from agent_memory import AsyncMemory, Memory
from agent_memory.cli import quickstart
from agent_memory.cli.terminal import stdout
from agent_memory.errors import ConfigurationError
from agent_memory.health import glance_at
from agent_memory.language.hashing import HashingEmbeddings

LINE = '{"role": "user", "content": "I live in Rome and like tea.", "thread_id": "t"}\n'


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Memory.local(path, embedding_model=HashingEmbeddings()) as memory:
        memory.user("ann").remember("Lives in Rome")
    return path


class _Refusing(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.dumps({"error": {"message": "no", "code": "invalid_api_key"}}).encode()
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def refusing() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_ingest_with_a_refused_key_ends_and_keeps_the_turns(
    tmp_path: Path, refusing: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", refusing)
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")
    path = tmp_path / "m.db"
    for command in (("ingest", "-"), ("process",)):
        ended = run(*command, "--store", path, code=1, given=LINE)
        assert "error: the model for chat refuses the key; all turns are stored\n" in ended.stderr
        assert "hint: set a valid key, then:" in ended.stderr
    with Memory.local(path, embedding_model=HashingEmbeddings()) as memory:
        assert [turn.content for turn in memory.user("me").thread("t").turns()] == ["I live in Rome and like tea."]


def test_an_ingest_while_the_model_is_away_ends_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")
    path = tmp_path / "m.db"
    lines = "".join(LINE.replace('"t"', f'"t{number}"') for number in range(9))
    for command, given in ((("ingest", "-"), lines), (("process", "--timeout", "1"), "")):
        ended = run(*command, "--store", path, code=1, given=given)
        assert (
            "error: the model for chat fails (unreachable); all turns are stored, 9 turns not processed\n"
            in ended.stderr
        )
        assert "hint: `doctor` asks each model; when all answer:" in ended.stderr
    with Memory.local(path, embedding_model=HashingEmbeddings()) as memory:
        assert [turn.content for turn in memory.user("me").thread("t8").turns()] == ["I live in Rome and like tea."]
    pauses = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert 1 <= len(pauses) <= 3
    assert all("It is called again in" in pause for pause in pauses)  # none for each thread that waits


@pytest.mark.parametrize("model", ["local:minilm", "openai:text-embedding-3-small"])
def test_a_store_whose_model_is_gone_is_shown_exported_and_erased(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
):
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", model)
    assert "error:" in run("search", "Rome", "--store", store, code=1).stderr
    shown = run("status", "--store", store)
    assert "1 fact" in shown.stdout
    assert "Without its embedding model, the store can only be shown, exported and erased: " in shown.stderr
    assert "Lives in Rome" in run("export", "-", "--store", store).stdout
    assert "forgotten" in run("forget", "--everything", "--yes", "--store", store).stdout
    with Memory.local(store, embedding_model=HashingEmbeddings()) as memory:
        assert memory.users() == []


def test_a_file_that_may_not_be_written_is_one_error(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    refused = run("quickstart", "--store", tmp_path / "file" / "x" / "memory.db", code=2)
    assert refused.stderr.startswith("error: cannot create the folder of ")
    monkeypatch.setattr(os, "access", lambda *_: False)
    refused = run("status", "--store", store, code=1)
    assert f"{store} cannot be opened: this process may not read and write it" in refused.stderr


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")
async def test_a_store_file_that_is_deleted_while_it_is_open_is_reported(store: Path):
    async with AsyncMemory.local(store, embedding_model=HashingEmbeddings()) as memory:
        assert (await glance_at(memory.runtime))[0]
        await asyncio.to_thread(store.unlink)
        assert await glance_at(memory.runtime) == (False, ["store"])
        health = await memory.health()
        assert (health.ok, health.store_answers) == (False, False)
        assert health.warnings[0].startswith("the store file was deleted or replaced")


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes there")
def test_only_its_owner_can_read_a_new_store(store: Path):
    assert store.stat().st_mode & 0o077 == 0


def test_a_server_that_does_not_answer_has_no_store_that_does():
    with Memory.remote("http://127.0.0.1:9") as memory:
        assert not memory.health().store_answers


def test_settings_of_another_type_are_refused():
    with pytest.raises(ConfigurationError, match="not a dict"):
        Memory.from_env({"MEMORY_URL": "http://127.0.0.1:9"})  # type: ignore[arg-type]


def test_an_option_before_the_command_is_explained(store: Path):
    refused = run("--store", store, "status", code=2)
    assert "hint: options stand after the command: " in refused.stderr


def test_a_model_without_a_key_names_variables_that_exist(store: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    refused = run("reembed", "--to", "openai:text-embedding-3-small", "--store", store, code=1)
    assert refused.stderr == "error: --to openai:text-embedding-3-small has no key: set OPENAI_API_KEY\n"


def test_a_question_that_is_answered_no_says_that_nothing_was_done(tmp_path: Path):
    path = tmp_path / "m.db"
    run("ingest", "-", "--store", path, given=LINE)
    assert run("forget", "--thread", "t", "--store", path, given="n\n").stdout.endswith("Nothing was forgotten.\n")


def test_status_says_that_it_shows_a_file_where_an_account_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "m.db"
    Memory.local(path).close()
    assert run("status", "--store", path).stderr == ""
    monkeypatch.setenv("COSMOS_DB_ENDPOINT", "https://name.documents.azure.com")
    assert (
        f"This is the store file {path}, and not the account in COSMOS_DB_ENDPOINT."
        in run("status", "--store", path).stderr
    )


def test_a_search_where_memory_is_off_says_so(tmp_path: Path):
    path = tmp_path / "m.db"
    with Memory.local(path) as memory:
        memory.user("ann").remember("Lives in Rome")
        memory.user("ann").update_settings(enabled=False)
    said = run("search", "Rome", "--store", path).stdout
    assert said.startswith("Nothing found: ")
    assert "switched off" in said


def test_a_port_in_use_names_the_option(store: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = run("explore", store, "--port", port, "--no-browser", code=1)
    assert "hint: choose another port: --port PORT" in refused.stderr


def test_what_to_try_next_names_the_extra_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(quickstart, "find_spec", lambda _: None)
    asked = SimpleNamespace(question=quickstart.Question("ann", "Where?"))
    tour: Any = SimpleNamespace(store="m.db", page="m.html", users=[], answers=[asked])
    quickstart._show_next(stdout(), tour, full=True)
    [line] = [line for line in capsys.readouterr().out.splitlines() if " explore " in line]
    assert "m.db  # first: " in line
    assert "server" in line


@pytest.mark.acceptance
def test_the_package_can_be_run_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "agent_memory", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("agent-memory ")
