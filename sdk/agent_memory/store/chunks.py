"""Chunks: turns of the raw conversation as memories that can be searched (docs/decisions/0021)."""

from __future__ import annotations

from typing import Any

from agent_memory.models import Memory, Turn, content_hash, day, now
from agent_memory.store.ids import derived_id
from agent_memory.text.folding import folded

SHORTEST = 8
"""Characters below which a turn ("ok", "thanks!") has nothing to be found by."""


def chunk_id(user_id: str, thread_id: str, turn_id: str, number: int = 0) -> str:
    """The id of the chunk of a turn, or of the next parts of a long one."""
    return derived_id("chunk", user_id, thread_id, turn_id, *([str(number)] if number else []))


def chunk_text(turn: Turn, words: str | None = None) -> str:
    """What is searched of a turn, or of a part of it: when, who, what."""
    return _head(turn, turn.name or turn.role) + (turn.content.strip() if words is None else words)


def heads_of(turn: Turn) -> list[tuple[str | None, str]]:
    """How the text of a turn's chunk may begin, each with the name that it gives: by its speaker's name, by the role.

    A name is put on one line, so that it cannot begin lines of its own.
    """
    name = " ".join(folded(turn.name or "").split())
    return [(one, _head(turn, one or turn.role)) for one in dict.fromkeys((name or None, None))]


def _head(turn: Turn, speaker: str) -> str:
    return f"[{day(turn.created_at)}] {speaker}: "


def words_of(memory: Memory) -> str:
    """What a memory says; of raw talk the words alone, without the day and the speaker."""
    if memory.kind != "chunk":
        return memory.content
    return _from_text(memory)[1] if memory.quote is None else memory.quote


def speaker_of(chunk: Memory) -> str:
    """Who said a chunk, as its text names them: their name, or the role of those who have none."""
    if chunk.quote is None:
        return _from_text(chunk)[0]
    return str(chunk.metadata.get("speaker", chunk.source))


def _from_text(chunk: Memory) -> tuple[str, str]:
    """Speaker and words of a chunk that was stored before it had them as fields: of its text, as far as that tells."""
    speaker, mark, words = chunk.content.split("] ", 1)[-1].partition(": ")
    return (speaker, words) if mark else ("", speaker)


def spoken(memory: Memory) -> str:
    """What a memory says, of raw talk with its speaker: without the day, on which people may say the same again."""
    return f"{speaker_of(memory)}: {words_of(memory)}" if memory.kind == "chunk" else memory.content


def chunk_of(
    turn: Turn,
    words: str,
    embedding_model: str | None,
    *,
    name: str | None = None,
    position: int | None = None,
    number: int = 0,
) -> Memory:
    """The chunk with these words of a turn.

    Its day, its speaker and its words are fields: `created_at`, `metadata["speaker"]` (of a speaker with a name, else
    it is the role) and `quote`. Its content, which is searched and shown, has all three.

    Args:
        turn: Who said it, when and where.
        words: What was said, folded and screened.
        embedding_model: Whose vector it has; None: it has none.
        name: The speaker's name as it may be told; None: the role stands in its place.
        position: Of the turn in its thread, if that is known.
        number: Of the part, where a long turn has several chunks.
    """
    metadata: dict[str, Any] = {} if position is None else {"position": position}
    if name is not None:
        metadata["speaker"] = name
    text = _head(turn, name or turn.role) + words
    return Memory(
        id=chunk_id(turn.user_id, turn.thread_id, turn.id, number),
        user_id=turn.user_id,
        thread_id=turn.thread_id,
        type="episodic",
        kind="chunk",
        content=text,
        quote=words,
        confidence=1.0,
        importance=0.3,
        source="agent" if turn.role == "agent" else "user",
        source_turn_ids=[turn.id],
        metadata=metadata,
        agent_id=turn.agent_id,
        project_id=turn.project_id,
        run_id=turn.run_id,
        created_at=turn.created_at,
        valid_from=turn.created_at,
        recorded_at=now(),
        content_hash=content_hash(text),
        embedding_model=embedding_model,
    )
