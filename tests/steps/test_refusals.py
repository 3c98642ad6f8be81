"""A model that refuses one turn costs that turn, a few calls, and nothing else."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.language.tasks import ExtractInput
from agent_memory.models import Turn, now
from agent_memory.settings import Limits
from agent_memory.steps.over_turns import MOST_KEPT, ONE_BY_ONE, Refusals


@pytest.fixture
def chat() -> ScriptedChat:
    return ScriptedChat()


@pytest.fixture
async def memory(chat: ScriptedChat) -> AsyncIterator[AsyncMemory]:
    async with opened(chat, limits=Limits(batch_turns=16)) as memory:
        yield memory


class Refusing:
    """Refuses whatever shows a word, as the filter of a deployment does; counts what it is asked."""

    def __init__(self, chat: ScriptedChat, *words: str) -> None:
        self.asked: list[int] = []
        self._words = words
        self._output = chat.outputs["extract"]
        chat.outputs["extract"] = self._answer

    def _answer(self, data: ExtractInput) -> object:
        self.asked.append(len(data.turns))
        shown = " ".join(turn.content for turn in [*data.before, *data.turns])
        if any(word in shown for word in self._words):
            raise ModelError("the content filter refused it", cost={"model_calls": 1, "input_tokens": 100})
        return self._output(data)


def said(number: int, bad: Sequence[int] = ()) -> list[dict[str, str]]:
    return [
        {
            "role": "user",
            "content": f"fact: number {n} of all={'poison' if n in bad else 'bread and butter'}",
            "id": f"t{n}",
        }
        for n in range(number)
    ]


async def run(memory: AsyncMemory, turns: Sequence[dict[str, str]]) -> tuple[list[str], int]:
    """The turns that were given up, and how many facts there are, after everything is processed."""
    thread = memory.user("ada").thread("t")
    await thread.add_many(list(turns))
    await thread.process("extract")
    letters = await memory.dead_letters()
    return [turn for letter in letters for turn in letter.turn_ids], len(await memory.user("ada").memories())


@pytest.mark.parametrize("bad", [0, 1, 7, 8, 14, 15])
async def test_one_refused_turn_is_the_only_one_given_up(memory: AsyncMemory, chat: ScriptedChat, bad: int):
    model = Refusing(chat, "poison")
    given_up, facts = await run(memory, said(16, [bad]))
    assert (given_up, facts) == ([f"t{bad}"], 15)
    # Once for all, at most one refused and one good half for each halving, and the rest.
    assert len(model.asked) <= 2 + 2 * math.log2(16)


async def test_what_was_learned_is_not_asked_again_after_a_failure(memory: AsyncMemory, chat: ScriptedChat):
    model = Refusing(chat, "poison")
    thread = memory.user("ada").thread("t")
    await thread.add_many(said(16, [12]))
    busy = ModelError("busy", retryable=True)
    chat.fault = lambda task, call: busy if call == 3 else None  # after 16 were refused, and 8 were kept
    await thread.process("extract")  # starts again from what is stored
    # Of the other 8, one is known to be refused: 4 are kept, then 2 are refused, then 1.
    assert model.asked == [16, 8, 4, 2, 1, 3]
    assert chat.calls["extract"] == len(model.asked) + 1
    (letter,) = await memory.dead_letters()
    assert letter.turn_ids == ["t12"]
    assert len(await memory.user("ada").memories()) == 15


async def test_what_a_service_quotes_of_a_turn_reaches_no_overview_with_its_secrets(
    memory: AsyncMemory, chat: ScriptedChat
):
    def refuse(task: str, call: int) -> ModelError:
        return ModelError("filtered: 'my password is hunter2X'", retryable=False)

    chat.fault = refuse
    thread = memory.user("ada").thread("t")
    await thread.add("user", "My password is hunter2X, and I live in Porto.")
    result = await thread.process("extract")
    await thread.process("summarize")
    letters = await memory.dead_letters()
    assert [letter.error for letter in letters] == ["filtered: 'my password is [password removed]'"] * 2
    assert not any("hunter2X" in told for told in (*result.rejected, *(await memory.health()).warnings))


async def test_a_refused_turn_is_not_shown_ahead_of_later_ones(memory: AsyncMemory, chat: ScriptedChat):
    model = Refusing(chat, "poison")
    given_up, _ = await run(memory, said(4, [3]))
    assert given_up == ["t3"]
    await memory.user("ada").thread("t").add("user", "fact: the last of all=said afterwards")
    await memory.user("ada").thread("t").process("extract")
    assert model.asked[-1] == 1
    shown = [turn.content for turn in chat.seen[-1].before]
    assert len(shown) == 3
    assert not any("poison" in content for content in shown)
    assert len(await memory.user("ada").memories()) == 4


async def test_a_model_that_refuses_everything_is_soon_asked_once_a_range(memory: AsyncMemory, chat: ScriptedChat):
    model = Refusing(chat, "fact:")
    given_up, facts = await run(memory, said(48))
    assert facts == 0
    assert sorted(given_up) == sorted(f"t{n}" for n in range(48))
    # Five turns alone, then two, four, eight and more together; ranges have sixteen.
    assert len(model.asked) <= (ONE_BY_ONE + 4) * (1 + math.log2(16)) + 48 / 16
    chat.outputs["extract"] = model._output  # and when it answers again, all can be had
    for letter in await memory.dead_letters():
        await memory.replay(letter.id)
    assert len(await memory.user("ada").memories()) == 48


async def test_many_refused_turns_in_a_row_take_few_others_with_them(memory: AsyncMemory, chat: ScriptedChat):
    Refusing(chat, "poison")
    bad = range(3, 3 + ONE_BY_ONE + 2)
    given_up, facts = await run(memory, said(32, bad))
    assert {f"t{n}" for n in bad} <= set(given_up)
    assert len(given_up) <= len(bad) + 1
    assert facts == 32 - len(given_up)


async def test_two_refused_turns_apart_cost_two_turns(memory: AsyncMemory, chat: ScriptedChat):
    Refusing(chat, "poison")
    given_up, facts = await run(memory, said(32, [3, 20]))
    assert (sorted(given_up), facts) == (["t20", "t3"], 30)


async def test_all_attempts_are_counted(memory: AsyncMemory, chat: ScriptedChat):
    model = Refusing(chat, "poison")
    thread = memory.user("ada").thread("t")
    await thread.add_many(said(8, [5]))
    usage = (await thread.process("extract")).usage
    assert usage.model_calls == len(model.asked)
    refused = (usage.input_tokens - 10 * len(model.asked)) / 90
    assert refused == sum(1 for data in chat.seen if any("poison" in turn.content for turn in data.turns))


async def test_the_summary_goes_on_without_a_refused_turn(memory: AsyncMemory, chat: ScriptedChat):
    summarize = chat.outputs["summarize"]

    def refusing(data: object) -> object:
        if any("poison" in turn.content for turn in data.turns):  # type: ignore[attr-defined]
            raise ModelError("refused")
        return summarize(data)

    chat.outputs["summarize"] = refusing
    thread = memory.user("ada").thread("t")
    await thread.add_many(said(9, [4]))
    await thread.process("summarize")
    summary = await thread.summary()
    assert summary is not None
    assert (summary.turn_count, "poison" in summary.content) == (8, False)
    (letter,) = await memory.dead_letters()
    assert (letter.step, letter.turn_ids) == ("summarize", ["t4"])


def test_what_is_known_narrows_and_widens():
    known = Refusals().narrowed(9)
    assert (known.width, known.passed(4).width, known.passed(4).passed(2).within) == (4, 2, 3)
    assert known.passed(9) == Refusals()
    assert Refusals().to_extra() == {}
    assert Refusals.of(known.to_extra()) == known


def test_the_more_is_refused_in_a_row_the_more_is_given_up_together():
    refused, given_up = Refusals(), []
    for _ in range(ONE_BY_ONE + 3):
        given_up.append(refused.together)
        refused = refused.given_up([])
    assert given_up == [1] * ONE_BY_ONE + [2, 4, 8]
    assert refused.passed(1).together == 1
    assert Refusals(in_a_row=1_000_000).together < 1_000_000


def test_of_many_refused_turns_the_newest_ids_are_kept():
    known = Refusals()
    first = last = Turn(id="t0", user_id="ada", thread_id="t", role="user", content="No.", created_at=now())
    for number in range(MOST_KEPT + 5):
        turn = Turn(id=f"t{number}", user_id="ada", thread_id="t", role="user", content="No.", created_at=now())
        known = known.given_up([turn])
        last = turn
    assert len(known.turns) == MOST_KEPT
    assert known.hides(last)
    assert not known.hides(first)
    assert "t5" not in known.model_dump_json()  # forgetting need not look for ids here
