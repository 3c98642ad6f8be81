"""What a model finds, and what is made of it."""

from datetime import UTC, datetime, timedelta

import memories
import pytest

from agent_memory.language.tasks import Contradiction, Duplicates, ReconcileOutput
from agent_memory.models import Memory, content_hash
from agent_memory.steps.reconcile import make_plan

START = datetime(2026, 3, 1, tzinfo=UTC)


def fact(fact_id: str, days: float, confidence: float = 0.8, **changes: object) -> Memory:
    said = START + timedelta(days=days)
    fields = {
        "id": fact_id,
        "thread_id": f"t{int(days)}",
        "kind": "fact",
        "confidence": confidence,
        "source_turn_ids": [f"turn-{fact_id}"],
        "valid_from": said,
        "content_hash": content_hash(fact_id),
    }
    return memories.fact(f"content of {fact_id}", said, **(fields | changes))


def contradiction(*refs: str, reason: str = "contradict") -> Contradiction:
    return Contradiction.model_validate({"refs": list(refs), "reason": reason})


@pytest.mark.req("S1-31")
def test_the_more_recent_fact_wins_whatever_the_order_of_the_pair():
    facts = {"f1": fact("new", 9, 0.3), "f2": fact("old", 1, 0.9)}
    for refs in (("f1", "f2"), ("f2", "f1")):
        plan = make_plan(facts, ReconcileOutput(contradictions=[contradiction(*refs)]), "m")
        (intent,) = plan.supersede
        assert (intent.loser_id, intent.winner_id, intent.reason) == ("old", "new", "contradict")
        assert intent.valid_to == facts["f1"].valid_from
        assert plan.counts == {"kept": 1, "merged": 0, "contradicted": 1}


@pytest.mark.req("S1-31", "S1-65")
def test_of_the_same_time_the_surer_wins_and_then_the_greater_id():
    sure = make_plan(
        {"f1": fact("a", 1, 0.9), "f2": fact("b", 1, 0.5)},
        ReconcileOutput(contradictions=[contradiction("f1", "f2")]),
        "m",
    )
    assert sure.supersede[0].winner_id == "a"
    tie = make_plan(
        {"f1": fact("a", 1), "f2": fact("b", 1)}, ReconcileOutput(contradictions=[contradiction("f1", "f2")]), "m"
    )
    assert tie.supersede[0].winner_id == "b"


@pytest.mark.req("S1-30")
def test_duplicates_become_one_merged_fact():
    facts = {"f1": fact("b", 5, 0.6, importance=0.2), "f2": fact("a", 2, 0.9, importance=0.7), "f3": fact("c", 1)}
    plan = make_plan(facts, ReconcileOutput(duplicates=[Duplicates(refs=["f1", "f2"], content="Both.")]), "m")
    (merged,) = plan.merged
    assert {(i.loser_id, i.winner_id, i.reason) for i in plan.supersede} == {
        ("a", merged.id, "duplicate"),
        ("b", merged.id, "duplicate"),
    }
    assert (merged.content, merged.content_hash) == ("Both.", content_hash("Both."))
    assert (merged.confidence, merged.importance) == (0.9, 0.7)
    assert merged.valid_from == facts["f2"].valid_from
    assert merged.created_at == facts["f1"].created_at
    assert merged.source_turn_ids == ["turn-b", "turn-a"]
    assert merged.supersedes_ids == ["a", "b"]
    assert plan.counts == {"kept": 1, "merged": 2, "contradicted": 0}
    again = make_plan(
        {"f1": facts["f2"], "f2": facts["f1"]},
        ReconcileOutput(duplicates=[Duplicates(refs=["f1", "f2"], content="Otherwise put.")]),
        "m",
    )
    assert again.merged[0].id == merged.id


def test_a_chain_makes_every_loser_point_at_the_nearest_that_beats_it():
    facts = {"f1": fact("c", 9), "f2": fact("b", 5), "f3": fact("a", 1)}
    pairs = [contradiction("f1", "f2"), contradiction("f1", "f3"), contradiction("f2", "f3")]
    plan = make_plan(facts, ReconcileOutput(contradictions=pairs), "m")
    # In this order each winner still stands when its loser is marked.
    assert [(i.loser_id, i.winner_id) for i in plan.supersede] == [("a", "b"), ("b", "c")]
    assert plan.counts["contradicted"] == 2


def test_a_contradiction_with_a_merged_fact_meets_the_merged_fact():
    facts = {"f1": fact("new", 9), "f2": fact("b", 2), "f3": fact("a", 1)}
    found = ReconcileOutput(
        duplicates=[Duplicates(refs=["f2", "f3"], content="Both.")], contradictions=[contradiction("f1", "f3")]
    )
    plan = make_plan(facts, found, "m")
    merged = plan.merged[0].id
    assert {(i.loser_id, i.winner_id) for i in plan.supersede} == {("a", merged), ("b", merged), (merged, "new")}
    assert plan.counts == {"kept": 1, "merged": 2, "contradicted": 1}


@pytest.mark.parametrize(
    "found",
    [
        ReconcileOutput(contradictions=[contradiction("f1", "f9")]),
        ReconcileOutput(contradictions=[contradiction("f1", "f1")]),
        ReconcileOutput(duplicates=[Duplicates(refs=["f1", "f8"], content="x")]),
        ReconcileOutput(duplicates=[Duplicates(refs=["f1", "f1"], content="x")]),
    ],
)
def test_ids_that_a_model_made_up_do_nothing(found: ReconcileOutput):
    plan = make_plan({"f1": fact("a", 1), "f2": fact("b", 2)}, found, "m")
    assert plan.supersede == []
    assert plan.merged == []
    assert plan.counts == {"kept": 2, "merged": 0, "contradicted": 0}


def test_a_fact_in_two_groups_is_merged_once():
    facts = {f"f{n}": fact(name, n) for n, name in enumerate("abc", 1)}
    groups = [Duplicates(refs=["f1", "f2"], content="x"), Duplicates(refs=["f2", "f3"], content="y")]
    plan = make_plan(facts, ReconcileOutput(duplicates=groups), "m")
    assert sorted(intent.loser_id for intent in plan.supersede) == ["a", "b"]


def test_a_loser_never_ends_before_it_began():
    facts = {"f1": fact("new", 9, valid_from=START - timedelta(days=30)), "f2": fact("old", 1)}
    plan = make_plan(facts, ReconcileOutput(contradictions=[contradiction("f1", "f2")]), "m")
    assert plan.supersede[0].valid_to == facts["f2"].valid_from


def test_a_loser_was_true_until_its_winner_was_said_again():
    again = START + timedelta(days=9)
    facts = {"f1": fact("home again", 1, reaffirmed_at=again), "f2": fact("away", 5)}
    plan = make_plan(facts, ReconcileOutput(contradictions=[contradiction("f1", "f2")]), "m")
    assert [(one.loser_id, one.valid_to) for one in plan.supersede] == [("away", again)]
