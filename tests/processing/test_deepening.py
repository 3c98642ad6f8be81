"""Merged facts, procedures of several conversations, insights: what they rest on, and when they go."""

import asyncio
import math
from datetime import UTC, datetime, timedelta

import pytest
from memories import fact, opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.calibration import calibration_of
from agent_memory.errors import InvalidInput, ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import (
    Conclusion,
    ConsolidateInput,
    ConsolidateOutput,
    ExtractInput,
    ExtractOutput,
    Insight,
    ReflectInput,
    ReflectOutput,
    SynthesizeInput,
    SynthesizeOutput,
)
from agent_memory.models import Memory, iso
from agent_memory.settings import Limits
from agent_memory.steps.over_memories import Known, alike
from agent_memory.store.containers import MEMORIES

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


def _extract(data: ExtractInput) -> ExtractOutput:
    """Lines that begin with `fact:` are facts, with `howto:` procedures, whoever says them."""
    kinds = {"fact": "fact", "howto": "procedural"}
    lines = [(turn.ref, line, *line.partition(": ")[::2]) for turn in data.turns for line in turn.content.splitlines()]
    return ExtractOutput.model_validate(
        {
            "memories": [
                {"type": kinds[kind], "content": text, "quote": line, "turns": [ref]}
                for ref, line, kind, text in lines
                if kind in kinds
            ]
        }
    )


def _consolidate(data: ConsolidateInput) -> ConsolidateOutput:
    return ConsolidateOutput(
        merged=[
            Conclusion(refs=[fact.ref for fact in group.facts], content=" + ".join(f.content for f in group.facts))
            for group in data.groups
        ]
    )


def _synthesize(data: SynthesizeInput) -> SynthesizeOutput:
    return SynthesizeOutput(
        procedures=[
            Conclusion(refs=[fact.ref for fact in group.facts], content=f"In all: {group.facts[-1].content}")
            for group in data.groups
        ]
    )


def _reflect(data: ReflectInput) -> ReflectOutput:
    """One lesson, of all memories that tell of trouble."""
    refs = [memory.ref for memory in data.memories if "trouble" in memory.content]
    content = f"Trouble, {len(refs)} times"
    return ReflectOutput(
        insights=[Insight(kind="lesson", content=content, refs=refs, replaces=[r.ref for r in data.earlier])]
        if len(refs) > 1
        else []
    )


@pytest.fixture
def chat() -> ScriptedChat:
    scripted = ScriptedChat()
    scripted.outputs |= {
        "extract": _extract,
        "consolidate": _consolidate,
        "synthesize": _synthesize,
        "reflect": _reflect,
    }
    return scripted


async def say(memory: AsyncMemory, thread: str, *lines: str, day: int = 0, role: str = "user") -> list[str]:
    chat = memory.user("alice").thread(thread)
    turns = [
        {"role": role, "content": line, "created_at": MARCH + timedelta(days=day, minutes=n)}
        for n, line in enumerate(lines)
    ]
    ids = (await chat.add_many(turns)).ids
    await chat.process("extract")
    return ids


async def active(memory: AsyncMemory, kind: str) -> list[Memory]:
    return await memory.user("alice").memories(types=[kind])


async def everything(memory: AsyncMemory) -> dict[str, Memory]:
    return {one.id: one for one in await memory.user("alice").memories(include_superseded=True)}


TRIP = [
    f"fact: the Hawaii summer vacation trip has {what}"
    for what in ("a budget", "a hotel", "a car", "a surf lesson", "a flight")
]
HOW = ["howto: to deploy payment service run npm build then docker push", "howto: deploy payment service: docker push"]


