"""What the function app writes at INFO, where the platform's worker sets the root logger: no users, and little."""

from pathlib import Path

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

from functions_world import Account, Host, until

pytestmark = pytest.mark.acceptance

USER = "zaphod-beeblebrox"


def test_requests_to_the_store_are_not_in_the_log_and_no_user_is(tmp_path: Path):
    account = Account(tmp_path).ready()
    with account.open("logged") as memory:
        memory.create_memory_store()
    settings = {"FACT_EXTRACTION_EVERY_N": "1"}
    host = Host(account, "logged", tmp_path / "host", verbose=True, **settings).ready()
    try:
        turns = {"turns": [{"role": "user", "content": "My budget for Hawaii is $10,000."}]}
        assert host.call("POST", "/v1/threads/trip/turns", turns, USER)[0] in (200, 201)
        until(lambda: host.call("GET", "/v1/memories?types=fact", user=USER)[1].get("memories"), "it is extracted")
        before = len(records(host.log))
        status, context = host.call("POST", "/v1/context", {"query": "What's my budget?"}, USER)
        assert status == 200
        assert "$10,000" in context["text"]
        written = records(host.log)
    finally:
        host.stop()
        account.stop()
    assert any("Retrieved" in line for line in written), "the log is on"
    assert not [line for line in written if USER in line or "documentdb" in line]
    assert len(written) - before <= 3
    assert len(written) <= 60


def records(log: Path) -> list[str]:
    return log.read_text().splitlines()
