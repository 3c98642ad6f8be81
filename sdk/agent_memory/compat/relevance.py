"""The relevance scale of the Agent Service's profiles, 0 to 1, for any embedding model.

A profile's `relevance_threshold` was chosen for another model: all-MiniLM-L6-v2 hardly reaches a cosine of 0.7. So a
score is not a cosine. It is the probability that a conversation answers the question (`agent_memory.recall.relevance`).
If that cannot be measured (hashed words, a memory on a server), the memory's own threshold corresponds to a score of
0.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_memory.errors import ConfigurationError
from agent_memory.memory import AsyncMemory
from agent_memory.recall.relevance import relevance_curve
from agent_memory.settings import RecallSettings

DEFAULT_THRESHOLD = 0.7
"""The default minimum score of an archived conversation."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Converts a cosine to a relevance, and back."""

    relevance: Callable[[float], float]
    least_cosine: Callable[[float], float]


async def scale_of(memory: AsyncMemory) -> Scale:
    """The scale of a memory's embedding model.

    Raises:
        ModelError: if the model is unavailable.
    """
    try:
        searcher = memory.runtime.searcher
    except ConfigurationError:
        return _by_threshold(RecallSettings().archive_threshold((await memory.health()).embedding_model))
    curve = await relevance_curve(searcher.embeddings)
    if curve is None:
        return _by_threshold(searcher.settings.archive_threshold(searcher.embeddings.model_id))
    return Scale(curve.relevance, curve.least_cosine)


def _by_threshold(own: float) -> Scale:
    """A scale of two straight lines. They meet at the memory's own threshold, where the relevance is the default."""
    return Scale(
        lambda similarity: max(0.0, _bent(similarity, own, DEFAULT_THRESHOLD)),
        lambda score: _bent(score, DEFAULT_THRESHOLD, own),
    )


def _bent(value: float, bend: float, at_bend: float) -> float:
    """A line from (0, 0) to the bend, and on to (1, 1)."""
    if value <= bend:
        return at_bend * value / bend
    return at_bend + (1 - at_bend) * (value - bend) / (1 - bend)
