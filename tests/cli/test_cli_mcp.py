"""`agent-memory mcp`: what it wants to know before it serves."""

import subprocess
import sys
from pathlib import Path

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


def test_a_store_that_never_opened_ends_the_command_with_an_error(tmp_path: Path):
    damaged = tmp_path / "memory.db"
    damaged.write_bytes(b"no store" * 1000)
    for path, status in ((damaged, 1), (tmp_path / "new.db", 0)):
        command = [sys.executable, "-m", "agent_memory.cli", "mcp", "--user", "ann", "--store", str(path)]
        # A program that asks nothing for a second, and leaves.
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as served:
            assert served.stderr is not None
            said = served.stderr.readline() if status else b""
            served.communicate(timeout=300)
        assert (served.returncode, b"cannot open" in said) == (status, bool(status))
