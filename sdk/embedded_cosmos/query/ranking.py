"""ORDER BY VectorDistance and ORDER BY RANK: scores for all selected documents, best first.

Reciprocal rank fusion does what Azure's clients do with the service's component results: of every component the best
candidates, dense ranks among them, and the sum of weight / (60 + rank).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from embedded_cosmos.errors import bad_request
from embedded_cosmos.query.columns import Slots
from embedded_cosmos.query.fulltext import Statistics
from embedded_cosmos.query.index import Shard, value_at
from embedded_cosmos.query.search import SearchFunctions, TextScore, VectorScore
from embedded_cosmos.query.selection import Part, Selection
from embedded_cosmos.query.vectors import Scores, ascending, distance
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.values import UNDEFINED, is_number

RRF_CONSTANT = 60
CANDIDATES_PER_RESULT = 12
MIN_CANDIDATES = 120

Component = VectorScore | TextScore


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a query ranks by: one component, or several fused by their weights."""

    components: tuple[Component, ...]
    weights: tuple[float, ...]

    @property
    def fused(self) -> bool:
        """Whether ranks are fused, rather than one score sorted."""
        return len(self.components) > 1


@dataclass(frozen=True, slots=True)
class Ranked:
    """Positions in a selection, best first, and their distances when that is what was ranked by."""

    positions: Slots
    distances: Scores | None


def ranking_of(query: ast.Query, functions: SearchFunctions) -> Ranking | None:
    """What the query ranks by; None when it sorts by properties or not at all."""
    if len(query.order_by) != 1 or not isinstance(query.order_by[0].expression, ast.Call):
        return None
    call = query.order_by[0].expression
    if call.name == "RRF":
        return _fusion(call, functions)
    if call.name in ("VECTORDISTANCE", "FULLTEXTSCORE"):
        return Ranking((_component(call, functions),), (1.0,))
    return None


def rank(ranking: Ranking, selection: Selection, shards: Sequence[Shard], limit: int) -> Ranked:
    """The best documents of a settled selection, at most as many as the limit."""
    rids = selection.rids()
    scores = [_merit(component, selection, shards) for component in ranking.components]
    if not ranking.fused:
        merit = scores[0]
        # A document without a vector has no distance to be sorted by; one without the words scores zero.
        positions = _best(merit, rids, min(limit, int(np.count_nonzero(~np.isneginf(merit)))))
        return Ranked(positions, _distances_shown(ranking.components[0], merit[positions]))
    candidates = _candidates(scores, ranking.weights, max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * limit))
    fused = np.zeros(len(candidates), np.float64)
    for merit, weight in zip(scores, ranking.weights, strict=True):
        fused += weight / (RRF_CONSTANT + _dense_ranks(merit[candidates]))
    return Ranked(candidates[_best(fused, rids[candidates], limit)], None)


def _fusion(call: ast.Call, functions: SearchFunctions) -> Ranking:
    parts = [part for part in call.arguments if isinstance(part, ast.Call)]
    rest = call.arguments[len(parts) :]
    if len(parts) < 2 or call.arguments[: len(parts)] != tuple(parts) or len(rest) > 1:
        raise bad_request("RRF takes at least two score functions, and after them an optional array of weights.")
    weights = [1.0] * len(parts)
    if rest:
        given = rest[0].value if isinstance(rest[0], ast.Literal) else None
        if not isinstance(given, list) or len(given) != len(parts) or not all(map(is_number, given)):
            raise bad_request(f"The weights of RRF must be an array of {len(parts)} numbers, one for every function.")
        weights = [float(weight) for weight in given]
    return Ranking(tuple(_component(part, functions) for part in parts), tuple(weights))


def _component(call: ast.Call, functions: SearchFunctions) -> Component:
    if call.name == "VECTORDISTANCE":
        score = functions.vector_score(call)
        if score is None:
            raise bad_request("ORDER BY VectorDistance takes a property path of the item and a constant vector.")
        return score
    if call.name == "FULLTEXTSCORE":
        return functions.text_score(call)
    raise bad_request("RRF fuses VectorDistance and FullTextScore only.")


def _merit(component: Component, selection: Selection, shards: Sequence[Shard]) -> Scores:
    """A number per document that is the higher the better, minus infinity where there is none."""
    if isinstance(component, TextScore):
        return _text_merit(component, selection, shards)
    scores = selection.gather(lambda part: _distances(component, part))
    if ascending(component.function):
        scores = -scores
    scores[np.isnan(scores)] = -np.inf
    return scores


def _distances_shown(component: Component, merit: Scores) -> Scores | None:
    """What SELECT may show of a score: Azure never shows that of words."""
    if isinstance(component, TextScore):
        return None
    return -merit if ascending(component.function) else merit


def _distances(score: VectorScore, part: Part) -> Scores:
    if score.indexed:
        return part.shard.vectors(score.keys).scores(part.slots, score.query, score.function)
    query = score.query.tolist()
    distances = [
        distance(value_at(part.shard.document(slot), score.keys), query, score.function) for slot in part.slots.tolist()
    ]
    return np.array([np.nan if value is UNDEFINED else value for value in distances], np.float64)


def _text_merit(score: TextScore, selection: Selection, shards: Sequence[Shard]) -> Scores:
    statistics: Statistics = reduce(
        add,
        (shard.texts(score.keys, score.analyzer).statistics(score.terms) for shard in shards),
        Statistics(0, 0, (0,) * len(score.terms)),
    )

    def merits(part: Part) -> Scores:
        index = part.shard.texts(score.keys, score.analyzer)
        return index.scores(score.terms, statistics, part.shard.size)[part.slots]

    return selection.gather(merits)


def _best(merit: Scores, rids: NDArray[np.int64], limit: int) -> Slots:
    """The positions of the highest numbers, best first, equal ones by rid."""
    positions = np.arange(len(merit))
    if 0 < limit < len(merit):
        threshold = np.partition(merit, len(merit) - limit)[len(merit) - limit]
        positions = np.flatnonzero(merit >= threshold)
    order = np.lexsort((rids[positions], -merit[positions]))
    return positions[order][:limit]


def _candidates(scores: list[Scores], weights: tuple[float, ...], count: int) -> Slots:
    """The documents that are among the best of any component; of one with a negative weight, among the worst."""
    total = len(scores[0])
    if total <= count:
        return np.arange(total)
    chosen = [
        np.argpartition(merit if weight < 0 else -merit, count)[:count]
        for merit, weight in zip(scores, weights, strict=True)
    ]
    return np.unique(np.concatenate(chosen))


def _dense_ranks(merit: Scores) -> NDArray[np.intp]:
    """1 for the highest number, equal numbers alike, no gaps."""
    values, places = np.unique(merit, return_inverse=True)
    return len(values) - places
