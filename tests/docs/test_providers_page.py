"""Every cell of the table of providers names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "providers.md"
SERVICES, _, MISBEHAVIOUR = PAGE.read_text().partition("## How models misbehave")


def test_every_test_that_the_page_names_is_there() -> None:
    """The second table names the file too: `steps/test_table.py::test_something`."""
    named = set(re.findall(r"`(?:(\w+/test_\w+\.py)::)?(test_\w+)`", PAGE.read_text()))
    there = {
        (path.relative_to(ROOT / "tests").as_posix(), name)
        for path in (ROOT / "tests").glob("*/test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)\(", path.read_text(), re.MULTILINE)
    }
    assert len(named) > 30
    assert named - there - {("", name) for _, name in there} == set()


def test_every_service_that_is_tried_is_on_the_page() -> None:
    dialects = (ROOT / "tests" / "unit" / "test_language_dialects.py").read_text()
    tried = re.findall(r"^async def (test_\w+)\(", dialects, re.MULTILINE)
    unnamed = {"test_a_server_that_wants_no_limit_of_length_under_any_name_gets_none"}
    assert {name for name in tried if f"`{name}`" not in PAGE.read_text()} == unnamed


def test_every_cell_names_tests_and_nothing_else() -> None:
    rows = [line for line in SERVICES.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 12
    for row in rows:
        service, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        assert len(cells) == 5, service
        for cell in cells:
            assert re.fullmatch(r"`test_\w+`(?:, `test_\w+`)*", cell), (service, cell)


def test_every_service_of_the_tables_is_tried_for_what_may_happen_to_any() -> None:
    """Adapters of their own protocol have tests of their own."""
    own = {"Anthropic Messages", "Gemini"}
    rows = [line for line in SERVICES.splitlines() if line.startswith("| ")][1:]
    named = {row.strip("|").split("|")[0].strip() for row in rows if "`test_every_service_" not in row}
    assert named == own


def test_every_way_to_misbehave_names_its_tests() -> None:
    rows = [line for line in MISBEHAVIOUR.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 24
    for row in rows:
        _, _, tests = (cell.strip() for cell in row.strip("|").split("|"))
        assert re.fullmatch(r"`\w+/test_\w+\.py::test_\w+`(?:, `\w+/test_\w+\.py::test_\w+`)*", tests), row
