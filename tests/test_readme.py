"""What the README shows, run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SERVE = re.compile(r"^agent-memory serve .*\n", re.MULTILINE)
IN_THE_CLOUD = "needs an Azure subscription and its tools"
NOT_RUN = {
    "make quickstart     # real": "makes an environment; tests/cli runs the quickstart, and this is the test suite",
    "azd auth login": IN_THE_CLOUD,
    "az login": IN_THE_CLOUD,
    "azd env set FACT_EXTRACTION_EVERY_N 20": IN_THE_CLOUD,
    "azd env set DEPLOY_FUNCTION_APP false": IN_THE_CLOUD,
    "az role assignment create": IN_THE_CLOUD,
    "az deployment group create": IN_THE_CLOUD,
    "az cosmosdb restore": IN_THE_CLOUD,
    "from agent_memory import AsyncMemory\nfrom agent_memory.language.openai_chat": IN_THE_CLOUD,
    "with Memory.cosmos(endpoint": IN_THE_CLOUD,
    "make func": "tests/functions runs the function app on this machine",
    "make check  ": "needs Azure Functions Core Tools and npx",
    "docker compose up": "needs Docker",
    "make live ": "make live is a suite of its own",
}
"""How the snippets begin that are not run here, and why."""


def reason_not_to_run(block: str) -> str | None:
    return next((reason for begin, reason in NOT_RUN.items() if block.startswith(begin)), None)


def run(language: str, block: str, folder: Path, **more: str) -> str:
    """Runs a snippet in a process of its own, as typed in a terminal of the activated environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "AZURE", "COSMOS"))}
    command = [sys.executable, "-c", block] if language == "python" else ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=kept | {"PATH": path} | more, timeout=300
    )
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    return done.stdout


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


def test_the_readme_runs_from_top_to_bottom_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    talk = {"speaker_a": "Ann", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023"}
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "I moved to Porto in May."}
    asked = [{"question": "Where does Ann live?", "category": 4, "evidence": ["D1:1"]}]
    sample = {"sample_id": "s1", "conversation": talk | {"session_1": [turn]}, "qa": asked}
    (tmp_path / "locomo10.json").write_text(json.dumps([sample]))  # the reader fetches the real one
    key = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}  # nothing is asked of a model
    said = []
    for language, block in BLOCK.findall(README):
        if reason_not_to_run(block):
            continue
        if "curl" in block:
            if shutil.which("curl") is None:
                continue
            with serving(tmp_path) as address:
                said.append(run(language, block.replace("localhost:8900", address), tmp_path))
        else:
            said.append(run(language, SERVE.sub("", block), tmp_path, **(key if "OpenAI" in block else {})))
    ten_lines, scope, models, commands, *served = said
    assert "$10,000" in ten_lines
    assert "Hawaii" in scope  # the dry run says what would go
    assert "gpt-4.1-mini" in models
    assert "text-embedding-3-small" in models
    assert "peanuts" in commands
    for answer in served:
        assert "$10,000" in answer


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_snippets_of_a_page_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    blocks = [(language, block) for language, block in BLOCK.findall(page.read_text()) if not reason_not_to_run(block)]
    program = "\n".join(block for language, block in blocks if language == "python")
    assert [block for language, block in blocks if language == "bash"] == [], "nothing says why it is not run"
    if program:
        run("python", program, tmp_path)


def test_every_reason_not_to_run_a_snippet_is_of_one() -> None:
    blocks = [block for page in (ROOT / "README.md", *PAGES) for _, block in BLOCK.findall(page.read_text())]
    assert [begin for begin in NOT_RUN if not any(block.startswith(begin) for block in blocks)] == []


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_what_is_linked_is_there(path: str) -> None:
    assert (ROOT / path).exists()


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_pages_of_the_guide_are_listed_and_their_links_lead_somewhere(page: Path) -> None:
    assert page.name == "README.md" or f"({page.name})" in (ROOT / "docs" / "README.md").read_text()
    for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / path).exists(), path
