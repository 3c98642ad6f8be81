"""What a hit says of its score: in names, in words, and in figures that add up."""

import re
from pathlib import Path

import pytest
from scripted_model import ScriptedChat
from typer.testing import CliRunner

from agent_memory import AsyncMemory, Memory
from agent_memory.cli.main import app
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Hit
from agent_memory.recall.explain import FOUND_WORDS, PART_WORDS, explained, shared_terms
from agent_memory.settings import RecallSettings

FIGURE = re.compile(r"([=+-]) (-?\d+\.\d{3})")
TALK = [
    ("user", "We booked the hotel by the river in Lisbon."),
    ("assistant", "Lovely. What does the room cost?"),
    ("user", "A hundred and twenty a night."),
    ("assistant", "Noted."),
    ("user", "My sister plays the cello."),
]


def check(hit: Hit) -> None:
    assert hit.score == pytest.approx(sum(hit.why.values()))
    assert hit.found_by
    assert set(hit.found_by) <= FOUND_WORDS.keys()
    assert set(hit.why) <= PART_WORDS.keys()
    total = float(hit.explanation.split()[0])
    assert total == pytest.approx(hit.score, abs=0.0005001)
    parts = [float(figure) * (-1 if sign == "-" else 1) for sign, figure in FIGURE.findall(hit.explanation)]
    assert round(sum(parts), 3) == total
    for name, value in hit.why.items():
        assert (PART_WORDS[name] in hit.explanation) or abs(value) < 0.001
    for way in hit.found_by:
        assert FOUND_WORDS[way] in hit.explanation


async def test_every_hit_is_explained(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("t1").add_many([{"role": role, "content": text} for role, text in TALK])
    await alice.remember("Likes hotels with a view of the river")
    before = await alice.search("Which hotel is by the river in Lisbon?", limit=20)
    assert "fresh" in {way for hit in before for way in hit.found_by}
    await alice.thread("t1").process("index")
    hits = await alice.search("Which hotel is by the river in Lisbon?", limit=20)
    for hit in [*before, *hits]:
        check(hit)
    first = next(hit for hit in hits if "booked" in hit.memory.content)
    assert first.found_by[0] == "words"
    assert "words in common (hotel, river, lisbon)" in first.explanation
    assert f"cosine {first.similarity:.2f}" in first.explanation
    assert any(hit.found_by == ["neighbour"] for hit in hits)


async def test_all_parts_that_settings_can_add_are_explained(chat: ScriptedChat):
    weights = RecallSettings(
        recency_weight=0.1, importance_weight=0.1, trust_weight=0.1, use_weight=0.1, count_uses=True, text_weight=0.3
    )
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=weights) as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add_many([{"role": "user", "name": "Ann", "content": text} for _, text in TALK])
        await alice.remember("Likes hotels")
        await memory.drain()
        for question in ("What did Ann say about the hotel today?", "hotel", "cello?", "What does the room cost?"):
            for hit in await alice.search(question, limit=20):
                check(hit)


def test_a_hit_found_by_a_link_says_so():
    assert explained({}, ("link",), 0.4, ()) == "0.000; found by a link from a hit"


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (
            {"text": 0.5, "vector": 0.25},
            "0.750 = 0.500 words in common (budget) + 0.250 nearness in meaning (cosine 0.61)",
        ),
        ({"text": 0.0, "vector": 0.0004}, "0.000"),
        ({"text": 1 / 3, "vector": 1 / 3, "thread": 1 / 3}, "1.000 = 0.334 words"),
        ({"vector": 0.5, "asked": -0.5}, "0.000 = 0.500 nearness in meaning (cosine 0.61) - 0.500 taken away"),
        ({"recency": -0.25, "vector": 0.5}, "0.250 = -0.250 how recent it is + 0.500 nearness"),
    ],
)
def test_figures_add_up_as_they_are_printed(parts: dict[str, float], line: str):
    assert explained(parts, (), 0.61, ["budget"]).startswith(line)


def test_words_are_shared_whatever_their_ending():
    assert shared_terms(["hotels", "river", "cello"], "A HOTEL by the rivers") == ["hotels", "river"]


def test_the_command_line_explains_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "200")
    store = str(tmp_path / "memory.db")
    with Memory.local(store) as memory:
        memory.user("alice").remember("The hotel by the river")
    plain = CliRunner().invoke(app, ["search", "hotel", "--store", store]).output
    shown = CliRunner().invoke(app, ["search", "hotel", "--store", store, "--explain"]).output
    assert "words in common (hotel)" in shown
    assert "words in common" not in plain
