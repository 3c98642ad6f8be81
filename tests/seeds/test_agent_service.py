"""What the document of the Agent Service shows, typed as it stands there, with the default models.

The profiles are loaded as they are printed (`tests/data/agent_service.json`). Where the document has a model answer, a
function stands for it, that says what it was told.
"""

import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from memories import NEVER
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.compat.agent import AgentSession
from agent_memory.compat.agent_profile import AgentProfile
from agent_memory.errors import InvalidInput, ModelError, StoreUnavailable
from agent_memory.language.answers import read_answer
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.tasks import ARCHIVE, ArchiveInput, RerankInput, RerankOutput, TurnView

PRINTED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "agent_service.json").read_text())
QUESTION = "What did we discuss about authentication?"
Said = list[dict[str, Any]]


def answers(messages: Said) -> str:
    """A model that knows what stands in the messages and nothing else."""
    told = "\n".join(message["content"] for message in messages[:-1])
    asked = messages[-1]["content"]
    if "my name" in asked.casefold() and asked.endswith("?"):
        return "Your name is Alice." if "Alice" in told else "I do not know your name."
    if "JWT" in told and asked.endswith("?"):
        return "We spoke of JWT tokens that expire after an hour."
    return "Noted."


def agent(memory: AsyncMemory, profile: Any, session: str = "session456", **options: Any) -> AgentSession:
    made = AgentSession(
        memory, PRINTED[profile] if isinstance(profile, str) else profile, "user123", session, **options
    )
    made.set_chat_provider(answers)
    return made


async def plan_a_login(memory: AsyncMemory, profile: Any = "archival", session: str = "session1") -> None:
    async with agent(memory, profile, session) as first:
        await first.chat("I'm building a REST API with authentication")
        await first.chat("Planning to use JWT tokens with 1-hour expiration")


# Configuration.


@pytest.mark.req("S2-01", "S2-02")
async def test_the_basic_profile_gives_an_agent_memory_and_no_other_does(memory: AsyncMemory):
    async with agent(memory, "basic") as remembering:
        await remembering.chat("My name is Alice")
    assert remembering.profile.provider == "azure_openai_cc"
    (provider, model) = (await AgentSession(memory, PRINTED["basic"], "user123", "s").diagnose()).differences
    assert (provider.wanted, model.wanted, model.used) == ("azure_openai_cc", "gpt-4o-mini", "offline-extractive")
    async with agent(memory, PRINTED["basic"] | {"resources": []}) as forgetful:
        assert await forgetful.chat("What's my name?") == "I do not know your name."
        assert await forgetful.load_memory() == []
    assert len(await remembering.entries()) == 2


@pytest.mark.req("S2-02")
def test_the_settings_of_other_resources_are_no_concern_of_memory():
    resources = {"memory": {"compression": {"threshold_tokens": 5000}}, "web_search": {"engine": "any"}}
    profile = AgentProfile.read(PRINTED["basic"] | {"resource_config": resources})
    assert profile.resource_config.memory.compression.threshold_tokens == 5000
    for resource in ("memory", "knowledge_base"):
        with pytest.raises(InvalidInput, match="treshold"):
            AgentProfile.read(PRINTED["basic"] | {"resource_config": {resource: {"treshold": 1}}})


