"""The checkout as infra_check sees it, and copies of it in which something is wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from infra_check.project import Project

ROOT = Path(__file__).resolve().parents[3]

COPIED = ("infra", "azure.yaml", "host.json", ".funcignore", "requirements.txt", "constraints.txt", "pyproject.toml")
LINKED = ("function_app.py", "azure_functions", "sdk", "tools", "prompts", "README.md", "LICENSE", "NOTICE", "uv.lock")


@pytest.fixture(scope="session")
def project() -> Project:
    return Project(ROOT)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of what the checks look at, to be changed."""
    for name in COPIED:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, tmp_path / name)
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.fixture
def broken(project: Project, copied: Path) -> Callable[[str, str, str], Project]:
    """The copy as a project, after one text of one file was replaced."""

    def replace(file: str, old: str, new: str) -> Project:
        path = copied / file
        text = path.read_text()
        assert old in text, f"{file} no longer holds what this test replaces"
        path.write_text(text.replace(old, new, 1))
        return Project(copied, known_bindings=project.bindings)

    return replace
