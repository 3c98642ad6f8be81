"""Selection: a model chooses which facts an extractive block shows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from agent_memory.errors import AgentMemoryError
from agent_memory.language.callable_chat import Provider, as_chat_model
from agent_memory.language.tasks import SELECT, NoteView, SelectInput
from agent_memory.models import Memory

logger = logging.getLogger("agent_memory")

RETRIEVAL_PROMPT = "Choose the facts that matter for what the user says now."
"""The default instruction for choosing facts."""
SELECTION_SECONDS = 10.0

AsyncSelection = Callable[[str, Sequence[Memory]], Coroutine[Any, Any, list[Memory]]]


def selected_by(
    provider: Provider, prompt: str = RETRIEVAL_PROMPT, timeout: float = SELECTION_SECONDS
) -> AsyncSelection:
    """Returns a selection by a model, for the `select` of `AsyncExtractiveMemory`.

    If the model fails or times out, all facts of the search are kept, with a warning in the log.

    Args:
        provider: A chat model, or a function of messages.
        prompt: What the model should choose.
        timeout: How long it may take, in seconds.

    Raises:
        InvalidInput: if the provider is neither.
    """
    model = as_chat_model(provider)

    async def select(query: str, facts: Sequence[Memory]) -> list[Memory]:
        by_ref = {f"n{place}": fact for place, fact in enumerate(facts, 1)}
        notes = [NoteView(ref=ref, said=fact.last_said_at, text=fact.content) for ref, fact in by_ref.items()]
        try:
            async with asyncio.timeout(timeout):
                asked = SelectInput(wanted=prompt, message=query, notes=notes)
                refs = (await model.run(SELECT, asked)).output.refs
        except (AgentMemoryError, TimeoutError) as error:
            logger.warning("No facts were selected, showing those of the search: %s", str(error) or "not in time")
            return list(facts)
        return [by_ref[ref] for ref in dict.fromkeys(refs) if ref in by_ref]

    return select
