"""`agent-memory mcp`: what it wants to know before it serves."""

import pytest
from typer.testing import CliRunner

from agent_memory.cli.main import app


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--user"),
        (["--user", "__static__"], "__"),
        (["--user", "a/b"], "--user"),
        (["--user", "alice", "--url", "memory.example"], "not the URL"),
    ],
)
def test_a_user_and_a_place_that_can_be_are_needed(arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AGENT_MEMORY_USER", raising=False)
    refused = CliRunner().invoke(app, ["mcp", *arguments])
    assert refused.exit_code != 0
    assert said in refused.stderr
    assert refused.stdout == ""
