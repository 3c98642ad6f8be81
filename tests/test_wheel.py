"""The wheel in an empty environment: what is missing is named in words that work, and with its extras it runs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UV = shutil.which("uv") or shutil.which(str(ROOT / ".tools" / "bin" / "uv"))
TEN_LINES = """
from agent_memory import Memory
with Memory.local("memory.db") as memory:
    memory.user("alice").thread("monday").add("user", "My budget for the Hawaii trip is $10,000.")
    memory.drain(timeout=60)
    print(memory.user("alice").thread("friday").context("What's my budget for Hawaii?").text)
"""

pytestmark = pytest.mark.skipif(UV is None, reason="uv, which builds and installs the wheel, is not here")


def run(*command: object, folder: Path, code: int = 0) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    if command[0] == UV and done.returncode and "Failed to fetch" in done.stderr:
        pytest.skip("the package registry cannot be reached")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT, folder=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_the_wheel_says_what_it_needs_and_runs_with_it(wheel: Path, version: str, tmp_path: Path):
    found = subprocess.run([str(UV), "python", "find", "--no-project", version], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(f"there is no Python {version} here")
    run(UV, "venv", "--quiet", "--no-project", "--python", found.stdout.strip(), "env", folder=tmp_path)
    python, command = tmp_path / "env/bin/python", tmp_path / "env/bin/agent-memory"
    install = (UV, "pip", "install", "--quiet", "--python", python)

    run(*install, wheel, folder=tmp_path)
    hint = "pip install 'agent-memory-toolkit[{}]'"
    assert hint.format("local") in run(python, "-c", TEN_LINES, folder=tmp_path, code=1)
    assert hint.format("cli,local") in run(command, "--version", folder=tmp_path, code=1)

    # What the hints say, word for word but for the tool.
    run(*install, "agent-memory-toolkit[local]", folder=tmp_path)
    assert "$10,000" in run(python, "-c", TEN_LINES, folder=tmp_path)
    run(*install, "agent-memory-toolkit[cli,local]", folder=tmp_path)
    assert "agent-memory 0." in run(command, "--version", folder=tmp_path)
    assert hint.format("server") in run(command, "serve", folder=tmp_path, code=1)
    samples = "from agent_memory.cli.quickstart import samples; print([path.name for path in samples()])"
    assert "trip.jsonl" in run(python, "-c", samples, folder=tmp_path)
    (tmp_path / "one.jsonl").write_text('{"role": "user", "content": "I keep bees on the roof."}\n')
    assert "- I keep bees on the roof." in run(command, "quickstart", "one.jsonl", folder=tmp_path)
