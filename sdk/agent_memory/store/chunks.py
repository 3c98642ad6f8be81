"""Chunks: turns of the raw conversation as memories that can be searched (decision C29)."""

from __future__ import annotations

from datetime import datetime

from agent_memory.models import Memory, Turn, content_hash, day, now
from agent_memory.store.ids import derived_id
from agent_memory.text.terms import QUESTION_MARKS

SHORTEST = 8
"""Characters below which a turn ("ok", "thanks!") has nothing to be found by."""


def chunk_id(user_id: str, thread_id: str, turn_id: str, number: int = 0) -> str:
    """The id of the chunk of a turn, or of the next parts of a long one."""
    return derived_id("chunk", user_id, thread_id, turn_id, *([str(number)] if number else []))


def chunk_text(turn: Turn, part: str | None = None) -> str:
    """What is searched of a turn, or of a part of it: when, who, what."""
    speaker = turn.name or turn.role
    return f"[{day(turn.created_at)}] {speaker}: {turn.content.strip() if part is None else part}"


def undated(text: str) -> str:
    """Who and what, of the text of a chunk."""
    return text.split("] ", 1)[-1]


def said(chunk: Memory) -> str:
    """What was said, of a chunk: without when and who."""
    return undated(chunk.content).split(": ", 1)[-1].strip()


def is_question(memory: Memory, text: str, since: datetime) -> bool:
    """Whether a memory is only this question, put by the user: just now (`since`), or earlier with a question mark.

    Applications write a message and ask with it. What was said earlier in the same words, and does not ask, tells.
    """
    if memory.kind != "chunk" or memory.source != "user":
        return False
    asked = text.strip()
    is_same = said(memory).casefold() == asked.casefold()
    return is_same and (asked.endswith(QUESTION_MARKS) or memory.recorded_at >= since)


def chunk_of(
    turn: Turn, text: str, embedding_model: str | None, *, position: int | None = None, number: int = 0
) -> Memory:
    """The chunk with this text of a turn, which stands at a position of its thread if that is known."""
    place = {} if position is None else {"position": position}
    return Memory(
        id=chunk_id(turn.user_id, turn.thread_id, turn.id, number),
        user_id=turn.user_id,
        thread_id=turn.thread_id,
        type="episodic",
        kind="chunk",
        content=text,
        confidence=1.0,
        importance=0.3,
        source="agent" if turn.role == "agent" else "user",
        source_turn_ids=[turn.id],
        metadata=place | ({"speaker": undated(text).split(": ", 1)[0]} if turn.name else {}),
        agent_id=turn.agent_id,
        project_id=turn.project_id,
        run_id=turn.run_id,
        created_at=turn.created_at,
        valid_from=turn.created_at,
        recorded_at=now(),
        content_hash=content_hash(text),
        embedding_model=embedding_model,
    )
