"""The wheels in an empty environment: what is missing is named in words that work, and all runs.

`make dist-check` makes it with pip alone, for every Python. The suite takes the oldest, and uv, which has what it
installs in its cache and needs seconds where pip needs most of a minute.
"""

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from agent_memory.extras import DISTRIBUTION
from embedded_cosmos import Engine
from embedded_cosmos.server import LoopbackServer

ROOT = Path(__file__).parents[1]
UV = shutil.which("uv") or shutil.which(str(ROOT / ".tools" / "bin" / "uv"))
[TEN_LINES] = re.findall(
    r"^## Ten lines\n+```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
)
ON_COSMOS_DB = """
import sys
from agent_memory import Memory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
with Memory.cosmos(*sys.argv[1:], chat_model=OfflineChat(), embedding_model=HashingEmbeddings()) as memory:
    memory.create_memory_store()
    chat = memory.user("alice").thread("monday")
    chat.add("user", "I keep bees.")
    print([turn.content for turn in chat.turns()])
"""
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
NO_NETWORK = ("Failed to establish a new connection", "Name or service not known", "Failed to fetch")

pytestmark = [pytest.mark.acceptance, pytest.mark.skipif(UV is None, reason="uv, which builds the wheels, is not here")]


def run(*command: object, folder: Path, code: int = 0, **more: str) -> str:
    outer = ("PYTHONPATH", "VIRTUAL_ENV", "PYENV_VERSION")
    environment = {name: value for name, value in os.environ.items() if name not in outer} | more
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    if done.returncode and any(sign in done.stderr for sign in NO_NETWORK):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    for project in (ROOT, ROOT / "sdk" / "embedded_cosmos"):
        run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, project, folder=folder)
    assert len(list(folder.glob("*.whl"))) == 2
    return folder


def test_the_source_distribution_has_only_what_the_wheel_is_built_from(tmp_path: Path):
    run(UV, "build", "--quiet", "--sdist", "--out-dir", tmp_path, ROOT, folder=tmp_path)
    [archive] = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    told = {"CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "PKG-INFO", "pyproject.toml", ".gitignore"}
    folders = ("sdk/agent_memory/", "prompts/", "samples/conversations/")
    assert {name for name in names if not name.startswith(folders)} <= told, "an export could be among them"


def interpreter(version: str) -> Path | None:
    """A Python of a version that can make environments: of pyenv, or on the path."""
    known = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")]
    found = shutil.which(f"python{version}")
    for python in [*known, *([Path(found)] if found else [])]:
        if subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0:
            return python
    return None


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheels_say_what_they_need_and_run_with_it(dist: Path, version: str, tmp_path: Path):
    if version != VERSIONS[0] and "DIST_CHECK" not in os.environ:
        pytest.skip("`make dist-check` takes every Python; this suite takes the oldest")
    base = interpreter(version)
    if base is None:
        pytest.skip(f"there is no Python {version} here")
    with_pip = "DIST_CHECK" in os.environ
    run(*((base, "-m", "venv") if with_pip else (UV, "venv", "--quiet", "--python", base)), "env", folder=tmp_path)
    python, command = tmp_path / "env/bin/python", tmp_path / "env/bin/agent-memory"
    pip = (python, "-m", "pip") if with_pip else (UV, "pip")
    more = {"PIP_FIND_LINKS": str(dist)} if with_pip else {"UV_FIND_LINKS": str(dist), "UV_PYTHON": str(python)}

    def install(what: str) -> None:
        run(*pip, "install", "--quiet", *(["--no-compile"] if with_pip else []), what, folder=tmp_path, **more)

    install(DISTRIBUTION)
    hint = f"pip install '{DISTRIBUTION}[{{}}]'"
    assert hint.format("local") in run(python, "-c", TEN_LINES, folder=tmp_path, code=1)
    assert hint.format("cli,local") in run(command, "--version", folder=tmp_path, code=1)

    with Engine() as engine, LoopbackServer(engine) as server:
        assert "['I keep bees.']" in run(python, "-c", ON_COSMOS_DB, server.url, server.key, folder=tmp_path)

    # What the hints say, word for word.
    install(f"{DISTRIBUTION}[local]")
    assert "$10,000" in run(python, "-c", TEN_LINES, folder=tmp_path)
    install(f"{DISTRIBUTION}[cli,local]")
    assert "agent-memory 0." in run(command, "--version", folder=tmp_path)
    assert hint.format("server") in run(command, "serve", folder=tmp_path, code=1)
    assert "We've raised the Hawaii budget to $15,000." in run(command, "quickstart", folder=tmp_path)
    (tmp_path / "one.jsonl").write_text('{"role": "user", "content": "I keep bees on the roof."}\n')
    assert "I keep bees on the roof." in run(command, "quickstart", "one.jsonl", folder=tmp_path)
