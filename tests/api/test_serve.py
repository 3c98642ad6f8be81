"""`agent-memory serve`, as a process: ready, answering, and stopped without losing anything."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from command import parsed, run

pytestmark = pytest.mark.acceptance

ALICE = {"x-user-id": "alice"}


@contextmanager
def served(store: Path, *arguments: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a port of its own, with its URL."""
    command = [sys.executable, "-m", "agent_memory.cli", "serve", "--store", str(store), "--port", "0", *arguments]
    environment = {**os.environ, **env}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline().split()
            assert ready[:1] == ["ready"]
            yield process, ready[1]
        finally:
            process.kill()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_server_prints_when_it_is_ready_and_stops_on_a_signal(tmp_path: Path, stop: signal.Signals):
    store = tmp_path / "m.db"
    with served(store) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(f"{url}/health", timeout=60).json() == {"ok": True}
        assert httpx.get(f"{url}/v1/memories", timeout=60).status_code == 401
        made = httpx.post(f"{url}/v1/memories", json={"content": "Lives in Lisbon"}, headers=ALICE, timeout=60)
        assert made.status_code == 201
        process.send_signal(stop)
        assert process.wait(timeout=120) == 0
    assert "Lives in Lisbon" in run("show", "--store", store, "--json").stdout


def test_with_keys_the_identity_header_is_not_trusted(tmp_path: Path):
    def key(*arguments: str) -> Any:
        return parsed("api-key", *arguments)

    alice, backend = key("laptop", "--user", "alice"), key("backend", "--acts-for-users")
    file = tmp_path / "keys.json"
    file.write_text(json.dumps([alice["entry"], backend["entry"]]))
    with served(tmp_path / "m.db", AGENT_MEMORY_API_KEYS_FILE=str(file)) as (_, url):
        for headers, status in (
            (ALICE, 401),
            ({"x-api-key": alice["key"]}, 200),
            ({"authorization": f"Bearer {backend['key']}", **ALICE}, 200),
            ({"x-api-key": alice["key"], "x-user-id": "bob"}, 403),
        ):
            assert httpx.get(f"{url}/v1/memories", headers=headers, timeout=60).status_code == status


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serve", "--host", "0.0.0.0"], "no credentials are configured"),
        (["serve", "--host", "192.0.2.1", "--port", "1"], "no credentials are configured"),
        (["api-key", "nobody"], "--user"),
    ],
)
def test_what_would_open_a_store_to_everybody_is_refused(arguments: list[str], said: str):
    assert said in run(*arguments, code=2).stderr


def test_a_port_that_is_taken_is_one_line(tmp_path: Path):
    with served(tmp_path / "a.db") as (_, url):
        port = url.rpartition(":")[2]
        # The command was right, the machine is not ready for it.
        assert "cannot listen" in run("serve", "--store", tmp_path / "b.db", "--port", port, code=1).stderr


def test_a_server_busy_with_hostile_turns_stops_on_a_signal_and_starts_again(tmp_path: Path):
    store = tmp_path / "m.db"
    hostile = ["<memory>\n" + "      \n" * 4000 + "x", "I live in Rome. I like tea. " * 1000, "monday " * 4000]
    turns = [{"role": "user", "content": f"So {text} {number}"} for number, text in enumerate(hostile * 2)]
    with served(store) as (process, url):
        written = httpx.post(f"{url}/v1/threads/t/turns", json={"turns": turns}, headers=ALICE, timeout=120)
        assert written.status_code == 201
        time.sleep(1)  # it is in the middle of them
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0
    with served(store) as (process, url):
        assert httpx.get(f"{url}/health", timeout=120).json() == {"ok": True}
        waiting = httpx.get(f"{url}/v1/admin/health", headers=ALICE, timeout=120).json()
        assert waiting["store_answers"]
        answer = httpx.post(f"{url}/v1/memories", json={"content": "Lives in Lisbon"}, headers=ALICE, timeout=120)
        assert answer.status_code == 201
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0


def test_commands_do_what_a_key_allows_and_say_which_key_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rights = {"backend": "--acts-for-users", "ops": "--operates"}
    made = {name: parsed("api-key", name, right) for name, right in rights.items()}
    file = tmp_path / "keys.json"
    file.write_text(json.dumps([key["entry"] for key in made.values()]))
    with served(tmp_path / "m.db", AGENT_MEMORY_API_KEYS_FILE=str(file)) as (_, url):
        monkeypatch.setenv("MEMORY_KEY", made["backend"]["key"])
        run("remember", "Allergic to peanuts", "--user", "ann", "--store", url)
        assert "Allergic to peanuts" in run("show", "--user", "ann", "--store", url, "--json").stdout
        line = '{"role": "user", "content": "I live in Rome.", "thread_id": "t"}'
        refused = run("ingest", "-", "--user", "ann", "--store", url, code=1, given=line).stderr
        assert "--operates" in refused
        assert "hint: all turns are written" in refused
        assert "1 new" in run("ingest", "-", "--user", "bo", "--store", url, "--no-process", given=line).stdout
        assert "hint: name the user with --user" in run("show", "--store", url, code=1).stderr
        assert "--operates" in run("status", "--store", url, code=1).stderr

        monkeypatch.setenv("MEMORY_KEY", made["ops"]["key"])
        assert "--acts-for-users" in run("show", "--user", "ann", "--store", url, code=1).stderr
        seen = run("status", "--store", url)
        assert "dead letters  none" in seen.stdout
        assert "memories" not in seen.stdout
        assert "empty" not in seen.stdout
        assert "counts of its 2 users are not shown" in seen.stderr

        monkeypatch.setenv("MEMORY_KEY", "amk_other")
        assert "list of API keys has no entry" in run("show", "--user", "ann", "--store", url, code=1).stderr


@pytest.mark.parametrize(
    ("text", "said"), [('{"sha256": "00"}', "ENTRY, ENTRY]. Input should"), (None, "API_KEYS_FILE")]
)
def test_a_file_of_keys_in_another_form_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, said: str
):
    file = tmp_path / "keys.json"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("AGENT_MEMORY_API_KEYS_FILE", str(file))
    assert said in run("serve", "--store", tmp_path / "m.db", "--port", 0, code=1).stderr
