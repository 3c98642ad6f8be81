"""The documentation site: every page has its place, and links that leave it lead to the repository."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOME = (ROOT / "docs" / "README.md").read_text()


def pages_of(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    return [page for part in (entry.values() if isinstance(entry, dict) else entry) for page in pages_of(part)]


def hooks() -> Any:
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "tools" / "docs_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_navigation_once() -> None:
    config = SimpleNamespace(nav=yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"], docs_dir=str(ROOT / "docs"))
    pages = pages_of(hooks().on_config(config).nav)
    assert sorted(pages) == sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_the_first_page_links_every_page_beside_it(page: Path) -> None:
    assert page.name == "README.md" or f"({page.name})" in HOME


@pytest.mark.parametrize("folder", ["how-to", "systems"])
def test_the_first_page_links_the_guides(folder: str) -> None:
    for page in sorted((ROOT / "docs" / folder).glob("*.md")):
        assert f"({folder}/{page.name})" in HOME


def test_links_out_of_the_guide_lead_to_the_repository() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/page.md"))
    config = SimpleNamespace(repo_url="https://example.org/house")
    text = "[a](../../prompts) [b](../../README.md#ten-lines) [c](../privacy.md) [d](other.md) `x](../../y)`"
    made = hooks().on_page_markdown(text, page=page, config=config)
    assert "[a](https://example.org/house/blob/main/prompts)" in made
    assert "[b](https://example.org/house/blob/main/README.md#ten-lines)" in made
    assert "[c](../privacy.md) [d](other.md)" in made


@pytest.mark.acceptance
def test_the_site_builds_without_a_network_and_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the group `docs` is not installed")
    no_network = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | no_network,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    reference = (tmp_path / "reference" / "scopes" / "index.html").read_text()
    assert "What would go" in reference or "dry_run" in reference  # made from the docstrings
    assert "blob/main/README.md" in (tmp_path / "index.html").read_text()


RECORDS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_a_decision_has_its_parts_and_its_place_in_the_index(record: Path) -> None:
    text = record.read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    number, title = int(record.name[:4]), re.findall(r"^# (\d+)\. (.*)$", text, re.MULTILINE)
    assert title == [(str(number), title[0][1])]
    index = (record.parent / "README.md").read_text()
    assert f"| {number} | [{title[0][1]}]({record.name}) |" in index


def test_commands_that_decisions_name_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for record in RECORDS:
        for command in re.findall(r"`(?:[A-Z_]+=\S+ )?((?:pytest|python|make) [^`]+)`", record.read_text()):
            program, *rest = command.split()
            if program == "make":
                assert rest[0] in targets, command
            for path in rest:
                if "/" in path:
                    assert (ROOT / path).exists(), command


def test_the_picture_of_the_house_stays_short() -> None:
    assert len((ROOT / "docs" / "architecture.md").read_text().split()) <= 2_500


def test_the_glossary_gives_each_of_at_most_sixty_terms_one_meaning() -> None:
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    assert 30 <= len(terms) <= 60
    assert len(set(terms)) == len(terms)


def test_every_room_of_the_library_is_described() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    rooms = [path.parent.name for path in (ROOT / "sdk" / "agent_memory").glob("*/__init__.py")]
    assert [room for room in rooms if f"`{room}/`" not in page] == []


def test_every_row_that_a_test_marks_is_explained_and_no_other() -> None:
    folders = (ROOT / "tests", *ROOT.glob("sdk/*/tests"), *ROOT.glob("tools/*/tests"))
    marked = {
        row
        for folder in folders
        for path in folder.rglob("*.py")
        for mark in re.findall(r"mark\.req\(([^)]*)\)", path.read_text())
        for row in re.findall(r"\bS\d-\d+\b", mark)
    }
    page = (ROOT / "docs" / "requirements.md").read_text()
    explained = re.findall(r"^\| (S\d-\d+) \| .+ \|$", page.split("## What each row asks")[1], re.MULTILINE)
    assert len(explained) == len(set(explained))
    assert set(explained) == marked
