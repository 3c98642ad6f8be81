"""What was said last is what holds, however it is worded: the case of a wedding that moves."""

import pytest

from agent_memory import AsyncMemory
from agent_memory.language.grounding.ground import ground
from agent_memory.language.tasks import Duplicates, FactView, ReconcileInput, ReconcileOutput

WORDINGS = [
    ("My sister's wedding is in {} in June.", "My sister's wedding is in {} in June."),
    ("My sister's wedding is in {} in June.", "The wedding of my sister is now in {}."),
    ("My sister gets married in {} in June.", "My sister is getting married in {} in June."),
    ("The venue for my sister's wedding is {}.", "My sister's wedding will be held in {}."),
    ("My sister's wedding is in {}.", "My sister's wedding will be in {} in June instead."),
    ("Our offsite takes place in {} in March.", "The offsite is in {} in March."),
]


@pytest.mark.req("S0-103", "S0-107", "S1-31")
@pytest.mark.parametrize(("first", "then"), [("Lisbon", "Porto"), ("Porto", "Lisbon")])
@pytest.mark.parametrize("wording", WORDINGS)
async def test_the_newer_place_holds_and_the_older_one_is_history(wording: tuple[str, str], first: str, then: str):
    older, newer = wording
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        await alice.thread("one").add("user", older.format(first))
        await memory.drain(timeout=60)
        await alice.thread("two").add("user", newer.format(then))
        await memory.drain(timeout=60)

        (fact,) = await alice.memories(types=["fact"])
        assert then in fact.content
        assert first not in fact.content
        (past,) = [one for one in await alice.memories(types=["fact"], include_superseded=True) if one.superseded_by]
        assert first in past.content
        assert [one.id for one in await alice.history(fact.id)] == [past.id, fact.id]
        profile = await alice.profile()
        assert profile is not None
        assert then in profile.content
        assert first not in profile.content
        event = "offsite" if "offsite" in older else "sister's wedding"
        context = await alice.thread("three").context(f"In which city is the {event}?")
        assert then in context.text
        assert first not in context.text


@pytest.mark.req("S0-103", "S1-30")
@pytest.mark.parametrize(
    ("one", "other", "merged", "reason"),
    [
        ("The wedding is in Lisbon.", "The wedding is in Porto.", "The wedding is in Lisbon.", "loses Porto"),
        ("The budget is 10,000 euros.", "The budget is 15,000 euros.", "The budget is 15,000 euros.", "loses 10000"),
        ("Sees Dr Kim in May.", "Sees Dr Kim.", "Sees a doctor.", "loses Dr, Kim, May"),
    ],
)
def test_a_merge_that_a_model_proposes_may_lose_neither_a_name_nor_a_figure(
    one: str, other: str, merged: str, reason: str
):
    facts = [
        FactView(ref=f"f{n}", kind="fact", content=text, said_at="2026-03-01") for n, text in enumerate((one, other), 1)
    ]
    answer = ReconcileOutput(duplicates=[Duplicates(refs=["f1", "f2"], content=merged)])
    kept, rejected = ground(answer, ReconcileInput(facts=facts))
    assert kept.duplicates == []
    assert reason in rejected[0]
    fuller = Duplicates(refs=["f1", "f2"], content=f"{one} {other}")
    assert ground(ReconcileOutput(duplicates=[fuller]), ReconcileInput(facts=facts))[0].duplicates == [fuller]