@pytest.mark.req("S0-066")
async def test_many_facts_about_one_thing_become_one_that_names_them(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    turns = await say(memory, "t1", *TRIP[:3]) + await say(memory, "t2", *TRIP[3:], "fact: my cat is ill", day=3)
    before = {one.id for one in await active(memory, "fact") if "trip" in one.content}
    result = await alice.process("consolidate")
    assert result.counts == {"groups": 1, "consolidated": 5}
    assert (result.created, result.superseded, result.usage.model_calls) == (1, 5, 1)
    merged, cat = sorted(await active(memory, "fact"), key=lambda one: one.content, reverse=True)
    assert cat.content == "my cat is ill"
    assert set(merged.source_ids) == set(merged.supersedes_ids) == before
    assert merged.source_turn_ids == turns[:5]
    assert (merged.valid_from, merged.created_at) == (MARCH, MARCH + timedelta(days=3, minutes=1))
    assert (merged.model, merged.prompt_version, merged.status) == ("scripted", "script-1", "active")
    found = await alice.why(merged.id)
    assert [turn.id for turn in found.turns] == turns[:5]
    assert {one.supersede_reason for one in found.replaced} == {"duplicate"}
    assert {one.id for one in found.sources} == before
    assert (await alice.search("Hawaii trip", types=["fact"]))[0].memory.id == merged.id
    await alice.process("consolidate")
    assert chat.calls["consolidate"] == 1  # nothing new to look at


async def test_few_facts_or_pinned_or_given_by_hand_are_left_alone(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await say(memory, "t1", *TRIP[:4])
    await alice.remember(TRIP[4].removeprefix("fact: "))
    assert (await alice.process("consolidate")).created == 0
    await say(memory, "t1", "fact: the Hawaii summer vacation trip has a dog")
    (dog,) = [one for one in await active(memory, "fact") if "dog" in one.content]
    await alice.update(dog.id, pinned=True)
    assert (await alice.process("consolidate")).created == 0
    assert chat.calls["consolidate"] == 0


async def test_a_fact_that_has_ceased_to_hold_is_not_merged_with_those_that_hold(memory: AsyncMemory):
    await say(memory, "t1", *TRIP)
    ended = (await active(memory, "fact"))[0]
    await memory.runtime.store.patch(MEMORIES, ended.id, ("alice", "t1"), {"valid_to": iso(MARCH)}, "FROM c WHERE true")
    assert (await memory.user("alice").process("consolidate")).created == 0


async def test_a_merged_fact_is_as_sure_as_the_least_sure_and_ascribed_only_to_who_said_all(memory: AsyncMemory):
    for name, lines in (("ann", TRIP[:3]), ("bob", TRIP[3:])):
        thread = memory.group("team", member=name).thread("t1")
        await thread.add_many([{"role": "user", "content": line} for line in lines])
        await thread.process("extract")
    team = memory.group("team")
    least = (await team.memories(types=["fact"]))[-1]
    place = (least.user_id, least.thread_id)
    await memory.runtime.store.patch(MEMORIES, least.id, place, {"confidence": 0.4}, "FROM c WHERE true")
    assert (await team.process("consolidate")).superseded == 5
    (merged,) = await team.memories(types=["fact"])
    assert (merged.confidence, merged.contributor_id) == (0.4, None)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("type", "procedural", "not a fact"),
        ("superseded_by", "fact_2", "has taken its place"),
        ("pinned", True, "pinned"),
        ("data", {"seats": 2}, "has data"),
        ("status", "candidate", "waits for review"),
        ("source", "agent", "does not come from the user"),
    ],
)
async def test_a_memory_that_is_to_stay_as_it_is_is_not_merged_by_its_id(
    memory: AsyncMemory, chat: ScriptedChat, field: str, value: object, why: str
):
    await say(memory, "t1", *TRIP[:2])
    ids = [one.id for one in await active(memory, "fact")]
    await memory.runtime.store.patch(MEMORIES, ids[0], ("alice", "t1"), {field: value}, "FROM c WHERE true")
    with pytest.raises(InvalidInput, match=f"{ids[0]} cannot be merged: .*{why}"):
        await memory.user("alice").process("consolidate", memory_ids=ids)
    assert chat.calls["consolidate"] == 0


async def test_an_answer_that_merges_nothing_is_not_asked_for_again(memory: AsyncMemory, chat: ScriptedChat):
    chat.outputs["consolidate"] = lambda data: ConsolidateOutput()
    await say(memory, "t1", *TRIP)
    for _ in range(2):
        assert (await memory.user("alice").process("consolidate")).created == 0
    assert chat.calls["consolidate"] == 1
    assert len(await active(memory, "fact")) == 5


async def test_facts_that_are_named_are_merged_though_an_answer_had_left_them_apart(
    memory: AsyncMemory, chat: ScriptedChat
):
    merges = chat.outputs["consolidate"]
    chat.outputs["consolidate"] = lambda data: ConsolidateOutput()
    await say(memory, "t1", *TRIP)
    await memory.user("alice").process("consolidate")
    chat.outputs["consolidate"] = merges
    ids = [one.id for one in await active(memory, "fact")]
    assert (await memory.user("alice").process("consolidate", memory_ids=ids)).superseded == 5


async def test_one_run_merges_at_most_four_groups(chat: ScriptedChat):
    topics = (
        "Hawaii summer vacation",
        "garden pond fence",
        "piano recital evening",
        "income tax return",
        "guide dog puppy",
    )
    async with opened(chat, limits=Limits(merge_from=2)) as memory:
        for topic in topics:
            await say(memory, topic.split()[0], f"fact: the {topic} has a plan", f"fact: the {topic} has a date")
        results = [await memory.user("alice").process("consolidate") for _ in range(2)]
    assert [one.counts["groups"] for one in results] == [4, 1]