@pytest.mark.req("S2-03", "S2-04", "S2-05", "S2-06", "S2-07", "S2-08", "S2-09", "S2-10", "S2-11", "S2-12", "S2-48")
def test_every_option_that_is_printed_is_read_and_the_others_have_the_defaults_of_the_table():
    plain = AgentProfile.read(PRINTED["basic"]).resource_config
    compression, knowledge = plain.memory.compression, plain.knowledge_base
    assert (compression.enabled, compression.threshold_tokens) == (True, 10000)
    assert (compression.recent_messages_to_keep, compression.archive_conversations) == (10, False)
    assert (knowledge.enable_cross_session_context, knowledge.relevance_threshold) == (False, 0.7)
    assert (knowledge.rerank_provider, knowledge.rerank_model) == (None, None)
    assert len(knowledge.search_triggers) == 6
    for name in ("compression", "archival", "research_agent", "custom_agent"):
        given = PRINTED[name]["resource_config"]
        read = AgentProfile.read(json.dumps(PRINTED[name])).resource_config.model_dump()
        for resource, settings in given.items():
            for setting, value in settings.items():
                kept = read[resource][setting]
                assert (kept if not isinstance(value, dict) else {key: kept[key] for key in value}) == value
    archival = AgentProfile.read(PRINTED["archival"])
    assert archival.allowed_regular_tools == ["search_knowledge_base", "list_documents"]
    assert archival.resource_config.knowledge_base.search_triggers == knowledge.search_triggers
    for section in (PRINTED["compression_section"], PRINTED["rerank_section"]):
        (resource, settings) = next(iter(section.items()))
        place = {"memory": section} if resource == "compression" else section
        read = AgentProfile.read({"agent_id": "a", "resource_config": place}).resource_config.model_dump()
        assert settings.items() <= (read["memory"][resource] if resource == "compression" else read[resource]).items()


# The format of what is kept.


@pytest.mark.req("S2-14", "S2-17", "S2-18", "S2-19", "S2-58", "S2-52")
async def test_every_message_is_an_entry_of_the_printed_format(memory: AsyncMemory):
    async with agent(memory, "basic") as talking:
        kept = await talking.save_memory("user", "Hello", {"channel": "web"})
    (entry,) = await talking.entries()
    assert set(entry.model_dump()) == {
        *("id", "user_id", "session_id", "agent_id", "content", "entry_metadata"),
        *("created_at", "updated_at", "expires_at", "is_active"),
    }
    assert (entry.id, entry.user_id, entry.session_id, entry.agent_id) == (
        *(kept, "user123", "session456", "memory_enabled_agent"),
    )
    assert entry.content == {"role": "user", "content": "Hello"}
    assert entry.entry_metadata == {"channel": "web"}
    assert entry.expires_at == entry.created_at + timedelta(weeks=1)
    assert entry.is_active
    (turn,) = await memory.user("user123").thread("session456").turns()
    assert turn.agent_id == "memory_enabled_agent"
    other = AgentSession(memory, PRINTED["basic"] | {"agent_id": "other"}, "user123", "session456")
    assert [one.agent_id for one in await other.entries()] == ["memory_enabled_agent"]
    with pytest.raises(InvalidInput):  # the columns that may not be empty
        AgentSession(memory, PRINTED["basic"], "", "s")
    with pytest.raises(InvalidInput):
        await talking.save_memory("narrator", "Hello")


@pytest.mark.req("S2-20", "S2-24", "S2-52")
async def test_a_compressed_session_has_a_summary_of_the_printed_format(memory: AsyncMemory):
    talking = agent(memory, profile_with(threshold_tokens=60, recent_messages_to_keep=2), agent_scoped=True)
    for line in (
        "I live in Lisbon.",
        "Good to know!",
        "My budget for the trip is $900.",
        "Noted.",
        "I leave on Monday.",
    ):
        await talking.save_memory("user" if line[0] == "I" or line[:2] == "My" else "assistant", line + " " + "so " * 9)
    summary = await talking.session_summary()
    assert summary is not None
    assert set(summary.model_dump()) == {
        *("id", "user_id", "session_id", "agent_id", "summary", "created_at", "updated_at"),
    }
    assert (summary.user_id, summary.session_id, summary.agent_id) == ("user123", "session456", "helper")


def profile_with(resources: Any = ("memory",), knowledge: Any = None, **compression: Any) -> dict[str, Any]:
    config = {"memory": {"compression": compression}, "knowledge_base": knowledge or {}}
    return {"agent_id": "helper", "resources": list(resources), "resource_config": config}


# Compression.


