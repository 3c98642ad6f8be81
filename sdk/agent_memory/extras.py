"""Extras: the command that installs a missing package."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from shutil import which

from agent_memory.errors import ConfigurationError

DISTRIBUTION = "durable-agent-memory"
"""The name under which this package is installed."""


def require(package: str, extra: str) -> None:
    """Checks that the package of an extra is installed, without importing it.

    Raises:
        ConfigurationError: naming the extra to install.
    """
    try:
        found = find_spec(package) is not None
    except ModuleNotFoundError:  # the package that holds it is missing
        found = False
    if not found:
        raise ConfigurationError(f"The package {package} is missing: {how_to_install(extra)}.")


def how_to_install(extra: str) -> str:
    """The command that installs an extra, in the repository or for an installed package."""
    root = Path(__file__).parents[2]
    if find_spec("pip") is not None:
        tool = "pip"
    else:  # environments created by uv have no pip; make installs its own uv if there is none
        tool = ".tools/bin/uv pip" if which("uv") is None and (root / ".tools/bin/uv").exists() else "uv pip"
    if (root / "pyproject.toml").is_file():
        # pip does not read uv's workspace, so the command names the engine that the extra `local` needs.
        packages = f"-e sdk/embedded_cosmos -e '.[{extra}]'"
        return f"in the repository: make test (which installs all), or {tool} install {packages}"
    return f"{tool} install '{DISTRIBUTION}[{extra}]'"
