"""What the document of the Azure Cosmos DB Agent Memory Toolkit states, typed with its names and the default models."""

import asyncio
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memories import NEVER
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence, Memory
from agent_memory.compat.toolkit import MemoryToolkit
from agent_memory.errors import Conflict, InvalidInput
from agent_memory.language.tasks import (
    Contradiction,
    Duplicates,
    ExtractedMemory,
    ExtractInput,
    ExtractOutput,
    ReconcileInput,
    ReconcileOutput,
)
from agent_memory.settings import Environment
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS, container_specs

ROOT = Path(__file__).parents[2]
BASE = {"id", "user_id", "thread_id", "role", "type", "content", "created_at"}
TALK = (
    ("user", "I prefer aisle seats, and I live in Lisbon."),
    ("assistant", "Noted. Shall I book the flight to Porto?"),
    ("user", "Yes, book it. My budget for the trip to Porto is $900."),
)


@pytest.fixture
def toolkit() -> Iterator[MemoryToolkit]:
    with Memory.local(cadence=NEVER) as memory:
        made = MemoryToolkit(memory)
        made.create_memory_store()
        yield made


def tell(toolkit: MemoryToolkit, thread_id: str = "t1", talk: tuple[tuple[str, str], ...] = TALK) -> None:
    for role, content in talk:
        toolkit.add_local("alice", thread_id, role, content)
    toolkit.push_to_cosmos()


async def documents(memory: AsyncMemory, container: str, kind: str) -> list[dict[str, Any]]:
    sql = "SELECT * FROM c WHERE c.type = @type"
    return await memory.runtime.store.query(container, sql, ("alice",), type=kind)


@pytest.mark.req("S1-01", "S1-02", "S1-03", "S1-10", "S1-12", "S1-15", "S1-21", "S1-50", "S1-51", "S1-52")
async def test_every_memory_uses_the_same_base_shape(memory: AsyncMemory):
    alice = memory.user("alice")
    thread = alice.thread("t1")
    await thread.add("user", "I prefer aisle seats.")
    await thread.add("assistant", "Noted.")
    await thread.add("tool", "2 seats", metadata={"tool_name": "seats", "tool_call_id": "call_1"})
    await thread.process("extract")
    await thread.process("summarize")
    await alice.process("profile")
    turns = await documents(memory, TURNS, "turn")
    (fact,) = await documents(memory, MEMORIES, "fact")
    (summary,) = await documents(memory, SUMMARIES, "summary")
    (profile,) = await documents(memory, SUMMARIES, "user_summary")
    assert [turn["role"] for turn in sorted(turns, key=lambda turn: turn["created_at"])] == ["user", "agent", "tool"]
    assert {"tool_name": "seats", "tool_call_id": "call_1"} in [turn["metadata"] for turn in turns]
    for document in (*turns, fact, summary, profile):
        assert set(document) >= BASE
        assert document["created_at"].endswith("Z")
    for artefact in (fact, summary, profile):
        assert artefact["role"] == "system"
        assert len(artefact["embedding"]) == 384
    assert summary["id"] == "summary_alice_t1"
    assert (profile["id"], profile["thread_id"]) == ("user_summary_alice", "__user_summary__")
    assert fact["content_hash"] == hashlib.sha256(fact["content"].lower().encode()).hexdigest()[:32]


@pytest.mark.req("S1-02", "S1-21")
def test_the_four_roles_and_no_other(toolkit: MemoryToolkit):
    for role, stored in {
        "user": "user",
        "agent": "agent",
        "tool": "tool",
        "system": "system",
        "assistant": "agent",
    }.items():
        toolkit.add_cosmos("alice", role, role, "Hello there.")
        assert [turn.role for turn in toolkit.get_thread("alice", role)] == [stored]
    with pytest.raises(InvalidInput):
        toolkit.add_local("alice", "t1", "narrator", "Once upon a time.")


@pytest.mark.req("S1-04", "S1-07")
def test_one_memory_is_written_directly_with_what_it_is_given(toolkit: MemoryToolkit):
    called = {"tool_name": "seats", "tool_call_id": "call_1"}
    id = toolkit.add_cosmos("alice", "t1", "tool", "2 seats", metadata=called, memory_id="turn-1")
    (turn,) = toolkit.get_thread("alice", "t1")
    assert (id, turn.id, turn.content, turn.metadata) == ("turn-1", "turn-1", "2 seats", called)


