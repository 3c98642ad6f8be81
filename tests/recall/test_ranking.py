"""Terms and fusion: the pure parts of recall."""

from datetime import UTC, datetime

import pytest

from agent_memory.models import Memory
from agent_memory.recall.bm25 import Bm25
from agent_memory.recall.fusion import Candidate, fuse
from agent_memory.recall.terms import MAX_TERMS, query_terms
from agent_memory.settings import RecallSettings

DAY = datetime(2026, 3, 5, tzinfo=UTC)


def memory(memory_id: str, **changes: object) -> Memory:
    fields = {
        "id": memory_id,
        "user_id": "u",
        "thread_id": "t",
        "type": "fact",
        "kind": "fact",
        "content": memory_id,
        "created_at": DAY,
        "recorded_at": DAY,
    }
    return Memory.model_validate(fields | changes)


def candidate(memory_id: str, similarity: float | None = None, **changes: object) -> Candidate:
    return Candidate(memory(memory_id, **changes), similarity)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What's my budget for Hawaii?", ["budget", "hawaii"]),
        ("How do I deploy payment-service?", ["deploy", "payment-service"]),
        ("who am I", ["who", "am", "i"]),
        ("café Zürich 東京", ["café", "zürich", "東京"]),
        ("the the the cat, the CAT", ["cat"]),
        ("$15,000 or v1.2.3?", ["15,000", "v1.2.3"]),
        ("?!", []),
    ],
)
def test_terms_are_what_a_question_is_about(query: str, terms: list[str]):
    assert query_terms(query) == terms


def test_terms_are_bounded():
    assert len(query_terms(" ".join(f"word{n}" for n in range(500)))) == MAX_TERMS


def test_bm25_prefers_rare_words_and_short_texts():
    texts = {
        "rare": "the zebra is here",
        "common": "the cat is here",
        "long": "the zebra " + "and so on " * 30,
        "other": "a cat and a dog",
        "third": "no cat, no bird",
        "none": "nothing of it",
    }
    scores = Bm25(texts).scores(["zebra", "cats"])
    assert scores["rare"] > scores["long"] > 0
    assert scores["rare"] > scores["common"] > 0  # "cats" finds "cat"
    assert scores["none"] == 0
    assert Bm25(texts).scores([]) == dict.fromkeys(texts, 0)
    assert Bm25({}).scores(["x"]) == {}


@pytest.mark.req("S1-24")
def test_what_both_signals_favour_comes_first():
    arms = {
        "vector": [candidate("a", 0.9, content="dogs"), candidate("b", 0.8, content="a cat")],
        "text": [candidate("c", 0.4, content="the cat"), candidate("b", 0.8, content="a cat")],
    }
    hits = fuse(arms, ["cat"], RecallSettings(), threshold=0.3)
    assert [hit.memory.id for hit in hits] == ["b", "a", "c"]
    assert hits[0].similarity == 0.8
    assert hits[0].why == {"text": 1.0, "vector": pytest.approx(0.8)}
    assert hits[0].score == pytest.approx(0.9)


@pytest.mark.req("S0-037", "S0-109")
def test_the_threshold_holds_for_what_only_the_vectors_found():
    arms = {
        "vector": [candidate("near", 0.61), candidate("edge", 0.6), candidate("both", 0.1)],
        "text": [candidate("both", 0.1)],
    }
    assert [hit.memory.id for hit in fuse(arms, ["both"], RecallSettings(), threshold=0.6)] == ["both", "near"]


def test_without_vectors_words_rank_alone():
    arms = {"text": [candidate("x", content="a cat"), candidate("y", content="a dog that saw a cat")]}
    assert [hit.memory.id for hit in fuse(arms, ["cat"], RecallSettings(), threshold=0.3)] == ["x", "y"]


def chunk(memory_id: str, similarity: float, position: int, **changes: object) -> Candidate:
    fields = {"type": "episodic", "kind": "chunk", "metadata": {"position": position}, "source_turn_ids": [memory_id]}
    return candidate(memory_id, similarity, **(fields | changes))


def test_a_hit_lifts_its_neighbours_in_the_same_thread():
    arms = {
        "vector": [
            chunk("found", 0.9, 4),
            chunk("beside", 0.4, 5),
            chunk("elsewhere", 0.41, 5, thread_id="other"),
            chunk("far", 0.35, 9),
        ]
    }
    hits = fuse(arms, [], RecallSettings(), threshold=0.3)
    assert [hit.memory.id for hit in hits] == ["found", "beside", "elsewhere", "far"]
    assert hits[1].why["neighbour"] > 0
    assert hits[2].why["neighbour"] == 0


def test_talk_that_was_overtaken_stands_far_behind_unless_the_past_is_asked_for():
    arms = {"vector": [chunk("old", 0.9, 0, valid_to=DAY), chunk("new", 0.7, 9), chunk("low", 0.35, 20)]}
    assert fuse(arms, [], RecallSettings(), threshold=0.3)[0].memory.id == "new"
    assert fuse(arms, [], RecallSettings(), threshold=0.3, past=True)[0].memory.id == "old"


def test_a_chunk_yields_to_what_was_derived_from_it():
    arms = {
        "vector": [
            chunk("t1", 0.9, 0),
            candidate("fact-1", 0.8, source_turn_ids=["t1"]),
            chunk("t2", 0.7, 7),
        ]
    }
    assert [hit.memory.id for hit in fuse(arms, [], RecallSettings(), threshold=0.3)] == ["fact-1", "t2"]
