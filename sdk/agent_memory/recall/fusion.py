"""Fusion: one ranking out of several (reciprocal rank fusion, Cormack et al., SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_memory.models import Hit, Memory
from agent_memory.settings import RecallSettings


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that an arm of the search found, with its cosine to the query if that is known."""

    memory: Memory
    similarity: float | None


def fuse(arms: Mapping[str, Sequence[Candidate]], settings: RecallSettings, threshold: float) -> list[Hit]:
    """Ranks the union of the arms, best first.

    What only the vectors found must be nearer than `threshold`; a word in common is evidence of its own. A chunk
    of raw talk yields to a memory that was derived from the same turn, if that is in the list too.
    """
    found: dict[str, Candidate] = {}
    why: dict[str, dict[str, float]] = {}
    for arm, candidates in arms.items():
        for rank, candidate in enumerate(candidates, 1):
            known = found.get(candidate.memory.id)
            if known is None or known.similarity is None:
                found[candidate.memory.id] = candidate
            why.setdefault(candidate.memory.id, {})[f"{arm}_rank"] = rank
    hits = []
    for memory_id, candidate in found.items():
        ranks = why[memory_id]
        similarity = candidate.similarity
        if "text_rank" not in ranks and (similarity is None or similarity <= threshold):
            continue
        score = sum(1 / (settings.rrf_k + rank) for rank in ranks.values())
        if candidate.memory.kind == "chunk":
            score *= settings.chunk_weight
            ranks["chunk_weight"] = settings.chunk_weight
        hits.append(Hit(memory=candidate.memory, score=score, similarity=similarity, why=ranks))
    hits.sort(key=lambda hit: (-hit.score, -(hit.similarity or 0), -hit.memory.created_at.timestamp(), hit.memory.id))
    return _without_repeats(hits)


def _without_repeats(hits: list[Hit]) -> list[Hit]:
    told = {turn for hit in hits if hit.memory.kind != "chunk" for turn in hit.memory.source_turn_ids}
    return [hit for hit in hits if hit.memory.kind != "chunk" or not told.intersection(hit.memory.source_turn_ids)]
