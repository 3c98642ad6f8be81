"""The tool that breaks the code in one place at a time."""

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"

CODE = '''
"""A text that says a < b."""
LIMIT: Final[Literal[7]] = 20


async def write(store, n: Literal[4] = 4) -> Literal[3]:
    if n > LIMIT and not store.closed:
        raise ValueError("more than 100")
    logger.info("wrote", 5)
    n = min(n, LIMIT)
    await store.replace(n, etag="e", other="o")
    return True
'''


@pytest.fixture
def mutations(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("mutations", monkeypatch)


@pytest.fixture
def mutants(mutations: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("mutants", monkeypatch)


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def test_a_file_is_changed_in_one_place_at_a_time(mutations: ModuleType):
    source = CODE.encode()
    changed = {}
    for mutant in mutations.mutants_of("a.py", source):
        rows = zip(CODE.splitlines(), mutant.apply(source).decode().splitlines(), strict=True)
        [row] = [after.strip() for before, after in rows if before != after]
        changed[mutant.what.split(":")[0]] = row
    assert changed == {
        "20 reads 21": "LIMIT: Final[Literal[7]] = 21",
        "4 reads 5": "async def write(store, n: Literal[4] = 5) -> Literal[3]:",
        "the condition reads n > LIMIT or not store.closed": "if (n > LIMIT or not store.closed):",
        "the condition lacks n > LIMIT": "if (not store.closed):",
        "the condition lacks not store.closed": "if (n > LIMIT):",
        "the comparison reads n >= LIMIT": "if (n >= LIMIT) and not store.closed:",
        "`not` is dropped from not store.closed": "if n > LIMIT and (store.closed):",
        "the guard is dropped": "if ((n > LIMIT and (not store.closed)) and False):",
        "the call is dropped": "pass",
        "min reads max": "n = max(n, LIMIT)",
        "the argument etag= is dropped": "await store.replace(n, other='o')",
        "True reads False": "return False",
    }


MODULE = """
LIMIT = 3


def allowed(n: int) -> bool:
    return n != LIMIT


def never_run(n: int) -> bool:
    return n > 5
"""
TESTS = """
from agent_memory.rules.some import allowed


def test_allowed():
    assert allowed(1)
"""


@pytest.mark.acceptance
def test_what_no_test_notices_is_named(mutants: ModuleType, tmp_path: Path, monkeypatch, capsys):
    package = tmp_path / "sdk/agent_memory"
    for folder in (package, package / "rules"):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    (package / "rules/some.py").write_text(MODULE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_some.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text(
        textwrap.dedent("""
            [tool.pytest.ini_options]
            pythonpath = ["sdk"]
            addopts = ["--import-mode=importlib"]
        """)
    )
    record = ["--cov=sdk", "--cov-context=test", "--cov-report=", "--junitxml=.coverage-times.xml"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *record]
    environment = {"PYTHONPATH": str(tmp_path / "sdk"), "PATH": ""}
    assert subprocess.run(command, cwd=tmp_path, env=environment, check=False).returncode == 0
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["mutants.py", "--rooms", "rules", "--jobs", "1"])
    mutants.main()
    told = capsys.readouterr().out
    assert sorted(line for line in told.splitlines() if line.startswith(("survived", "not run"))) == [
        "not run: sdk/agent_memory/rules/some.py:10: 5 reads 6",
        "not run: sdk/agent_memory/rules/some.py:10: the comparison reads n >= 5",
        "survived: sdk/agent_memory/rules/some.py:2: 3 reads 4",
    ]
    assert "rules           1 of    4 mutants noticed,  25 %" in told
