"""Memories taken together by rule, without a model."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory.language.grounding.ground import ground
from agent_memory.language.offline import OfflineChat
from agent_memory.language.tasks import (
    CONSOLIDATE,
    REFLECT,
    SYNTHESIZE,
    Conclusion,
    ConsolidateInput,
    ConsolidateOutput,
    FactView,
    Group,
    Insight,
    ReflectInput,
    ReflectOutput,
    SynthesizeInput,
)

WHEN = datetime(2026, 5, 8, 10, tzinfo=UTC)


def views(*contents: str, prefix: str = "f") -> list[FactView]:
    return [
        FactView(ref=f"{prefix}{n}", kind="fact", content=content, said_at=WHEN + timedelta(days=n))
        for n, content in enumerate(contents, 1)
    ]


async def test_merged_facts_stand_side_by_side_and_lose_nothing() -> None:
    facts = views("The Hawaii budget is $12,000.", "The Hawaii hotel is the Royal", "The Hawaii hotel is the Royal")
    data = ConsolidateInput(groups=[Group(facts=list(reversed(facts)))])
    (merged,) = (await OfflineChat().run(CONSOLIDATE, data)).output.merged
    assert merged.content == "The Hawaii budget is $12,000; The Hawaii hotel is the Royal."
    assert ground(ConsolidateOutput(merged=[merged]), data)[1] == []


async def test_a_procedure_is_as_it_was_told_last() -> None:
    data = SynthesizeInput(groups=[Group(facts=views("To deploy: run npm build", "To deploy: run make, then push"))])
    (made,) = (await OfflineChat().run(SYNTHESIZE, data)).output.procedures
    assert (made.content, made.refs) == ("To deploy: run make, then push", ["f1", "f2"])


@pytest.mark.req("S0-067")
async def test_what_comes_up_often_is_counted() -> None:
    memories = views(
        "I deployed payment-service to staging",
        "Deployed the payment service again",
        "We deploy payment-service every Friday",
        "My cat is ill",
        "Port conflict on 8080 when I started the stack",
        "Another port conflict this morning",
        "The port conflict is back",
    )
    data = ReflectInput(memories=memories)
    result = (await OfflineChat().run(REFLECT, data)).output
    assert {(one.kind, one.content, tuple(one.refs)) for one in result.insights} == {
        ("lesson", "Trouble that comes up again and again: port conflict (3 times).", ("f5", "f6", "f7")),
        ("insight", "Comes up again and again: deployed payment (3 times).", ("f1", "f2", "f3")),
    }
    assert ground(result, data) == (result, [])
    earlier = views(*(one.content for one in result.insights), prefix="r")
    more = ReflectInput(memories=[*memories, views("One more port conflict")[0]], earlier=earlier)
    lesson = next(one for one in (await OfflineChat().run(REFLECT, more)).output.insights if one.kind == "lesson")
    assert lesson.replaces == [next(view.ref for view in earlier if "port" in view.content)]


def test_conclusions_that_do_not_rest_on_their_memories_are_dropped() -> None:
    data = ConsolidateInput(groups=[Group(facts=views("The budget is $12,000", "It was $10,000")), Group(facts=[])])
    answers = {
        "it has a figure that none of its memories has": Conclusion(refs=["f1", "f2"], content="$12,000, $10,000, $9"),
        "it loses 10000": Conclusion(refs=["f1", "f2"], content="The budget is $12,000"),
        "it names fewer than two memories of one group": Conclusion(refs=["f1", "f9"], content="The budget is $12,000"),
    }
    for reason, conclusion in answers.items():
        output, rejected = ground(ConsolidateOutput(merged=[conclusion]), data)
        assert (output.merged, rejected) == ([], [f"conclusion 1: {reason}"])
    good = Conclusion(refs=["f1", "f2", "f1"], content="The budget is $12,000 (it was $10,000)")
    output, rejected = ground(ConsolidateOutput(merged=[good, good]), data)
    assert [one.refs for one in output.merged] == [["f1", "f2"]]
    assert rejected == ["conclusion 2: f1, f2 is in an earlier one"]


def test_an_insight_may_count_its_evidence_and_nothing_else() -> None:
    data = ReflectInput(memories=views("Deployed once", "Deployed again"), earlier=views("Old", prefix="r"))
    right = Insight(refs=["f1", "f2"], content="Deploys often (2 times)", replaces=["r1", "r7"])
    wrong = Insight(refs=["f1", "f2"], content="Deploys often (12 times)")
    output, rejected = ground(ReflectOutput(insights=[right, wrong]), data)
    assert [(one.content, one.replaces) for one in output.insights] == [("Deploys often (2 times)", ["r1"])]
    assert rejected == ["insight 2: it has a figure that none of its memories has"]
