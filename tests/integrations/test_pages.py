"""The pages about frameworks: their programs run as they stand, with a scripted model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from agent_server import BUDGET, agent_server
from rigs import ADAPTERS, RECIPES, Adapter

DOCS = Path(__file__).parents[2] / "docs" / "integrations"
NO_ADAPTERS = ("README.md", "recipes.md")
PAGES = {path.stem.replace("-", "_"): path for path in sorted(DOCS.glob("*.md")) if path.name not in NO_ADAPTERS}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", PAGES)
def test_the_programs_of_a_page_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    adapter = next(one for one in ADAPTERS if one.name == name)
    if adapter.missing:
        pytest.skip(adapter.missing)
    monkeypatch.chdir(tmp_path)
    if name == "claude_agent":  # a program of its own, which keeps files at home
        monkeypatch.setenv("HOME", str(tmp_path))
    first, *others = BLOCK.findall(PAGES[name].read_text())
    run(first, name, monkeypatch)
    assert BUDGET in capsys.readouterr().out
    for other in others:
        exec(compile(other, f"{name}.md", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_runs(
    recipe: Adapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if recipe.missing:
        pytest.skip(recipe.missing)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    run(recipes()[recipe.name], recipe.name, monkeypatch)
    assert BUDGET in capsys.readouterr().out


def test_every_recipe_is_run_and_short() -> None:
    found = recipes()
    assert found.keys() == {recipe.name for recipe in RECIPES}
    lines = {name: sum(bool(line.strip()) for line in code.splitlines()) for name, code in found.items()}
    assert {name: count for name, count in lines.items() if count > 40} == {}


def recipes() -> dict[str, str]:
    """The programs of the recipes, by the names that `make integrations` has for them."""
    _, *parts = (DOCS / "recipes.md").read_text().split("\n## ")
    return {part.split("\n")[0].lower().replace(" ", "_"): BLOCK.findall(part)[0] for part in parts}


def run(code: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a program with a scripted model."""
    with agent_server() as server:
        for variable, value in server.environment.items():
            monkeypatch.setenv(variable, value)
        exec(compile(code, f"{name}.md", "exec"), {"__name__": "__main__"})
    assert any(BUDGET in asked.told for asked in server.asked)


def test_the_table_has_each_adapter_and_counts_its_lines() -> None:
    rows = re.findall(r"^\| .+?\]\(([a-z-]+)\.md\) \|.*\| (\d+) \|$", (DOCS / "README.md").read_text(), re.MULTILINE)
    lines = {
        name: len([line for line in BLOCK.findall(page.read_text())[0].split("\n") if line.strip()])
        for name, page in PAGES.items()
    }
    assert {name.replace("-", "_"): int(count) for name, count in rows} == lines
    assert {adapter.name for adapter in ADAPTERS} == lines.keys()