@pytest.mark.req("S2-16", "S2-21", "S2-22", "S2-25", "S2-46", "S2-39", "S2-55", "S2-59")
async def test_twenty_research_topics_compress_by_themselves(memory: AsyncMemory):
    def researcher(messages: Said) -> str:
        topic = messages[-1]["content"].rpartition(" ")[2]
        return f"On topic {topic} there are sources. " + "The measurements agree with the model in most years. " * 30

    talking = agent(memory, "research_agent", "long_session")
    talking.set_chat_provider(researcher)
    await talking.initialize()
    for number in range(20):
        await talking.chat(f"Research topic {number}")
    history = await talking.load_memory()
    assert history[0]["role"] == "system"
    assert history[0]["content"].startswith("CONVERSATION SUMMARY: ")
    recent = history[1:]
    assert 8 <= len(recent) < 40
    assert recent[-2]["content"] == "Research topic 19"
    entries = await talking.entries(include_inactive=True)
    assert len(entries) == 40  # softly deleted only
    assert sum(entry.is_active for entry in entries) == len(recent)
    assert (await talking.diagnose()).tokens <= 5000


@pytest.mark.req("S2-23", "S2-45", "S2-46", "S4-03")
async def test_the_name_that_was_told_first_is_known_after_compression(memory: AsyncMemory):
    talking = agent(memory, profile_with(threshold_tokens=120, recent_messages_to_keep=4))
    told = ("I live in Lisbon with two cats", "I am allergic to peanuts", "I work for Acme as a nurse")
    told += ("My budget for the trip is 900 euros", "I fly on Monday at nine", "I prefer window seats")
    told += ("My sister Ana comes along", "We stay at the hotel Avenida", "My brother Tom lives in Porto")
    told += ("My daughter Eva is seven", "I play the cello in an orchestra", "I drive a red Volvo", "I speak Danish")
    for line in ("My name is Alice", *told):
        await talking.chat(line)
    summary, *recent = await talking.load_memory()
    assert summary["content"].startswith("CONVERSATION SUMMARY: ")
    assert not any("Alice" in message["content"] for message in recent)
    assert await talking.chat("What's my name?") == "Your name is Alice."


@pytest.mark.req("S2-04", "S2-05", "S2-21", "S2-22", "S2-48")
@pytest.mark.parametrize(("threshold", "keep"), [(100, 3), (200, 5)])
async def test_above_the_threshold_as_many_messages_stay_as_the_profile_says(
    memory: AsyncMemory, threshold: int, keep: int
):
    talking = agent(memory, profile_with(threshold_tokens=threshold, recent_messages_to_keep=keep))
    said, before = list[str](), 0
    while not (history := await talking.load_memory()) or history[0]["role"] != "system":
        before = (await talking.diagnose()).tokens
        said.append(f"Message {len(said)} is about gardens and trees.")
        await talking.save_memory("user", said[-1])
    assert [message["content"] for message in history[1:]] == said[-keep:]
    assert before <= threshold < before + 20, "one message has less than 20 tokens"


@pytest.mark.req("S2-26", "S2-06", "S2-44")
async def test_what_is_archived_is_what_leaves_the_view(memory: AsyncMemory):
    talking = agent(memory, profile_with(threshold_tokens=150, recent_messages_to_keep=6, archive_conversations=True))
    for number in range(12):
        await talking.save_memory(
            "user" if number % 2 == 0 else "assistant", f"Message {number} is about gardens. " * 3
        )
    entries = await talking.entries(include_inactive=True)
    gone = {entry.id for entry in entries if not entry.is_active}
    accounts = await memory.user("user123").memories(types=["conversation_summary"])
    assert gone
    assert len(gone) < len(entries)
    assert {turn for account in accounts for turn in account.source_turn_ids} == gone
    await talking.cleanup()  # the session is over, so the rest follows
    accounts = await memory.user("user123").memories(types=["conversation_summary"])
    assert {turn for account in accounts for turn in account.source_turn_ids} == {entry.id for entry in entries}


@pytest.mark.req("S2-28", "S2-25")
async def test_when_compression_fails_nothing_is_lost_and_the_talk_goes_on():
    chat = ScriptedChat(fault=lambda task, call: ModelError("down"))
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        compression = {"threshold_tokens": 40, "recent_messages_to_keep": 2, "archive_conversations": True}
        talking = agent(memory, profile_with(**compression))
        for number in range(8):
            await talking.save_memory("user", f"Message {number} " + "so " * 10)
        assert [message["content"].split()[1] for message in await talking.load_memory()] == list("01234567")


