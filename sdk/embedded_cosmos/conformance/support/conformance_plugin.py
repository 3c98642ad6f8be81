"""A pytest plugin that leaves out what is out of scope and writes down every outcome as it comes.

It runs in the environment of Microsoft's tests, not in ours.
"""

import json
import os

import pytest

OUTCOMES = os.environ["CONFORMANCE_OUTCOMES"]
LEFT_OUT = frozenset(json.loads(os.environ["CONFORMANCE_LEFT_OUT"]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.nodeid in LEFT_OUT]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item.nodeid not in LEFT_OUT]
    for item in left_out:
        _write(item.nodeid, "left out", "")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _write(report.nodeid, "failed", str(report.longrepr))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    # A test passes in its call; it may fail in its set-up or tear-down too.
    if report.failed or report.skipped or report.when == "call":
        _write(report.nodeid, report.outcome, str(report.longrepr or ""))


def _write(test: str, outcome: str, details: str) -> None:
    with open(OUTCOMES, "a") as file:
        file.write(json.dumps({"test": test, "outcome": outcome, "details": details}) + "\n")