@pytest.mark.req("S1-06", "S1-08", "S1-61", "S1-62")
def test_what_is_local_is_in_this_process_alone_until_it_is_pushed(toolkit: MemoryToolkit):
    first = toolkit.add_local("alice", "t1", "user", "I prefer aisle seats.", metadata={"tool_name": "x"})
    toolkit.add_local("alice", "t2", "assistant", "hi")
    toolkit.add_local("bob", "t1", "user", "hey")
    assert [turn.content for turn in toolkit.local_memories] == ["I prefer aisle seats.", "hi", "hey"]
    assert toolkit.get_thread("alice", "t1") == []
    assert toolkit.search_cosmos("aisle seats", "alice") == []
    assert toolkit.push_to_cosmos() == 3
    assert toolkit.local_memories == []
    assert toolkit.push_to_cosmos() == 0
    (turn,) = toolkit.get_thread("alice", "t1")
    assert (turn.id, turn.content, turn.metadata) == (first, "I prefer aisle seats.", {"tool_name": "x"})
    toolkit.add_local("alice", "t2", "user", "bye")
    written = list(toolkit._buffer)
    assert toolkit.push_to_cosmos() == 1
    toolkit._buffer = written  # as after a write whose answer was lost
    assert toolkit.push_to_cosmos() == 0


@pytest.mark.req("S1-08")
def test_what_a_push_could_not_write_stays_buffered(toolkit: MemoryToolkit):
    toolkit.add_cosmos("alice", "t2", "user", "the first", memory_id="taken")
    toolkit.add_local("alice", "t1", "user", "fine")
    toolkit.add_local("alice", "t2", "user", "another", memory_id="taken")
    with pytest.raises(Conflict):
        toolkit.push_to_cosmos()
    assert [turn.content for turn in toolkit.local_memories] == ["another"]
    assert [turn.content for turn in toolkit.get_thread("alice", "t1")] == ["fine"]


def test_a_scope_is_asked_for_before_anything_is_kept(toolkit: MemoryToolkit):
    with pytest.raises(InvalidInput):
        toolkit.add_local("a/b", "t1", "user", "x")
    assert toolkit.local_memories == []


@pytest.mark.req("S1-19", "S1-20")
def test_a_thread_gives_its_most_recent_k_oldest_first(toolkit: MemoryToolkit):
    tell(toolkit)
    tell(toolkit, "t2", (("user", "I am allergic to peanuts."),))
    assert [turn.content for turn in toolkit.get_thread("alice", "t1", recent_k=2)] == [line for _, line in TALK[1:]]
    only = toolkit.get_memories("alice", thread_id="t2", memory_types=["turn"])
    assert [turn.content for turn in only] == ["I am allergic to peanuts."]
    assert len(toolkit.get_memories("alice", memory_types=["turn"])) == 4


@pytest.mark.req("S1-05", "S1-09", "S1-10", "S1-12", "S1-13", "S1-14", "S1-15", "S1-17", "S1-23", "S1-58")
def test_the_table_of_short_term_and_long_term_memory(toolkit: MemoryToolkit):
    tell(toolkit)
    assert toolkit.generate_user_summary("alice") is None
    assert toolkit.extract_facts("alice", "t1").created == 3
    summary = toolkit.generate_thread_summary("alice", "t1")
    profile = toolkit.generate_user_summary("alice")
    assert summary is not None
    assert profile is not None
    assert (summary.id, profile.id) == ("summary_alice_t1", "user_summary_alice")
    read = {
        name: [record.content for record in toolkit.get_memories("alice", thread_id="t1", memory_types=[name])]
        for name in ("turn", "summary", "thread_summary", "procedural")
    }
    assert read == {
        "turn": [line for _, line in TALK],
        "summary": [summary.content],
        "thread_summary": [summary.content],
        "procedural": [],
    }
    assert toolkit.get_memories("alice", memory_types=["user_summary"]) == [profile]
    assert len(toolkit.get_memories("alice")) == 3
    assert toolkit.get_memories("bob") == []
    assert "Porto" in summary.content
    assert "I prefer aisle seats" in profile.preferences
    assert any("Lisbon" in line for line in profile.personal)
    hit, *_ = toolkit.search_cosmos("Which seat does she want on a plane?", "alice", memory_types=["fact"])
    assert hit.memory.content == "I prefer aisle seats"
    assert len(toolkit.search_cosmos("aisle seats in Lisbon", "alice")) > 1
    assert len(toolkit.search_cosmos("aisle seats in Lisbon", "alice", top_k=1)) == 1
    said = toolkit.search_cosmos("Which seat does she want on a plane?", "alice", memory_types=["turn"])
    assert "user: I prefer aisle seats, and I live in Lisbon." in said[0].memory.content
    assert {hit.memory.type for hit in said} == {"episodic"}


