"""The labels of what is worth extracting, and how an extractor's memories are judged by them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_memory.cli.main import app
from agent_memory.errors import InvalidInput
from agent_memory.evaluation.extraction import Labelled, judge, read_labels, score
from agent_memory.language.offline import extract as offline
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, ExtractOutput

DEV = Path(__file__).parents[1] / "data/labelled/dev-sentences.jsonl"
ROW = {
    "id": "x", "lang": "en", "domain": "travel", "said_at": "2026-03-11T10:00:00Z", "before": None,
    "text": "We fly to Rome on Friday, my sister hates it.",
    "keep": [
        {"kind": "event", "about": "user", "words": [["rome"], ["fly", "flying"]],
         "dates": {"from": "2026-03-13", "to": None}},
        {"kind": "requirement", "about": "user", "words": [["rest"]], "dates": {"from": None, "to": "2026-05-01"}},
    ],
    "not": [
        {"words": [["lives"], ["rome"]], "why": "a journey"},
        {"words": [["hates"]], "why": "the sister's", "about": "user"},
    ],
}  # fmt: skip


def memory(content: str, start: str | None = None, end: str | None = None) -> ExtractedMemory:
    first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None for day in (start, end))
    return ExtractedMemory(content=content, quote=content, turns=["t2"], valid_from=first, valid_to=last)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (memory("We fly to Rome on Friday.", "2026-03-13"), "good"),
        (memory("We are flying to Rome on 13 March."), "good"),
        (memory("We fly to Rome on Friday."), "weak"),
        (memory("We fly to Rome on Friday.", "2026-03-06"), "bad"),
        (memory("Rest until May.", end="2026-05-02"), "good"),
        (memory("Rest until May.", end="2027-05-01"), "bad"),
        (memory("The user lives in Rome."), "bad"),
        (memory("Lives in Rome?"), "weak"),
        (memory("My sister hates it."), "weak"),
        (memory("I hate it, one hates it."), "bad"),
        (memory("Nice weather."), "weak"),
    ],
)
def test_a_memory_is_good_weak_or_bad_by_words_and_dates(given: ExtractedMemory, verdict: str) -> None:
    assert judge(given, Labelled.model_validate(ROW)) == verdict


async def test_the_figures_are_shares_of_memories_and_of_labels() -> None:
    async def extract(data: ExtractInput) -> ExtractOutput:
        assert [view.role for view in data.turns] == ["user"]
        return ExtractOutput(memories=[memory("We fly to Rome on Friday", "2026-03-13"), memory("One lives in Rome")])

    report, judged = await score([Labelled.model_validate(ROW)], extract)
    assert (report["memories"], report["good"], report["bad"], report["recall"]) == (2, 0.5, 0.5, 0.5)
    assert judged[0]["missed"] == [[["rest"]]]
    assert report["domain"]["travel"] == report["lang"]["en"]


def test_the_command_measures_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    row = {**ROW, "text": "I am allergic to nuts.", "not": []}
    row["keep"] = [{"kind": "fact", "about": "user", "words": [["nuts"]], "dates": None}]
    file.write_text(json.dumps(row) + "\n")
    result = CliRunner().invoke(app, ["eval", "--extraction", str(file), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["good"] == json.loads(result.stdout)["recall"] == 1.0


def test_what_is_no_label_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"id": "x"}\n')
    with pytest.raises(InvalidInput, match="line 1"):
        read_labels(file)


def test_labels_of_the_development_set_name_words_of_their_messages() -> None:
    rows = read_labels(DEV)
    assert len({row.id for row in rows}) == len(rows) >= 120
    for row in rows:
        said = f"{row.text} {row.before or ''}".lower()
        for keep in row.keep:
            assert all(any(way.lower() in said for way in group) for group in keep.words), row.id


@pytest.mark.parametrize(("part", "recall"), [("dev", 0.75), ("heldout", 0.5)])
async def test_the_rules_keep_what_is_told_in_other_languages_and_nothing_wrong(part: str, recall: float) -> None:
    async def extract(data: ExtractInput) -> ExtractOutput:
        return offline.extract(data)

    report, _ = await score(read_labels(DEV.parent / f"{part}-foreign-sentences.jsonl"), extract)
    assert report["recall"] >= recall
    assert (report["good"], report["bad"], report["wrong_dates"] or 0) == (1, 0, 0)
    assert all(of_one["recall"] > 0.25 for of_one in report["lang"].values())
