"""Reading a data set, in whichever of the known formats it is."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.evaluation.beam import is_beam, read_beam
from agent_memory.evaluation.dataset import UNANSWERABLE, Conversation
from agent_memory.evaluation.locomo import read_questions
from agent_memory.evaluation.longmemeval import is_longmemeval, read_longmemeval
from agent_memory.models import TurnInput
from agent_memory.transfer.readers.locomo import is_locomo, read_locomo
from agent_memory.transfer.readers.utterances import FilePlace

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
