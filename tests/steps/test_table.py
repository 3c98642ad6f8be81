"""A step is declared once: a step that is put into the table has all that the others have."""

import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import fields, replace
from typing import Any, cast, get_args

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.api.processing import InlineProcessing, step_request, steps_in_urls
from agent_memory.contract.schemas import ProcessQuery
from agent_memory.errors import InvalidInput, ModelError
from agent_memory.language.tasks import CONSOLIDATE, EXTRACT
from agent_memory.models import Memory, ProcessResult, content_hash, now
from agent_memory.processing.activities import activity_names, run_workflow
from agent_memory.processing.due import due_work, enabled_steps, ending_steps, user_steps
from agent_memory.processing.intake import count_turns, due_user_work, mark
from agent_memory.processing.workflows import workflow_names
from agent_memory.scopes import ThreadStep, UserStep
from agent_memory.steps.gather import StepRequest, Tools, TurnRange
from agent_memory.steps.over_turns import over_turns
from agent_memory.steps.step import Draft, Effects, Step
from agent_memory.steps.table import steps
from agent_memory.store.containers import SUMMARIES, TURNS
from agent_memory.store.documents import to_document
from agent_memory.store.ids import derived_id

CADENCE = Cadence(extract=0, summarize=3, profile=0, reconcile=0, idle_seconds=0)
UNSPEAKABLE = ["fail"]
TOY = cast(ThreadStep, "shout")
TOY_OF_USER = cast(UserStep, "brood")


async def derive(tools: Tools, request: StepRequest, found: TurnRange) -> Effects:
    """A memory of each turn, in capitals; a turn with a word that it cannot say is too much for it."""
    if any(word in turn.content for turn in found.turns for word in UNSPEAKABLE):
        raise ModelError("nothing usable")
    made = []
    for turn in found.turns:
        text = turn.content.upper()
        memory = Memory(
            id=derived_id("shout", turn.id),
            user_id=turn.user_id,
            thread_id=turn.thread_id,
            type="fact",
            content=text,
            source="user",
            source_turn_ids=[turn.id],
            created_at=turn.created_at,
            recorded_at=now(),
            content_hash=content_hash(text),
            embedding_model=tools.embeddings.model_id,
        )
        made.append(memory)
    embedded = await tools.embeddings.embed([one.content for one in made])
    return Effects(
        result=ProcessResult(step="shout", created=len(made), usage=embedded.usage),
        create=[to_document(one, vector) for one, vector in zip(made, embedded.vectors, strict=True)],
    )


