"""Vectors in memory: held as single precision wherever that tells what was written."""

from __future__ import annotations

import random

import numpy as np
import pytest

from embedded_cosmos.query.vectors import VectorIndex

CHANCE = random.Random(7)
UNIT = [CHANCE.uniform(-1, 1) for _ in range(384)]


@pytest.mark.parametrize(
    ("vector", "held"),
    [
        (np.array(UNIT, np.float32).astype(np.float64).tolist(), True),
        ([round(number, 7) for number in UNIT], True),
        ([round(number, 3) for number in UNIT], True),
        ([1.0, -1.0, 0.0, 1e-7, -1e-7, 0.9999999, *[0.0] * 378], True),
        (UNIT, False),  # double precision
        ([round(1000 * number, 7) for number in UNIT], False),  # single precision tells fewer decimals there
        ([1, *UNIT[1:]], False),  # an integer is written as one
    ],
)
def test_a_vector_is_given_back_as_it_was_written(vector: list[float], held: bool) -> None:
    index = VectorIndex(384, 4)
    assert index.put(2, vector) is held
    assert index.held(2) == (vector if held else None)
    index.discard(2)
    assert index.held(2) is None
