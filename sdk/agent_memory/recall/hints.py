"""Hints: procedures and insights relevant to a conversation, though nobody asked for them.

One query, and one call of the embedding model for all texts. A hint is relevant if its cosine to the question, or to
one of the user's last messages, exceeds the threshold of the search. Shared words are not enough here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_memory.models import Hit, Memory
from agent_memory.recall.fusion import is_repeat
from agent_memory.recall.relevance import words
from agent_memory.recall.search import LONGEST_QUERY
from agent_memory.recall.searcher import Searcher
from agent_memory.settings import RecallSettings
from agent_memory.store import search_queries
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import from_document
from agent_memory.text.folding import folded
from agent_memory.text.likeness import middle

_CANDIDATES = 20
"""Number of candidates nearest to the conversation as a whole; each is compared with its parts."""


async def find_hints(
    searcher: Searcher, user_id: str, talk: Sequence[str], project_id: str | None, patience: float
) -> list[Hit]:
    """The hints relevant to a conversation, best first.

    Args:
        searcher: The searcher whose store, embeddings and threshold are used.
        user_id: Whose memories.
        talk: The question and the messages before it.
        project_id: The project whose procedures and insights are shown, in addition to those of no project.
        patience: Seconds to wait for the vectors.

    Raises:
        AgentMemoryError: if there are no vectors in time, or the store does not answer.
    """
    texts = [text for said in dict.fromkeys(talk) if (text := folded(said[:LONGEST_QUERY]).strip())]
    if not texts:
        return []
    vectors = (await searcher.impatient(patience).embeddings.embed(texts)).vectors
    named: dict[str, Any] = {f"v{number}": list(vector) for number, vector in enumerate(vectors)}
    if project_id is not None:
        named["project"] = project_id
    rows = await searcher.store.query(
        MEMORIES,
        search_queries.guidance(len(vectors), project=project_id is not None),
        (user_id,),
        talk=middle(vectors),
        off=searcher.threads_off,
        model=searcher.embeddings.model_id,
        limit=_CANDIDATES,
        **named,
    )
    threshold = searcher.settings.threshold(searcher.embeddings.model_id)
    hits: list[Hit] = []
    for row in rows:
        nearest = max(row[f"similarity{number}"] for number in range(len(vectors)))
        if nearest > threshold:
            hits.append(Hit(memory=from_document(Memory, row), score=nearest, similarity=nearest))
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))


def unshown(hints: Sequence[Hit], shown: Sequence[Hit], said: Sequence[str], settings: RecallSettings) -> list[Hit]:
    """The best hints that add to the rest of the context.

    Args:
        hints: The relevant hints, best first.
        shown: The memories that the context shows.
        said: What the agent already sees: the question and the last turns.
        settings: How many hints there may be, and what counts as a repetition.
    """
    known = [hit.memory for hit in shown]
    texts = [set(words(text)) for text in (*said, *(memory.content for memory in known))]
    chosen: list[Hit] = []
    for hint in hints:
        if len(chosen) == settings.hints:
            break
        memory = hint.memory
        content = set(words(memory.content))
        if (
            not any(content <= text for text in texts)
            and not any(_rests_on(memory, one) for one in known)
            and not is_repeat(memory, known, settings.repeat_overlap)
        ):
            chosen.append(hint)
            known.append(memory)
            texts.append(content)
    return chosen


def _rests_on(one: Memory, other: Memory) -> bool:
    """Whether one of two procedures was combined from the other."""
    return one.type == other.type == "procedural" and (one.id in other.source_ids or other.id in one.source_ids)