@pytest.mark.req("S1-23", "S1-24")
def test_a_search_is_hybrid(toolkit: MemoryToolkit):
    flights = [f"The flight to {place} takes {n} hours" for n, place in enumerate(PLACES, 3)]
    for content in (*flights, "Locker: Bramble", "My sister is a pilot with an airline"):
        toolkit._memory.user("alice").remember(content)

    def found(terms: str) -> list[str]:
        return [hit.memory.content for hit in toolkit.search_cosmos(terms, "alice")]

    asked = "How many hours is the flight, said Bramble"
    assert "Locker: Bramble" in found(asked), "by its word: the vectors of all the flights are nearer"
    assert found("Who earns a living in the cockpit?")[0] == "My sister is a pilot with an airline", "by its vector"


PLACES = "Oslo Rome Lima Cairo Delhi Tokyo Seoul Perth Quito Accra Dakar Tunis Sofia Paris Berlin Vienna".split()
PLACES += "Athens Madrid Lisbon Dublin Warsaw Prague Zagreb Tirana Riga Minsk Baku Kabul Hanoi Manila".split()


@pytest.mark.req("S1-11", "S1-16", "S1-25")
def test_summary_and_profile_are_updated_with_what_is_new_alone():
    chat = ScriptedChat()
    with Memory.local(chat_model=chat, cadence=NEVER) as memory:
        toolkit = MemoryToolkit(memory)
        for number, line in enumerate(("fact: seat=aisle on planes", "fact: home=Lisbon, by the river")):
            toolkit.add_cosmos("alice", "t1", "user", line)
            toolkit.extract_facts("alice", "t1")
            first = toolkit.generate_thread_summary("alice", "t1")
            assert [turn.content for turn in chat.seen[-1].turns] == [line]
            assert (chat.seen[-1].earlier is None) == (number == 0)
            toolkit.generate_user_summary("alice")
            assert [fact.content for fact in chat.seen[-1].facts] == [line.removeprefix("fact: ")]
            assert (chat.seen[-1].earlier is None) == (number == 0)
        assert first is not None
        assert first.key_points == ["fact: seat=aisle on planes", "fact: home=Lisbon, by the river"]


@pytest.mark.req("S1-27")
def test_recent_k_restricts_how_much_history_is_processed():
    chat = ScriptedChat()
    with Memory.local(chat_model=chat, cadence=NEVER) as memory:
        toolkit = MemoryToolkit(memory)
        for n in range(6):
            toolkit.add_local("alice", "t1", "user", f"fact: shelf {n}=holds {n} books")
        toolkit.push_to_cosmos()
        assert toolkit.extract_facts("alice", "t1", recent_k=4).created == 4
        summary = toolkit.generate_thread_summary("alice", "t1", recent_k=2)
        profile = toolkit.generate_user_summary("alice", recent_k=3)
        assert summary is not None
        assert profile is not None
        assert summary.key_points == [f"fact: shelf {n}=holds {n} books" for n in (4, 5)]
        assert sorted(profile.personal) == [f"shelf {n}=holds {n} books" for n in (3, 4, 5)]
        assert toolkit.extract_memories("alice", "t1").created == 0
        toolkit.add_cosmos("alice", "t2", "user", "fact: shelf 6=holds 6 books\nfact: shelf 7=holds 7 books")
        toolkit.extract_memories("alice", "t2")
        assert len(toolkit.search_cosmos("shelf", "alice", memory_types=["fact"])) == 5, "six are there"
        again = toolkit.generate_thread_summary("alice", "t1")
        assert again is not None
        assert again.key_points == summary.key_points


