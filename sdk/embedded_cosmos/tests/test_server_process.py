from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from azure.core.exceptions import AzureError, ServiceRequestError, ServiceResponseError
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey
from server_process import ServerProcess, command, server_process

from embedded_cosmos import Engine, SyncTransport
from embedded_cosmos.auth import WELL_KNOWN_KEY

pytestmark = pytest.mark.acceptance

KEY = PartitionKey(path="/pk")
ROUNDS = int(os.environ.get("KILL_ROUNDS", "2"))
OPERATIONS = int(os.environ.get("KILL_OPERATIONS", "150"))
WRITERS = 4
OF_A_BATCH = 5


def container_of(url: str) -> ContainerProxy:
    database = CosmosClient(url, WELL_KNOWN_KEY).create_database_if_not_exists("db")
    return database.create_container_if_not_exists("c", KEY)


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_starts_serves_and_stops(tmp_path: Path, connect: Any, signal_number: int) -> None:
    path = tmp_path / "store.db"
    with server_process("--path", path) as server:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", server.url)
        container_of(server.url).create_item({"id": "1", "pk": "a"})
        assert server.stop(signal_number) == (0, "")
    with Engine(path) as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")
        assert container.read_item("1", "a")["id"] == "1"


def test_the_log_has_a_line_for_each_request_and_no_content() -> None:
    with server_process("--log") as server:
        container_of(server.url).create_item({"id": "1", "pk": "a", "text": "a secret"})
        _, log = server.stop(signal.SIGTERM)
    assert re.search(r"POST /dbs/db/colls/c/docs/ 201 \d+\.\d ms 5\.50 RU$", log, re.MULTILINE)
    assert "secret" not in log


def test_https_says_so() -> None:
    with server_process("--tls", "--host", "localhost") as server:
        assert server.url.startswith("https://localhost:")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--host", "0.0.0.0"], "can be reached from other machines. Use --allow-remote"),
        (["--host", "example.org"], "can be reached from other machines"),
        (["--key", "no base64!"], "key must be base64"),
        (["--certificate", "server.pem"], "needs --tls"),
        (["--faults", "absent.json"], "absent.json"),
        (["--path", "absent/store.db"], "cannot be opened"),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path: Path, options: list[str], reason: str) -> None:
    done = subprocess.run(command(*options), capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert reason in done.stderr


def test_whoever_opens_the_server_to_others_is_warned() -> None:
    with server_process("--host", "0.0.0.0", "--allow-remote") as server:
        _, errors = server.stop(signal.SIGTERM)
    assert errors.startswith("warning: 0.0.0.0 can be reached from other machines.")
    assert "use --key" in errors
    assert "use --tls" in errors


def test_a_port_and_a_file_have_one_server(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with server_process("--path", path), socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for options, reason in (
            (["--path", path, "--port", 0], "is open in another process"),
            (["--port", taken.getsockname()[1]], "address already in use"),
        ):
            done = subprocess.run(command(*options), capture_output=True, text=True, timeout=120, check=False)
            assert (done.returncode, reason in done.stderr) == (1, True)


def test_faults_come_from_a_file(tmp_path: Path) -> None:
    plan = tmp_path / "faults.json"
    plan.write_text('{"seed": 1, "rules": [{"fault": "unavailable", "operations": ["create"], "container": "c"}]}')
    with server_process("--faults", plan) as server:
        with pytest.raises(AzureError) as error:
            container_of(server.url).create_item({"id": "1", "pk": "a"})
        assert error.value.status_code == 503


@dataclass
class Journal:
    """What clients know: which writes were tried, and which were acknowledged."""

    tried: set[str] = field(default_factory=set)
    created: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)


def test_acknowledged_writes_survive_the_death_of_the_server(tmp_path: Path) -> None:
    """Writers in parallel, a server killed at a random moment, again and again on the same file.

    KILL_ROUNDS=20 KILL_OPERATIONS=1000 makes it the long version.
    """
    path, journal = tmp_path / "store.db", Journal()
    for number in range(ROUNDS):
        with server_process("--path", path) as server:
            kill_while_writing(server, random.Random(number), f"r{number}", journal)
    with Engine(path) as engine:
        client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
        items = list(client.get_database_client("db").get_container_client("c").read_all_items())
    found: dict[str, list[int]] = {}
    for item in items:
        found.setdefault(item["of"], []).append(item["version"])
    print(f"{len(journal.tried)} writes tried, {len(journal.created)} acknowledged, {len(found)} found")
    assert journal.created <= found.keys() <= journal.tried
    assert {of for of in journal.replaced if found[of] != [2]} == set()
    halves = {of for of, versions in found.items() if len(versions) != (OF_A_BATCH if of.startswith("batch") else 1)}
    assert halves == set()


def kill_while_writing(server: ServerProcess, chance: random.Random, label: str, journal: Journal) -> None:
    """Kill the server when a random number of writes has been acknowledged and others are under way."""
    container_of(server.url)
    done = threading.Semaphore(0)

    def write(writer: int) -> None:
        container = container_of(server.url)
        for number in range(OPERATIONS // WRITERS):
            of = f"{'batch' if number % 3 == 0 else 'item'}-{label}-{writer}-{number}"
            body = {"id": of, "pk": str(writer), "of": of, "version": 1}
            journal.tried.add(of)
            if number % 3 == 0:
                parts = [("create", (body | {"id": f"{of}-{part}"},)) for part in range(OF_A_BATCH)]
                container.execute_item_batch(parts, str(writer))
            else:
                container.create_item(body)
            journal.created.add(of)
            done.release()
            if number % 3 == 1:
                container.replace_item(of, body | {"version": 2})
                journal.replaced.add(of)

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, writer) for writer in range(WRITERS)]
        for _ in range(chance.randrange(OPERATIONS // 10, OPERATIONS * 9 // 10)):
            done.acquire()
        server.process.kill()
        errors = [writer.exception() for writer in writers]
    assert {type(error) for error in errors if error is not None} <= {ServiceRequestError, ServiceResponseError}