# The archive.


@pytest.mark.req("S2-29", "S2-31", "S2-32")
async def test_an_archived_conversation_has_the_printed_structure(memory: AsyncMemory):
    scoped = agent(memory, "archival", "session_123", agent_scoped=True)
    async with scoped:
        await scoped.save_memory("user", "Let's use JWT with 1-hour expiration for UserService.")
        await scoped.save_memory("assistant", "Agreed. Redis keeps the sessions?")
        await scoped.save_memory("user", "John decides that tomorrow. Should we implement refresh tokens?")
    (document,) = await scoped.list_documents()
    assert document.content.startswith("# Conversation Summary\n## Date Range: ")
    assert "\n## Summary: " in document.content
    assert (document.namespace, document.doc_type) == ("conversations:user123", "conversation")
    metadata = document.metadata
    assert set(metadata) == {
        *("session_id", "agent_id", "conversation_topics", "entities_mentioned", "decisions_made", "open_questions"),
        *("message_count", "date_range"),
    }
    assert (metadata["session_id"], metadata["agent_id"]) == ("session_123", "knowledge_memory_agent")
    assert metadata["message_count"] == 3
    assert set(metadata["date_range"]) == {"start", "end"}


@pytest.mark.req("S2-30", "S2-23", "S2-29")
def test_an_account_under_the_printed_headings_is_read():
    asked = ArchiveInput(
        turns=[TurnView(ref="t1", role="user", content="JWT, said John.", created_at="2024-01-15T10:00Z")]
    )
    text = (
        "## SUMMARY\nThe API will use JWT.\n\n## TOPICS  \nauthentication, JWT\n\n## ENTITIES\nJohn, UserService\n\n"
        "## DECISIONS\nUse JWT with 1-hour expiration\nKeep Redis\n\n## QUESTIONS\nNone\n"
    )
    account, _ = read_answer(ARCHIVE, text, asked)
    assert account.summary == "The API will use JWT."
    assert account.topics == ["authentication", "JWT"]
    assert account.entities == ["John", "UserService"]
    assert account.decisions == ["Use JWT with 1-hour expiration", "Keep Redis"]
    assert account.questions == []


@pytest.mark.req("S2-27", "S2-16", "S4-45")
async def test_tokens_are_counted_as_tiktoken_does(memory: AsyncMemory):
    talking = agent(memory, "basic")
    await talking.save_memory("user", "antidisestablishmentarianism")
    assert (await talking.diagnose()).tokens == 6 + 4  # its length alone would make seven; and the frame of a message


# Other sessions.


@pytest.mark.req("S2-47", "S2-08", "S2-33", "S2-34", "S2-35", "S2-37", "S2-07", "S2-45")
async def test_session_two_gets_what_session_one_said_with_the_printed_profile(memory: AsyncMemory):
    await plan_a_login(memory)
    async with agent(memory, "archival", "session0") as other:
        await other.chat("Let's plan the summer party of the team")
        await other.chat("There will be thirty guests and a barbecue in the garden")
    async with agent(memory, "archival", "session2") as second:
        assert await second.chat(QUESTION) == "We spoke of JWT tokens that expire after an hour."
        history = await second.load_memory()
    assert [message["role"] for message in history] == ["system", "user", "assistant"]
    assert "JWT tokens with 1-hour expiration" in history[0]["content"]
    assert "barbecue" not in history[0]["content"]
    found = await second.diagnose(QUESTION)
    assert (found.trigger, found.relevance_threshold, found.found) == ("what did we discuss", 0.7, 1)
    assert found.best_score is not None
    assert found.best_score >= 0.7
    assert found.best_similarity is not None
    assert found.best_similarity < 0.7  # another model's scale
    back = await agent(memory, "archival", "session1").load_memory(QUESTION)
    assert "Relevant context" not in back[0]["content"]  # its own session is no other one


