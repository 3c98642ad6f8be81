"""The pages on other systems' names: their code runs, and one names every facade."""

import re
from pathlib import Path
from typing import Any

import pytest

import agent_memory.compat

PAGE = Path(__file__).parents[2] / "docs" / "moving-over.md"
SYSTEMS = sorted((PAGE.parent / "systems").glob("*.md"))


def test_every_block_of_the_page_runs(capsys):
    told: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), told)
    assert told["messages"] == [
        {"role": "system", "content": "You answer questions on company rules."},
        {"role": "user", "content": "Hi, I'm Sarah from Marketing."},
    ]
    assert "10,000" in told["found"].memory.content
    assert "compression" in capsys.readouterr().out


@pytest.mark.parametrize("page", SYSTEMS, ids=lambda page: page.stem)
def test_every_block_of_a_page_on_one_system_runs(page: Path):
    told: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(page), "exec"), told)


def test_the_page_names_every_facade():
    modules = {path.stem for path in Path(agent_memory.compat.__path__[0]).glob("[a-z]*.py")}
    parts = {"agent_profile", "agent_records", "knowledge_base"}  # of the agent's
    assert {name for name in modules - parts if f"agent_memory.compat.{name}" not in PAGE.read_text()} == set()
