"""Extras: what to type when a package that belongs to one of them is missing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "agent-memory-toolkit"
"""What this package is installed as."""


def how_to_install(extra: str) -> str:
    """The command that installs an extra here: in the repository, or beside the installed package."""
    tool = "uv pip" if find_spec("pip") is None else "pip"  # environments that uv made have no pip
    if (Path(__file__).parents[2] / "pyproject.toml").is_file():
        return f"in the repository: make test (which installs all), or {tool} install -e '.[{extra}]'"
    return f"{tool} install '{DISTRIBUTION}[{extra}]'"