@pytest.mark.req("S2-47", "S2-35")
async def test_the_answer_stands_first_however_often_it_is_asked_for(memory: AsyncMemory):
    await plan_a_login(memory)
    for number in range(2, 13):
        async with agent(memory, "archival", f"session{number}") as asking:
            await asking.save_memory("user", QUESTION)
            if number % 2:
                await asking.chat(QUESTION)
            history = await asking.load_memory()
        assert "JWT tokens with 1-hour expiration" in history[0]["content"]
        assert history[0]["content"].count("# Conversation Summary") == 1
    assert [one.metadata["session_id"] for one in await asking.list_documents()] == ["session1"]


@pytest.mark.req("S2-48", "S2-08", "S2-09")
async def test_the_custom_profile_finds_by_its_own_phrases_and_threshold(memory: AsyncMemory):
    await plan_a_login(memory, "custom_agent")
    asking = agent(memory, "custom_agent", "session789")
    for message in ("Remind me about authentication", "We talked about JWT tokens, right?"):
        assert "JWT tokens" in (await asking.load_memory(message))[0]["content"]
        found = await asking.diagnose(message)
        assert found.relevance_threshold == 0.8
        assert found.best_score is not None
        assert found.best_score >= 0.8
        exact = json.loads(json.dumps(PRINTED["custom_agent"]))  # the threshold is a minimum
        exact["resource_config"]["knowledge_base"]["relevance_threshold"] = found.best_score
        assert (await agent(memory, exact, "session789").diagnose(message)).found == 1
    assert await asking.load_memory(QUESTION) == []  # none of its phrases
    compression = asking.profile.resource_config.memory.compression
    assert (compression.threshold_tokens, compression.recent_messages_to_keep) == (12000, 15)


@pytest.mark.req("S2-10", "S2-36", "S2-38", "S2-50")
async def test_a_model_reranks_where_the_profile_names_one_and_without_one_the_order_stays(
    caplog: pytest.LogCaptureFixture,
):
    chat = ScriptedChat()
    reranking = {
        **PRINTED["archival"]["resource_config"]["knowledge_base"],
        **PRINTED["rerank_section"]["knowledge_base"],
    }
    config = PRINTED["archival"]["resource_config"] | {"knowledge_base": reranking}
    profile = PRINTED["archival"] | {"resource_config": config}
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        for session, line in (("s1", "JWT tokens for authentication"), ("s2", "passkeys for authentication")):
            async with agent(memory, profile, session) as first:
                await first.save_memory("user", f"We want {line} in the API.")

        async def told(asking: AgentSession) -> list[str]:
            assert asking.knowledge_base is not None
            found = await asking.knowledge_base.look("What did we discuss about API authentication?", "s3")
            return [one.metadata["session_id"] for one in found.documents]

        usual = await told(agent(memory, "archival", "s3"))
        assert set(usual) == {"s1", "s2"}
        assert chat.calls["rerank"] == 0
        chat.outputs["rerank"] = lambda data: RerankOutput(refs=[note.ref for note in reversed(data.notes)])
        assert await told(agent(memory, profile, "s3")) == usual[::-1]
        assert chat.calls["rerank"] == 1
        own = ScriptedChat()
        own.outputs["rerank"] = lambda data: RerankOutput(refs=[])
        injected = agent(memory, profile, "s3")
        injected.set_rerank_provider(own, "gpt-4o-mini")
        assert await told(injected) == usual
        assert isinstance(own.seen[0], RerankInput)
        chat.fault = lambda task, call: ModelError("down")
        assert await told(agent(memory, profile, "s3")) == usual
        assert "rerank failed" in caplog.text


# The calls that are shown.


@pytest.mark.req("S2-15", "S2-39")
async def test_loading_gives_the_summary_and_then_the_messages(memory: AsyncMemory):
    talking = agent(memory, profile_with(threshold_tokens=60, recent_messages_to_keep=2))
    for role, line in (("user", "Hello"), ("assistant", "Hi there!"), ("user", "I live in Lisbon. " + "so " * 30)):
        await talking.save_memory(role, line)
    await talking.save_memory("assistant", "Noted. " + "so " * 20)
    summary, *messages = await talking.load_memory()
    assert summary["role"] == "system"
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert all(set(message) == {"role", "content"} for message in messages)