async def brood(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Finds one thing in each memory that was not counted yet; fails if a memory says so."""

    async def read(stored: Any) -> list[str]:
        rows = await tools.store.query("memories", 'SELECT VALUE c.content FROM c WHERE c.type = "fact"', ("alice",))
        return [] if stored.extra.get("seen") == len(rows) else rows

    stored, found = await step.read_ahead(tools, request, read)
    if not found:
        return None
    if any("GLOOM" in content for content in found):
        raise ModelError("nothing usable")
    effects = Effects(result=ProcessResult(step=step.name, counts={"brooded": len(found)}))
    return step.draft(request, stored, effects, extra={"seen": len(found)})


SHOUT = Step(
    name="shout",
    scope="thread",
    think=over_turns(derive),
    runs="counted",
    cadence="summarize",
    task=EXTRACT,
    first=("index",),
    options=frozenset({"recent_k"}),
    aliases=("loud",),
)
BROOD = Step(
    name="brood",
    scope="user",
    think=brood,
    container=SUMMARIES,
    user_thread="__brood__",
    runs="counted",
    cadence="profile",
    task=CONSOLIDATE,
    in_pieces=False,
)


@pytest.fixture
async def memory(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncMemory]:
    """A memory with both toys in the table, in which nothing else is due by itself but the summary."""
    monkeypatch.setitem(steps(), "shout", SHOUT)
    monkeypatch.setitem(steps(), "brood", BROOD)
    async with AsyncMemory.local(
        chat_model=ScriptedChat(), cadence=Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    ) as opened:
        yield opened


async def shouted(memory: AsyncMemory) -> set[str]:
    return {one.content for one in await memory.user("alice").memories()}


def said(*lines: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": line, "id": f"{n}-{len(line)}"} for n, line in enumerate(lines)]


async def test_a_new_step_runs_by_its_name(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(said("the cat is called tom", "the dog is called rex"))
    result = await thread.process(TOY)
    assert (result.step, result.turns, result.created) == ("shout", 2, 2)
    assert await shouted(memory) == {"THE CAT IS CALLED TOM", "THE DOG IS CALLED REX"}
    assert (await thread.process(TOY)).turns == 0, "its cursor has covered them"
    found = await memory.user("alice").search("cat", types=["vector"])
    assert found, "the step that it names as the first was run ahead of it"
    assert (await memory.user("alice").process(TOY_OF_USER)).counts == {"brooded": 2}
    assert (await memory.user("alice").process(TOY_OF_USER)).counts == {}


async def test_a_new_step_takes_its_options_and_no_others(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(said("one of them", "two of them", "three of them"))
    with pytest.raises(InvalidInput, match="shout knows no retired"):
        await thread.process(TOY, retired=True)
    with pytest.raises(InvalidInput, match="brood knows no recent_k"):
        await memory.user("alice").process(TOY_OF_USER, recent_k=1)
    with pytest.raises(InvalidInput, match=r"a user's steps are .*brood, not 'shout'"):
        await memory.user("alice").process(cast(UserStep, "shout"))
    assert (await thread.process(TOY, recent_k=1)).created == 1


async def test_a_new_step_is_known_to_http(memory: AsyncMemory):
    await memory.user("alice").thread("t1").add_many(said("the cat is called tom"))
    assert steps_in_urls()["loud"] == "shout"
    with pytest.raises(InvalidInput, match="shout needs a thread_id"):
        step_request(memory.runtime, "alice", "shout", ProcessQuery())
    with pytest.raises(InvalidInput, match="leave out thread_id"):
        step_request(memory.runtime, "alice", "brood", ProcessQuery(thread_id="t1"))
    run = await InlineProcessing(memory.runtime).start("alice", "shout", ProcessQuery(thread_id="t1"))
    assert (run.status, run.result and run.result.created) == ("completed", 1)


async def test_a_new_step_is_due_by_the_cadence_that_it_names(memory: AsyncMemory):
    cadence = replace(CADENCE, profile=3)
    assert enabled_steps(cadence) == ("summarize", "shout", "user")
    assert (ending_steps(cadence), user_steps(cadence)) == (["summarize", "shout"], ["profile", "brood"])
    await memory.user("alice").thread("t1").add_many(said("the cat", "the dog", "the horse"))
    runtime = memory.runtime
    counters = type(runtime.counters)(runtime.store, enabled_steps(cadence))
    touched = await count_turns(runtime.tools, counters, await runtime.store.query(TURNS, "SELECT * FROM c"))
    assert touched[0].pending == 3, "status tells of turns that wait for it"
    due = due_work(touched, cadence)
    assert [work.workflow for work in due] == ["summarize", "shout"]
    for work in due:
        await run_workflow(work.workflow, work.request, runtime.activities)
        await mark(counters, work)
    assert await shouted(memory) == {"THE CAT", "THE DOG", "THE HORSE"}
    assert due_work([await counters.get("alice", "t1")], cadence) == []
    of_user = await due_user_work(runtime.tools, counters, cadence, "alice")
    assert [work.workflow for work in of_user] == ["profile", "brood"]
    for work in of_user:
        await mark(counters, work)
    assert await due_user_work(runtime.tools, counters, cadence, "alice") == []


async def test_a_new_step_is_run_in_the_background_and_at_the_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(steps(), "shout", SHOUT)
    async with AsyncMemory.local(chat_model=ScriptedChat(), cadence=CADENCE) as memory:
        await memory.user("alice").thread("t1").add_many(said("the cat"))
        assert await memory.drain() == 0
        assert await shouted(memory) == {"THE CAT"}
        await memory.user("alice").thread("t1").add("user", "the dog")
        await memory.user("alice").thread("t1").end()
        assert "THE DOG" in await shouted(memory)


async def test_what_a_new_step_gives_up_on_is_a_dead_letter_that_can_be_replayed(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(said("fail, please"))
    assert (await thread.process(TOY)).dead_letters == 1
    (letter,) = await memory.dead_letters()
    assert (letter.step, letter.thread_id) == ("shout", "t1")
    health = await memory.health()
    assert health.dead_letters == 1
    assert any("of shout: nothing usable" in warning for warning in health.warnings)
    with pytest.raises(ModelError):
        await memory.replay(letter.id)
    monkeypatch.setattr(sys.modules[__name__], "UNSPEAKABLE", [])
    assert (await memory.replay(letter.id)).created == 1
    assert await memory.dead_letters() == []


async def test_a_failure_over_a_users_memories_is_kept_where_the_step_commits(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("t1").add_many(said("gloom"))
    await alice.thread("t1").process(TOY)
    with pytest.raises(ModelError):
        await alice.process(TOY_OF_USER)
    (letter,) = await memory.dead_letters()
    assert (letter.step, letter.thread_id) == ("brood", "__brood__")
    rows = await memory.runtime.store.query(SUMMARIES, "SELECT * FROM c", ("alice", "__brood__"))
    assert {row["type"] for row in rows} == {"cursor", "dead_letter"}
    (fact,) = await alice.memories()
    await alice.forget(fact.id)
    await alice.thread("t2").add_many(said("joy"))
    await alice.thread("t2").process(TOY)
    await alice.process(TOY_OF_USER)
    assert await memory.dead_letters() == []


def test_the_function_app_has_functions_for_a_new_step(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(steps(), "shout", SHOUT)
    assert "shout" in workflow_names()
    assert "shout.think" in activity_names()


def test_every_step_names_fields_that_there_are():
    of_cadence, of_request = {one.name for one in fields(Cadence)}, set(StepRequest.model_fields)
    for name, step in steps().items():
        assert step.name == name
        assert step.cadence in of_cadence | {""}
        assert step.options <= of_request
        assert set(step.first) <= set(steps())
        assert set(step.then) <= set(workflow_names())
    for scope, names in (("thread", ThreadStep), ("user", UserStep)):
        assert {steps()[name].scope for name in get_args(names)} == {scope}


def test_the_names_alone_load_no_step():
    code = """
import sys
from agent_memory.steps.table import ThreadStep
assert ThreadStep
print([name for name in sys.modules if name.startswith(("azure", "pydantic", "agent_memory.store"))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
