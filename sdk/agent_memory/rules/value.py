"""What a memory is worth keeping: the score that eviction and decay share."""

from __future__ import annotations

import math
from datetime import datetime

from agent_memory.models import Memory

STRENGTH_DAYS = 30.0
"""Days after which a memory that was never recalled is down to 1/e; each recall adds a day to it."""


def retention(memory: Memory, at: datetime) -> float:
    """How much of a memory is left, from 1 (used just now) towards 0: exp(-days / (30 + times recalled)).

    Days count from when it was last recalled, said or recorded, whichever was last.
    """
    last = max(memory.recorded_at, memory.last_said_at, memory.last_accessed_at or memory.recorded_at)
    days = max(0.0, (at - last).total_seconds() / 86400)
    return math.exp(-days / (STRENGTH_DAYS + memory.access_count))


def eviction_order(memory: Memory, at: datetime) -> tuple[float, float, datetime, str]:
    """Sorts memories so that the one to give up first comes first: least retained, then least sure, then oldest."""
    return (retention(memory, at), memory.confidence, memory.created_at, memory.id)
