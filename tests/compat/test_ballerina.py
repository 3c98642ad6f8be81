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
    FlushToLTMConfiguration,
    Memory as MemoryInterface,
    MemoryContent,
    MemoryError,
    StaticMemory,
    STMSummarizeConfiguration,
    TrimLastMessagesConfiguration,
    VectorMemory,
)
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.text.tokens import TiktokenCounter

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


@pytest.mark.req("S4-31", "S4-32", "S4-33", "S4-34", "S4-35", "S4-36")
def test_the_configurations_have_the_documents_defaults():
    assert STMSummarizeConfiguration() == STMSummarizeConfiguration(summary_message_count=2, max_summary_tokens=None)
    assert TrimLastMessagesConfiguration().max_memory_tokens == 500
    flush = FlushToLTMConfiguration()
    assert (flush.max_stm_token_ratio, list(flush.lt_memory_blocks)) == (0.5, [])
    assert flush.is_persist_memory_inserted_into_the_system_prompt is False


@pytest.mark.req("S4-24", "S4-30", "S4-40", "S4-34", "S4-16")
@pytest.mark.parametrize(("config", "kept"), [(STMSummarizeConfiguration(), 2), (STMSummarizeConfiguration(10), 10)])
def test_a_summary_and_the_number_of_messages_that_is_set_are_left(
    memory: Memory, config: STMSummarizeConfiguration, kept: int
):
    sarah = memory.user("sarah")
    assert AgentMemory(sarah).limit == 100_000
    agent_memory = AgentMemory(sarah, config, 1200)
    number = 0
    while not (updated := agent_memory.update("s1", user(f"message {number} " + "word " * 40))).retired:
        number += 1
    assert updated.tokens > 1200
    summary, *newest = agent_memory.get("s1", user("and now?"))
    assert summary["role"] == "user"
    assert summary["content"].startswith("CONVERSATION SUMMARY: ")
    assert [message["content"].split()[1] for message in newest] == [str(n) for n in range(number + 1)][-kept:]


@pytest.mark.req("S4-25", "S4-35")
def test_the_summary_of_the_example_has_500_tokens_and_ten_messages_follow(memory: Memory):
    counter = TiktokenCounter()
    config = STMSummarizeConfiguration(summary_message_count=10, max_summary_tokens=500)
    agent_memory = AgentMemory(memory.user("sarah"), config, 4000)
    for number in range(60):
        agent_memory.update("s1", user(f"message {number} " + "word " * 90))
    summary, *newest = agent_memory.get("s1")
    told = summary["content"].removeprefix("CONVERSATION SUMMARY: ")
    assert 450 < counter.count(told) <= 500
    assert newest[-1]["content"].startswith("message 59")
    assert len(newest) >= 10


@pytest.mark.req("S4-21", "S4-22", "S4-23", "S4-26", "S4-38", "S4-14", "S4-20")
def test_the_example_with_three_blocks_runs(memory: Memory):
    sarah = memory.user("sarah")
    blocks = [
        StaticMemory(facts=FACTS, fact_store=memory.static),
        ExtractiveMemory(fact_store=sarah),
        VectorMemory(store=sarah),
    ]
    assert all(isinstance(block, MemoryInterface) for block in blocks)
    config = FlushToLTMConfiguration(max_stm_token_ratio=0.8, lt_memory_blocks=blocks)
    agent_memory = AgentMemory(sarah, config, 500, system_message_store=sarah)
    assert agent_memory.limit == 400
    agent_memory.update("s1", user("fact: department=Marketing team\nhowto: file Form HR-101 for Marketing"))
    for number in range(13):
        agent_memory.update("s1", {"role": "assistant", "content": f"reply {number} " + "word " * 30})
    content = agent_memory.get("s2", user("Which department, Marketing? And France's capital?"))
    assert isinstance(content, MemoryContent)
    assert [fact.id for fact in content.static_facts] == ["fact1"]
    assert {(fact.type, fact.content) for fact in content.extracted_facts} == {
        ("fact", "department=Marketing team"),
        ("procedural", "file Form HR-101 for Marketing"),
    }
    assert "department=Marketing team" in content.vector_matches[0].memory.content
    assert content.chat_messages == []
    agent_memory.delete("s1")
    gone = agent_memory.get("s1", user("Marketing"))
    assert isinstance(gone, MemoryContent)
    assert (gone.extracted_facts, gone.vector_matches) == ([], [])


@pytest.mark.req("S4-32", "S4-19")
def test_what_is_remembered_goes_into_the_system_prompt_if_the_configuration_says_so(memory: Memory):
    for inside in (False, True):
        block = StaticMemory(facts=FACTS, fact_store=memory.static)
        config = FlushToLTMConfiguration(0.8, inside, [block])
        agent_memory = AgentMemory(memory.user("sarah"), config)
        session = f"s-{inside}"
        agent_memory.update(session, {"role": "system", "content": "You are kind."})
        agent_memory.update(session, user("Tell me the capital of France."))
        content = agent_memory.get(session)
        assert isinstance(content, MemoryContent)
        systems = [message["content"] for message in content.messages if message["role"] == "system"]
        assert len(systems) == (1 if inside else 2)
        assert systems[0].startswith("You are kind.")
        assert "Paris" in systems[-1]


@pytest.mark.req("S4-47", "S4-21")
def test_static_facts_are_in_the_store_when_the_block_is_made(memory: Memory):
    for _ in range(2):
        StaticMemory(facts=FACTS, fact_store=memory.static)
        assert [fact.id for fact in memory.static.list()] == ["fact1", "fact2"]


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


@pytest.mark.req("S4-53", "S4-55")
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


@pytest.mark.req("S4-36", "S4-08")
def test_trimming_leaves_at_most_500_tokens(memory: Memory):
    agent_memory = AgentMemory(memory.user("sarah"), TrimLastMessagesConfiguration(), 1000)
    number = 0
    while not agent_memory.update("s1", user(f"{number} " + "word " * 90)).retired:
        number += 1
    assert 400 < agent_memory.tokens("s1") <= 500
    assert [message["content"].split()[0] for message in agent_memory.get("s1")][-1] == str(number)


@pytest.mark.req("S4-44", "S4-48", "S4-49")
def test_every_error_is_a_memory_error(memory: Memory):
    block = StaticMemory(facts=FACTS, fact_store=memory.static)
    with pytest.raises(MemoryError, match="Static memory does not support delete operation"):
        block.delete("s1")
    with pytest.raises(MemoryError, match="Static memory does not support update operation"):
        block.update("s1", user("x"))
    with pytest.raises(MemoryError):
        AgentMemory(memory.user("sarah")).update("s1", {"role": "wizard", "content": "x"})


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


@pytest.mark.req("S4-41", "S4-38")
def test_without_blocks_a_plain_list_is_given(memory: Memory):
    agent_memory = AgentMemory(memory.user("sarah"))
    agent_memory.update("s1", user("Hi, I'm Sarah."))
    assert agent_memory.get("s1", user("Who am I?")) == [{"role": "user", "content": "Hi, I'm Sarah."}]


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
