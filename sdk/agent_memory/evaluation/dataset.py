"""The data of an evaluation: conversations, and questions whose answers are in known turns.

It comes from these data sets:

- LoCoMo (Maharana et al., ACL 2024), whose evidence is given as turns.
- LongMemEval (Wu et al., ICLR 2025; github.com/xiaowu0162/LongMemEval): each question has its own history.
- BEAM (Tavakoli et al., 2025; github.com/mohammadtavakoli78/BEAM): long conversations with an assistant. `chat` is a
  list of sessions, `probing_questions` a dictionary by category, which the data set writes as a Python literal.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import TurnInput
from agent_memory.text.patterns import linear
from agent_memory.transfer.readers.locomo import SESSION, is_locomo, read_locomo, turn_id
from agent_memory.transfer.readers.utterances import FilePlace

ADVERSARIAL = "adversarial"
"""The category of questions that the conversation does not answer; it does not count in an overall figure."""


UNANSWERABLE = frozenset(("abstention", "unanswerable"))
"""Categories of questions without any evidence: a context should show little."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the ids of the turns that answer it: none if nothing does.

    If the answer changed, `stale` are the turns with an older one, and `current` those with the current one. `answer`
    is the correct answer in the data set, `rubric` its points if it lists them, `asked_on` the day of the question.
    """

    text: str
    category: str
    evidence: frozenset[str]
    stale: frozenset[str] = frozenset()
    current: frozenset[str] = frozenset()
    answer: str = ""
    rubric: tuple[str, ...] = ()
    asked_on: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything that one user said, by thread, and the questions about it. Every turn has an id and a time."""

    name: str
    threads: Mapping[str, Sequence[TurnInput]]
    questions: Sequence[Question]

    @property
    def turns(self) -> int:
        """How many turns it has."""
        return sum(len(turns) for turns in self.threads.values())


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


ABSTENTION = "abstention"
_ABSTAINING = "_abs"
"""The end of the id of a question that the history does not answer."""
_DATE = "%Y/%m/%d (%a) %H:%M"
_ROLES = {"user": "user", "assistant": "agent"}
"""Our roles for those of LongMemEval and of BEAM."""


def is_longmemeval(sample: object) -> bool:
    """Whether this looks like a question of the data set."""
    return isinstance(sample, dict) and "haystack_sessions" in sample and "question" in sample


def read_longmemeval(samples: Sequence[Mapping[str, Any]]) -> list[Conversation]:
    """Reads each question as a user with the sessions of its history as threads.

    Raises:
        InvalidInput: if a field is missing or cannot be read; the message names the question.
    """
    found = []
    for number, sample in enumerate(samples, 1):
        try:
            found.append(_conversation(sample))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"question {number}: not a sample of LongMemEval: {error!r:.200}") from error
    return found


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    name = str(sample["question_id"])
    threads: dict[str, list[TurnInput]] = {}
    evidence = set()
    sessions = zip(sample["haystack_session_ids"], sample["haystack_dates"], sample["haystack_sessions"], strict=True)
    for session, (session_id, date, turns) in enumerate(sessions):
        began = datetime.strptime(date, _DATE).replace(tzinfo=UTC)
        thread = threads.setdefault(f"{session}-{session_id}", [])
        for position, turn in enumerate(turns):
            if not turn["content"].strip():
                continue
            turn_id = f"{name}:{session}:{position}"
            thread.append(
                TurnInput(
                    id=turn_id,
                    role=_ROLES[turn["role"]],  # type: ignore[arg-type]
                    content=turn["content"],
                    created_at=began + timedelta(seconds=position),
                )
            )
            if turn.get("has_answer"):
                evidence.add(turn_id)
    kind = ABSTENTION if name.endswith(_ABSTAINING) else str(sample["question_type"])
    found = frozenset[str]() if kind == ABSTENTION else frozenset(evidence)
    asked_on = str(sample["question_date"]) if sample.get("question_date") else None
    question = Question(str(sample["question"]), kind, found, answer=str(sample["answer"]), asked_on=asked_on)
    return Conversation(name, {key: turns for key, turns in threads.items() if turns}, [question])


_DATES = ("%B-%d-%Y", "%B %d, %Y", "%Y-%m-%d")
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
            found.append(_beam_conversation(sample))
        except (KeyError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise InvalidInput(f"row {number}: not a row of BEAM: {error!r:.200}") from error
    return found


def _beam_conversation(sample: Mapping[str, Any]) -> Conversation:
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


WHERE = "LoCoMo is at github.com/snap-research/locomo: data/locomo10.json (CC BY-NC 4.0)"


def read_dataset(path: Path) -> tuple[list[Conversation], int]:
    """The conversations of a file with their questions, and how many questions have no evidence in it.

    Reads LoCoMo, LongMemEval and rows of BEAM, as JSON.

    Raises:
        InvalidInput: if the file cannot be read or is not such a data set.
    """
    try:
        samples = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}. {WHERE}") from error
    except ValueError as error:
        raise InvalidInput(f"{path}: not JSON: {error}") from error
    rows = samples if isinstance(samples, list) else [samples]
    if rows and all(map(is_longmemeval, rows)):
        conversations, skipped = _with_evidence(read_longmemeval(rows))
    elif rows and all(map(is_beam, rows)):
        conversations, skipped = _with_evidence(read_beam(rows))
    elif rows and all(map(is_locomo, rows)):
        conversations, skipped = _locomo(path, rows)
    else:
        raise InvalidInput(
            f'{path}: not a LoCoMo file: each sample needs a "conversation" with sessions (or, for LongMemEval,'
            ' "haystack_sessions"; for BEAM, "chat" and "probing_questions")'
        )
    if not any(conversation.questions for conversation in conversations):
        raise InvalidInput(f'{path}: there is no question with evidence in it (a list "qa" with "evidence")')
    return conversations, skipped


def _locomo(path: Path, rows: Sequence[Mapping[str, Any]]) -> tuple[list[Conversation], int]:
    conversations, skipped = [], 0
    for number, sample in enumerate(rows, 1):
        threads: dict[str, list[TurnInput]] = defaultdict(list)
        for utterance in read_locomo([(FilePlace(str(path), item=f"sample {number}"), sample)]):
            threads[utterance.thread_id].append(utterance.turn)
        questions, left = read_questions(sample)
        skipped += left
        conversations.append(Conversation(str(sample["sample_id"]), threads, questions))
    return conversations, skipped


def _with_evidence(conversations: Sequence[Conversation]) -> tuple[list[Conversation], int]:
    """These conversations without the questions whose evidence is unknown, and how many those are."""
    kept = [
        Conversation(one.name, one.threads, [q for q in one.questions if q.evidence or q.category in UNANSWERABLE])
        for one in conversations
    ]
    return kept, sum(len(one.questions) for one in conversations) - sum(len(one.questions) for one in kept)
