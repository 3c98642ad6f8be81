"""What a memory is worth whatever the question: how recent, important, much used and trustworthy it is.

Each counts with a weight of its own, 0 unless it is set. Measured on five LoCoMo conversations, evidence among the
first ten turns, 81.7 without: a recency of 0.1 gives 81.0 and of 0.2 80.5, importance 81.7 and 81.2, trust 81.8 and
81.8. What a question asks for is as often old as new; the weights suit agents that mostly ask for what is current.
"""

from __future__ import annotations

from datetime import datetime

from agent_memory.calibration import RECENCY_HALF_LIFE_DAYS, TRUST, USES_FOR_HALF
from agent_memory.models import Memory
from agent_memory.settings import RecallSettings


def worth(memory: Memory, settings: RecallSettings, now: datetime) -> dict[str, float]:
    """The parts of a score that do not depend on the question; those without a weight are left out."""
    weights = {
        "recency": settings.recency_weight,
        "importance": settings.importance_weight,
        "use": settings.use_weight,
        "trust": settings.trust_weight,
    }
    return {name: weight * _value(name, memory, now) for name, weight in weights.items() if weight}


def _value(name: str, memory: Memory, now: datetime) -> float:
    match name:
        case "recency":
            days = max(0.0, (now - memory.last_said_at).total_seconds() / 86400)
            return float(0.5 ** (days / RECENCY_HALF_LIFE_DAYS))
        case "importance":
            return memory.importance
        case "use":
            return memory.access_count / (memory.access_count + USES_FOR_HALF)
        case _:
            return TRUST[memory.source] * memory.confidence
