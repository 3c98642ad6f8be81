"""A poison turn harms itself only: it becomes a dead letter, and all others go on."""

from typing import Any

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import Cadence
from agent_memory.errors import ModelError
from agent_memory.models import Turn, now
from agent_memory.settings import Limits
from agent_memory.steps import over_turns
from agent_memory.steps.over_turns import beyond_bounds, fault_of_input

CADENCE = Cadence(extract=1, summarize=1, profile=1, reconcile=1, idle_seconds=0)


class Poisoned(ScriptedChat):
    """Fails on what holds a word as our own code would: with no error of ours, each time."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error
        self.harmful = True

    async def run(self, task: Any, data: Any) -> Any:
        if self.harmful and "poison" in data.model_dump_json():
            raise self.error
        return await super().run(task, data)


class Private(Exception):
    """A kind of error that nobody has heard of."""


@pytest.mark.parametrize(
    ("error", "place"), [(KeyError("some ice"), 0), (RecursionError(), 5), (Private("some ice"), 7)]
)
async def test_the_turn_that_our_code_fails_on_is_found_and_the_others_are_processed(error: Exception, place: int):
    chat = Poisoned(error)
    quiet = Limits(turns_before=0)  # the talk before a turn is shown with it
    async with opened(chat, cadence=CADENCE, limits=quiet) as memory:
        alice = memory.user("alice")
        contents = [f"fact: key{n}=value number {n}" for n in range(8)]
        contents[place] = "fact: drink=poison with some ice"
        ids = (await alice.thread("t").add_many([{"role": "user", "content": text} for text in contents])).ids
        await memory.user("bob").thread("t").add("user", "fact: city=Lisbon by the river")
        assert await memory.drain(timeout=300) == 0
        letters = await memory.dead_letters()
        assert {letter.step for letter in letters} == {"extract", "summarize"}
        assert all(letter.turn_ids == [ids[place]] and letter.thread_id == "t" for letter in letters)
        assert all(type(error).__name__ in letter.error and "some ice" not in letter.error for letter in letters)
        assert (await memory.health()).dead_letters == 2
        assert len(await alice.memories(types=["fact"])) == 7
        assert len(await memory.user("bob").memories(types=["fact"])) == 1
        await alice.thread("t").add("user", "fact: later=turns go on as ever")
        assert await memory.drain(timeout=300) == 0
        assert len(await alice.memories(types=["fact"])) == 8

        with pytest.raises(ModelError, match="fails on it each time"):
            await memory.replay(letters[0].id)
        chat.harmful = False
        for letter in letters:
            await memory.replay(letter.id)
        assert await memory.dead_letters() == []
        assert len(await alice.memories(types=["fact"])) == 9


async def test_a_single_turn_is_tried_twice_before_it_is_given_up():
    chat = Poisoned(ValueError())
    tries = 0
    run = Poisoned.run

    async def counting(self: Poisoned, task: Any, data: Any) -> Any:
        nonlocal tries
        tries += 1
        return await run(self, task, data)

    chat.run = counting.__get__(chat)  # type: ignore[method-assign]
    async with opened(chat, cadence=Cadence(extract=0)) as m:
        await m.user("alice").thread("t").add("user", "I would like some poison, please")
        result = await m.user("alice").thread("t").process("extract")
        assert (result.dead_letters, tries) == (1, 2)


@pytest.mark.parametrize("root", [ConnectionResetError(), MemoryError(), TimeoutError()])
@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_what_comes_from_outside_of_the_process_may_pass(root: Exception, link: str):
    error = Private("a client's own kind")
    setattr(error, link, root)
    assert fault_of_input(error) is None
    assert fault_of_input(ModelError("busy", retryable=True)) is None


async def test_a_pass_over_memories_that_crashes_our_code_is_not_repeated_for_ever(chat: ScriptedChat):
    chat.fault = lambda task, call: KeyError("x") if task == "profile" else None  # type: ignore[assignment,return-value]
    async with opened(chat, cadence=CADENCE) as memory:
        await memory.user("alice").thread("t").add("user", "fact: city=Lisbon by the river")
        assert await memory.drain(timeout=300) == 0
        (letter,) = await memory.dead_letters()
        assert (letter.step, letter.user_id) == ("profile", "alice")
        chat.fault = None
        await memory.user("alice").process("profile")
        assert await memory.dead_letters() == []


def turn(content: str) -> Turn:
    return Turn(id="t", user_id="u", thread_id="t", role="user", content=content, created_at=now())


def test_the_bound_is_a_number_of_sentences_and_honest_text_is_within_it():
    most = Limits().turn_sentences
    assert beyond_bounds(turn("We went to Lisbon and had fish. " * 33_000), most) is None
    assert beyond_bounds(turn("\n" * 1_000_000), most) is None
    assert beyond_bounds(turn("monday " * 150_000), most) is None
    for mark in ("a. ", "a\n", "为。", "a;", "a!\n\n"):
        assert "sentences and lines" in (beyond_bounds(turn(mark * 60_000), most) or "")


async def test_a_turn_that_is_too_much_work_is_found_by_its_words_and_harms_nobody(chat: ScriptedChat):
    async with opened(chat, cadence=CADENCE, limits=Limits(turn_sentences=100, turns_before=0)) as memory:
        alice = memory.user("alice")
        hostile = "Xylophone here. " + "a. " * 200
        ids = (
            await alice.thread("t").add_many(
                [
                    {"role": "user", "content": text}
                    for text in ("fact: a=1st of all values", hostile, "fact: b=2nd of all values")
                ]
            )
        ).ids
        assert await memory.drain(timeout=300) == 0
        letters = await memory.dead_letters()
        assert {letter.step for letter in letters} == {"extract", "summarize"}
        assert all(letter.turn_ids == [ids[1]] and "201 sentences" in letter.error for letter in letters)
        assert {memory.content for memory in await alice.memories(types=["fact"])} == {
            "a=1st of all values",
            "b=2nd of all values",
        }
        assert "Xylophone" in (await alice.search("xylophone"))[0].memory.content
        with pytest.raises(ModelError, match="201 sentences"):
            await memory.replay(letters[0].id)
        assert len(await memory.dead_letters()) == 2


async def test_what_does_not_fit_into_one_commit_is_written_in_halves(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(over_turns, "MOST_BYTES", 20_000)  # three memories with their vectors
    async with opened(chat, cadence=Cadence(extract=0), limits=Limits(turns_before=0)) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add_many([{"role": "user", "content": f"fact: k{n}={n} is the value here"} for n in range(8)])
        result = await thread.process("extract")
        assert (result.created, result.dead_letters) == (8, 0)
        assert chat.calls["extract"] > 2
