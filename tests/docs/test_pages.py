"""The pages: their code runs, and their links lead somewhere."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from snippets import BLOCK, run

ROOT = Path(__file__).parents[2]
GUIDE = sorted((ROOT / "docs").rglob("*.md"))
AT_THE_ROOT = [path for path in sorted(ROOT.glob("*.md")) if path.name != "README.md"]
ELSEWHERE = [
    ROOT / "README.md",
    ROOT / "samples" / "README.md",
    *sorted((ROOT / "samples").glob("*/README.md")),
    *sorted((ROOT / "sdk").glob("*/*.md")),
    *sorted((ROOT / "tools").glob("*/*.md")),
    *sorted((ROOT / "clients").glob("*/*.md")),
    *sorted((ROOT / ".github").glob("*.md")),
    *sorted((ROOT / "tests").rglob("*.md")),
]
PAGES = [*GUIDE, *AT_THE_ROOT]
RUN_ELSEWHERE = {
    "systems": "tests/compat",
    "integrations": "tests/integrations",
    "use-from-typescript.md": "tests/clients",
    "CONTRIBUTING.md": "tests/docs/test_contributing.py",
}
"""Folders and pages whose code other tests run."""
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s:]+)\)")
IN_THE_CLOUD = "needs an Azure subscription and its tools"
NOT_RUN = {
    "azd auth login": IN_THE_CLOUD,
    "GROUP=$(azd ": IN_THE_CLOUD,
    "URL=$(azd ": IN_THE_CLOUD,
    "az login": IN_THE_CLOUD,
    "azd env set FACT_EXTRACTION_EVERY_N 20": IN_THE_CLOUD,
    "azd env set DEPLOY_FUNCTION_APP false": IN_THE_CLOUD,
    "az role assignment create": IN_THE_CLOUD,
    "az deployment group create": IN_THE_CLOUD,
    "az cosmosdb restore": IN_THE_CLOUD,
    "az functionapp update-strategy": IN_THE_CLOUD,
    "from agent_memory import AsyncMemory, OpenAIChat": IN_THE_CLOUD,
    "with Memory.cosmos(endpoint": IN_THE_CLOUD,
    "make func": "tests/functions runs the function app on this machine",
    "docker compose up": "needs Docker",
    "make live ": "make live is a suite of its own",
    "agent-memory eval locomo10.json --store": "needs the file of LoCoMo; tests/evaluation runs the command",
    "make check": "this is the test suite",
}
"""How the snippets begin that are not run here, and why."""


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def reason_not_to_run(block: str) -> str | None:
    return next((reason for begin, reason in NOT_RUN.items() if block.startswith(begin)), None)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", page.read_text()), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading) for heading in headings)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain)


@pytest.mark.acceptance
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page) and not {page.parent.name, page.name} & RUN_ELSEWHERE.keys()],
    ids=named,
)
def test_the_code_of_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    todo = [(language, code) for language, code in blocks(page) if not reason_not_to_run(code)]
    if shell := "\n".join(code for language, code in todo if language == "bash"):
        run("bash", shell, tmp_path)
    if program := "\n".join(code for language, code in todo if language == "python"):
        run("python", program, tmp_path)


def test_every_reason_not_to_run_code_is_that_of_a_block() -> None:
    every = [code for page in PAGES for _, code in blocks(page)]
    assert [begin for begin in NOT_RUN if not any(code.startswith(begin) for code in every)] == []


@pytest.mark.parametrize("page", [*PAGES, *ELSEWHERE], ids=named)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(CODE.sub("", page.read_text())):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


@pytest.mark.skipif(shutil.which("git") is None, reason="asks git which files are part of the project")
def test_every_page_of_the_project_is_read_by_these_tests() -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no git repository")
    prompts = {path for path in listed.stdout.split() if path.startswith("prompts/")}
    assert set(listed.stdout.split()) - prompts <= {named(page) for page in [*PAGES, *ELSEWHERE]}
