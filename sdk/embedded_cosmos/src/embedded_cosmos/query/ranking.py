"""ORDER BY VectorDistance and ORDER BY RANK: scores for all selected documents, best first.

Every score becomes a merit: the higher, the better; minus infinity without a score. Reciprocal rank fusion works as in
Azure's clients: it takes the best candidates of every component, gives them dense ranks, and sums weight / (60 + rank).
With a negative weight, the worst of a component rank first.
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
from embedded_cosmos.query.search import PLANNED_SCORES, SCORE_FUNCTIONS, SearchFunctions, TextScore, VectorScore
from embedded_cosmos.query.selection import Part, Selection
from embedded_cosmos.query.vectors import Scores, as_vector, ascending, distance
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.values import UNDEFINED, Json, is_number

RRF_CONSTANT = 60
CANDIDATES_PER_RESULT = 2
MIN_CANDIDATES = 120


@dataclass(frozen=True, slots=True)
class Component:
    """One score function of a query."""

    call: ast.Call
    score: VectorScore | TextScore

    @property
    def ranks_all(self) -> bool:
        """Whether a document without a score comes last; else it does not come at all."""
        return isinstance(self.score, TextScore)


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a query ranks by: one component, or several fused by their weights."""

    components: tuple[Component, ...]
    weights: tuple[float, ...]
    has_weights: bool = False
    """Whether the query says them."""


def candidate_count(limit: int) -> int:
    """How many documents of each component are fused for a number of results."""
    return max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * limit)


def ranking_of(query: ast.Query, functions: SearchFunctions) -> Ranking | None:
    """What the query ranks by; None when it sorts by properties or not at all."""
    if len(query.order_by) != 1 or not isinstance(query.order_by[0].expression, ast.Call):
        return None
    call = query.order_by[0].expression
    if call.name == "RRF":
        return _fusion(call, functions)
    if call.name in SCORE_FUNCTIONS or call.name in PLANNED_SCORES:
        return Ranking((_component(call, functions),), (-1.0 if query.order_by[0].direction == "ASC" else 1.0,))
    return None


_SHOWN = frozenset({"VECTORDISTANCE", *PLANNED_SCORES})


def scores_shown(query: ast.Query, ranking: Ranking | None, functions: SearchFunctions) -> tuple[Component, ...]:
    """The scores in SELECT that are computed for all rows at once: distances, and in a ranked query those of plans."""
    components: list[Component] = []
    columns = [item.expression for item in query.select.items if item.may_call(_SHOWN)]
    calls = (node for column in columns for node in ast.walk(column, into_subqueries=False) if type(node) is ast.Call)
    for call in calls:
        is_planned = ranking is not None and call.name in PLANNED_SCORES
        if not (is_planned or call.name == "VECTORDISTANCE") or any(known.call == call for known in components):
            continue
        ranked = [component for component in ranking.components if component.call == call] if ranking else []
        if ranked:
            components += ranked
        elif is_planned:
            components.append(_component(call, functions))
        elif (score := functions.vector_score(call)) is not None:
            components.append(Component(call, score))
    return tuple(components)


def rank(ranking: Ranking, merits: Sequence[Scores], rids: NDArray[np.int64], limit: int) -> Slots:
    """The positions of the best documents by the merits of each component, at most as many as the limit."""
    turned = [_turned(merit) if weight < 0 else merit for merit, weight in zip(merits, ranking.weights, strict=True)]
    if len(turned) == 1:
        if ranking.components[0].ranks_all:
            return _best(turned[0], rids, limit)
        return _best(turned[0], rids, min(limit, int(np.count_nonzero(~np.isneginf(turned[0])))))
    candidates = _candidates(ranking.components, turned, candidate_count(limit))
    fused = np.zeros(len(candidates), np.float64)
    for merit, weight in zip(turned, ranking.weights, strict=True):
        fused += abs(weight) / (RRF_CONSTANT + _dense_ranks(merit[candidates]))
    best: Slots = candidates[_best(fused, rids[candidates], limit)]
    return best


def merit(
    component: Component, selection: Selection, shards: Sequence[Shard], positions: Slots | None = None
) -> Scores:
    """The merit of every document of a settled selection, or of those at some positions."""
    score = component.score
    if isinstance(score, TextScore):
        return _text_merit(score, selection, shards, positions)
    scores = selection.gather(lambda part: _distances(score, part), positions)
    if ascending(score.function):
        scores = -scores
    scores[np.isnan(scores)] = -np.inf
    return scores


def shown(component: Component, merits: Scores) -> list[Json]:
    """The values of the score function for documents of these merits."""
    score = component.score
    if component.call.name == "VECTORDISTANCE" and isinstance(score, VectorScore) and ascending(score.function):
        merits = -merits
    return [UNDEFINED if np.isinf(value) else value for value in merits.tolist()]


