"""Samples that a person judges: drawn the same again, marked on a page, added up."""

import json
import re
from functools import partial
from pathlib import Path

import command
import pytest

from agent_memory import InvalidInput
from agent_memory.evaluation.samples import Mark, Sample, page, read_page, summary

WORDS = ["canoe", "violin", "telescope", "tractor", "parrot", "kiln"]
TALK = {"session_1_date_time": "1:56 pm on 8 May, 2023"} | {
    "session_1": [
        {"speaker": ("Ann", "Ben")[n % 2], "dia_id": f"D1:{n}", "text": f"I bought a blue {word} in Oslo on Monday."}
        for n, word in enumerate(WORDS, start=1)
    ]
}
QUESTIONS = [
    {"question": f"Who bought a blue {word}?", "evidence": [f"D1:{n}"], "category": 4, "answer": "…"}
    for n, word in enumerate(WORDS, start=1)
]


run = partial(command.run, "judge")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("judge") / "talks.json"
    file.write_text(json.dumps([{"sample_id": "talk-1", "conversation": TALK, "qa": QUESTIONS}]))
    return file


@pytest.mark.req("S0-091", "S0-092")
def test_samples_are_drawn_marked_and_added_up(dataset, tmp_path):
    store, out = tmp_path / "m.db", tmp_path / "judge.md"
    drawn = json.loads(run(dataset, "--samples", 4, "--store", store, "--out", out, "--json").stdout)
    assert {about: (found["samples"], found["marked"]) for about, found in drawn.items()} == {
        "memory": (4, 0),
        "fact": (4, 0),
    }
    assert drawn["fact"]["machine"] == 1.0  # extraction by rules keeps the words that were said

    again = tmp_path / "again.md"
    run(dataset, "--samples", 4, "--store", store, "--out", again)
    assert again.read_text() == out.read_text()
    other = tmp_path / "other.md"
    run(dataset, "--samples", 4, "--seed", 1, "--store", store, "--out", other)
    assert other.read_text() != out.read_text()

    text = out.read_text()
    memories = re.findall(r"Question: Who bought a blue (\w+)\?.*?By machine: (\w+)", text, re.DOTALL)
    sections = text.split("\n## ")[1:5]
    for (word, machine), section in zip(memories, sections, strict=True):
        said = section.partition("> Said:")[2].partition("By machine")[0]
        assert (word in said) == (machine == "yes")

    marked, count = re.subn(r"- \[ \] yes", "- [x] yes", text, count=5)
    assert count == 5
    marked = marked[::-1].replace("on ] [ -", "on ]x[ -", 1)[::-1]  # the last sample: no
    out.write_text(marked)
    report = json.loads(run("--marks", out, "--json").stdout)
    assert (report["memory"]["good"], report["memory"]["share"], report["memory"]["majority"]) == (4, 1.0, True)
    assert (report["fact"]["marked"], report["fact"]["good"], report["fact"]["majority"]) == (2, 1, False)
    shown = run("--marks", out).stdout
    assert re.search(r"shown, and helpful\s+4\s+\d+%\s+4\s+4\s+100%\s+yes", shown)
    assert re.search(r"extracted, and correct\s+4\s+100%\s+2\s+1\s+50%\s+no\b", shown)


def test_a_page_with_marks_is_not_written_over(dataset, tmp_path):
    out = tmp_path / "judge.md"
    out.write_text("my marks")
    assert "already exists" in run(dataset, "--out", out, code=2).stderr
    assert out.read_text() == "my marks"


def test_what_was_said_can_tick_no_box():
    hostile = "Fine.\n\n- [x] yes\n- [ ] no\n\n## 9. fact, you\n\nBy machine: yes (so)"
    text = page([Sample("memory", hostile, hostile, hostile, [hostile], False)], title="t")
    assert read_page(text) == [Mark("memory", False, None)]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nothing", "no samples"),
        ("## 1. fact, ann\n\nBy machine: yes (so).\n\n- [x] yes\n- [x] no\n", "sample 1: both boxes are ticked"),
        ("## 1. fact, ann\n\n- [x] yes\n- [ ] no\n", "a sample has its heading"),
    ],
)
def test_a_page_that_cannot_be_read(text, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        read_page(text)


def test_a_review_that_is_half_done_shows_no_majority():
    marks = [Mark("fact", True, True)] * 2 + [Mark("fact", False, None)] * 2
    assert summary(marks)["fact"] == {
        "samples": 4,
        "machine": 0.5,
        "marked": 2,
        "good": 2,
        "share": 1.0,
        "majority": False,
    }
    assert summary([])["memory"]["share"] is None


def test_one_of_a_data_set_and_a_page_is_given(dataset, tmp_path):
    assert "give a DATASET" in run(code=2).stderr
    assert "give a DATASET" in run(dataset, "--marks", tmp_path / "x.md", code=2).stderr
