"""What a test decides depends neither on chance nor on how busy the machine is."""

import re
from dataclasses import fields
from pathlib import Path

import hypothesis

from agent_memory.settings import RecallSettings

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "sdk/embedded_cosmos/tests", "sdk/functions_host/tests", "tools/infra_check/tests")
TESTS = {path: path.read_text() for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
UNSEEDED = re.compile(r"(?<![\w.])random\.(?:Random\(\)|(?:choices?|rand\w+|sample|shuffle|uniform|getrandbits)\()")
MEANT = "yield context.call_activity(random.choice("
"""An orchestrator that a test finds out."""


def test_generated_examples_are_the_same_each_time_and_may_take_long():
    default = hypothesis.settings.default
    assert default is not None
    assert (default.derandomize, default.deadline, default.database) == (True, None, None)
    for folder in FOLDERS:
        uses = any(
            "from hypothesis import" in text for path, text in TESTS.items() if path.is_relative_to(ROOT / folder)
        )
        assert not uses or 'load_profile("ci")' in TESTS[ROOT / folder / "conftest.py"], folder


def test_what_tests_draw_has_a_seed():
    drawing = {path.name for path, text in TESTS.items() if UNSEEDED.search(text.replace(MEANT, ""))}
    assert drawing == set()


def test_a_context_of_a_test_waits_for_a_busy_machine():
    known = {field.name: field.default for field in fields(RecallSettings)}
    assert known["context_timeout"] == 5.0
    given = RecallSettings()
    assert given.context_timeout == 60.0
    assert (given.read_timeout, given.limit) == (known["read_timeout"], known["limit"])
