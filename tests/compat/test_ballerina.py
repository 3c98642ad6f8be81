"""The names and defaults of Ballerina AI's memory framework do what its document says."""

from collections.abc import Iterator

import pytest
from scripted_model import ScriptedChat

from agent_memory import Cadence, Memory
from agent_memory.compat.ballerina import (
    AgentMemory,
    ExtractiveMemory,
    FlushToLTMConfiguration,
    MemoryContent,
    MemoryError,
    StaticMemory,
    STMSummarizeConfiguration,
    TrimLastMessagesConfiguration,
    VectorMemory,
)
from agent_memory.compat.ballerina import Memory as MemoryInterface
from agent_memory.language.hashing import HashingEmbeddings

QUIET = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
FACTS = [
    {"id": "fact1", "content": "The capital of France is Paris."},
    {"id": "fact2", "content": "The tallest mountain in the world is Mount Everest."},
]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.local(chat_model=ScriptedChat(), embedding_model=HashingEmbeddings(), cadence=QUIET) as opened:
        yield opened


@pytest.mark.req("S4-31", "S4-32", "S4-33", "S4-34", "S4-35", "S4-36")
def test_the_configurations_have_the_documents_defaults():
    assert STMSummarizeConfiguration() == STMSummarizeConfiguration(summary_message_count=2, max_summary_tokens=None)
    assert TrimLastMessagesConfiguration().max_memory_tokens == 500
    flush = FlushToLTMConfiguration()
    assert (flush.max_stm_token_ratio, list(flush.lt_memory_blocks)) == (0.5, [])
    assert flush.is_persist_memory_inserted_into_the_system_prompt is False


@pytest.mark.req("S4-24", "S4-30", "S4-40", "S4-25", "S4-16")
def test_without_more_the_agents_memory_summarizes_at_100_000_tokens(memory: Memory):
    sarah = memory.user("sarah")
    assert AgentMemory(sarah).limit == 100_000
    agent_memory = AgentMemory(sarah, STMSummarizeConfiguration(10, max_summary_tokens=500), 400)
    for number in range(14):
        agent_memory.update("s1", {"role": "user", "content": f"message {number} " + "word " * 30})
    content = agent_memory.get("s1", {"role": "user", "content": "and now?"})
    assert isinstance(content, MemoryContent)
    assert content.chat_messages[0].role == "user"
    assert content.chat_messages[0].content.startswith("CONVERSATION SUMMARY: ")
    assert content.chat_messages[-1].content.startswith("message 13")


@pytest.mark.req("S4-21", "S4-22", "S4-23", "S4-26", "S4-38", "S4-14", "S4-20")
def test_the_example_with_three_blocks_runs(memory: Memory):
    sarah = memory.user("sarah")
    blocks = [StaticMemory(memory.static, FACTS), ExtractiveMemory(sarah), VectorMemory(sarah)]
    assert all(isinstance(block, MemoryInterface) for block in blocks)
    config = FlushToLTMConfiguration(max_stm_token_ratio=0.8, lt_memory_blocks=blocks)
    agent_memory = AgentMemory(sarah, config, 500)
    assert agent_memory.limit == 400
    agent_memory.update("s1", {"role": "user", "content": "fact: department=Marketing team"})
    for number in range(13):
        agent_memory.update("s1", {"role": "assistant", "content": f"reply {number} " + "word " * 30})
    content = agent_memory.get("s2", {"role": "user", "content": "Which department, Marketing? And France's capital?"})
    assert [fact.id for fact in content.static_facts] == ["fact1"]
    assert [fact.content for fact in content.extracted_facts] == ["department=Marketing team"]
    assert content.vector_matches[0].memory.content.endswith("fact: department=Marketing team")
    assert content.chat_messages == []
    agent_memory.delete("s1")
    assert agent_memory.get("s1", {"role": "user", "content": "Marketing"}).extracted_facts == []


@pytest.mark.req("S4-36", "S4-08")
def test_trimming_leaves_500_tokens(memory: Memory):
    agent_memory = AgentMemory(memory.user("sarah"), TrimLastMessagesConfiguration(), 1000)
    for number in range(12):
        agent_memory.update("s1", {"role": "user", "content": f"{number} " + "word " * 90})
    left = agent_memory.tokens("s1")
    assert 300 < left <= 1000
    assert len(agent_memory.get("s1").chat_messages) < 12


@pytest.mark.req("S4-44", "S4-48", "S4-49")
def test_every_error_is_a_memory_error(memory: Memory):
    block = StaticMemory(memory.static, FACTS)
    with pytest.raises(MemoryError, match="Static memory does not support delete operation"):
        block.delete("s1")
    with pytest.raises(MemoryError, match="Static memory does not support update operation"):
        block.update("s1", {"role": "user", "content": "x"})
    with pytest.raises(MemoryError):
        AgentMemory(memory.user("sarah")).update("s1", {"role": "wizard", "content": "x"})
