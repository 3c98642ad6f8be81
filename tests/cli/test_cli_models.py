"""Commands use the models that the environment names; the quickstart asks no service."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import parsed, run
from dialect_servers import Service, good
from pytest_httpserver import HTTPServer

from agent_memory import Memory

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
    run("ingest", transcript, "--store", store, "--no-process")
    assert parsed("status", "--store", store)["health"]["chat_model"] == "named-model"


def test_the_quickstart_asks_no_service(service: Service, tmp_path: Path):
    transcript = tmp_path / "one.jsonl"
    transcript.write_text('{"role": "user", "content": "I keep bees on the roof."}\n')
    run("quickstart", transcript, "--store", tmp_path / "q.db")
    assert service.sent == []


def test_a_name_that_cannot_be_read_ends_a_command_with_its_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("AGENT_MEMORY_CHAT", "opnai:gpt")
    done = run("remember", "x", "--store", tmp_path / "m.db", "--user", "me", code=1)
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
    assert ("It calls small" in run(*command).stderr) == told
    assert "This store is new" not in run(*command, code=None).stderr
