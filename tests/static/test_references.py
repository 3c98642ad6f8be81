"""Code names what it means in words, or by a decision record that is there; never by a number that leads nowhere."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("sdk", "azure_functions", "tools", "infra", "prompts", "samples", "benchmarks", "function_app.py")
NUMBERS = re.compile(r"\bS[0-4]-\d{2,3}\b|\b(?:decision|conflict)s? [CD]\d{1,2}\b")
RECORDS = {path.name[:4] for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")}


def texts() -> list[tuple[str, str]]:
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no git repository")
    names = [name for name in listed.stdout.split() if "/tests/" not in name and (ROOT / name).is_file()]
    return [(name, (ROOT / name).read_text(errors="ignore")) for name in names]


def test_no_row_and_no_conflict_is_named_outside_the_tests() -> None:
    assert [(name, NUMBERS.findall(text)) for name, text in texts() if NUMBERS.search(text)] == []


def test_decisions_that_code_names_are_there() -> None:
    named = {number for _, text in texts() for number in re.findall(r"docs/decisions/(\d+)", text)}
    assert len(named) >= 5
    assert named <= RECORDS


def test_modules_that_prose_names_are_there() -> None:
    house = ROOT / "sdk" / "agent_memory"
    rooms = {path.parent.name for path in house.glob("*/__init__.py")} | {"policy"}
    lost = []
    for name, text in texts():
        for room, module in re.findall(r"`(?:agent_memory\.)?([a-z_]+)\.([a-z_]+)[.\w]*(?:\([^`]*\))?`", text):
            if room in rooms - {"settings", "models"}:
                front = house / room / "__init__.py"
                known = front.exists() and re.search(rf"\b{module}\b", front.read_text())
                if not known and not (house / room / f"{module}.py").exists() and not (house / room / module).is_dir():
                    lost.append((name, f"{room}.{module}"))
    assert lost == []
