"""What the proposal for Ballerina's agents shows, typed as it stands there, with the default embeddings.

The talk of the scenarios is ours (`samples/conversations/hr.jsonl`). Where the proposal has a model's result (a
summary, extracted facts), a scripted model gives it.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from memories import NEVER
from scripted_model import ScriptedChat

from agent_memory import Memory
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
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, ExtractOutput, SummarizeOutput

SAMPLE = Path(__file__).parents[2] / "samples" / "conversations" / "hr.jsonl"
FACTS = [
    {"id": "fact1", "content": "The capital of France is Paris."},
    {"id": "fact2", "content": "The tallest mountain in the world is Mount Everest."},
]
RULES = [
    {"id": "remote", "content": "Remote work: 3 days a week, with the manager's approval."},
    {"id": "abroad", "content": "Work from abroad: at most 2 weeks a year, approved 30 days ahead."},
]
SUMMARY = "Sarah of the Marketing team may work remotely, and knows Form HR-101 and what to do if the manager declines."
KEPT = 7
SUMMARIZED, FLUSHED = 450, 700
"""Tokens of a view. The talk has 589, and a flush begins at 0.8 of the limit."""


@pytest.fixture
def chat() -> ScriptedChat:
    """A model that gives the results of the scenarios."""
    made = ScriptedChat()
    made.outputs["summarize"] = lambda data: SummarizeOutput(key_points=[SUMMARY])
    made.outputs["extract"] = extracted
    return made


def extracted(data: ExtractInput) -> ExtractOutput:
    told = {
        "I work in the Marketing team": ("fact", "The user is Sarah, of the Marketing team."),
        "I've been with the company for two years now": ("fact", "The user has been with the company for two years."),
        "So how do I apply?": ("procedural", "Apply for remote work with Form HR-101."),
    }
    return ExtractOutput(
        memories=[
            ExtractedMemory(type=kind, content=content, quote=quote, turns=[turn.ref])  # type: ignore[arg-type]
            for turn in data.turns
            for quote, (kind, content) in told.items()
            if quote in turn.content
        ]
    )


@pytest.fixture
def memory(chat: ScriptedChat) -> Iterator[Memory]:
    with Memory.local(chat_model=chat, embedding_model=MiniLMEmbeddings(), cadence=NEVER) as opened:
        yield opened


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def talk() -> list[dict[str, str]]:
    rows = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    return [{"role": row["role"], "content": row["content"]} for row in rows if row["thread_id"] == "hr-2026-03-02"]


def three_blocks(memory: Memory, facts: Any = RULES) -> list[Any]:
    sarah = memory.user("sarah")
    return [
        StaticMemory(facts=facts, fact_store=memory.static),
        ExtractiveMemory(fact_store=sarah),
        VectorMemory(store=sarah),
    ]


def hold(agent_memory: AgentMemory, session: str = "s1") -> list[dict[str, str]]:
    """Holds the talk up to the first overflow; what was said."""
    said = talk()
    end = next(end for end, message in enumerate(said, 1) if agent_memory.update(session, message).retired)
    assert end > 10
    return said[:end]


# Scenario 1.


@pytest.mark.req("S4-15", "S4-07", "S4-16", "S4-03", "S4-06", "S4-41", "S4-42", "S4-45")
def test_scenario_1_a_summary_takes_the_place_of_the_older_messages(memory: Memory, chat: ScriptedChat):
    config = STMSummarizeConfiguration(summary_message_count=KEPT, model_provider=chat)
    agent_memory = AgentMemory(memory.user("sarah"), config, SUMMARIZED)
    said = hold(agent_memory)
    after = agent_memory.get("s1", said[-1])
    assert isinstance(after, list)
    assert after[0]["role"] == "user"
    assert after[0]["content"].startswith("CONVERSATION SUMMARY: ")
    assert SUMMARY[:-1] in after[0]["content"]
    assert after[1:] == said[-KEPT:]
    first = chat.seen[0].turns[0].content
    assert "Sarah" in first  # what was summarized begins with the introduction


# Scenario 2.


@pytest.mark.req("S4-15", "S4-09", "S4-18", "S4-20", "S4-19", "S4-01", "S4-05", "S4-11", "S4-12", "S4-13", "S4-26")
def test_scenario_2_the_talk_goes_to_long_term_memory_and_is_known_later(memory: Memory):
    config = FlushToLTMConfiguration(max_stm_token_ratio=0.8, lt_memory_blocks=three_blocks(memory))
    agent_memory = AgentMemory(memory.user("sarah"), config, FLUSHED)
    said = hold(agent_memory)
    after = agent_memory.get("s1", user("Which department am I in, how long have I been here, how do I apply?"))
    assert isinstance(after, MemoryContent)
    assert [message.content for message in after.chat_messages] == [one["content"] for one in said[-10:]]
    text = next(one["content"] for one in after.messages if one["role"] == "system")
    order = [text.index(f"<{name}>") for name in ("memory", "static_memory", "extractive_memory", "vector_memory")]
    assert order == sorted(order)
    assert text.endswith("</memory>")
    assert "Form HR-101" in text
    assert "3 days a week" in text
    # In a later conversation of hers, and in none of another's.
    later = agent_memory.get("next week", user("Do I meet the conditions for working remotely?"))
    assert isinstance(later, MemoryContent)
    assert later.vector_matches
    for question, fact in (
        ("Which team do I work in?", "The user is Sarah, of the Marketing team."),
        ("How long have I been with the company?", "The user has been with the company for two years."),
        ("How do I apply for remote work?", "Apply for remote work with Form HR-101."),
    ):
        told = agent_memory.get("next week", user(question))
        assert isinstance(told, MemoryContent)
        assert fact in {one.content for one in told.extracted_facts}
    toms = AgentMemory(memory.user("tom"), FlushToLTMConfiguration(lt_memory_blocks=three_blocks_of(memory, "tom")))
    theirs = toms.get("s1", user("How many days a week of remote work?"))
    assert isinstance(theirs, MemoryContent)
    assert (theirs.extracted_facts, theirs.vector_matches) == ([], [])
    assert "remote" in {fact.id for fact in theirs.static_facts}


@pytest.mark.req("S4-20", "S4-09", "S4-12", "S4-13")
def test_a_flush_routes_each_type_of_information_to_the_appropriate_block(memory: Memory, chat: ScriptedChat):
    identified = {
        "fact": "The user is Sarah, of the Marketing team.",
        "procedural": "Apply for remote work with Form HR-101.",
        "episodic": "Sarah asked HR on Monday whether she may work from abroad.",
    }
    told = [*identified.values(), *(f"Nothing to keep, number {number}. " + "word " * 40 for number in range(12))]
    chat.outputs["extract"] = lambda data: ExtractOutput(
        memories=[
            ExtractedMemory(type=kind, content=content, quote=content, turns=[turn.ref])  # type: ignore[arg-type]
            for turn in data.turns
            for kind, content in identified.items()
            if turn.content == content
        ]
    )
    config = FlushToLTMConfiguration(max_stm_token_ratio=0.8, lt_memory_blocks=three_blocks(memory))
    agent_memory = AgentMemory(memory.user("sarah"), config, FLUSHED)
    for text in told:
        agent_memory.update("s1", user(text))
    extractive, vector = config.lt_memory_blocks[1:]
    for (kind, content), question in zip(
        identified.items(),
        ("Which team is Sarah in?", "How do I apply for remote work?", "What did Sarah ask HR on Monday?"),
        strict=True,
    ):
        after = agent_memory.get("s1", user(question))
        assert isinstance(after, MemoryContent)
        assert content not in {message.content for message in after.chat_messages}  # it has left the view
        assert (kind, content) in {(one.type, one.content) for one in after.extracted_facts}
        assert {fact.type for fact in after.static_facts} == {"static"}
        assert all(one.kind not in ("chunk", "session") for one in extractive.get("s2", user(question)))
        said = vector.get("s2", user(question))
        assert {hit.memory.kind for hit in said} == {"chunk"}
        assert any(content in hit.memory.content for hit in said)
    extractive.delete("s1")
    assert extractive.get("s2", user("What did Sarah ask HR on Monday?")) == []


def three_blocks_of(memory: Memory, name: str) -> list[Any]:
    one = memory.user(name)
    return [
        StaticMemory(facts=RULES, fact_store=memory.static),
        ExtractiveMemory(fact_store=one),
        VectorMemory(store=one),
    ]


# The developer's declarations.


@pytest.mark.req("S4-21", "S4-22", "S4-23", "S4-24", "S4-25", "S4-26", "S4-14", "S4-27", "S4-61")
def test_the_declarations_that_are_printed_make_agents(memory: Memory, chat: ScriptedChat):
    model_provider, sarah = chat, memory.user("sarah")
    embedding_provider = MiniLMEmbeddings()
    static_ltm_block = StaticMemory(facts=FACTS, fact_store=memory.static)
    extractive_ltm_block = ExtractiveMemory(fact_store=sarah)
    with pytest.raises(MemoryError, match="embedding_provider"):  # the memory's own stand behind the vectors
        VectorMemory(store=sarah, embedding_provider=embedding_provider)
    vector_ltm_block = VectorMemory(store=sarah, model_provider=model_provider)
    summarizing = STMSummarizeConfiguration(
        max_summary_tokens=500, model_provider=model_provider, summary_message_count=10
    )
    agent_memory = AgentMemory(message_store=sarah, system_message_store=sarah, filter_config=summarizing)
    flushing = FlushToLTMConfiguration(
        max_stm_token_ratio=0.8, lt_memory_blocks=[static_ltm_block, extractive_ltm_block, vector_ltm_block]
    )
    agent_memory_with_ltm = AgentMemory(message_store=sarah, system_message_store=sarah, filter_config=flushing)
    assert (agent_memory.limit, agent_memory_with_ltm.limit) == (100_000, 80_000)
    asked: list[list[dict[str, Any]]] = []

    def model(messages: list[dict[str, Any]]) -> str:
        asked.append(messages)
        return "Paris."

    for made in (agent_memory, agent_memory_with_ltm):
        with Agent(model=model, memory=made, system_prompt="You know geography.") as agent:
            assert agent.run("What is the capital of France?", "geography") == "Paris."
        assert asked[-1][0]["content"].startswith("You know geography.")
    assert "The capital of France is Paris." in asked[-1][1]["content"]
    assert "The capital" not in str(asked[0])
    for one in (agent_memory, static_ltm_block, extractive_ltm_block, vector_ltm_block):
        assert isinstance(one, MemoryInterface | AgentMemory)
        assert all(callable(getattr(one, name)) for name in ("get", "update", "delete"))


# Each option of the configurations, through the facade.


@pytest.mark.req("S4-30", "S4-34", "S4-40", "S4-35")
@pytest.mark.parametrize("given", [{}, {"filter_config": None}])
def test_without_a_configuration_the_two_newest_messages_follow_a_summary(memory: Memory, given: dict[str, None]):
    agent_memory = AgentMemory(memory.user("sarah"), max_memory_token_count=600, **given)
    assert AgentMemory(memory.user("sarah")).limit == 100_000
    said = [user(f"message {number} " + "word " * 60) for number in range(30)]
    end = next(end for end, message in enumerate(said, 1) if agent_memory.update("s1", message).retired)
    summary, *newest = agent_memory.get("s1")
    assert summary["content"].startswith("CONVERSATION SUMMARY: ")
    assert [one["content"].strip() for one in newest] == [one["content"].strip() for one in said[end - 2 : end]]


@pytest.mark.req("S4-25", "S4-35")
def test_a_summary_has_the_tokens_that_are_set_and_no_more(memory: Memory, chat: ScriptedChat):
    chat.outputs["summarize"] = lambda data: SummarizeOutput(key_points=["word " * 2000])
    lengths = []
    for number, most in enumerate((500, 100)):
        config = STMSummarizeConfiguration(summary_message_count=10, max_summary_tokens=most)
        agent_memory = AgentMemory(memory.user("sarah"), config, 3000)
        for place in range(40):
            agent_memory.update(f"s{number}", user(f"message {place} " + "word " * 90))
        summary, *newest = agent_memory.get(f"s{number}")
        lengths.append(len(summary["content"].split()))
        assert len(newest) >= 10
        assert newest[-1]["content"].startswith("message 39")
    assert 450 <= lengths[0] <= 502
    assert 80 <= lengths[1] <= 102


@pytest.mark.req("S4-31", "S4-33", "S4-06")
def test_a_flush_begins_at_the_ratio_and_without_blocks_the_oldest_go(memory: Memory):
    for ratio, limit in ((None, 500), (0.8, 800)):
        config = FlushToLTMConfiguration() if ratio is None else FlushToLTMConfiguration(max_stm_token_ratio=ratio)
        agent_memory = AgentMemory(memory.user("sarah"), config, 1000)
        assert agent_memory.limit == limit
        session, number = f"s-{limit}", 0
        while not (updated := agent_memory.update(session, user(f"{number} " + "word " * 40))).retired:
            number += 1
        assert updated.tokens > limit
        assert updated.tokens < limit + 60
        assert isinstance(agent_memory.get(session), list)


@pytest.mark.req("S4-32")
def test_long_term_memory_stands_in_the_system_prompt_only_if_it_is_set(memory: Memory):
    for inside in (None, False, True):
        options = {} if inside is None else {"is_persist_memory_inserted_into_the_system_prompt": inside}
        config = FlushToLTMConfiguration(lt_memory_blocks=three_blocks(memory, FACTS), **options)
        agent_memory = AgentMemory(memory.user("sarah"), config)
        session = f"s-{inside}"
        agent_memory.update(session, {"role": "system", "content": "You are kind."})
        agent_memory.update(session, user("What is the capital of France?"))
        content = agent_memory.get(session)
        assert isinstance(content, MemoryContent)
        first, *others = [message["content"] for message in content.messages if message["role"] == "system"]
        assert ("Paris" in first) is bool(inside)
        assert len(others) == (0 if inside else 1)


@pytest.mark.req("S4-36", "S4-08")
def test_trimming_keeps_500_tokens_or_as_many_as_are_set(memory: Memory):
    for most in (None, 250):
        config = TrimLastMessagesConfiguration() if most is None else TrimLastMessagesConfiguration(most)
        agent_memory = AgentMemory(memory.user("sarah"), config, 1000)
        session, number = f"s-{most}", 0
        while not agent_memory.update(session, user(f"{number} " + "word " * 40)).retired:
            number += 1
        assert (most or 500) - 60 < agent_memory.tokens(session) <= (most or 500)


# The interface.


@pytest.mark.req("S4-38", "S4-39", "S4-41")
def test_get_gives_a_list_or_what_the_four_fields_say_and_the_newest_system_message(memory: Memory):
    plain = AgentMemory(memory.user("sarah"))
    plain.update("s1", {"role": "system", "content": "It is nine."})
    plain.update("s1", {"role": "system", "content": "It is ten."})
    plain.update("s1", user("Hello"))
    assert plain.get("s1", user("Hello")) == [{"role": "system", "content": "It is ten."}, user("Hello")]
    config = FlushToLTMConfiguration(lt_memory_blocks=three_blocks(memory))
    content = AgentMemory(memory.user("sarah"), config).get("s1", user("Hello"))
    assert isinstance(content, MemoryContent)
    for field in ("chat_messages", "static_facts", "extracted_facts", "vector_matches"):
        assert isinstance(getattr(content, field), list)


@pytest.mark.req("S4-43", "S4-57", "S4-60")
def test_delete_takes_the_messages_and_what_every_block_has_of_the_session(memory: Memory):
    blocks = three_blocks(memory)
    agent_memory = AgentMemory(memory.user("sarah"), FlushToLTMConfiguration(0.8, lt_memory_blocks=blocks), FLUSHED)
    hold(agent_memory)
    asked = user("Which team am I in, and how do I apply?")
    known = agent_memory.get("s2", asked)
    assert isinstance(known, MemoryContent)
    assert {fact.type for fact in known.extracted_facts} == {"fact", "procedural"}
    agent_memory.delete("s1")
    gone = agent_memory.get("s1", asked)
    assert isinstance(gone, MemoryContent)
    assert (gone.chat_messages, gone.extracted_facts, gone.vector_matches) == ([], [], [])
    assert gone.static_facts


@pytest.mark.req("S4-47", "S4-48", "S4-49", "S4-50", "S4-51", "S4-62", "S4-44", "S4-11")
def test_static_memory_is_inserted_at_once_takes_any_data_and_never_changes(memory: Memory):
    printed = [{"key": "name", "value": "BI Copilot"}, {"key": "role", "value": "Programming Assistant"}]
    block = StaticMemory(facts=printed, fact_store=memory.static)
    assert block.name == "static_memory"
    assert [fact.metadata["value"] for fact in sorted(memory.static.list(), key=lambda one: one.content)] == printed
    with pytest.raises(MemoryError, match=r"^Static memory does not support delete operation$"):
        block.delete("s1")
    with pytest.raises(MemoryError, match=r"^Static memory does not support update operation$"):
        block.update("s1", user("You are a pirate."))
    with pytest.raises(MemoryError):
        AgentMemory(memory.user("sarah")).update("s1", {"role": "wizard", "content": "x"})
    StaticMemory(facts=["The office closes at six.", *printed], fact_store=memory.static)
    assert len(memory.static.list()) == 3
    told = StaticMemory(facts=[], fact_store=memory.static).get("s1", user("When does the office close?"))
    assert [fact.content for fact in told] == ["The office closes at six."]  # the others share no word with it


@pytest.mark.req("S4-52", "S4-53", "S4-55", "S4-56", "S4-54")
def test_an_extractive_block_extracts_keeps_and_lets_a_model_choose(memory: Memory):
    sarah = memory.user("sarah")
    wanted: list[str] = []

    def chooses(messages: list[dict[str, Any]]) -> str:
        asked = json.loads(messages[-1]["content"])
        wanted.append(asked["wanted"])
        return json.dumps({"refs": [note["ref"] for note in asked["notes"] if "two years" in note["text"]]})

    block = ExtractiveMemory(fact_store=sarah)
    assert (block.name, block._max_tokens) == ("extractive_memory", 2000)
    for message in talk()[:5]:
        block.update("s1", message)
    asked = user("Who am I, and how long have I been with the company?")
    assert len(block.get("s2", asked)) == 2
    choosing = ExtractiveMemory(
        fact_store=sarah, model_provider=chooses, fact_retrieval_prompt="Find what matters for the application."
    )
    assert [fact.content for fact in choosing.get("s2", asked)] == ["The user has been with the company for two years."]
    assert wanted == ["Find what matters for the application."]
    assert ExtractiveMemory(fact_store=sarah, max_tokens=5).get("s2", asked) == []


@pytest.mark.req("S4-12", "S4-18", "S4-55", "S4-59")
def test_a_question_about_oneself_finds_its_answer_and_a_model_sees_what_is_near():
    said = "Hi, I'm Sarah from the Marketing team."
    with Memory.local(cadence=NEVER) as memory:
        sarah = memory.user("sarah")
        block, vectors = ExtractiveMemory(fact_store=sarah), VectorMemory(store=sarah)
        block.update("s1", user(said))
        for question in ("Which department am I in?", "What is my name?"):
            assert [fact.content for fact in block.get("s2", user(question))] == [said.removeprefix("Hi, ")]
            (hit,) = vectors.get("s2", user(question))
            assert said in hit.memory.content
        other = user("Where is the department of the treasury?")
        assert block.get("s2", other) == vectors.get("s2", other) == []
        shown: list[str] = []

        def chooses(messages: list[dict[str, Any]]) -> str:
            shown.extend(note["text"] for note in json.loads(messages[-1]["content"])["notes"])
            return json.dumps({"refs": []})

        assert ExtractiveMemory(fact_store=sarah, model_provider=chooses).get("s2", other) == []
        assert shown == [said.removeprefix("Hi, ")]


@pytest.mark.req("S4-42", "S4-56", "S4-58", "S4-61")
def test_a_message_that_every_memory_is_given_is_in_the_conversation_once(memory: Memory, chat: ScriptedChat):
    _, extractive, vector = three_blocks(memory)
    agent_memory = AgentMemory(memory.user("sarah"))
    said = talk()[:2]
    for message in said:
        for one in (agent_memory, extractive, vector):
            one.update("s1", message)
    extractive.update("s1", said)
    assert agent_memory.get("s1") == said
    assert chat.calls["extract"] == 2
    vector.update("s1", user("Only the block has this."))
    assert agent_memory.get("s1") == [*said, user("Only the block has this.")]


@pytest.mark.req("S4-58", "S4-59", "S4-28")
def test_a_vector_block_finds_by_meaning(memory: Memory, chat: ScriptedChat):
    block = VectorMemory(store=memory.user("sarah"))
    assert block.name == "vector_memory"
    block.update("s1", [user("My bicycle was stolen at the station."), user("The soup was too salty.")])
    (best, *_) = block.get("s2", user("Has anybody taken a bike?"))
    assert "bicycle" in best.memory.content
    assert best.memory.thread_id == "s1"
    assert best.similarity is not None
    assert chat.calls.total() == 0


@pytest.mark.req("S4-02", "S4-04")
def test_a_memory_in_ram_ends_with_the_process_and_one_in_a_file_does_not(tmp_path: Path):
    for place, left in ((None, 0), (str(tmp_path / "memory.db"), 1)):
        for _ in range(2):
            with Memory.local(place, embedding_model=MiniLMEmbeddings(), cadence=NEVER) as opened:
                agent_memory = AgentMemory(opened.user("sarah"))
                before = agent_memory.get("s1")
                agent_memory.update("s1", user("Hi, I'm Sarah."))
        assert len(before) == left


@pytest.mark.req("S4-46")
def test_many_threads_may_use_one_memory(memory: Memory):
    agent_memory = AgentMemory(memory.user("sarah"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: agent_memory.update("s1", user(f"message {number}")), range(12)))
    assert sorted(one["content"] for one in agent_memory.get("s1")) == sorted(f"message {n}" for n in range(12))
