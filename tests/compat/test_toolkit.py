"""The toolkit's names do what its document says."""

from collections.abc import Iterator

import pytest
from scripted_model import ScriptedChat

from agent_memory import Cadence, Memory
from agent_memory.compat.toolkit import MemoryToolkit
from agent_memory.errors import Conflict, InvalidInput
from agent_memory.language.hashing import HashingEmbeddings

QUIET = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


@pytest.fixture
def toolkit() -> Iterator[MemoryToolkit]:
    with Memory.local(chat_model=ScriptedChat(), embedding_model=HashingEmbeddings(), cadence=QUIET) as memory:
        yield MemoryToolkit(memory)


@pytest.mark.req("S1-06", "S1-08")
def test_a_buffered_turn_is_written_by_a_push_and_only_once(toolkit: MemoryToolkit):
    toolkit.create_memory_store()
    first = toolkit.add_local("alice", "t1", "user", "hello", metadata={"tool_name": "x"})
    toolkit.add_local("alice", "t2", "assistant", "hi")
    toolkit.add_local("bob", "t1", "user", "hey")
    assert [turn.content for turn in toolkit.local_memories] == ["hello", "hi", "hey"]
    assert toolkit.get_thread("alice", "t1") == []
    assert toolkit.push_to_cosmos() == 3
    assert toolkit.local_memories == []
    assert toolkit.push_to_cosmos() == 0
    (turn,) = toolkit.get_thread("alice", "t1")
    assert (turn.id, turn.content, turn.metadata) == (first, "hello", {"tool_name": "x"})


@pytest.mark.req("S1-08")
def test_what_a_push_could_not_write_stays_buffered(toolkit: MemoryToolkit):
    toolkit.add_cosmos("alice", "t2", "user", "the first", memory_id="taken")
    toolkit.add_local("alice", "t1", "user", "fine")
    toolkit.add_local("alice", "t2", "user", "another", memory_id="taken")
    with pytest.raises(Conflict):
        toolkit.push_to_cosmos()
    assert [turn.content for turn in toolkit.local_memories] == ["another"]
    assert [turn.content for turn in toolkit.get_thread("alice", "t1")] == ["fine"]


@pytest.mark.req("S1-03", "S1-13", "S1-17", "S1-20", "S1-58")
def test_each_type_is_made_by_its_call_and_read_by_its_name(toolkit: MemoryToolkit):
    for line in ("fact: seat=aisle please", "fact: food=vegan only"):
        toolkit.add_cosmos("alice", "t1", "user", line)
    assert toolkit.extract_facts("alice", "t1").created == 2
    assert toolkit.extract_memories("alice", "t1").created == 0
    summary = toolkit.generate_thread_summary("alice", "t1")
    profile = toolkit.generate_user_summary("alice")
    assert summary is not None
    assert profile is not None
    read = {
        name: [record.content for record in toolkit.get_memories("alice", thread_id="t1", memory_types=[name])]
        for name in ("turn", "fact", "summary", "thread_summary", "procedural")
    }
    assert read == {
        "turn": ["fact: seat=aisle please", "fact: food=vegan only"],
        "fact": ["food=vegan only", "seat=aisle please"],
        "summary": [summary.content],
        "thread_summary": [summary.content],
        "procedural": [],
    }
    assert toolkit.get_memories("alice", memory_types=["user_summary"]) == [profile]
    assert len(toolkit.get_memories("alice")) == 2
    assert toolkit.search_cosmos("vegan food", "alice", memory_types=["fact"])[0].memory.content == "food=vegan only"
    assert toolkit.get_memories("bob") == []


@pytest.mark.req("S1-29", "S1-33", "S1-35")
def test_reconciling_gives_three_counts(toolkit: MemoryToolkit):
    assert toolkit.reconcile_memories("alice") == {"kept": 0, "merged": 0, "contradicted": 0}
    toolkit.add_cosmos("alice", "t1", "user", "fact: seat=aisle please")
    toolkit.add_cosmos("alice", "t1", "user", "fact: seat=window please")
    toolkit.extract_facts("alice", "t1")
    assert toolkit.reconcile_memories("alice", n=10) == {"kept": 1, "merged": 0, "contradicted": 1}
    assert [hit.memory.content for hit in toolkit.search_cosmos("seat", "alice", memory_types=["fact"])] == [
        "seat=window please"
    ]
    audited = toolkit.search_cosmos("seat", "alice", memory_types=["fact"], include_superseded=True)
    assert {hit.memory.content for hit in audited} == {"seat=window please", "seat=aisle please"}


def test_a_scope_is_asked_for_before_anything_is_kept(toolkit: MemoryToolkit):
    with pytest.raises(InvalidInput):
        toolkit.add_local("a/b", "t1", "user", "x")
    assert toolkit.local_memories == []
