"""The deployment package: which files azd takes, and what the platform makes of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from infra_support.project import Bindings, Project, read_bindings

_NEEDED = (
    "host.json",
    "function_app.py",
    "requirements.txt",
    "azure_functions/app.py",
    # What `pip install .` needs: the build fails without the files that pyproject.toml names.
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE",
    "sdk/agent_memory/__init__.py",
    "prompts/extract.prompt.md",
)
_UNWANTED = ("tests/", "docs/", "infra/", "samples/", "benchmarks/", "tools/", ".venv/", ".git/", ".cache/")
_UNWANTED_FILES = (".env", "local.settings.json", "azure_functions/devhost/")
_INSTALLED = ".python_packages/lib/site-packages"
_PLATFORM = "x86_64-manylinux_2_28"


@dataclass(frozen=True, slots=True)
class Package:
    """A package as the platform would unpack it."""

    bytes: int
    zipped_bytes: int
    bindings: Bindings


def the_package_is_whole(project: Project) -> Iterator[str]:
    """.funcignore leaves in what the build and the app need, and takes out tests, tools, the local host and secrets."""
    spec = _ignored(project.root)
    for name in _NEEDED:
        if not (project.root / name).exists():
            yield f"{name} is missing"
        elif spec.match_file(name):
            yield f".funcignore: the package lacks {name}"
    for name in (*_UNWANTED, *_UNWANTED_FILES):
        if not spec.match_file(name + ("file" if name.endswith("/") else "")):
            yield f".funcignore: the package would hold {name}"
    lines = (project.root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if line.strip() and not line.startswith("#")]
    if not wanted or not re.match(r"\.\[.*functions.*\]$", wanted[-1]):
        yield "requirements.txt: the last line does not install this project with its extra `functions`"


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
    installed = target / _INSTALLED
    uv = shutil.which("uv") or str(project.root / ".tools" / "bin" / "uv")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = [uv, "pip", "install", "--quiet", "--target", str(installed), "-r", "requirements.txt"]
    command += ["--python-version", version, "--python-platform", _PLATFORM]
    done = subprocess.run(command, cwd=target, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the package cannot be built: {done.stderr.strip()}")
    return Package(_size(target), _zipped(target), read_bindings(target, installed))


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
            if path.is_file() and path.suffix != ".pyc":
                file.write(path, path.relative_to(folder))
    size = archive.stat().st_size
    archive.unlink()
    return size
