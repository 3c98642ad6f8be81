"""Reranking: a model orders the best results by how well they answer the question.

The order of the search stays if the model says nothing, fails or times out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from agent_memory.errors import AgentMemoryError
from agent_memory.language.tasks import RERANK, ChatModel, NoteView, RerankInput

R = TypeVar("R")

logger = logging.getLogger("agent_memory")


async def rerank(
    results: Sequence[R], said: Callable[[R], tuple[datetime, str]], question: str, chat: ChatModel, timeout: float
) -> tuple[list[R], str | None]:
    """The results in the model's order, and the reason if they are in the old one.

    `said` returns the date and text of a result. Results that the model does not name follow in the old order.
    """
    by_ref = {f"n{place}": result for place, result in enumerate(results, 1)}
    notes = [NoteView(ref=ref, said=at, text=text) for ref, result in by_ref.items() for at, text in [said(result)]]
    try:
        async with asyncio.timeout(timeout):
            refs = (await chat.run(RERANK, RerankInput(question=question, notes=notes))).output.refs
    except (AgentMemoryError, TimeoutError) as error:
        reason = str(error) or "not ready in time"
        logger.warning("Memory rerank failed, keeping the order of the search: %s", reason)
        return list(results), reason
    order = dict.fromkeys([*(ref for ref in refs if ref in by_ref), *by_ref])
    return [by_ref[ref] for ref in order], None
