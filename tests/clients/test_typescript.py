"""The TypeScript client: its types are those of the API, it has every call, and it runs against a real server."""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
NPM = shutil.which("npm")
PACKAGE = json.loads((CLIENT / "package.json").read_text())

sys.path.append(str(ROOT / "tools"))
from generate_typescript import OTHER_NAMES, TARGET, document, typescript, uncalled  # noqa: E402


def run(*command: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AGENT_MEMORY", "EMBEDDED"))}
    env = kept | {"AGENT_MEMORY_COMMAND": str(Path(sys.executable).parent / "agent-memory")}
    return subprocess.run(command, cwd=CLIENT, env=env, capture_output=True, text=True, timeout=300)


def node_version() -> tuple[int, ...]:
    node = shutil.which("node")
    if node is None:
        return ()
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])


def test_its_types_are_those_of_the_api() -> None:
    described = document()
    assert typescript(described) == TARGET.read_text(), "run `make format`"
    changed = copy.deepcopy(described)
    del changed["components"]["schemas"]["Memory"]["properties"]["pinned"]
    assert typescript(changed) != TARGET.read_text()


def test_it_has_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    assert uncalled() == []
    monkeypatch.setitem(OTHER_NAMES, "stats", "count_all")
    assert uncalled() == ["countAll() in user.ts", "countAll() in thread.ts"]


def test_it_is_published_with_the_licence_and_the_version_of_the_library() -> None:
    [version] = re.findall(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert PACKAGE["version"] == version
    assert (CLIENT / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert "dependencies" not in PACKAGE


@pytest.mark.acceptance
def test_it_runs_against_a_server() -> None:
    """Compiles the client, its tests and the code of its pages, and runs them; then packs it."""
    wanted = tuple(int(part) for part in re.findall(r"\d+", PACKAGE["engines"]["node"]))
    if NPM is None or node_version() < wanted:
        pytest.skip(f"the client needs npm and Node {PACKAGE['engines']['node']}")
    if not (CLIENT / "node_modules" / ".package-lock.json").exists():
        installed = run(NPM, "ci", "--no-audit", "--no-fund")
        if re.search("ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT", installed.stderr):
            pytest.skip("the registry of npm, which has the compiler, cannot be reached")
        assert installed.returncode == 0, installed.stderr
    for command in (["run", "build"], ["test"]):
        done = run(NPM, *command)
        assert done.returncode == 0, done.stdout + done.stderr
    [packed] = json.loads(run(NPM, "pack", "--dry-run", "--json", "--ignore-scripts").stdout)
    modules = [path.stem for path in (CLIENT / "src").iterdir()]
    built = {f"dist/{name}.{ending}" for name in modules for ending in ("js", "d.ts")}
    assert {file["path"] for file in packed["files"]} == built | {"LICENSE", "README.md", "package.json"}
