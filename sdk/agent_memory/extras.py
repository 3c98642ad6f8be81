"""Extras: what to type when a package that belongs to one of them is missing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from shutil import which

DISTRIBUTION = "durable-agent-memory"
"""What this package is installed as."""


def how_to_install(extra: str) -> str:
    """The command that installs an extra here: in the repository, or beside the installed package."""
    root = Path(__file__).parents[2]
    if find_spec("pip") is not None:
        tool = "pip"
    else:  # environments that uv made have no pip, and make keeps a uv of its own where there is none
        tool = ".tools/bin/uv pip" if which("uv") is None and (root / ".tools/bin/uv").exists() else "uv pip"
    if (root / "pyproject.toml").is_file():
        # pip does not know of uv's workspace: the engine is named too, which the extra `local` asks for.
        packages = f"-e sdk/embedded_cosmos -e '.[{extra}]'"
        return f"in the repository: make test (which installs all), or {tool} install {packages}"
    return f"{tool} install '{DISTRIBUTION}[{extra}]'"
