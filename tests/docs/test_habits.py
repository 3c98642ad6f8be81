"""Workflows, templates and container files: they are well-formed, and name only what is there."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": [ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml" for name in ("bug", "idea")],
    "github-issue-config": [ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"],
    "dependabot": [ROOT / ".github" / "dependabot.yml"],
}
UV = shutil.which("uv") or shutil.which(str(ROOT / ".tools" / "bin" / "uv"))


def jobs(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text())["jobs"]


def commands() -> list[tuple[str, str]]:
    return [
        (path.name, step["run"])
        for path in WORKFLOWS
        for job in jobs(path).values()
        for step in job["steps"]
        if "run" in step
    ]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_of_the_host_have_its_form(schema: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *SCHEMAS[schema]]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_schema_would_see_a_fault(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[0].read_text().replace("runs-on:", "runs-in:"))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(broken)]
    assert subprocess.run(command, capture_output=True, timeout=120).returncode != 0


def test_workflows_run_nothing_but_what_runs_here() -> None:
    assert len(commands()) >= 5
    for name, command in commands():
        first, *rest = shlex.split(command)
        assert first in ("make", ".ci/run"), f"{name}: {command}"
        if first == "make":
            assert rest[0] in TARGETS, f"{name}: {command}"


def test_what_a_workflow_tests_is_there() -> None:
    for _, command in commands():
        for path in re.findall(r"tests/\S+?(?=[\s\"])", command):
            assert (ROOT / path).exists(), path


def test_ci_runs_make_targets() -> None:
    lines = re.findall(r"^make (.+)", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    targets = {word for line in lines for word in line.split() if not word.startswith("-")}
    assert {"check", "test", "acceptance", "docs"} <= targets <= TARGETS


def recipe(target: str) -> list[str]:
    """What a target runs after its environment is there, as words."""
    command = ["make", "--no-print-directory", "--dry-run", target]  # make may also run these tests
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return shlex.split(printed.splitlines()[-1])


def test_each_test_is_run_by_one_of_two_targets() -> None:
    """Those with the marker by `acceptance`, which names their files, and all others by `test`, which names none."""
    marker = ".".join(("pytest", "mark", "acceptance"))
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    marked = {
        str(path.relative_to(ROOT))
        for folder in configured["testpaths"]
        for path in (ROOT / folder).rglob("*.py")
        if marker in path.read_text()
    }
    *_, expression, selected = recipe("test")
    assert (expression, selected) == ("-m", "not acceptance")
    words = recipe("acceptance")
    at = words.index("-m")
    assert words[at + 1] == "acceptance"
    assert sorted(words[at + 2 :]) == sorted(marked)
    assert len(marked) > 10


def test_the_matrix_is_what_the_package_claims() -> None:
    claimed = re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    matrix = jobs(ROOT / ".github" / "workflows" / "ci.yml")["library"]["strategy"]["matrix"]
    assert matrix["python"] == claimed
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}


def test_only_the_job_that_publishes_may_ask_for_an_identity() -> None:
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
        for name, job in jobs(path).items():
            assert ("id-token" in job.get("permissions", {})) == (name == "publish")
            assert "secrets." not in path.read_text()


def test_hooks_of_a_commit_run_what_make_installs() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    for hook in config["repos"][0]["hooks"]:
        first, second, *_ = shlex.split(hook["entry"])
        if first == "make":
            assert second in TARGETS
        elif first.endswith("python"):
            assert (ROOT / second).exists()
        else:
            assert shutil.which(Path(first).name, path=str(Path(sys.executable).parent)), first


def test_the_development_container_uses_a_make_target() -> None:
    config = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    make, target = config["postCreateCommand"].split()
    assert make == "make"
    assert f"\n{target}:" in (ROOT / "Makefile").read_text()


def test_the_image_starts_with_options_that_serve_has() -> None:
    [command] = re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    options = [part for part in json.loads(command) if part.startswith("--")]
    described = subprocess.run(
        [sys.executable, "-m", "agent_memory.cli", "serve", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert options
    for option in options:
        assert f"{option} " in described
    extras = re.search(r"durable-agent-memory\[([a-z,]+)\]", (ROOT / "Dockerfile").read_text())
    assert extras is not None
    for extra in extras[1].split(","):
        assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text()


@pytest.mark.acceptance
def test_what_the_image_copies_is_enough_for_its_wheels(tmp_path: Path) -> None:
    if UV is None:
        pytest.skip("uv, which builds the wheels, is not here")
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for source in " ".join(copied).split():
        assert source.split("/")[0] in kept
        target = tmp_path / source
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, target)
    for project in (tmp_path, tmp_path / "sdk" / "embedded_cosmos"):
        done = subprocess.run(
            [UV, "build", "--quiet", "--wheel", "--out-dir", tmp_path / "out", project],
            capture_output=True,
            text=True,
            timeout=300,
        )
        if any(sign in done.stderr for sign in ("Failed to fetch", "Name or service not known")):
            pytest.skip("the package index cannot be reached")
        assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").glob("*.whl"))) == 2


def test_a_release_needs_the_version_of_both_packages_and_their_changelogs() -> None:
    [version] = re.findall(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    command = [sys.executable, str(ROOT / "tools" / "release_check.py")]
    assert subprocess.run([*command, f"v{version}"], capture_output=True).returncode == 0
    for wrong in (version, f"v{version}.1", ""):
        done = subprocess.run([*command, wrong], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr


def test_the_target_of_the_site_counts_warnings() -> None:
    """A quiet build hides warnings from `--strict`."""
    [command] = re.findall(r"mkdocs build .*", (ROOT / "Makefile").read_text())
    assert "--strict" in command
    assert "--quiet" not in command
