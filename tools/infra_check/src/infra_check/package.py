"""The deployment package: which files azd takes, and what the platform makes of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from pathspec import GitIgnoreSpec

from infra_check.project import Bindings, Project, read_bindings

_NEEDED = (
    "host.json",
    "function_app.py",
    "requirements.txt",
    "constraints.txt",
    "azure_functions/app.py",
    # What `pip install .` needs: the build fails without the files that pyproject.toml names.
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE",
    "sdk/agent_memory/__init__.py",
    "prompts/extract.prompt.md",
)
_ENVIRONMENTS = ("venv/", "env/", "virtualenv/", "my_env/", "py313-env/", "myvenv/")
_UNWANTED = ("tests/", "docs/", "infra/", "samples/", "benchmarks/", "tools/", ".venv/", ".git/", ".cache/")
_UNWANTED_FILES = (
    ".env",
    "local.settings.json",
    # What the commands of the README leave in the folder.
    "memory.db",
    "memory.db-wal",
    "memory.html",
    "alice.jsonl",
    "judge.md",
    "keys.json",
    "items.json",
    "claude-export.zip",
    "sdk/memory.db",
)
_FOR_OLDER_PYTHON = "1.26.0"
"""The version of azure-functions that is taken there. Its 2.x line needs Python 3.13."""
INSTALLED = ".python_packages/lib/site-packages"
_OLD_PYTHON = "3.11"
BYTECODE = {"PYC_INVALIDATION_MODE": "UNCHECKED_HASH"}
"""Files get other times on their way to the app, so that its Python would not believe bytecode that goes by them."""
PLATFORM = "x86_64-manylinux_2_28"


@dataclass(frozen=True, slots=True)
class Package:
    """A package as the platform would unpack it."""

    bytes: int
    zipped_bytes: int
    bindings: Bindings


def the_package_is_whole(project: Project) -> Iterator[str]:
    """.funcignore leaves in what the build and the app need, and takes out tests, tools, the local host and secrets."""
    spec = _ignored(project.root)
    members = project.pyproject["tool"]["uv"]["workspace"]["members"]
    for name in (*_NEEDED, *(f"{member}/pyproject.toml" for member in members)):
        if not (project.root / name).exists():
            yield f"{name} is missing"
        elif spec.match_file(name):
            yield f".funcignore: the package lacks {name}"
    of_members = (f"{member}/{part}/" for member in members for part in ("src", "tests"))
    for name in (*_UNWANTED, *of_members, *_ENVIRONMENTS, *_UNWANTED_FILES):
        if not spec.match_file(name + ("file" if name.endswith("/") else "")):
            yield f".funcignore: the package would hold {name}"
    if spec.match_file(f"{INSTALLED}/library/__pycache__/module.cpython-313.pyc"):
        yield ".funcignore: the bytecode of packages that were built here stays behind"
    lines = (project.root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if "-c constraints.txt" not in lines:
        yield "requirements.txt: the build takes other versions than those of constraints.txt"
    wanted = [line for line in lines if line.strip() and not line.startswith(("#", "-"))]
    yield from _python_of_the_build(wanted)
    yield from _versions(project)
    if not wanted or not re.match(r"\.\[.*functions.*\]$", wanted[-1]):
        yield "requirements.txt: the last line does not install this project with its extra `functions`"


def _python_of_the_build(requirements: list[str]) -> Iterator[str]:
    """Some requirement must refuse a build with an older Python than the app's: azd's has taken Python 3.11."""
    known = [Requirement(line) for line in requirements if not line.startswith(".")]
    functions = [requirement for requirement in known if requirement.name == "azure-functions"]
    if not functions or functions[0].specifier.contains(_FOR_OLDER_PYTHON):
        yield f"requirements.txt: azure-functions may be {_FOR_OLDER_PYTHON}, so a build with an old Python succeeds"


def _versions(project: Project) -> Iterator[str]:
    """The package has the versions that the tests run with; only what telemetry brings has others."""
    locked: dict[str, set[str]] = {}
    for package in tomllib.loads((project.root / "uv.lock").read_text(encoding="utf-8"))["package"]:
        locked.setdefault(package["name"], set()).add(package["version"])
    for line in (project.root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition("==")
        if name in locked and version not in locked[name] and not name.startswith("opentelemetry"):
            yield f"constraints.txt: {line} is not the version of uv.lock; run: make constraints"


def build(project: Project, target: Path) -> Package:
    """Builds the package as the platform does, and loads the app from it with nothing else on the path.

    Raises:
        RuntimeError: if it cannot be built or loaded.
    """
    spec = _ignored(project.root)
    for path in _files(project.root, spec):
        copy = target / path.relative_to(project.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    installed = target / INSTALLED
    uv = shutil.which("uv") or str(project.root / ".tools" / "bin" / "uv")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = [uv, "pip", "install", "--quiet", "--target", str(installed), "-r", "requirements.txt"]
    command += ["--compile-bytecode", "--python-platform", PLATFORM, "--python-version"]
    if _run([*command, _OLD_PYTHON, "--dry-run"], target).returncode == 0:
        raise RuntimeError(f"the package can be built with Python {_OLD_PYTHON}, which the app does not run on")
    done = _run([*command, version], target)
    if done.returncode != 0:
        raise RuntimeError(f"the package cannot be built: {done.stderr.strip()}")
    return Package(_size(target), _zipped(target), read_bindings(target, installed))


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=os.environ | BYTECODE, capture_output=True, text=True, check=False)


def _ignored(root: Path) -> GitIgnoreSpec:
    path = root / ".funcignore"
    return GitIgnoreSpec.from_lines(path.read_text(encoding="utf-8").splitlines() if path.exists() else [])


def _files(root: Path, spec: GitIgnoreSpec) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = [f for f in folders if f != "__pycache__" and not spec.match_file(f"{_name(root, here / f)}/")]
        yield from (here / name for name in names if not spec.match_file(_name(root, here / name)))


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _zipped(folder: Path) -> int:
    archive = folder.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                file.write(path, path.relative_to(folder))
    size = archive.stat().st_size
    archive.unlink()
    return size
