"""The webhook of the function app, from what an application writes to what a receiver gets, through the real host.

The receiver checks messages with the code that the page "Follow changes" gives to receivers.
"""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

from functions_world import ROOT, Account, Host, until

from agent_memory import Memory
from agent_memory.models import MemoryChange
from agent_memory.store.containers import LEASES

pytestmark = pytest.mark.acceptance

SECRET = "a secret of the receiver"
PAGE = (ROOT / "docs" / "how-to" / "follow-changes.md").read_text()
[CHECK] = [block for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE) if "hmac" in block]


class Receiver:
    """Listens on loopback; answers with `status`, and keeps what it took and how often it refused."""

    def __init__(self) -> None:
        self.status, self.refused = 200, 0
        self.took: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if receiver.status == 200:
                    receiver.took.append((dict(self.headers), body))
                else:
                    receiver.refused += 1
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def changes(self) -> dict[str, MemoryChange]:
        """What it was told, by the ids of the changes; a change may come twice."""
        told = [one for _, body in list(self.took) for one in json.loads(body)["changes"]]
        return {one["id"]: MemoryChange(**one, cursor="") for one in told}

    def told(self) -> list[tuple[str, str, str]]:
        return [
            (one.type, one.user_id, one.memory.content if one.memory else "") for one in list(self.changes().values())
        ]


def feed_is_read(memory: Memory) -> bool:
    """Whether the trigger has a position: what is written from then on is sent."""
    query = "SELECT VALUE c.ContinuationTokens FROM c WHERE STARTSWITH(c.id, 'on_memory_written')"
    found = memory._portal.run(memory._inner.runtime.store.query(LEASES, query))
    return bool(found) and None not in found[0].values()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_what_changes_reaches_the_receiver_signed_and_outlives_a_killed_host(tmp_path: Path, receiver: Receiver):
    account = Account(tmp_path).ready()
    settings = {
        "AGENT_MEMORY_WEBHOOK_URL": receiver.url,
        "AGENT_MEMORY_WEBHOOK_SECRET": SECRET,
        "AGENT_MEMORY_WEBHOOK_PRIVATE": "true",
    }
    hosts: list[Host] = []
    try:
        with account.open("hooked") as memory:
            memory.create_memory_store()
            memory.user("ada").remember("I was here before there was a webhook")
            hosts.append(Host(account, "hooked", tmp_path, **settings).ready())
            until(lambda: feed_is_read(memory), "the trigger has begun")
            ada = memory.user("ada")
            tea = ada.remember("I like tea")
            until(lambda: ("added", "ada", "I like tea") in receiver.told(), "what is remembered is told")
            green = ada.update(tea.id, content="I like green tea")
            until(lambda: ("added", "ada", "I like green tea") in receiver.told(), "what is corrected is told")
            until(lambda: ("superseded", "ada", "I like tea") in receiver.told(), "what is replaced is told")
            ada.forget(green.id)
            until(lambda: "forgotten" in {kind for kind, _, _ in receiver.told()}, "what is forgotten is told")
            assert {one.user_id for one in receiver.changes().values()} == {"ada"}
            assert not [told for _, _, told in receiver.told() if "before there was" in told]
            gone = [one for one in receiver.changes().values() if one.type == "forgotten"]
            assert any(one.is_about(green.id) for one in gone)
            assert all(one.memory is None for one in gone)

            receiver.status = 503
            memory.user("björn").remember("I ski in Åre")
            until(lambda: receiver.refused, "the receiver refuses")
            hosts[-1].kill()
            assert "björn" not in {user for _, user, _ in receiver.told()}
            receiver.status = 200
            hosts.append(Host(account, "hooked", tmp_path, **settings).ready())
            until(lambda: ("added", "björn", "I ski in Åre") in receiver.told(), "a new host sends what was refused")
    finally:
        for host in hosts:
            host.kill()
        account.kill()

    names: dict[str, Any] = {}
    exec(compile(CHECK, "follow-changes.md", "exec"), names)
    for headers, body in receiver.took:
        assert names["is_genuine"](headers, body, SECRET)
        assert not names["is_genuine"](headers, body + b" ", SECRET)
        assert not names["is_genuine"](headers, body, "another secret of somebody")
    assert SECRET not in hosts[0].log.read_text()
