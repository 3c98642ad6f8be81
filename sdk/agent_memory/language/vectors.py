"""What all embeddings have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable

from agent_memory.language.tasks import Vector

DECIMALS = 7
"""Decimals of a vector's numbers, about as many as a 32-bit float holds. With all of Python's, a vector is twice as
long in JSON: in every document, and in every query that has it. Cosines change by less than 0.000001."""


def unit(values: Iterable[float]) -> Vector:
    """The vector of the same direction with Euclidean length 1, rounded. It must not be all zeros."""
    vector = [float(value) for value in values]
    length = math.hypot(*vector)
    return [round(value / length, DECIMALS) for value in vector]