@pytest.mark.req("S2-40")
async def test_the_exchange_that_is_printed_keeps_each_message_once(memory: AsyncMemory):
    async with agent(memory, "basic") as talking:
        user_message = "Hello"
        await talking.save_memory("user", user_message)
        response = await talking.chat(user_message)
        await talking.save_memory("assistant", response)
        await talking.chat("Hello")  # the same words again are a message of their own
    assert [entry.content["content"] for entry in await talking.entries()] == ["Hello", "Noted.", "Hello", "Noted."]


@pytest.mark.req("S2-41")
async def test_clearing_says_how_many_messages_were_cleared(memory: AsyncMemory):
    async with agent(memory, "basic") as talking:
        await talking.chat("Hello")
        count = await talking.clear_conversation()
        assert count == 2
        assert await talking.load_memory() == []


@pytest.mark.req("S2-42", "S2-43", "S2-12", "S2-66")
async def test_the_two_tools_take_the_printed_arguments_and_no_other_tool_is_allowed(memory: AsyncMemory):
    await plan_a_login(memory)
    looking = agent(memory, "archival", "session2")
    found = await looking.search_knowledge_base(query="authentication discussion", search_type="conversations", limit=5)
    assert [one.metadata["session_id"] for one in found] == ["session1"]
    assert found[0].score is not None
    listed = await looking.list_documents(doc_type="conversations", limit=10)
    assert [one.id for one in listed] == [one.id for one in found]
    names = [tool["function"]["name"] for tool in looking.tools()]
    assert names == ["search_knowledge_base", "list_documents"]
    assert await looking.call_tool("list_documents", {"doc_type": "conversations", "limit": 10}) == listed
    alone = agent(memory, PRINTED["archival"] | {"allowed_regular_tools": ["list_documents"]}, "session2")
    assert [tool["function"]["name"] for tool in alone.tools()] == ["list_documents"]
    with pytest.raises(InvalidInput):
        await alone.call_tool("search_knowledge_base", {"query": "authentication"})
    assert agent(memory, "custom_agent").tools() == []


@pytest.mark.req("S2-66", "S2-11")
async def test_a_document_of_the_knowledge_base_is_no_fact_about_the_user(memory: AsyncMemory):
    looking = agent(memory, "archival")
    assert looking.knowledge_base is not None
    await looking.knowledge_base.add_document("handbook", "Remote work: up to three days a week.", title="Handbook")
    await looking.knowledge_base.add_document("handbook", "Remote work: up to four days a week.", title="Handbook")
    (found,) = await looking.search_knowledge_base("How many days of remote work?", "documents")
    assert (found.content, found.doc_type, found.metadata["title"]) == (
        *("Remote work: up to four days a week.", "document", "Handbook"),
    )
    user = memory.user("user123")
    assert (await user.memories(), (await user.stats()).memories) == ([], 0)
    await user.process("profile")
    told = (await user.thread("t").context("How many days of remote work?")).text
    assert "Remote work" not in told


# The examples.


@pytest.mark.req("S2-45", "S2-13", "S2-44", "S2-53")
async def test_an_agent_remembers_alice(memory: AsyncMemory):
    talking = agent(memory, "basic")
    await talking.initialize()
    await talking.chat("My name is Alice")
    assert await talking.chat("What's my name?") == "Your name is Alice."
    await talking.cleanup()
    again = agent(memory, "basic")
    await again.initialize()
    assert await again.chat("What's my name?") == "Your name is Alice."
    assert await agent(memory, "basic", "another").load_memory() == []


@pytest.mark.req("S2-44")
async def test_initializing_an_agent_opens_a_memory_that_is_closed():
    memory = AsyncMemory.local(cadence=NEVER)
    talking = agent(memory, "basic")
    assert not memory.enabled
    await talking.initialize()
    assert memory.enabled
    await talking.chat("My name is Alice")
    assert len(await talking.load_memory()) == 2
    await memory.close()


