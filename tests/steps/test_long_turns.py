"""Turns that no model can read at once are cut, and nothing of them is left out."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings, strategies as st
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.calibration import PARTS_SHOWN
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Turn
from agent_memory.settings import Limits
from agent_memory.steps.gather import cut, portions, size
from agent_memory.steps.index import LONGEST_PART, MOST_CHUNKS, MOST_PARTS, PART, parts_of
from agent_memory.store.containers import MEMORIES

WHEN = datetime(2026, 3, 10, 9, tzinfo=UTC)


def turn(content: str, number: int = 0) -> Turn:
    return Turn(id=f"turn-{number}", user_id="u", thread_id="t", role="user", content=content, created_at=WHEN)


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(4, 80))
def test_the_parts_of_a_text_are_the_text_and_small_enough(text: str, most: int):
    parts = list(cut(text, most))
    assert "".join(parts) == text
    assert all(len(part.encode()) <= most for part in parts)


@settings(deadline=None)
@given(st.lists(st.integers(0, 900), max_size=12))
def test_portions_fit_and_leave_nothing_out(lengths: list[int]):
    turns = [turn("word " * (length // 5), number) for number, length in enumerate(lengths)]
    shown = list(portions(turns, 100))
    assert all(sum(map(size, portion)) <= 100 for portion in shown)
    said = [(one.id, one.content) for portion in shown for one in portion]
    for one in turns:
        assert "".join(content for turn_id, content in said if turn_id == one.id) == one.content
    assert [turn_id for turn_id, _ in said] == sorted((turn_id for turn_id, _ in said), key=lambda i: int(i[5:]))


def test_a_text_is_cut_between_sentences_where_that_is_possible():
    text = "The first sentence is here. The second one follows it. The third is the last."
    assert list(cut(text, 60)) == ["The first sentence is here. The second one follows it. ", "The third is the last."]


@pytest.mark.req("S2-25", "S0-100")
async def test_a_long_turn_is_read_in_parts_and_becomes_one_range(chat: ScriptedChat):
    filler = "\n".join(f"This is line {n} of a pasted report." for n in range(60))
    text = f"fact: first=at the top\n{filler}\nfact: middle=half way down\n{filler}\nfact: last=at the end"
    async with AsyncMemory.local(
        chat_model=chat, embedding_model=HashingEmbeddings(), limits=Limits(batch_tokens=500)
    ) as memory:
        alice = memory.user("alice")
        receipt = await alice.thread("t1").add("user", text)
        result = await alice.thread("t1").process("extract")
        assert (result.turns, result.created) == (1, 3)
        assert result.usage.model_calls == chat.calls["extract"] > 2
        facts = await alice.memories()
        assert {fact.content for fact in facts} == {"first=at the top", "middle=half way down", "last=at the end"}
        assert {tuple(fact.source_turn_ids) for fact in facts} == {tuple(receipt.ids)}
        assert all(fact.quote in text for fact in facts if fact.quote)
        await alice.thread("t1").process("summarize")
        summary = await alice.thread("t1").summary()
        assert summary is not None
        assert summary.turn_count == 1
        assert "".join(summary.key_points) == text  # the script's summary repeats what it was shown


async def test_the_end_of_a_long_turn_can_be_found(memory: AsyncMemory):
    alice = memory.user("alice")
    text = "Nothing of interest is said here. " * 500 + "The password of the parrot is Quetzalcoatl."
    await alice.thread("t1").add("user", text)
    await alice.thread("t1").process("extract")
    (hit,) = [h for h in await alice.search("Quetzalcoatl parrot", limit=1) if h.memory.kind == "chunk"]
    assert "Quetzalcoatl" in hit.memory.content


PIECES = st.sampled_from(["word. ", "word", "字", "line\n"])


@settings(deadline=None, max_examples=40)
@given(PIECES, PIECES, st.integers(0, 50_000))
def test_an_index_has_short_parts_of_a_turn_and_loses_none(first: str, second: str, count: int):
    text = first * (count // len(first)) + second * (count // len(second))
    text = text.encode()[: LONGEST_PART * MOST_PARTS // 2].decode(errors="ignore")
    parts = parts_of({"turn": text})["turn"]
    assert "".join(parts) == text
    assert len(parts) <= MOST_PARTS
    if len(text.encode()) <= PART * MOST_PARTS // 2:
        assert all(len(part.encode()) <= PART for part in parts)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(PIECES, st.integers(0, 40_000)), max_size=20))
def test_the_parts_of_a_run_fit_into_one_commit(turns: list[tuple[str, int]]):
    texts = {str(number): piece * (size // len(piece.encode())) for number, (piece, size) in enumerate(turns)}
    while sum(len(text.encode()) for text in texts.values()) > 4 * 4 * Limits().batch_tokens:
        texts.popitem()
    parts = parts_of(texts)
    assert {key: "".join(some) for key, some in parts.items()} == texts
    assert sum(map(len, parts.values())) <= MOST_CHUNKS


async def indexed(memory: AsyncMemory) -> list[str]:
    return await memory.runtime.store.query(
        MEMORIES, "SELECT VALUE c.content FROM c WHERE c.kind = 'chunk'", ("alice",)
    )


async def test_what_the_screen_sees_in_a_long_turn_is_in_no_part_of_it(memory: AsyncMemory):
    alice = memory.user("alice")
    key = "\n".join(f"MIIEowIBAAKCAQEA{n:03d}x7Vb2nQ8kLmZr4TtYw0pFdSgHjKl" for n in range(60))
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{key}\n-----END RSA PRIVATE KEY-----"
    await alice.thread("t1").add(
        "user", f"The deploy key of the kite server is this one.\n{pem}\nKeep it for the kites."
    )
    await alice.thread("t1").process("extract")
    told = "\n".join(await indexed(memory))
    assert "kite server" in told
    assert "Keep it for the kites" in told
    assert "MIIEow" not in told


async def test_a_long_turn_about_what_is_forbidden_leaves_no_part(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.update_settings(deny_categories=["health"])
    page = "I was at the doctor because of my diabetes. " + "Then he gave me the blue ones, two in the evening. " * 60
    await alice.thread("t1").add("user", page)
    await alice.thread("t1").add("user", "The kites are in the shed.")
    await alice.thread("t1").process("extract")
    (told,) = await indexed(memory)
    assert "kites" in told


async def test_a_search_tells_the_parts_of_a_long_turn_that_matter(memory: AsyncMemory):
    alice = memory.user("alice")
    paragraphs = [f"The garden has {n} plum trees, all of them in a row by the wall. " * 9 for n in range(2, 30)]
    paragraphs[17] = f"{paragraphs[17]} In the garden the key to the plum cellar is under the third stone."
    await alice.thread("t1").add("user", "\n\n".join(paragraphs))
    await alice.thread("t1").process("extract")
    hits = await alice.search("Where in the garden is the key to the plum cellar?", limit=20)
    parts = [hit.memory.content for hit in hits if hit.memory.kind == "chunk"]
    assert "under the third stone" in parts[0]
    assert len(parts) == PARTS_SHOWN
