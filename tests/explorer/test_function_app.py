"""The explorer of the function app, through Microsoft's worker library: off without a key, signed in by a command."""

from collections.abc import Iterator

import httpx2 as httpx
import pytest
from typer.testing import CliRunner

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

from functions_world import Account, Host

from agent_memory.cli.main import app

KEY = "0123456789abcdef" * 4


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    process = Account(tmp_path_factory.mktemp("account")).ready()
    yield process
    process.kill()


@pytest.fixture(scope="module")
def host(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with account.open("explored") as memory:
        memory.create_memory_store()
        memory.user("maya").thread("trip").add("user", "My budget is $10,000.")
    process = Host(account, "explored", tmp_path_factory.mktemp("host"), AGENT_MEMORY_EXPLORER_KEY=KEY).ready()
    yield process
    process.kill()


def address(host: Host, key: str) -> str:
    """What the command prints."""
    said = CliRunner().invoke(app, ["explore", host.url], env={"AGENT_MEMORY_EXPLORER_KEY": key})
    assert said.exit_code == 0, said.stderr
    return said.stdout.removeprefix("explorer ").strip()


def test_a_command_signs_a_browser_in_once(host: Host):
    given = address(host, KEY)
    with httpx.Client(base_url=host.url, timeout=60) as http:
        page = http.get("/ui/")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert http.get("/ui/app.js").headers["content-type"].startswith("text/javascript")
        assert http.get("/ui/session").status_code == 401
        signed = http.get(given)
        cookie = signed.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert http.get("/ui/session").json()["operates"]
        assert http.get("/ui/v1/threads", headers={"x-user-id": "maya"}).json()["threads"][0]["turns"] == 1
        locked = http.post("/ui/v1/memories", json={"content": "x"}, headers={"x-user-id": "maya"})
        assert (locked.status_code, locked.json()["error"]["code"]) == (403, "forbidden")
        assert http.patch("/ui/session", json={"locked": False}).json()["seconds_unlocked"] > 0
        said = {"turns": [{"role": "user", "content": "I like tea."}]}
        assert http.post("/ui/v1/threads/trip/turns", json=said, headers={"x-user-id": "maya"}).status_code == 201
        assert http.delete("/ui/session").status_code == 204
    with httpx.Client(base_url=host.url, timeout=60) as another:
        assert another.get(given).headers["location"] == "./#/used"
        assert another.get(address(host, KEY[::-1])).headers["location"] == "./#/used"


def test_what_has_no_function_key_in_front_takes_no_header_for_a_user(host: Host):
    with httpx.Client(base_url=host.url, headers={"x-user-id": "maya"}, timeout=60) as http:
        assert http.get("/v1/threads").status_code == 200  # here the platform would have asked for a key
        for path in ("/ui/v1/threads", "/ui/v1/admin/users", "/ui/../ui/v1/threads", "/ui//v1/threads", "/ui/%2e/v1/x"):
            assert http.get(path).status_code in (401, 404), path
        assert http.post("/ui/session").status_code == 401