FACTS = (
    "The user prefers aisle seats",
    "The user likes to sit on the aisle",
    "The user is vegetarian",
    "The user loves steak",
    "The user lives in Lisbon",
)


def judged(data: ReconcileInput) -> ReconcileOutput:
    """What a model finds in the document's examples."""
    ref = {fact.content: fact.ref for fact in data.facts}
    if "The user is vegetarian" not in ref:
        return ReconcileOutput()
    return ReconcileOutput(
        duplicates=[Duplicates(refs=[ref[FACTS[0]], ref[FACTS[1]]], content="The user prefers aisle seats on planes")],
        contradictions=[Contradiction(refs=[ref[FACTS[2]], ref[FACTS[3]]])],
    )


def all_facts(data: ExtractInput) -> ExtractOutput:
    found = [ExtractedMemory(content=turn.content, quote=turn.content, turns=[turn.ref]) for turn in data.turns]
    return ExtractOutput(memories=found)


@pytest.mark.req("S1-29", "S1-30", "S1-31", "S1-32", "S1-33", "S1-34", "S1-35", "S1-37", "S1-39")
def test_one_pass_settles_the_documents_duplicates_and_contradictions():
    chat = ScriptedChat()
    chat.outputs |= {"reconcile": judged, "extract": all_facts}
    with Memory.local(chat_model=chat, cadence=NEVER) as memory:
        toolkit = MemoryToolkit(memory)
        assert toolkit.reconcile_memories("alice") == {"kept": 0, "merged": 0, "contradicted": 0}
        for fact in FACTS:
            toolkit.add_cosmos("alice", "t1", "user", fact)
            toolkit.extract_memories("alice", "t1")
        toolkit.add_cosmos("alice", "t1", "user", "the  USER lives in lisbon")
        assert toolkit.extract_memories("alice", "t1").exact_dedup_skipped == 1
        assert toolkit.reconcile_memories("alice", n=50) == {"kept": 2, "merged": 2, "contradicted": 1}
        assert chat.calls["reconcile"] == 1
        assert {fact.content for fact in chat.seen[-1].facts} == set(FACTS)
        now = {record.content: record.id for record in toolkit.get_memories("alice", memory_types=["fact"])}
        assert set(now) == {
            "The user prefers aisle seats on planes",
            "The user loves steak",
            "The user lives in Lisbon",
        }
        audit = toolkit.get_memories("alice", memory_types=["fact"], include_superseded=True)
        gone = {
            record.content: (record.supersede_reason, record.superseded_by)
            for record in memory.user("alice").memories(include_superseded=True)
            if record.superseded_by is not None
        }
        merged, winner = now["The user prefers aisle seats on planes"], now["The user loves steak"]
        assert gone == {
            FACTS[0]: ("duplicate", merged),
            FACTS[1]: ("duplicate", merged),
            FACTS[2]: ("contradict", winner),
        }
        assert {record.content for record in audit} == set(now) | set(gone)
        assert not {hit.memory.content for hit in toolkit.search_cosmos("vegetarian", "alice")} & set(gone)
        assert FACTS[2] in {
            hit.memory.content for hit in toolkit.search_cosmos("vegetarian", "alice", include_superseded=True)
        }


@pytest.mark.req("S1-29", "S1-39")
def test_n_bounds_the_candidates_and_they_are_the_most_recent():
    chat = ScriptedChat()
    with Memory.local(chat_model=chat, cadence=NEVER) as memory:
        toolkit = MemoryToolkit(memory)
        for n in range(55):
            toolkit.add_local("alice", "t1", "user", f"fact: shelf {n}=holds {n} books")
        toolkit.push_to_cosmos()
        toolkit.extract_facts("alice", "t1")
        toolkit.reconcile_memories("alice")
        assert len(chat.seen[-1].facts) == 50
        toolkit.reconcile_memories("alice", n=3)
        assert [fact.content for fact in chat.seen[-1].facts] == [f"shelf {n}=holds {n} books" for n in (54, 53, 52)]


