"""The labelled sets are what their page says: every label points to something that is there."""

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

LABELLED = Path(__file__).parents[1] / "data" / "labelled"
SENTENCES = sorted(LABELLED.glob("*sentences.jsonl"))
CONVERSATIONS = sorted(LABELLED.glob("*conversations.json"))


def messages(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_there_are_as_many_as_the_page_says():
    assert sum(len(messages(path)) for path in SENTENCES) >= 400
    assert sum(len(json.loads(path.read_text("utf-8"))) for path in CONVERSATIONS) == 40


@pytest.mark.parametrize("path", SENTENCES, ids=lambda path: path.stem)
def test_every_label_of_a_message_can_be_met(path: Path):
    rows = messages(path)
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        datetime.fromisoformat(row["said_at"])
        said = f"{row['text']} {row['before'] or ''}".casefold()
        for label in row["keep"]:
            for alternatives in label["words"]:
                assert any(word.casefold() in said for word in alternatives), (row["id"], alternatives)
            for day in (label.get("dates") or {}).values():
                assert day is None or date.fromisoformat(day)


@pytest.mark.parametrize("path", CONVERSATIONS, ids=lambda path: path.stem)
def test_every_label_of_a_conversation_names_turns_that_are_there(path: Path):
    for sample in json.loads(path.read_text("utf-8")):
        talk = sample["conversation"]
        turns = [turn for name, session in talk.items() if isinstance(session, list) for turn in session]
        texts = {turn["dia_id"]: turn["text"] for turn in turns}
        assert len(texts) == len(turns), sample["sample_id"]
        named = [change[side] for change in sample["changes"] for side in ("old", "new")]
        named += [pair[side] for pair in sample["no_change"] for side in ("a", "b")]
        for question in sample["qa"]:
            stale, current = question.get("stale_evidence", []), question.get("current_evidence", [])
            assert not set(stale) & set(current), question
            assert bool(question["evidence"]) == (question["category"] != "unanswerable"), question
            named += [*question["evidence"], *stale, *current]
        assert set(named) <= texts.keys(), sample["sample_id"]
        updates = {tuple(q["current_evidence"]) for q in sample["qa"] if q["category"] == "update"}
        # A value that changed again is asked for by its last form.
        asked = {turn for current in updates for turn in current} | {change["old"] for change in sample["changes"]}
        assert all(change["new"] in asked for change in sample["changes"]), sample["sample_id"]
