"""Run Microsoft's own azure-cosmos tests against the embedded engine's server, and compare with what is expected.

`make conformance`, with ARGS="[--jobs 3] [file …]" if need be. The tests come with the source distribution
of azure-cosmos on the package index, in the version that uv.lock names; they are kept in .cache/conformance and run
in an environment of their own there. What is expected to fail, and what is out of scope, stands with its reason in
expected_failures.txt; anything else that fails, and anything there that passes, is an error.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = ROOT / ".cache" / "conformance"
SUPPORT = HERE / "support"
EXPECTATIONS = HERE / "expected_failures.txt"
JS_TEST = HERE / "js"

EMULATOR_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
TEST_TOOLS = ("pytest==9.1.1", "pytest-asyncio==1.4.0", "pytest-timeout==2.4.0", "aiohttp", "requests", "urllib3")
SECONDS_PER_TEST = 180
SECONDS_PER_FILE = 900
OUT_OF_SCOPE = "out of scope: "
# Some tests set a timeout of next to nothing, and rely on a service that is not on the same machine.
FAR_AWAY = {"rules": [{"fault": "delay", "delay_ms": 10}]}
FILES_WITH_TIMEOUTS = ("test_crud.py", "test_crud_async.py", "test_crud_response_payload_on_write_disabled_async.py")

# Each with its twin for the async client, where there is one. The rest of Microsoft's files need no server, or are
# about several regions, failover, circuit breakers, splits, Entra ID, or services beside the database.
FILES = (
    "aggregate",
    "auto_scale",
    "change_feed",
    "changefeed_partition_key_variation",
    "computed_properties",
    "cosmos_responses",
    "crud",
    "crud_container",
    "crud_database",
    "crud_response_payload_on_write_disabled",
    "crud_subpartition",
    "encoding",
    "feed_range",
    "full_text_policy",
    "headers",
    "latest_session_token",
    "multi_orderby",
    "none_options",
    "orderby",
    "partition_key",
    "query",
    "query_cross_partition",
    "query_feed_range",
    "query_feed_range_multipartition",
    "query_hybrid_search",
    "query_response_headers",
    "query_vector_similarity",
    "read_items",
    "resource_id",
    "session",
    "transactional_batch",
    "ttl",
    "vector_policy",
)


@dataclass
class Report:
    """What came of the tests of one file."""

    file: str
    outcomes: dict[str, str] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def count(self, outcome: str) -> int:
        return list(self.outcomes.values()).count(outcome)


def main() -> int:
    options = _options()
    expectations = read_expectations(EXPECTATIONS)
    version, digest = locked_source()
    tests = unpacked_tests(version, digest)
    python = environment(version)
    files = [name for name in test_files(tests) if not options.files or name in options.files]
    folder = CACHE / "outcomes"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    started = time.monotonic()
    near, far = server(folder / "server.log"), server(folder / "server-far.log", FAR_AWAY)
    with near as url, far as far_url, ThreadPoolExecutor(options.jobs) as pool:
        urls = {name: far_url if name in FILES_WITH_TIMEOUTS else url for name in files}
        jobs = [pool.submit(run_file, python, tests, name, urls[name], expectations, folder) for name in files]
        reports = []
        for job in jobs:
            reports.append(job.result())
            print(_line(reports[-1]), flush=True)
    surprises = compare(reports, expectations)
    print_summary(version, reports, surprises, time.monotonic() - started)
    if options.list:
        print_unlisted(reports, expectations)
    js_failed = not options.files and not run_js(folder)
    return 1 if surprises or js_failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", help="only these, such as test_crud.py")
    parser.add_argument("--jobs", type=int, default=3, help="how many files are run at a time")
    parser.add_argument("--list", action="store_true", help="print the unexpected failures with their last lines")
    return parser.parse_args()


def read_expectations(path: Path) -> dict[str, str]:
    """Test id to reason, from lines of `id | reason`."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    expectations = {}
    for line in lines:
        test, bar, reason = line.partition(" | ")
        if not bar or not reason.strip() or test in expectations:
            raise SystemExit(f"{path}: not of the form 'test id | reason', or there twice: {line}")
        expectations[test] = reason.strip()
    return expectations


def locked_source() -> tuple[str, str]:
    """The locked version of azure-cosmos and the SHA-256 of its source distribution."""
    packages = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    package = next(package for package in packages if package["name"] == "azure-cosmos")
    return package["version"], package["sdist"]["hash"].removeprefix("sha256:")


def unpacked_tests(version: str, digest: str) -> Path:
    """The folder of Microsoft's tests, fetched from the package index if it is not there yet."""
    folder = CACHE / f"azure_cosmos-{version}"
    if not (folder / "tests").is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        download = ["python", "-m", "pip", "download", "--quiet", "--no-binary", ":all:", "--no-deps"]
        _uv("run", "--no-project", "--with", "pip", *download, "--dest", str(CACHE), f"azure-cosmos=={version}")
        archive = CACHE / f"azure_cosmos-{version}.tar.gz"
        if hashlib.sha256(archive.read_bytes()).hexdigest() != digest:
            raise SystemExit(f"{archive} is not the file that uv.lock names.")
        with tarfile.open(archive) as file:
            file.extractall(CACHE, filter="data")
    return folder / "tests"


