"""The pages about frameworks: their programs run as they stand, with a scripted model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from agent_server import BUDGET, agent_server
from rigs import ADAPTERS

DOCS = Path(__file__).parents[2] / "docs" / "integrations"
PAGES = {path.stem.replace("-", "_"): path for path in sorted(DOCS.glob("*.md")) if path.name != "README.md"}
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
    first, *others = BLOCK.findall(PAGES[name].read_text())
    with agent_server() as server:
        for variable, value in server.environment.items():
            monkeypatch.setenv(variable, value)
        exec(compile(first, f"{name}.md", "exec"), {"__name__": "__main__"})
    assert BUDGET in capsys.readouterr().out
    assert len([line for line in server.asked if BUDGET in line.told]) >= 1
    for other in others:
        exec(compile(other, f"{name}.md", "exec"), {"__name__": "__main__"})
