"""What is said of a missing extra can be typed where it is said."""

import re
from importlib.metadata import metadata
from pathlib import Path

import agent_memory.extras as extras


def test_the_command_is_of_a_tool_that_is_there(monkeypatch, tmp_path):
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "site-packages" / "agent_memory" / "extras.py"))
    monkeypatch.setattr(extras, "find_spec", lambda name: object())
    assert extras.how_to_install("local") == "pip install 'durable-agent-memory[local]'"
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert extras.how_to_install("local") == "uv pip install 'durable-agent-memory[local]'"


def test_in_the_repository_it_names_the_environment_that_make_makes(monkeypatch, tmp_path):
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "sdk" / "agent_memory" / "extras.py"))
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    monkeypatch.setattr(extras, "which", lambda name: None)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".tools" / "bin").mkdir(parents=True)
    (tmp_path / ".tools" / "bin" / "uv").touch()
    hint = extras.how_to_install("openai")
    command = ".tools/bin/uv pip install -e sdk/embedded_cosmos -e '.[openai]'"
    assert hint == f"in the repository: make test (which installs all), or {command}"


ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "sdk/agent_memory").rglob("*.py")]


def test_every_extra_that_is_named_is_one():
    text = "\n".join(path.read_text() for path in PAGES)
    named = re.findall(rf"{extras.DISTRIBUTION}\[([a-z,]+)\]", text)
    named += re.findall(r"""how_to_install\(["']([a-z,]+)["']\)""", text)
    assert len(named) > 5
    names = {name for several in named for name in several.split(",")}
    assert names <= set(metadata(extras.DISTRIBUTION).get_all("Provides-Extra", []))
