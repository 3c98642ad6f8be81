"""What the README shows, run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
WITHOUT_A_KEY = [block for block in BLOCKS if "OpenAI" not in block]


def test_there_are_programs_to_run() -> None:
    assert (len(BLOCKS), len(WITHOUT_A_KEY)) == (3, 2)


def test_the_programs_run_one_after_the_other(tmp_path: Path) -> None:
    first, second = (
        subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=tmp_path, check=True).stdout
        for block in WITHOUT_A_KEY
    )
    assert "$10,000" in first
    assert "Hawaii" in second  # the dry run says what would go


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


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_the_pages_of_the_guide_are_listed_and_their_links_lead_somewhere(page: Path) -> None:
    assert page.name == "README.md" or f"({page.name})" in (ROOT / "docs" / "README.md").read_text()
    for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / path).exists(), path
