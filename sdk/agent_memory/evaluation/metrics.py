"""How good a ranking of turns is, given those that answer the question. All figures are shares from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

DEPTHS = (5, 10, 20)
"""Where recall is measured."""
CUT = 10
"""Where hit and nDCG are measured."""


def distinct(hits: Iterable[Sequence[str]]) -> list[str]:
    """The source turns of hits, best hit first, each turn once: a hit that cites three turns takes three places."""
    return list(dict.fromkeys(turn for hit in hits for turn in hit))


def recall(ranking: Sequence[str], evidence: frozenset[str], depth: int) -> float:
    """The share of the evidence among the first turns."""
    return len(evidence.intersection(ranking[:depth])) / len(evidence)


def hit(ranking: Sequence[str], evidence: frozenset[str], depth: int) -> float:
    """1 if any of the evidence is among the first turns."""
    return float(not evidence.isdisjoint(ranking[:depth]))


def ndcg(ranking: Sequence[str], evidence: frozenset[str], depth: int) -> float:
    """Discounted cumulative gain by the best possible one (Järvelin and Kekäläinen 2002; gain 1, log2 discount)."""
    gain = sum(1 / math.log2(place + 2) for place, turn in enumerate(ranking[:depth]) if turn in evidence)
    best = sum(1 / math.log2(place + 2) for place in range(min(len(evidence), depth)))
    return gain / best


def measures(ranking: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """The figures of one question."""
    recalls = {f"recall@{depth}": recall(ranking, evidence, depth) for depth in DEPTHS}
    return {**recalls, f"hit@{CUT}": hit(ranking, evidence, CUT), f"ndcg@{CUT}": ndcg(ranking, evidence, CUT)}
