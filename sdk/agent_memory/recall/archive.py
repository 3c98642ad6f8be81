"""The archive: accounts of other conversations, searched when a user refers to them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from agent_memory.models import day, there
from agent_memory.recall.render import ARCHIVE, Line
from agent_memory.recall.searcher import Searcher, rerank
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document
from agent_memory.text.patterns import either_of
from agent_memory.text.terms import says_something

logger = logging.getLogger("agent_memory")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Another conversation as it is stored: its summary, or an account of a stretch of it."""

    id: str
    type: str
    thread_id: str
    content: str
    at: datetime
    similarity: float | None


def topic_of(message: str, triggers: Sequence[str]) -> str:
    """The topic of a message: its text without the phrases that refer to other conversations."""
    phrases = [phrase.replace("’", "'") for phrase in triggers if phrase]
    plain = message.replace("’", "'")
    return either_of(phrases, re.IGNORECASE).sub(" ", plain) if phrases else plain


async def search_archive(
    searcher: Searcher, user_id: str, thread_id: str | None, query: str, trigger: str, patience: float | None = None
) -> list[Conversation]:
    """The other conversations of a user that a message refers to, best first, one entry for each.

    The trigger is not part of the query. If nothing else is left of the message ("what did we discuss last time?"), the
    result is the newest conversations. A model reorders them if the settings say so.

    Raises:
        AgentMemoryError: if the archive cannot be searched.
    """
    settings = searcher.settings
    topic = topic_of(query, settings.archive_triggers)
    parameters: dict[str, Any] = {
        "thread": thread_id or "",
        "limit": settings.archive_limit * 3,
        "off": searcher.threads_off,
    }
    sql = queries.NEWEST_ARCHIVE
    if names_topic := says_something(topic):
        sql = queries.NEAREST_ARCHIVE
        vector = (await searcher.impatient(patience).embeddings.embed([topic])).vectors[0]
        parameters |= {"vector": vector, "model": searcher.embeddings.model_id}
    rows = await asyncio.gather(
        *(searcher.store.query(container, sql, (user_id,), **parameters) for container in (MEMORIES, SUMMARIES))
    )
    least = settings.archive_threshold(searcher.embeddings.model_id)
    near = [row for part in rows for row in part if row.get("similarity") is None or row["similarity"] >= least]
    near.sort(key=lambda row: (row.get("similarity") or 0.0, row["at"]), reverse=True)
    best: dict[str, Conversation] = {}
    for row in near:
        best.setdefault(row["thread_id"], _conversation(row))
    logger.debug("Memory: %d other conversations found after %r", len(best), trigger)
    found = list(best.values())
    if names_topic and searcher.chat is not None and settings.rerank and len(found) > 1:
        found, _ = await rerank(found, _dated_text, topic.strip(), searcher.chat, settings.rerank_timeout)
    return found[: settings.archive_limit]


def _dated_text(account: Conversation) -> tuple[datetime, str]:
    return account.at, account.content


def _conversation(row: Document) -> Conversation:
    at = datetime.fromisoformat(row["at"])
    return Conversation(row["id"], row["type"], row["thread_id"], row["content"], at, row.get("similarity"))


def archive_line(account: Conversation, zone: tzinfo = UTC) -> Line:
    """The line of another conversation: its account, with its last day."""
    used: dict[str, Any] = {"id": account.id, "type": account.type, "thread_id": account.thread_id}
    score = {} if account.similarity is None else {"score": account.similarity}
    return Line(ARCHIVE, account.content, used | score, f"a conversation of {day(there(account.at, zone))}")
