"""The questions of LoCoMo (Maharana et al., ACL 2024), whose evidence is given as turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_memory.evaluation.dataset import ADVERSARIAL, UNANSWERABLE, Question
from agent_memory.text.patterns import linear
from agent_memory.transfer.readers.locomo import SESSION, turn_id

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: ADVERSARIAL}

_EVIDENCE = linear(r"D:?(\d+):(\d+)")  # some samples write several in one text, or D:11:26


def read_questions(sample: Mapping[str, Any]) -> tuple[list[Question], int]:
    """The questions of a sample with evidence among its turns or with no answer, and how many others there are.

    Only the conversations and the questions are read, never the facts, events and summaries of the data set.
    """
    talk = sample["conversation"]
    there = {str(turn["dia_id"]) for name in talk if SESSION.fullmatch(name) for turn in talk[name]}
    asked = sample.get("qa") or []
    questions = []

    def turns(row: Mapping[str, Any], field: str) -> frozenset[str]:
        named = {f"D{session}:{turn}" for session, turn in _EVIDENCE.findall(" ".join(row.get(field) or []))}
        return frozenset(turn_id(sample["sample_id"], turn) for turn in named & there)

    for row in asked:
        evidence = turns(row, "evidence")
        category = CATEGORIES.get(row.get("category"), str(row.get("category")))
        if evidence or category in UNANSWERABLE:
            stale, current = turns(row, "stale_evidence"), turns(row, "current_evidence")
            expected = row.get("answer", row.get("adversarial_answer"))
            answer = "" if expected is None else str(expected)
            questions.append(Question(str(row["question"]), category, evidence, stale, current, answer))
    return questions, len(asked) - len(questions)
