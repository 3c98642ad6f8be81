"""A fact and the turn that it comes from are not both shown if one says most of the other."""

from datetime import UTC, datetime

import pytest

from agent_memory.models import Hit, Memory, Turn
from agent_memory.recall.compose import Parts, Wanted, compose
from agent_memory.settings import RecallSettings
from agent_memory.store.chunks import chunk_of
from agent_memory.text.tokens import TiktokenCounter

DAY = datetime(2026, 3, 1, tzinfo=UTC)
FACT = "I like sci-fi films."


def shown(said: str, *, fact_first: bool, asked: str = "Which sci-fi films?") -> list[str]:
    """The ids in a context for a fact and its turn."""
    turn = Turn(id="t1", user_id="u", thread_id="t", role="user", content=said, created_at=DAY)
    fact = Memory(
        id="fact", user_id="u", thread_id="t", type="fact", kind="fact", content=FACT, source="user",
        source_turn_ids=["t1"], created_at=DAY, recorded_at=DAY,
    )  # fmt: skip
    both = (fact, chunk_of(turn, said, None))
    best_first = both if fact_first else both[::-1]
    hits = [
        Hit(memory=one, score=score, similarity=0.6, relevance=score)
        for one, score in zip(best_first, (0.9, 0.5), strict=True)
    ]
    wanted = Wanted(asked, 650, 10, None, "sections", RecallSettings(), "hashed")
    context = compose(Parts(hits=hits), wanted, TiktokenCounter())
    return ["turn" if item.get("kind") == "chunk" else item["id"] for item in context.used]


@pytest.mark.parametrize(
    ("said", "of_both"),
    [
        (FACT, ["fact"]),
        (f"Well, {FACT}", ["fact"]),
        (f"{FACT} You could go and see The Wandering Earth, whose soundtrack is stunning.", ["fact", "turn"]),
    ],
)
def test_a_turn_below_its_fact_is_shown_if_it_says_much_more(said: str, of_both: list[str]):
    assert shown(said, fact_first=True) == of_both


def test_a_fact_below_its_turn_is_not_shown():
    assert shown(f"{FACT} You could go and see The Wandering Earth.", fact_first=False) == ["turn"]


def test_a_turn_below_its_fact_is_shown_if_it_has_more_of_the_question():
    said = f"{FACT} My cinema has sofas."
    assert shown(said, fact_first=True) == ["fact"]
    assert shown(said, fact_first=True, asked="Which films, and in which cinema?") == ["fact", "turn"]