@pytest.mark.req("S1-38", "S1-46", "S1-47", "S1-48", "S1-49", "S1-56")
def test_the_tables_of_settings(monkeypatch: pytest.MonkeyPatch):
    names = {
        "THREAD_SUMMARY_EVERY_N": ("summarize", 0),
        "FACT_EXTRACTION_EVERY_N": ("extract", 0),
        "USER_SUMMARY_EVERY_N": ("profile", 0),
        "DEDUP_EVERY_N": ("reconcile", 5),
    }
    for name in (*names, "COSMOS_DB_AUTOSCALE_MAX_RU"):
        monkeypatch.delenv(name, raising=False)
    assert Environment().cosmos_autoscale_max_ru is None
    for name, (step, default) in names.items():
        assert getattr(Environment().cadence, step) == default
        monkeypatch.setenv(name, "7")
        assert getattr(Environment().cadence, step) == 7


@pytest.mark.req("S1-50", "S1-51", "S1-52", "S1-53", "S1-54", "S1-55", "S3-44")
def test_the_table_of_containers():
    scope = ("/user_id", "/thread_id")
    assert {spec.name: spec.partition_key_paths for spec in container_specs()} == {
        "memories": scope,
        "memories_turns": scope,
        "memories_summaries": scope,
        "counter": scope,
        "leases": ("/id",),
    }
    month = 30 * 24 * 3600
    assert {spec.name: spec.default_ttl for spec in container_specs(month)} == {
        "memories": -1,
        "memories_turns": month,
        "memories_summaries": -1,
        "counter": None,
        "leases": None,
    }
    parameters = json.loads((ROOT / "infra/main.parameters.json").read_text())["parameters"]
    assert parameters["turnTtlSeconds"] == {"value": f"${{TURN_TTL_SECONDS={month}}}"}


async def until(done: Any) -> None:
    end = time.monotonic() + 300
    while not await done():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


@pytest.mark.req("S1-42", "S1-43", "S1-45", "S1-48", "S1-49", "S1-59")
async def test_turns_of_all_threads_count_for_the_profile_and_nothing_else_does():
    chat = ScriptedChat()
    cadence = Cadence(extract=1, summarize=0, profile=5, reconcile=0, idle_seconds=0)
    async with AsyncMemory.local(chat_model=chat, cadence=cadence) as memory:
        alice = memory.user("alice")

        async def extracted() -> bool:
            return len(await alice.memories()) == count

        for count in range(1, 5):
            await alice.thread(f"t{count % 2}").add("user", f"fact: shelf {count}=holds {count} books")
            await until(extracted)
        assert chat.calls["profile"] == 0, "four turns, and four facts that do not count"
        await memory.user("bob").thread("t1").add("user", "fact: of another user=counts there")
        await alice.thread("t9").add("user", "fact: shelf 5=holds 5 books")

        async def told() -> bool:
            return await alice.profile() is not None

        await until(told)
        assert chat.calls["profile"] == 1
        assert await memory.user("bob").profile() is None
        (document,) = await documents(memory, SUMMARIES, "user_summary")
        assert (document["id"], document["thread_id"]) == ("user_summary_alice", "__user_summary__")


@pytest.mark.req("S1-43", "S1-46", "S1-49")
async def test_every_five_turns_of_a_thread_make_a_summary():
    chat = ScriptedChat()
    cadence = Cadence(extract=0, summarize=5, profile=0, reconcile=0, idle_seconds=0)
    async with AsyncMemory.local(chat_model=chat, cadence=cadence) as memory:
        alice = memory.user("alice")
        for n in range(4):
            await alice.thread("t1").add("user", f"line {n} of the talk")
            await alice.thread("t2").add("user", f"line {n} of the other talk")
        await alice.thread("t1").add("user", "line 4 of the talk")

        async def summed_up() -> bool:
            return await alice.thread("t1").summary() is not None

        await until(summed_up)
        assert await alice.thread("t2").summary() is None, "eight turns of a user are four of each thread"
        assert chat.calls == {"summarize": 1}
