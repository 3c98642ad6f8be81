"""One call of a model for facts and summary of the same turns: what it saves, and that it changes nothing else."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.callable_chat import CallableChat
from agent_memory.language.endpoints import ModelRefused
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.language.tasks import In, Out, Task, TaskResult
from agent_memory.models import ProcessResult
from agent_memory.processing.activities import run_workflow
from agent_memory.settings import Environment, Limits, PolicySettings
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
ONE_CALL = replace(NEVER, one_call=True)
BOTH = "extract_and_summarize"
THREAD = {"user_id": "alice", "thread_id": "t"}
LINES = ["fact: home=a house in Lisbon", "what is the weather like?", "howto: to deploy, run make and push"]


def opened(chat: Any, cadence: Cadence = ONE_CALL, **more: Any) -> AsyncMemory:
    return AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=cadence, **more)


@pytest.fixture
async def shared(chat: ScriptedChat) -> AsyncIterator[AsyncMemory]:
    async with opened(chat) as memory:
        await say(memory)
        yield memory


async def say(memory: AsyncMemory, lines: list[str] = LINES, start: int = 0) -> None:
    turns = [
        {
            "id": f"t{start + n}",
            "role": "user",
            "name": "Alice",
            "content": line,
            "created_at": f"2026-05-01T10:{start + n:02d}:00Z",
        }
        for n, line in enumerate(lines)
    ]
    await memory.user("alice").thread("t").add_many(turns)


async def run(memory: AsyncMemory, workflow: str = BOTH) -> list[ProcessResult]:
    return [
        ProcessResult.model_validate(result)
        for result in await run_workflow(workflow, THREAD, memory.runtime.activities)
    ]


async def derived(memory: AsyncMemory) -> tuple[list[tuple[str, ...]], tuple[Any, ...] | None]:
    """The memories and the summary, without what differs from run to run."""
    memories = await memory.user("alice").memories()
    summary = await memory.user("alice").thread("t").summary()
    facts = sorted((one.id, one.content, one.quote or "", *one.source_turn_ids) for one in memories)
    return facts, summary and (summary.content, summary.key_points, summary.turn_count, summary.covers_to)


async def apart(lines: list[str] = LINES) -> tuple[Any, Counter]:
    """What two calls make of it."""
    chat = ScriptedChat()
    async with opened(chat, NEVER) as memory:
        await say(memory, lines)
        await run(memory, "extract")
        await run(memory, "summarize")
        return await derived(memory), chat.calls


async def test_both_are_made_by_one_call_and_are_what_two_calls_make(shared: AsyncMemory, chat: ScriptedChat):
    results = await run(shared)
    assert chat.calls == {BOTH: 1}
    made, calls = await apart()
    assert await derived(shared) == made
    assert calls == {"extract": 1, "summarize": 1}
    assert [(one.step, one.turns) for one in results] == [("index", 3), ("extract", 3), ("summarize", 3)]
    assert sum((one.usage.model_calls for one in results), 0) == 1
    assert await run(shared) == [], "both cursors stand at the end"
    assert chat.calls == {BOTH: 1}


async def test_a_backlog_is_processed_one_call_at_a_time(chat: ScriptedChat):
    lines = [f"fact: key{n}=value number {n}" for n in range(7)]
    async with opened(chat, limits=Limits(batch_turns=3)) as memory:
        await say(memory, lines)
        await run(memory)
        assert chat.calls == {BOTH: 3}
        assert await derived(memory) == (await apart(lines))[0]


async def test_turns_too_long_for_one_call_are_read_portion_by_portion_together(chat: ScriptedChat):
    lines = ["fact: home=Lisbon, in a house by the river", "word " * 400, "fact: pet=a cat that is named Tom"]
    async with opened(chat, limits=Limits(batch_tokens=200)) as memory:
        await say(memory, lines)
        await run(memory)
        assert set(chat.calls) == {BOTH}
        assert len(await memory.user("alice").memories()) == 2
        assert "cat" in (await memory.user("alice").thread("t").summary()).content


@pytest.mark.parametrize("ahead", ["extract", "summarize"])
async def test_where_one_step_is_ahead_each_asks_for_itself(shared: AsyncMemory, chat: ScriptedChat, ahead: str):
    await run(shared, ahead)
    await say(shared, ["fact: pet=a cat that is named Tom"], start=3)
    await run(shared)
    other = "summarize" if ahead == "extract" else "extract"
    assert chat.calls == {ahead: 2, other: 1}
    assert await derived(shared) == (await apart([*LINES, "fact: pet=a cat that is named Tom"]))[0]


@pytest.mark.parametrize("done", ["extract", "summarize"])
async def test_where_only_one_step_is_due_it_alone_asks(shared: AsyncMemory, chat: ScriptedChat, done: str):
    await run(shared, done)
    await run(shared)
    assert chat.calls == {"extract": 1, "summarize": 1}


@pytest.mark.parametrize("commit", [1, 2])
async def test_a_process_that_dies_before_a_commit_loses_nothing_and_does_nothing_twice(
    shared: AsyncMemory, chat: ScriptedChat, commit: int
):
    activities, commits = dict(shared.runtime.activities), 0
    write = activities["commit"]

    async def dying(payload: Any) -> Any:
        nonlocal commits
        commits += 1
        if commits == commit:
            raise KeyboardInterrupt
        return await write(payload)

    with pytest.raises(KeyboardInterrupt):
        await run_workflow(BOTH, THREAD, activities | {"commit": dying})
    await run(shared)
    assert chat.calls == ({BOTH: 2} if commit == 1 else {BOTH: 1, "summarize": 1})
    assert await derived(shared) == (await apart())[0]


async def test_a_refused_shared_answer_is_asked_for_in_two_and_paid_for(shared: AsyncMemory, chat: ScriptedChat):
    refused = ModelError("the model refused", cost={"model_calls": 3, "input_tokens": 30})
    chat.fault = lambda task, call: refused if task == BOTH else None
    results = await run(shared)
    assert chat.calls == {BOTH: 1, "extract": 1, "summarize": 1}
    assert await derived(shared) == (await apart())[0]
    assert sum(one.usage.model_calls for one in results) == 3 + 2
    assert sum(one.usage.input_tokens for one in results) == 30 + 20


@pytest.mark.parametrize(("lost", "asked"), [("extraction", "extract"), ("summary", "summarize")])
async def test_of_a_half_usable_answer_the_good_half_counts(
    shared: AsyncMemory, chat: ScriptedChat, lost: str, asked: str
):
    whole = chat.outputs[BOTH]
    chat.outputs[BOTH] = lambda data: whole(data).model_copy(update={lost: None})
    results = await run(shared)
    assert chat.calls == {BOTH: 1, asked: 1}
    assert await derived(shared) == (await apart())[0]
    assert sum(one.usage.model_calls for one in results) == 2


async def test_turns_without_a_usable_answer_become_a_dead_letter_of_their_step(
    shared: AsyncMemory, chat: ScriptedChat
):
    chat.fault = lambda task, call: ModelError("no JSON in it") if task in (BOTH, "extract") else None
    await run(shared)
    letters = await shared.dead_letters()
    assert [letter.step for letter in letters] == ["extract"] * len(letters)
    assert sorted(turn_id for letter in letters for turn_id in letter.turn_ids) == ["t0", "t1", "t2"]
    chat.fault = None
    for letter in letters:
        await shared.replay(letter.id)
    assert await derived(shared) == (await apart())[0]


async def test_an_unavailable_model_advances_neither_and_is_charged_once(chat: ScriptedChat):
    down = ModelError("busy", retryable=True, retry_after=60, cost={"model_calls": 1, "input_tokens": 10})
    async with opened(chat, policy=PolicySettings(daily_model_calls=50)) as memory:
        await say(memory)
        chat.fault = lambda task, call: down
        with pytest.raises(ModelError, match="busy"):
            await run(memory)
        assert chat.calls == {BOTH: 1}
        (account,) = await memory.runtime.store.query(COUNTER, "SELECT * FROM c WHERE c.type = 'budget'")
        assert account["model_calls"] == 1
        assert await derived(memory) == ([], None)
        chat.fault = None
        await run(memory)
        assert await derived(memory) == (await apart())[0]


async def test_a_service_that_refuses_every_call_is_asked_once_and_says_so(shared: AsyncMemory, chat: ScriptedChat):
    chat.fault = lambda task, call: ModelRefused("the key is wrong", fault="credentials")
    with pytest.raises(ModelRefused, match="the key is wrong"):
        await run(shared)
    assert chat.calls == {BOTH: 1}


async def test_a_step_that_fails_for_now_does_not_hold_up_the_other(shared: AsyncMemory, chat: ScriptedChat):
    busy = ModelError("busy", retryable=True, retry_after=60)
    whole = chat.outputs[BOTH]
    chat.outputs[BOTH] = lambda data: whole(data).model_copy(update={"summary": None})
    chat.fault = lambda task, call: busy if task == "summarize" else None
    with pytest.raises(ModelError, match="busy"):
        await run(shared)
    facts, summary = await derived(shared)
    assert len(facts) == 2
    assert summary is None
    chat.fault = None
    await run(shared)
    assert await derived(shared) == (await apart())[0]
    assert chat.calls[BOTH] == 1


async def test_what_is_forgotten_while_the_model_thinks_is_in_neither(
    shared: AsyncMemory, chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    answer = chat.run

    async def forgetting(task: Task[In, Out], data: In) -> TaskResult[Out]:
        given = await answer(task, data)
        if task.name == BOTH and chat.calls[BOTH] == 1:
            await shared.user("alice").forget("t0")
        return given

    monkeypatch.setattr(chat, "run", forgetting)
    await run(shared)
    store = shared.runtime.store
    for container in (MEMORIES, SUMMARIES):
        left = await store.query(container, "SELECT * FROM c WHERE c.type != 'tombstone'", ("alice",))
        assert "Lisbon" not in json.dumps([{**row, "embedding": None} for row in left])


async def test_the_offline_rules_keep_their_two_answers():
    async with opened(OfflineChat()) as memory:
        assert not memory.runtime.tools.one_call
        await say(memory, ["My name is Ines and I live in Lisbon.", "My budget for the garden is $900."])
        await run(memory)
        facts, summary = await derived(memory)
        assert facts
        assert summary is not None


# --- a model's own words ------------------------------------------------------------------------------------

GOOD = {"type": "fact", "kind": "fact", "content": "Alice has a house in Lisbon", "quote": "a house in Lisbon"}
SUMMARY = {"topic": "home", "key_points": ["Alice has a house in Lisbon."], "decisions": [], "open_issues": []}


class Speaking:
    """A chat function that answers each task with a text, and counts."""

    def __init__(self, **texts: Any) -> None:
        self.texts, self.asked = texts, []

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        system = messages[0]["content"]
        name = BOTH if "`extraction`" in system else "summarize" if "`earlier_state`" in system else "extract"
        self.asked.append(name)
        text = self.texts[name]
        return text if isinstance(text, str) else json.dumps(text)


def extraction(*memories: dict[str, Any]) -> dict[str, Any]:
    return {"worth_extracting": True, "memories": list(memories)}


def summary(**more: Any) -> dict[str, Any]:
    return SUMMARY | {"next_steps": [], "state": []} | more


async def test_facts_of_a_shared_answer_are_grounded_like_those_of_their_own():
    facts = extraction(
        GOOD | {"turns": ["t1"]},
        GOOD | {"turns": ["t9"]},
        GOOD | {"turns": ["t1"], "quote": "a castle in Spain"},
        {"content": "Nothing cited"},
    )
    outcomes = []
    for cadence, workflows in ((NEVER, ["extract", "summarize"]), (ONE_CALL, [BOTH])):
        speaking = Speaking(extract=facts, summarize=summary(), **{BOTH: {"extraction": facts, "summary": summary()}})
        async with opened(CallableChat(speaking), cadence) as memory:
            await say(memory)
            results = [one for name in workflows for one in await run(memory, name)]
            rejected = sorted(line for one in results for line in one.rejected if one.step == "extract")
            outcomes.append((await derived(memory), rejected))
        assert speaking.asked == (["extract", "summarize"] if cadence is NEVER else [BOTH])
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0][0][0]) == 1
    assert len(outcomes[0][1]) == 3


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ({"extraction": extraction(GOOD | {"turns": ["t1"]}), "summary": {"topic": "half"}}, ["summarize"]),
        ({"extraction": {"memories": "none"}, "summary": summary()}, ["extract"]),
        ({"extraction": extraction(GOOD | {"turns": ["t1"]})}, ["summarize"]),
        ([], ["extract", "summarize"]),
        ("I cannot help with that.", ["extract", "summarize"]),
    ],
)
async def test_a_half_that_its_own_task_would_not_take_is_asked_for_alone(text: Any, alone: list[str]):
    own = {"extract": extraction(GOOD | {"turns": ["t1"]}), "summarize": summary()}
    speaking = Speaking(**own, **{BOTH: text})
    async with opened(CallableChat(speaking)) as memory:
        await say(memory)
        await run(memory)
        facts, made = await derived(memory)
        assert len(facts) == 1
        assert made is not None
        assert made[1] == SUMMARY["key_points"]
    assert sorted(set(speaking.asked) - {BOTH}) == alone
    assert len(speaking.asked) <= 3 + 2, "a few attempts at both, one at each"


async def test_an_empty_summary_in_a_shared_answer_does_not_wipe_what_is_there():
    facts = extraction(GOOD | {"turns": ["t1"]})
    empty = {"topic": "", "key_points": [], "decisions": [], "open_issues": [], "next_steps": [], "state": []}
    speaking = Speaking(extract=facts, summarize=summary(), **{BOTH: {"extraction": facts, "summary": summary()}})
    async with opened(CallableChat(speaking)) as memory:
        await say(memory)
        await run(memory)
        speaking.texts |= {BOTH: {"extraction": extraction(), "summary": empty}, "summarize": empty}
        await say(memory, ["and that is that, thank you very much"], start=3)
        await run(memory)
        _, made = await derived(memory)
        assert made is not None
        assert made[1] == SUMMARY["key_points"]
        assert [letter.step for letter in await memory.dead_letters()] == ["summarize"]


# --- where it is asked for ----------------------------------------------------------------------------------


async def test_the_worker_asks_once_when_both_are_due_and_notes_both(chat: ScriptedChat):
    cadence = Cadence(extract=3, summarize=3, profile=0, reconcile=0, idle_seconds=0, one_call=True)
    async with opened(chat, cadence) as memory:
        await say(memory)
        assert await memory.drain(20) == 0
        assert chat.calls == {BOTH: 1}
        counter = await memory.runtime.counters.get("alice", "t")
        assert (counter.done["extract"], counter.done["summarize"]) == (3, 3)


@pytest.mark.parametrize(("cadence", "calls"), [(ONE_CALL, {BOTH: 1}), (NEVER, {"extract": 1, "summarize": 1})])
async def test_the_end_of_a_conversation_asks_as_it_is_set(chat: ScriptedChat, cadence: Cadence, calls: dict[str, int]):
    async with opened(chat, cadence) as memory:
        await say(memory)
        await memory.user("alice").thread("t").end()
        assert {name: chat.calls[name] for name in (BOTH, "extract", "summarize") if chat.calls[name]} == calls


def test_the_environment_switches_it_on(monkeypatch: pytest.MonkeyPatch):
    assert not Environment().cadence.one_call
    assert Environment().local_cadence.one_call
    monkeypatch.setenv("ONE_CALL_FOR_FACTS_AND_SUMMARY", "true")
    assert Environment().cadence.one_call
    monkeypatch.setenv("ONE_CALL_FOR_FACTS_AND_SUMMARY", "false")
    assert not Environment().local_cadence.one_call


async def test_what_one_call_derived_is_not_out_of_date(shared: AsyncMemory, chat: ScriptedChat):
    chat.prompt_version = lambda task: f"{task.name}-1"  # type: ignore[method-assign]
    answer = chat.run

    async def run_with_version(task: Task[In, Out], data: In) -> TaskResult[Out]:
        return replace(await answer(task, data), prompt_version=f"{task.name}-1")

    chat.run = run_with_version  # type: ignore[method-assign]
    await run(shared)
    assert {one.prompt_version for one in await shared.user("alice").memories()} == {f"{BOTH}-1"}
    assert (await shared.user("alice").reprocess()).turns == 0
    assert chat.calls["extract"] == 0
