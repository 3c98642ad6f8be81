"""BEAM (Tavakoli et al., 2025; github.com/mohammadtavakoli78/BEAM): long conversations with an assistant.

Reads the rows of its data set as JSON: `chat` is a list of sessions, `probing_questions` a dictionary by category,
which the data set writes as a Python literal.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.evaluation.dataset import Conversation, Question
from agent_memory.models import TurnInput

_DATES = ("%B-%d-%Y", "%B %d, %Y", "%Y-%m-%d")
_ROLES = {"user": "user", "assistant": "agent"}
_ANSWERS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
"""The field of the expected answer; each category has its own name for it."""
_SOURCES = ("source_chat_ids", "conversation_references")
_LONGEST = 2_000_000
"""Characters of a literal that is read."""


def is_beam(sample: object) -> bool:
    """Whether this looks like a row of the data set."""
    return isinstance(sample, dict) and "probing_questions" in sample and "chat" in sample


def read_beam(samples: Sequence[Mapping[str, Any]]) -> list[Conversation]:
    """Reads each row as a user, each session as a thread.

    Raises:
        InvalidInput: if a field is missing or cannot be read; the message names the row.
    """
    found = []
    for number, sample in enumerate(samples, 1):
        try:
            found.append(_conversation(sample))
        except (KeyError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise InvalidInput(f"row {number}: no row of BEAM: {error!r:.200}") from error
    return found


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    name = f"beam-{sample['conversation_id']}"
    threads: dict[str, list[TurnInput]] = {}
    ids: dict[int, str] = {}
    began = datetime(2024, 1, 1, tzinfo=UTC)
    for number, session in enumerate(sample["chat"], 1):
        began = next((date for turn in session if (date := _date(turn.get("time_anchor")))), began + timedelta(days=1))
        turns = []
        for position, turn in enumerate(session):
            turn_id = f"{name}:{number}:{position}"
            if isinstance(turn.get("id"), int):
                ids[turn["id"]] = turn_id
            if turn["content"].strip():
                role = _ROLES[turn["role"]]
                at = began + timedelta(seconds=position)
                turns.append(TurnInput(id=turn_id, role=role, content=turn["content"], created_at=at))  # type: ignore[arg-type]
        threads[f"session_{number}"] = turns
    asked = sample["probing_questions"]
    if isinstance(asked, str):
        if len(asked) > _LONGEST:
            raise ValueError(f"its questions have more than {_LONGEST} characters")
        asked = ast.literal_eval(asked)
    questions = [_question(category, row, ids) for category, rows in asked.items() for row in rows]
    return Conversation(name, threads, questions)


def _question(category: str, row: Mapping[str, Any], ids: Mapping[int, str]) -> Question:
    answer = next((str(row[name]) for name in _ANSWERS if row.get(name)), "")
    rubric = tuple(str(point) for point in row.get("rubric") or ())
    named = {number for name in _SOURCES for number in _numbers(row.get(name))}
    evidence = frozenset(ids[number] for number in named if number in ids)
    return Question(str(row["question"]), category, evidence, answer=answer or "\n".join(rubric), rubric=rubric)


def _numbers(given: object) -> Iterator[int]:
    """All numbers in a list or a dictionary of lists, however deep."""
    if isinstance(given, int):
        yield given
    elif isinstance(given, Mapping):
        for part in given.values():
            yield from _numbers(part)
    elif isinstance(given, list):
        for part in given:
            yield from _numbers(part)


def _date(text: object) -> datetime | None:
    for form in _DATES if isinstance(text, str) else ():
        try:
            return datetime.strptime(str(text).strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