async def test_a_model_that_fails_loses_nothing_and_may_be_asked_again(memory: AsyncMemory):
    asked: list[Said] = []

    async def fails_once(messages: Said) -> str:
        asked.append(messages)
        if len(asked) == 1:
            raise TimeoutError("too slow")
        return "Here I am."

    talking = agent(memory, "basic")
    talking.set_chat_provider(fails_once)
    with pytest.raises(ModelError, match="too slow"):
        await talking.chat("Are you there?")
    assert [entry.content["content"] for entry in await talking.entries()] == ["Are you there?"]
    assert await talking.chat("Are you there?") == "Here I am."
    assert [entry.content["content"] for entry in await talking.entries()] == ["Are you there?", "Here I am."]
    talking.set_chat_provider(lambda messages: "")
    with pytest.raises(ModelError, match="no text"):
        await talking.chat("And now?")


async def test_a_chat_model_of_the_library_answers_too():
    chat = ScriptedChat()
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        talking = AgentSession(memory, PRINTED["basic"], "user123", "s1")  # the memory's own model
        assert await talking.chat("Hello") == "1: Hello"
        assert await talking.chat("Again") == "3: Again"
    async with AsyncMemory.local(cadence=NEVER) as memory:
        with pytest.raises(ModelError, match="use a language model"):
            await AgentSession(memory, PRINTED["basic"], "user123", "s1").chat("Hello")


@pytest.mark.req("S2-49", "S2-50", "S2-54", "S2-60")
async def test_an_agent_is_composed_of_what_its_profile_wants(memory: AsyncMemory):
    plain, knowing = agent(memory, "basic"), agent(memory, "archival")
    assert plain.knowledge_base is None
    base = knowing.knowledge_base
    assert base is not None
    base.set_chat_provider(answers)
    base.set_embedding_provider(MiniLMEmbeddings(), "text-embedding-ada-002")
    base.set_rerank_provider(answers, "gpt-4o-mini")
    differences = {one.setting: (one.wanted, one.used) for one in (await knowing.diagnose()).differences}
    assert differences == {
        "embedding_model": ("text-embedding-ada-002", "all-MiniLM-L6-v2-int8"),
        "embedding_provider": ("azure_openai_cc", "the memory's own, with all-MiniLM-L6-v2-int8"),
        "vector_provider": ("pgvector", "Azure Cosmos DB, embedded"),
    }
    base.set_embedding_provider(MiniLMEmbeddings())  # the one that the memory has
    assert "embedding_model" not in {one.setting for one in (await knowing.diagnose()).differences}
    knowing.set_chat_provider(lambda messages: "So says the provider that was set.")
    assert await knowing.chat("Who answers?") == "So says the provider that was set."
    for wrong in ("azure_openai_cc", None):
        with pytest.raises(InvalidInput):
            knowing.set_chat_provider(wrong)  # type: ignore[arg-type]


@pytest.mark.req("S2-51", "S2-61")
async def test_loading_never_fails_a_conversation(caplog: pytest.LogCaptureFixture):
    memory = AsyncMemory.local(cadence=NEVER)
    talking = agent(memory, "basic")
    await talking.initialize()
    await memory.close()
    with caplog.at_level(logging.ERROR):
        assert await talking.load_memory() == []
    assert "Error loading memory: " in caplog.text
    with pytest.raises(StoreUnavailable):
        await talking.save_memory("user", "lost?")
    assert await talking.chat("Are you there?") == "Noted."  # without memory
    assert "A message was not stored, going on without it" in caplog.text


# Bringing memory to agents that have none.


@pytest.mark.req("S2-65", "S2-56")
async def test_an_agent_is_upgraded_by_its_profile_alone_and_users_stay_apart(memory: AsyncMemory):
    bare = PRINTED["archival"] | {"resources": []}
    await plan_a_login(memory, bare)
    assert await memory.users() == []
    await plan_a_login(memory, PRINTED["archival"] | {"resources": ["memory"]})
    assert await agent(memory, "archival", "s2").load_memory(QUESTION) != []  # archived, so found from now on
    stranger = AgentSession(memory, PRINTED["archival"], "user124", "session1")
    assert await stranger.load_memory(QUESTION) == []
    assert await stranger.list_documents() == []
