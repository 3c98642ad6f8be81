"""The names and defaults of Ballerina AI's memory framework do what its document says."""

import json
from collections.abc import Iterator

import pytest
from scripted_model import ScriptedChat

from agent_memory import Cadence, Memory
from agent_memory.compat.ballerina import (
    Agent,
    AgentMemory,
    ExtractiveMemory,
    MemoryError,
    StaticMemory,
    STMSummarizeConfiguration,
    VectorMemory,
)
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


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.mark.req("S4-62", "S4-50")
def test_a_fact_may_be_any_data(memory: Memory):
    given = [
        {"key": "name", "value": "BI Copilot"},
        {"key": "role", "value": "Programming Assistant"},
        "The office closes at six.",
        ["Monday", "Tuesday"],
    ]
    block = StaticMemory(facts=given, fact_store=memory.static)
    told = {fact.content: fact.metadata.get("value") for fact in memory.static.list()}
    assert told == {
        "name: BI Copilot": given[0],
        "role: Programming Assistant": given[1],
        "The office closes at six.": None,
        '["Monday", "Tuesday"]': given[3],
    }
    (best, *_) = block.get("s1", user("Which role do you have?"))
    assert best.metadata["value"] == given[1]
    StaticMemory(facts=[{"key": "name", "value": "Data Copilot"}, *given[1:]], fact_store=memory.static)
    assert {fact.content for fact in memory.static.list()} >= {"The office closes at six.", "name: Data Copilot"}
    for bad in (float("nan"), {1, 2}, {"id": "x"}, {"id": "a/b", "content": "c"}):
        with pytest.raises(MemoryError):
            StaticMemory(facts=[bad], fact_store=memory.static)


def test_static_facts_take_no_more_of_a_view_than_max_tokens(memory: Memory):
    facts = [f"The rule number {number} says something." for number in range(20)]
    assert len(StaticMemory(facts=facts, fact_store=memory.static).get("s1", user("rule"))) == 20
    assert 1 <= len(StaticMemory(facts=facts, fact_store=memory.static, max_tokens=40).get("s1", user("rule"))) <= 4


@pytest.mark.req("S4-22", "S4-53", "S4-55")
def test_a_model_chooses_the_facts_by_the_prompt_that_it_is_given(memory: Memory, caplog: pytest.LogCaptureFixture):
    seen: list[str] = []

    def chooses(messages: list[dict[str, str]]) -> str:
        seen.append(messages[-1]["content"])
        if "no wire" in messages[-1]["content"]:
            raise OSError("no wire")
        notes = json.loads(messages[-1]["content"])["notes"]
        return json.dumps({"refs": [note["ref"] for note in notes if "bicycle" in note["text"]]})

    sarah = memory.user("sarah")
    for line in ("My bicycle is red.", "My bicycle lock is broken since May.", "My car is red."):
        sarah.remember(line)
    plain = ExtractiveMemory(fact_store=sarah)
    assert len(plain.get("s1", user("What of mine is red, bicycle or car?"))) == 3
    block = ExtractiveMemory(fact_store=sarah, model_provider=chooses, fact_retrieval_prompt="Choose bicycles only.")
    told = block.get("s1", user("Is my car, or my bicycle, red?"))
    assert told
    assert all("bicycle" in fact.content for fact in told)
    assert "Choose bicycles only." in seen[0]
    assert len(block.get("s1", user("What is red, with no wire?"))) >= 1  # the search's own
    assert "No facts were selected" in caplog.text


@pytest.mark.req("S4-35", "S4-23", "S4-24")
def test_a_provider_or_a_store_that_is_not_the_memorys_is_refused(chat: ScriptedChat):
    embeddings = HashingEmbeddings()
    with Memory.local(chat_model=chat, embedding_model=embeddings, cadence=QUIET) as memory:
        sarah = memory.user("sarah")
        AgentMemory(sarah, STMSummarizeConfiguration(model_provider=chat))
        VectorMemory(store=sarah, embedding_provider=embeddings, model_provider=chat)
        with pytest.raises(MemoryError, match="model_provider"):
            AgentMemory(sarah, STMSummarizeConfiguration(model_provider=ScriptedChat()))
        with pytest.raises(MemoryError, match="embedding_provider"):
            VectorMemory(store=sarah, embedding_provider=HashingEmbeddings())
        with pytest.raises(MemoryError, match="same user"):
            AgentMemory(sarah, system_message_store=memory.user("tom"))


@pytest.mark.req("S4-27", "S4-39")
def test_an_agent_takes_its_memory_and_keeps_both_sides(memory: Memory):
    asked: list[list[dict[str, str]]] = []

    def model(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        if len(asked) == 2:
            raise OSError("no wire")
        return f"answer {len(asked)}"

    agent_memory = AgentMemory(memory.user("sarah"))
    with Agent(model=model, memory=agent_memory, system_prompt="You answer briefly.") as agent:
        assert agent.run("Hi, I'm Sarah.", "s1") == "answer 1"
        with pytest.raises(MemoryError, match="no wire"):
            agent.run("Who am I?", "s1")
        assert agent.run("Do you know me?", "s1") == "answer 3"
    system = {"role": "system", "content": "You answer briefly."}
    assert asked[0] == [system, user("Hi, I'm Sarah.")]
    assert agent_memory.get("s1") == [
        *(system, user("Hi, I'm Sarah."), {"role": "assistant", "content": "answer 1"}),
        *(user("Who am I?"), user("Do you know me?"), {"role": "assistant", "content": "answer 3"}),
    ]
    with Agent(model=ScriptedChat(), memory=agent_memory) as again:  # a chat model of the library, another agent
        assert again.run("And now?", "s1") == "7: And now?"
