"""What all embeddings have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable

from agent_memory.language.tasks import Vector


def unit(values: Iterable[float]) -> Vector:
    """The vector of the same direction with Euclidean length 1.

    Raises:
        ValueError: it has no direction: all zeros, or not all finite.
    """
    vector = [float(value) for value in values]
    length = math.hypot(*vector)
    if not math.isfinite(length) or length == 0:
        raise ValueError("the vector has no direction")
    return [value / length for value in vector]