def environment(version: str) -> Path:
    """The Python of an environment with azure-cosmos and what its tests need."""
    requirements = [f"azure-cosmos=={version}", *TEST_TOOLS]
    folder, stamp = CACHE / "venv", CACHE / "venv" / "requirements.json"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not stamp.exists() or json.loads(stamp.read_text()) != requirements:
        _uv("venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
        _uv("pip", "install", "--quiet", "--python", str(python), *requirements)
        stamp.write_text(json.dumps(requirements))
    return python


def test_files(tests: Path) -> list[str]:
    names = [f"test_{name}{twin}.py" for name in FILES for twin in ("", "_async")]
    return [name for name in names if (tests / name).exists()]


@contextmanager
def server(log: Path, faults: Mapping[str, object] | None = None) -> Iterator[str]:
    """The engine behind a socket, in RAM, as a process of its own; its URL.

    It divides containers by their throughput, as the service does, and those without any not at all.
    """
    command = [sys.executable, "-m", "embedded_cosmos", "--port", "0", "--tls", "--key", EMULATOR_KEY, "--log"]
    command += ["--strict", "--partitions", "1"]
    if faults is not None:
        plan = log.with_suffix(".faults.json")
        plan.write_text(json.dumps(faults))
        command += ["--faults", str(plan)]
    with log.open("w") as file, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True) as process:
        assert process.stdout is not None
        ready, _, url = process.stdout.readline().strip().partition(" ")
        if ready != "ready":
            raise SystemExit(f"The server did not start; see {log}.")
        try:
            # By name, as the clients leave out the check of certificates for that one.
            yield url.replace("127.0.0.1", "localhost")
        finally:
            process.terminate()


def run_file(python: Path, tests: Path, name: str, url: str, expectations: Mapping[str, str], folder: Path) -> Report:
    """Run one file of tests; a test that never ended has failed."""
    outcomes = folder / f"{name}.jsonl"
    outcomes.touch()
    left_out = [test for test, reason in expectations.items() if reason.startswith(OUT_OF_SCOPE)]
    variables = os.environ | {
        "ACCOUNT_HOST": url,
        "ACCOUNT_KEY": EMULATOR_KEY,
        "CONFORMANCE_OUTCOMES": str(outcomes),
        "CONFORMANCE_LEFT_OUT": json.dumps(left_out),
        "PYTHONPATH": os.pathsep.join([str(SUPPORT), str(tests)]),
    }
    plugins = ["-p", "conformance_plugin", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
    limits = [f"--timeout={SECONDS_PER_TEST}", "--timeout-method=signal"]
    command = [str(python), "-W", "ignore", "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={tests}"]
    started = time.monotonic()
    with (folder / f"{name}.log").open("w") as log:
        try:
            subprocess.run(
                [*command, *plugins, *limits, "-W", "ignore", str(tests / name)],
                cwd=tests,
                env=variables,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=SECONDS_PER_FILE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"{name} took more than {SECONDS_PER_FILE} s and was ended.")
    report = Report(name, seconds=time.monotonic() - started)
    for line in outcomes.read_text().splitlines():
        entry = json.loads(line)
        # A failed tear-down comes after a passed call.
        report.outcomes[entry["test"]] = entry["outcome"]
        report.details[entry["test"]] = entry["details"]
    return report


def compare(reports: Sequence[Report], expectations: Mapping[str, str]) -> list[str]:
    """What is not as expected."""
    surprises = [f"{report.file}: no test was run" for report in reports if not report.outcomes]
    for report in reports:
        for test, outcome in report.outcomes.items():
            if outcome == "failed" and test not in expectations:
                surprises.append(f"unexpected failure: {test}")
            if outcome == "passed" and test in expectations:
                surprises.append(f"unexpected pass: {test} ({expectations[test]})")
        known = {test for test in expectations if test.startswith(f"{report.file}::")}
        surprises += [f"expected, but not there: {test}" for test in sorted(known - report.outcomes.keys())]
    return surprises


def print_summary(version: str, reports: Sequence[Report], surprises: Sequence[str], seconds: float) -> None:
    totals = Counter(outcome for report in reports for outcome in report.outcomes.values())
    run = totals["passed"] + totals["failed"]
    print(
        f"\nazure-cosmos {version}: {totals['passed']} of {run} tests passed ({totals['passed'] / max(run, 1):.1%}),"
        f" {totals['failed']} failed, {totals['skipped']} were skipped by their own conditions,"
        f" {totals['left out']} are out of scope; {seconds:.0f} s"
    )
    for surprise in surprises:
        print(surprise)
    if not surprises:
        print("All as expected.")


def print_unlisted(reports: Sequence[Report], expectations: Mapping[str, str]) -> None:
    for report in reports:
        for test, outcome in report.outcomes.items():
            if outcome == "failed" and test not in expectations:
                last = [line for line in report.details[test].splitlines() if line.startswith("E ")][-3:]
                print(f"{test} | ", *last, sep="\n    ")


def run_js(folder: Path) -> bool:
    """The same through Microsoft's JavaScript client, if npm is there; whether it went well."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        print("JavaScript: skipped, as npm or node is not installed.")
        return True
    home = CACHE / "js"
    shutil.copytree(JS_TEST, home, dirs_exist_ok=True)
    subprocess.run([npm, "ci", "--silent", "--no-audit", "--no-fund"], cwd=home, check=True)
    with server(folder / "server-js.log") as url:
        variables = os.environ | {"COSMOS_ENDPOINT": url, "COSMOS_KEY": EMULATOR_KEY}
        done = subprocess.run([node, "smoke.mjs"], cwd=home, env=variables, timeout=120, check=False)
    print(f"JavaScript: {'passed' if done.returncode == 0 else 'FAILED'}.")
    return done.returncode == 0


def _line(report: Report) -> str:
    counts = "  ".join(
        f"{report.count(outcome):3d} {outcome}" for outcome in ("passed", "failed", "skipped", "left out")
    )
    return f"{report.file:55} {counts}  {report.seconds:5.0f} s"


def _uv(*arguments: str) -> None:
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        raise SystemExit("uv is not installed; `make conformance` sees to that.")
    subprocess.run([uv, *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