def _fusion(call: ast.Call, functions: SearchFunctions) -> Ranking:
    parts = [part for part in call.arguments if isinstance(part, ast.Call)]
    rest = call.arguments[len(parts) :]
    if len(parts) < 2 or call.arguments[: len(parts)] != tuple(parts) or len(rest) > 1:
        raise bad_request("RRF takes at least two score functions, and after them an optional array of weights.")
    components = tuple(_component(part, functions) for part in parts)
    if not rest:
        return Ranking(components, (1.0,) * len(parts))
    given = rest[0].value if isinstance(rest[0], ast.Literal) else None
    if not isinstance(given, list) or len(given) != len(parts) or not all(map(is_number, given)):
        raise bad_request(f"The weights of RRF must be an array of {len(parts)} numbers, one for every function.")
    return Ranking(components, tuple(map(float, given)), has_weights=True)


def _component(call: ast.Call, functions: SearchFunctions) -> Component:
    if call.name in ("VECTORDISTANCE", "_VECTORSCORE"):
        score = functions.vector_score(call)
        if score is None:
            raise bad_request("ORDER BY VectorDistance takes a property path of the item and a constant vector.")
        return Component(call, score)
    if call.name == "FULLTEXTSCORE":
        return Component(call, functions.text_score(call))
    if call.name == "_FULLTEXTSCORE":
        return Component(call, functions.planned_text_score(call))
    raise bad_request("RRF fuses VectorDistance and FullTextScore only.")


def _distances(score: VectorScore, part: Part) -> Scores:
    if score.indexed:
        return part.shard.vectors(score.keys).scores(part.slots, score.query, score.function)
    vectors = (as_vector(value_at(part.shard.document(slot), score.keys)) for slot in part.slots.tolist())
    distances = [distance(vector, score.query, score.function) for vector in vectors]
    return np.array([np.nan if value is UNDEFINED else value for value in distances], np.float64)


def _text_merit(score: TextScore, selection: Selection, shards: Sequence[Shard], positions: Slots | None) -> Scores:
    statistics = score.statistics or _statistics(score, shards)

    def merits(part: Part) -> Scores:
        index, size = part.shard.texts(score.keys, score.analyzer), part.shard.size
        scores = index.scores(score.phrases, statistics, size, part.shard.reader(score.keys))
        scores[~index.with_text(size)] = -np.inf
        return scores[part.slots]

    return selection.gather(merits, positions)


def _statistics(score: TextScore, shards: Sequence[Shard]) -> Statistics:
    of_shards = (
        shard.texts(score.keys, score.analyzer).statistics(score.phrases, len(shard), shard.reader(score.keys))
        for shard in shards
    )
    return reduce(add, of_shards, Statistics(0, 0, (0,) * len(score.phrases)))


def _turned(merit: Scores) -> Scores:
    """The merits in reverse order. A document without one stays last."""
    return np.where(np.isneginf(merit), merit, -merit)


def _best(merit: Scores, rids: NDArray[np.int64], limit: int) -> Slots:
    """The positions of the highest numbers, best first, equal ones by rid."""
    positions = np.arange(len(merit))
    if 0 < limit < len(merit):
        threshold = np.partition(merit, len(merit) - limit)[len(merit) - limit]
        positions = np.flatnonzero(merit >= threshold)
    order = np.lexsort((rids[positions], -merit[positions]))
    return positions[order][:limit]


def _candidates(components: Sequence[Component], merits: Sequence[Scores], count: int) -> Slots:
    """The documents that are among the best of any component."""
    chosen = np.zeros(len(merits[0]), np.bool_)
    for component, merit in zip(components, merits, strict=True):
        best = _highest(merit, count)
        chosen[best if component.ranks_all else best[merit[best] > -np.inf]] = True
    return np.flatnonzero(chosen)


def _highest(merit: Scores, count: int) -> Slots:
    """The positions of the highest numbers, in no order."""
    if len(merit) <= count:
        return np.arange(len(merit))
    # Of twice as many groups, half have a number that reaches the middle one of their highest: few others do.
    groups = merit[: len(merit) - len(merit) % (2 * count)].reshape(-1, 2 * count)
    bound = np.partition(groups.max(axis=0), count)[count] if len(groups) else -np.inf
    reaching = np.flatnonzero(merit >= bound)
    best: Slots = reaching[np.argpartition(-merit[reaching], count)[:count]] if len(reaching) > count else reaching
    return best


def _dense_ranks(merit: Scores) -> NDArray[np.intp]:
    """Ranks: 1 for the highest number, the same for equal numbers, without gaps."""
    order = np.argsort(-merit)
    descending = merit[order]
    ranks = np.ones(len(merit), np.intp)
    ranks[1:] += np.cumsum(descending[1:] != descending[:-1])
    placed = np.empty_like(ranks)
    placed[order] = ranks
    return placed