async def test_a_group_holds_only_memories_of_which_each_is_like_every_other():
    model = HashingEmbeddings().model_id
    apart = 0.8 * math.acos(calibration_of(model).topic)
    known = [
        Known(fact(str(number), MARCH + timedelta(days=number)), [math.cos(number * apart), math.sin(number * apart)])
        for number in range(3)
    ]
    assert [[one.id for one in group] for group in await alike(known, model, 1)] == [["0", "1"], ["2"]]


@pytest.mark.req("S0-018")
async def test_a_procedure_is_put_together_from_several_conversations(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await say(memory, "t1", HOW[0])
    assert (await alice.process("synthesize")).created == 0
    await say(memory, "t2", HOW[1], day=2)
    sources = {one.id for one in await active(memory, "procedural")}
    assert (await alice.process("synthesize")).counts == {"procedures": 1, "updated": 0, "revoked": 0}
    (made,) = [one for one in await active(memory, "procedural") if one.kind == "synthesized"]
    assert (set(made.source_ids), made.source, made.status) == (sources, "user", "active")
    assert made.thread_id == "__procedural__"
    assert len(await active(memory, "procedural")) == 3  # the how-tos stay
    assert {turn.thread_id for turn in (await alice.why(made.id)).turns} == {"t1", "t2"}
    await alice.process("synthesize")
    assert chat.calls["synthesize"] == 1


async def test_a_procedure_follows_its_sources(memory: AsyncMemory):
    alice = memory.user("alice")
    await say(memory, "t1", HOW[0])
    await say(memory, "t2", HOW[1], day=2)
    await alice.process("synthesize")
    (first,) = [one for one in await active(memory, "procedural") if one.kind == "synthesized"]
    await say(memory, "t3", "howto: deploy payment service: docker push, then restart", day=4)
    assert (await alice.process("synthesize")).counts == {"procedures": 1, "updated": 1, "revoked": 0}
    (second,) = [one for one in await active(memory, "procedural") if one.kind == "synthesized"]
    old = (await everything(memory))[first.id]
    assert (old.superseded_by, old.supersede_reason) == (second.id, "update")
    other = {"t1": "water the roses at dawn", "t2": "file taxes before May", "t3": "call grandmother on Sundays"}
    for one in await active(memory, "procedural"):
        if one.thread_id in other:
            await alice.update(one.id, content=other[one.thread_id])
    assert (await alice.process("synthesize")).counts == {"procedures": 0, "updated": 0, "revoked": 1}
    gone = (await everything(memory))[second.id]
    assert (gone.superseded_by, gone.supersede_reason) == ("__nobody__", "revoked")


@pytest.mark.parametrize("role", ["agent", "tool"])
async def test_nothing_that_an_agent_or_a_tool_said_becomes_an_instruction(memory: AsyncMemory, role: str):
    alice = memory.user("alice")
    await say(memory, "t1", HOW[0])
    await say(memory, "t2", HOW[1], role=role)
    assert (await alice.process("synthesize")).created == 0  # it waits for review, and is no source
    assert {one.source for one in await active(memory, "procedural")} == {"user"}


async def test_a_procedure_that_rests_on_an_import_waits_for_review(memory: AsyncMemory):
    alice = memory.user("alice")
    await say(memory, "t1", HOW[0])
    await say(memory, "t2", HOW[1])
    imported = (await active(memory, "procedural"))[0]
    await memory.runtime.store.patch(
        "memories", imported.id, ("alice", imported.thread_id), {"source": "imported"}, "FROM c WHERE true"
    )
    assert (await alice.process("synthesize")).created == 1
    rows = await memory.runtime.store.query("memories", 'SELECT c.status FROM c WHERE c.kind = "synthesized"')
    assert [row["status"] for row in rows] == ["candidate"]
    assert not [one for one in await active(memory, "procedural") if one.kind == "synthesized"]


async def test_of_the_procedures_that_wait_for_review_the_newest_replaces_those_before(memory: AsyncMemory):
    alice, store = memory.user("alice"), memory.runtime.store
    await say(memory, "t1", HOW[0])
    await say(memory, "t2", HOW[1])
    imported = (await active(memory, "procedural"))[0]
    place = ("alice", imported.thread_id)
    await store.patch(MEMORIES, imported.id, place, {"source": "imported"}, "FROM c WHERE true")
    await alice.process("synthesize")
    (first,) = await alice.review()
    await say(memory, "t3", "howto: deploy payment service: docker push, then restart", day=4)
    result = await alice.process("synthesize")
    assert (result.counts, result.superseded) == ({"procedures": 1, "updated": 1, "revoked": 0}, 1)
    (second,) = await alice.review()
    old = await store.read(MEMORIES, first.id, ("alice", first.thread_id))
    assert old is not None
    assert (old["superseded_by"], old["supersede_reason"]) == (second.id, "update")


async def test_a_procedure_that_lost_a_source_goes_though_only_one_that_waits_for_review_follows(memory: AsyncMemory):
    alice = memory.user("alice")
    await say(memory, "t1", HOW[0])
    await say(memory, "t2", HOW[1])
    await alice.process("synthesize")
    known = {one.kind or one.thread_id: one for one in await active(memory, "procedural")}
    await say(memory, "t3", "howto: deploy payment service: docker push, then restart")
    (third,) = [one for one in await active(memory, "procedural") if one.thread_id == "t3"]
    changes = {"source": "imported"}
    await memory.runtime.store.patch(MEMORIES, third.id, ("alice", "t3"), changes, "FROM c WHERE true")
    await alice.update(known["t1"].id, content="to deploy payment service run npm build and then docker push")
    assert (await alice.process("synthesize")).counts == {"procedures": 1, "updated": 0, "revoked": 1}
    gone = (await everything(memory))[known["synthesized"].id]
    assert (gone.superseded_by, gone.supersede_reason) == ("__nobody__", "revoked")


@pytest.mark.req("S0-067", "S0-020")
async def test_insights_list_their_evidence_and_are_brought_up_to_date(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: trouble with port 8080", "fact: my cat is ill today")
    assert (await alice.process("reflect")).created == 0
    await say(memory, "t2", "fact: again trouble with a port", day=1)
    assert (await alice.process("reflect")).counts == {"insights": 1, "updated": 0, "revoked": 0}
    (lesson,) = await active(memory, "reflection")
    assert (lesson.type, lesson.kind, lesson.content) == ("reflection", "lesson", "Trouble, 2 times")
    evidence = {one.id for one in await active(memory, "fact") if "trouble" in one.content}
    assert set(lesson.source_ids) == evidence
    assert {one.id for one in (await alice.why(lesson.id)).sources} == evidence
    calls = chat.calls["reflect"]
    await alice.process("reflect")
    assert chat.calls["reflect"] == calls
    await say(memory, "t3", "fact: more trouble with the port", day=2)
    assert (await alice.process("reflect")).counts == {"insights": 1, "updated": 1, "revoked": 0}
    (lesson,) = await active(memory, "reflection")
    assert lesson.content == "Trouble, 3 times"
    assert [one.content for one in await alice.history(lesson.id)] == ["Trouble, 2 times", "Trouble, 3 times"]


async def test_an_insight_goes_with_its_evidence(memory: AsyncMemory):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: trouble with port 8080", "fact: trouble with a printer")
    await alice.process("reflect")
    (lesson,) = await active(memory, "reflection")
    for one in await active(memory, "fact"):
        await alice.update(one.id, content=f"all is well with the {one.content[-7:]}")
    assert (await alice.process("reflect")).counts["revoked"] == 1
    assert await active(memory, "reflection") == []
    assert (await everything(memory))[lesson.id].supersede_reason == "revoked"


async def test_what_is_set_aside_for_review_is_never_reflected_on(memory: AsyncMemory, chat: ScriptedChat):
    await say(memory, "t1", "fact: trouble with port 8080", "fact: trouble with a printer", "fact: my cat is ill today")
    aside = next(one for one in await active(memory, "fact") if "printer" in one.content)
    await memory.runtime.store.patch(
        "memories", aside.id, ("alice", "t1"), {"status": "quarantined"}, "FROM c WHERE true"
    )
    assert (await memory.user("alice").process("reflect")).created == 0
    assert {view.content for view in chat.seen[-1].memories} == {"trouble with port 8080", "my cat is ill today"}


async def test_a_model_that_gives_nothing_usable_changes_nothing(memory: AsyncMemory, chat: ScriptedChat):
    await say(memory, "t1", *TRIP)
    before = await everything(memory)
    chat.fault = lambda task, call: ModelError("no JSON in it")
    for step in ("consolidate", "reflect"):
        with pytest.raises(ModelError):
            await memory.user("alice").process(step)  # type: ignore[arg-type]
    assert await everything(memory) == before
    with pytest.raises(InvalidInput, match="consolidate, synthesize, reflect, prune"):
        await memory.user("alice").process("dream")  # type: ignore[arg-type]


async def test_deepening_is_due_by_extractions_and_once_for_each_crossing(chat: ScriptedChat):
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0, deepen=2, idle_seconds=0)
    async with opened(chat, cadence=cadence, limits=Limits(batch_turns=1)) as memory:
        turns = memory.user("alice").thread("t1")
        await turns.add_many([{"role": "user", "content": f"fact: trouble number {n} of many"} for n in range(2)])
        for _ in range(500):
            if await active(memory, "reflection"):
                break
            await asyncio.sleep(0.02)
        assert chat.calls["reflect"] == 1
        await turns.add("user", "Nothing new is to be told today.")
        assert await memory.drain(timeout=300) == 0
        assert chat.calls["reflect"] == 1
