"""Chunks: turns of the raw conversation as memories that can be searched (docs/decisions/0021)."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any, NamedTuple

from agent_memory.models import Memory, Role, Turn, content_hash, day, now, there
from agent_memory.store.ids import derived_id
from agent_memory.text.folding import bare, folded
from agent_memory.text.patterns import WORD
from agent_memory.text.sentences import QUESTION_MARKS

SHORTEST = 8
"""The fewest characters of a turn that gets a chunk. A shorter one ("ok", "thanks!") has nothing to find."""

CONFIDENCE, IMPORTANCE = 1.0, 0.3
"""The values of a chunk. That it was said is certain; what is derived from it matters more. A choice."""


class Asked(NamedTuple):
    """The question that a short reply answers, or the statement that it corrects: its turn, and its screened words."""

    turn_id: str
    words: str


def chunk_id(user_id: str, thread_id: str, turn_id: str, number: int = 0) -> str:
    """The id of a turn's chunk; `number` counts the further parts of a long turn."""
    return derived_id("chunk", user_id, thread_id, turn_id, *([str(number)] if number else []))


_CLAIMED: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "agent": "agent",
    "assistant": "agent",
    "model": "agent",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
"""The words that stand for a role in contexts and in requests to models. "Ai" is left out: it is a name, too."""
_OF_MESSAGES = frozenset(["message", "prompt", "note", "notice", "override"])


def speaker_name(turn: Turn) -> str | None:
    """The name of a turn's speaker on one line; None if there is none, or if it names a role that is not the turn's.

    People choose the names under which they chat. The words of somebody called "System" must not look like those of
    the application.
    """
    name = " ".join(folded(turn.name or "").split())
    first, *rest = WORD.findall(bare(name).casefold()) or [""]
    claimed = _CLAIMED.get(first, turn.role) if _OF_MESSAGES.issuperset(rest) else turn.role
    return name if name and claimed == turn.role else None


def chunk_text(turn: Turn) -> str:
    """The searchable text of a turn: the day, the speaker and the words."""
    return _head(turn, speaker_name(turn) or turn.role) + turn.content.strip()


def heads_of(turn: Turn) -> list[tuple[str | None, str]]:
    """The possible beginnings of a chunk's text: with the speaker's name, and with the role only."""
    return [(one, _head(turn, one or turn.role)) for one in dict.fromkeys((speaker_name(turn), None))]


def _head(turn: Turn, speaker: str) -> str:
    return f"[{day(turn.created_at)}] {speaker}: "


def in_zone(memory: Memory, zone: tzinfo) -> Memory:
    """A memory as a user in a zone reads it: the text of a chunk begins with the day there, not with the stored one."""
    if memory.kind != "chunk" or str(zone) == "UTC":
        return memory
    stored = f"[{day(memory.created_at)}] "
    shown = f"[{day(there(memory.created_at, zone))}] "
    if shown == stored or not memory.content.startswith(stored):
        return memory
    return memory.model_copy(update={"content": shown + memory.content.removeprefix(stored)})


def head_of(chunk: Memory) -> str:
    """The day at the beginning of a chunk's text, with its brackets; empty if there is none."""
    head, mark, _ = chunk.content.partition("] ")
    return head + mark if mark and head.startswith("[") else ""


def words_of(memory: Memory) -> str:
    """What a memory says; for a chunk only the words, without day and speaker."""
    if memory.kind != "chunk":
        return memory.content
    return _from_text(memory)[1] if memory.quote is None else memory.quote


def speaker_of(chunk: Memory) -> str:
    """The speaker of a chunk: the name, or the role if there is no name."""
    if chunk.quote is None:
        return _from_text(chunk)[0]
    return str(chunk.metadata.get("speaker", chunk.source))


def quote_of(content: str, speaker: str | None) -> str:
    """The words of a chunk that answers no question, from its content and its speaker's name, if it has one."""
    told = content.split("] ", 1)[-1]
    return told.removeprefix(f"{speaker}: ") if speaker is not None else told.partition(": ")[2]


def _from_text(chunk: Memory) -> tuple[str, str]:
    """Speaker and words, read from the text of a chunk that was stored before chunks had these fields."""
    speaker, mark, words = chunk.content.split("] ", 1)[-1].partition(": ")
    return (speaker, words) if mark else ("", speaker)


def told_by(memory: Memory) -> str:
    """The text of a memory: its words, and those that a short reply answers or corrects."""
    asked = memory.metadata.get("asked") if memory.kind == "chunk" else None
    return _with_question(words_of(memory), asked) if isinstance(asked, str) else words_of(memory)


def _with_question(words: str, asked: str | None) -> str:
    if asked is None:
        return words
    label = "asked" if any(mark in asked for mark in QUESTION_MARKS) else "after"
    return f'{words} ({label}: "{asked}")'


def spoken(memory: Memory) -> str:
    """The text of a memory; for a chunk speaker and words, without the day, because people repeat themselves."""
    return f"{speaker_of(memory)}: {told_by(memory)}" if memory.kind == "chunk" else memory.content


def chunk_of(
    turn: Turn,
    words: str,
    embedding_model: str | None,
    *,
    name: str | None = None,
    position: int | None = None,
    number: int = 0,
    asked: Asked | None = None,
) -> Memory:
    """The chunk with these words of a turn.

    Day, speaker and words are fields: `created_at`, `metadata["speaker"]` (absent for a speaker without a name, whose
    role stands in) and `quote`. The content, which is searched and shown, has all three.

    Args:
        turn: The turn.
        words: What was said, folded and screened.
        embedding_model: The model of its vector; None if it has none.
        name: The speaker's name, if it may be shown.
        position: The turn's position in its thread, if known.
        number: The part of a long turn that has several chunks.
        asked: What a short reply answers or corrects. The chunk is deleted with the turn of that.
    """
    metadata: dict[str, Any] = {} if position is None else {"position": position}
    if name is not None:
        metadata["speaker"] = name
    if asked is not None:
        metadata["asked"] = asked.words
    text = _head(turn, name or turn.role) + _with_question(words, asked and asked.words)
    return Memory(
        id=chunk_id(turn.user_id, turn.thread_id, turn.id, number),
        user_id=turn.user_id,
        thread_id=turn.thread_id,
        type="episodic",
        kind="chunk",
        content=text,
        quote=words,
        confidence=CONFIDENCE,
        importance=IMPORTANCE,
        source="agent" if turn.role == "agent" else "user",
        source_turn_ids=[turn.id] if asked is None else [turn.id, asked.turn_id],
        metadata=metadata,
        agent_id=turn.agent_id,
        project_id=turn.project_id,
        run_id=turn.run_id,
        contributor_id=turn.contributor_id,
        created_at=turn.created_at,
        valid_from=turn.created_at,
        recorded_at=now(),
        content_hash=content_hash(text),
        embedding_model=embedding_model,
    )
