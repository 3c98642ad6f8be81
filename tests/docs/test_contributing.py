"""The how-tos of CONTRIBUTING, followed to the letter in a copy of the library."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SECTIONS = {
    title: re.findall(r"^```(diff|python)\n(.*?)^```", body, re.DOTALL | re.MULTILINE)
    for title, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
}
HOW_TOS = [title for title, blocks in SECTIONS.items() if blocks]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what the how-tos change, without what is generated from it."""
    for folder in ("sdk/agent_memory", "tools", "clients/typescript/src"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "infra_check"))
    for name in ("prompts", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def call(*command: str, folder: Path, given: str | None = None) -> None:
    outer = {name: value for name, value in os.environ.items() if not name.startswith("AGENT_MEMORY")}
    done = subprocess.run(
        command,
        cwd=folder,
        input=given,
        env=outer | {"PYTHONPATH": str(folder / "sdk")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_how_tos() -> None:
    assert {"Add a setting of recall", "Add an endpoint", "Add a model adapter"} <= set(HOW_TOS)


@pytest.mark.acceptance
@pytest.mark.skipif(shutil.which("git") is None, reason="the changes are applied by git")
@pytest.mark.parametrize("title", HOW_TOS)
def test_a_how_to_leads_to_what_it_promises(title: str, copy: Path) -> None:
    blocks = SECTIONS[title]
    changes = [text for language, text in blocks if language == "diff"]
    for change in changes:
        call("git", "apply", "--recount", "--unidiff-zero", "-", folder=copy, given=change)
    if changes:
        call(sys.executable, "tools/generate_sync.py", folder=copy)
        for mode in ([], ["--check"]):
            call(sys.executable, "tools/generate_typescript.py", *mode, folder=copy)
    checks = [text for language, text in blocks if language == "python"]
    assert checks
    for check in checks:
        origin = f"import agent_memory; assert agent_memory.__file__.startswith({str(copy)!r})\n"
        call(sys.executable, "-c", origin + check, folder=copy)


@pytest.mark.acceptance
@pytest.mark.parametrize("title", [title for title in HOW_TOS if any(kind == "diff" for kind, _ in SECTIONS[title])])
def test_without_its_changes_a_how_to_leads_nowhere(title: str) -> None:
    [check] = [text for language, text in SECTIONS[title] if language == "python"]
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, timeout=300).returncode != 0
