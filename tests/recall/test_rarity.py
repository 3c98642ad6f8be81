"""Which words of a question are worth a search by words."""

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import StoreUnavailable
from agent_memory.recall.phrasing import Said
from agent_memory.recall.rarity import NOTHING_SEEN, SAMPLE, Seen, SeenWords, seen_in as seen_in_said, telling

TALK = [f"Maya: the {thing} in Lisbon" for thing in ("hotel", "hotel", "piano")] * 30


def seen_in(texts: list[str]) -> Seen:
    return seen_in_said([Said("t", None, text) for text in texts])


def test_rare_words_come_first_and_common_ones_are_left_out():
    seen = seen_in(TALK)
    assert telling(["maya", "lisbon", "tempranillo", "locker"], seen) == ["tempranillo", "locker"]
    assert telling(["hotel", "piano"], seen) == ["piano"]
    assert telling(["maya", "lisbon"], seen) == ["maya"], "one counts, however common"


def test_no_word_is_common_in_few_texts():
    seen = seen_in(["The cat sleeps", "The cat eats", "A dog"])
    assert telling(["cat", "dog", "horse"], seen) == ["dog", "horse", "cat"]
    assert telling(["cat", "dog"], NOTHING_SEEN) == ["cat", "dog"]


@pytest.mark.parametrize("term", ["东京", "été", "O'Neill", "2024-05-01", "€"])
def test_any_script_has_a_share(term: str):
    assert 0 <= seen_in([f"{term} {number}" for number in range(200)]).share(term) <= 1


async def test_texts_are_read_once_for_each_user(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    store, seen = memory.runtime.store, SeenWords()
    await memory.user("alice").remember("The cat is called Tom, said Alice")
    await memory.user("alice").remember("The cat eats fish, said Alice")
    await memory.user("bob").remember("The dog is called Rex")
    first = await seen.of(store, "alice")
    assert first.texts == 2
    assert first.having["cat"] == 2
    assert (await seen.of(store, "bob")).texts == 1

    async def fails(*_: object, **__: object) -> list[object]:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(store, "query", fails)
    assert await seen.of(store, "alice") is first
    assert await seen.of(store, "carol") is NOTHING_SEEN


def test_a_sample_is_small():
    assert SAMPLE * 400 < 64_000
