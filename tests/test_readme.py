"""What the README shows, run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from snippets import BLOCK, run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
SERVERS = re.compile(r"^agent-memory (serve|explore) .*\n", re.MULTILINE)
"""Commands that run until Ctrl-C; tests/cli and tests/explorer run them."""
ITS_OWN_ENVIRONMENT = "make quickstart     # sample"
"""How the block begins that makes an environment: tests/cli runs the quickstart, and `make test` is this."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """`agent-memory serve` on a free port; gives host and port."""
    command = [sys.executable, "-m", "agent_memory.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("ready http://").strip().rstrip("/")
        finally:
            process.terminate()


@pytest.mark.acceptance
def test_the_readme_runs_from_top_to_bottom_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    talk = {"speaker_a": "Ann", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023"}
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "I moved to Porto in May."}
    asked = [{"question": "Where does Ann live?", "category": 4, "evidence": ["D1:1"]}]
    sample = {"sample_id": "s1", "conversation": talk | {"session_1": [turn]}, "qa": asked}
    (tmp_path / "locomo10.json").write_text(json.dumps([sample]))  # the reader fetches the real one
    key = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}  # nothing is asked of a model
    said = []
    assert ITS_OWN_ENVIRONMENT in README
    for language, block in BLOCK.findall(README):
        if block.startswith(ITS_OWN_ENVIRONMENT):
            continue
        if "curl" in block:
            if shutil.which("curl") is None:
                continue
            with serving(tmp_path) as address:
                said.append(run(language, block.replace("localhost:8900", address), tmp_path))
        else:
            said.append(run(language, SERVERS.sub("", block), tmp_path, **(key if "OpenAI" in block else {})))
    ten_lines, scope, models, commands, *served = said
    assert "$10,000" in ten_lines
    assert "Hawaii" in scope  # the dry run says what would go
    assert "gpt-4.1-mini" in models
    assert "text-embedding-3-small" in models
    assert "peanuts" in commands
    for answer in served:
        assert "$10,000" in answer


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(?:pytest|python) (\S+?)`", README))))
def test_what_is_to_be_run_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_command_that_is_shown_is_one() -> None:
    shown = set(re.findall(r"^agent-memory (\S+)", README, re.MULTILINE)) | set(re.findall(r"`make (\S+?)[ `]", README))
    listed = subprocess.run(
        [sys.executable, "-m", "agent_memory.cli", "--help"], capture_output=True, text=True, check=True
    ).stdout
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = set(re.findall(r"^  ([a-z-]+) ", listed, re.MULTILINE))
    assert len(shown) > 10
    assert shown <= targets | commands
