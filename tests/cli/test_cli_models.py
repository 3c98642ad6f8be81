"""Commands use the models that the environment names; the quickstart asks no service."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dialect_servers import Service, good
from pytest_httpserver import HTTPServer
from typer.testing import CliRunner

from agent_memory import Memory
from agent_memory.cli.main import app

KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENT_MEMORY_CHAT", "AGENT_MEMORY_EMBEDDINGS")


@pytest.fixture
def service(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service of chat alone, as the environment names it."""
    made = Service(httpserver, lambda path, sent: good() if path.endswith("/chat/completions") else (404, {}))
    monkeypatch.setenv("AGENT_MEMORY_CHAT", "openai:named-model")
    monkeypatch.setenv("AGENT_MEMORY_CHAT_BASE_URL", made.url)
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")
    return made


def test_serve_uses_the_models_that_the_environment_names(service: Service, tmp_path: Path):
    command = [sys.executable, "-m", "agent_memory.cli", "serve", "--store", str(tmp_path / "m.db"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("ready ").strip()
            with Memory.remote(url) as memory:
                health = memory.health()
                assert (health.chat_model, health.embedding_model) == ("named-model", "hashing-384")
                thread = memory.user("alice").thread("t")
                thread.add("user", "My budget for Hawaii is $10,000.")
                thread.process("extract")
                [fact] = memory.user("alice").memories(types=["fact"])
                assert (fact.model, fact.content) == ("named-model", "User's budget for Hawaii is $10,000")
        finally:
            process.terminate()
            process.wait(30)
    assert service.sent[0]["model"] == "named-model"


def test_status_shows_them(service: Service, tmp_path: Path):
    store = str(tmp_path / "m.db")
    transcript = tmp_path / "one.jsonl"
    transcript.write_text('{"role": "user", "content": "I keep bees on the roof."}\n')
    # The service has no usable answer to what is not an extraction.
    assert CliRunner().invoke(app, ["ingest", str(transcript), "--store", store, "--no-process"]).exit_code == 0
    told = CliRunner().invoke(app, ["status", "--store", store, "--json"])
    assert json.loads(told.stdout)["health"]["chat_model"] == "named-model"


def test_the_quickstart_asks_no_service(service: Service, tmp_path: Path):
    transcript = tmp_path / "one.jsonl"
    transcript.write_text('{"role": "user", "content": "I keep bees on the roof."}\n')
    done = CliRunner().invoke(app, ["quickstart", str(transcript), "--store", str(tmp_path / "q.db")])
    assert done.exit_code == 0, done.output
    assert service.sent == []


def test_a_name_that_cannot_be_read_ends_a_command_with_its_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("AGENT_MEMORY_CHAT", "opnai:gpt")
    done = CliRunner().invoke(app, ["remember", "x", "--store", str(tmp_path / "m.db"), "--user", "me"])
    assert done.exit_code == 1
    assert "AGENT_MEMORY_CHAT=opnai:gpt names an unknown provider" in done.output


@pytest.mark.parametrize(
    ("chat", "told"),
    [("openai:small", True), ("local:rules", False), ("", False)],
    ids=["service", "rules", "none"],
)
def test_a_new_store_says_which_service_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat: str, told: bool
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    if chat:
        monkeypatch.setenv("AGENT_MEMORY_CHAT", chat)
        monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")
    if told:  # nobody listens there, and nothing is sent: the file is empty
        monkeypatch.setenv("AGENT_MEMORY_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("AGENT_MEMORY_CHAT_API_KEY", "k")
    store = tmp_path / "new.db"
    command = ["remember", "Ana lives in Porto.", "--user", "ada", "--store", str(store)]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    assert ("It calls small" in first.stderr) == told
    again = CliRunner().invoke(app, command)
    assert "This store is new" not in again.stderr
