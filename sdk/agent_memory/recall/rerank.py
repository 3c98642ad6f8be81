"""Reranking: a model puts the best hits into the order in which they answer the question.

The order of the search is kept where the model says nothing, fails or is late.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from agent_memory.errors import AgentMemoryError
from agent_memory.language.tasks import RERANK, ChatModel, NoteView, RerankInput
from agent_memory.models import Hit

logger = logging.getLogger("agent_memory")


async def rerank(hits: Sequence[Hit], question: str, chat: ChatModel, timeout: float) -> tuple[list[Hit], str | None]:
    """The hits in the model's order, and why they are in the old one if it gave none in time.

    Hits keep the scores that the search gave them. What the model does not name follows in the old order.
    """
    by_ref = {f"n{place}": hit for place, hit in enumerate(hits, 1)}
    notes = [NoteView(ref=ref, said=hit.memory.created_at, text=hit.memory.content) for ref, hit in by_ref.items()]
    try:
        async with asyncio.timeout(timeout):
            refs = (await chat.run(RERANK, RerankInput(question=question, notes=notes))).output.refs
    except (AgentMemoryError, TimeoutError) as error:
        reason = str(error) or "not ready in time"
        logger.warning("Memory rerank failed, keeping the order of the search: %s", reason)
        return list(hits), reason
    order = dict.fromkeys([*(ref for ref in refs if ref in by_ref), *by_ref])
    return [by_ref[ref] for ref in order], None
