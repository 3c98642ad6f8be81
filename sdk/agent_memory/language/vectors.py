"""What all embeddings have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable

from agent_memory.language.tasks import Vector


def unit(values: Iterable[float]) -> Vector:
    """The vector of the same direction with Euclidean length 1. It must not be all zeros."""
    vector = [float(value) for value in values]
    length = math.hypot(*vector)
    return [value / length for value in vector]
