"""An agent's session does what the Agent Service's document says, under its names."""

import itertools
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from memories import NEVER, opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.compat.agent import AgentSession
from agent_memory.compat.agent_profile import AgentProfile
from agent_memory.compat.knowledge_base import CROSS_SESSION_HEADER
from agent_memory.errors import InvalidInput, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.roles import RoleChat
from agent_memory.store.library import pieces_of as chunks
from agent_memory.text.tokens import ApproximateTokens

LINE = "x" * 24
"""Ten tokens as a message."""
KNOWLEDGE = {"enable_cross_session_context": True, "relevance_threshold": 0.1}
ARCHIVING = {
    "agent_id": "knowledge_agent",
    "resources": ["memory", "knowledge_base"],
    "allowed_regular_tools": ["search_knowledge_base", "list_documents"],
    "resource_config": {
        "memory": {"compression": {"archive_conversations": True}},
        "knowledge_base": KNOWLEDGE,
    },
}


def profile(resources: Any = ("memory",), **compression: Any) -> dict[str, Any]:
    return {
        "agent_id": "helper",
        "resources": list(resources),
        "provider": "azure_openai_cc",
        "model": "gpt-4o-mini",
        "resource_config": {"memory": {"compression": compression}},
    }


def session(memory: AsyncMemory, given: Any = None, name: str = "session456", **options: Any) -> AgentSession:
    return AgentSession(memory, given or profile(), "user123", name, tokens=ApproximateTokens(), **options)


async def say(agent: AgentSession, *lines: str) -> None:
    for number, line in enumerate(lines):
        await agent.save_memory("user" if number % 2 == 0 else "assistant", line)


@pytest.mark.req("S2-02", "S2-03", "S2-04", "S2-05", "S2-06", "S2-07", "S2-08", "S2-09", "S2-10", "S2-11")
def test_a_profile_has_the_defaults_of_the_document(tmp_path: Path):
    read = AgentProfile.read(profile())
    assert (read.agent_id, read.resources, read.provider, read.model) == (
        *("helper", ["memory"], "azure_openai_cc", "gpt-4o-mini"),
    )
    assert read.resource_config.memory.compression.model_dump() == {
        "enabled": True,
        "threshold_tokens": 10_000,
        "recent_messages_to_keep": 10,
        "archive_conversations": False,
    }
    knowledge = read.resource_config.knowledge_base
    assert knowledge.enable_cross_session_context is False
    assert knowledge.relevance_threshold == 0.7
    assert (knowledge.chunk_size, knowledge.chunk_overlap) == (800, 100)
    assert (knowledge.rerank_provider, knowledge.rerank_model) == (None, None)
    assert knowledge.search_triggers == [
        "what did we discuss",
        "previous conversation",
        "last time",
        "remind me",
        "we mentioned",
        "earlier you said",
    ]
    path = tmp_path / "agent.json"
    path.write_text(json.dumps(profile() | {"system_prompt": "is none of ours"}))
    assert AgentProfile.read(path) == AgentProfile.read(str(path)) == AgentProfile.read(path.read_text()) == read


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"agent_id": "x", "resources": "memory"},
        {"agent_id": "x", "resource_config": {"memory": {"compresion": {}}}},
        {"agent_id": "x", "resource_config": {"memory": {"compression": {"threshold_tokens": 0}}}},
        {"agent_id": "x", "resource_config": {"knowledge_base": {"relevance_threshold": 7}}},
        "{not json",
        "/no/such/file.json",
    ],
)
def test_a_profile_that_cannot_be_read_is_refused(bad: Any):
    with pytest.raises(InvalidInput, match="not an agent profile"):
        AgentProfile.read(bad)


@pytest.mark.req("S2-01", "S2-61")
async def test_without_the_resource_memory_does_nothing(memory: AsyncMemory):
    agent = session(memory, profile(resources=[]))
    assert await agent.save_memory("user", "My name is Alice") is None
    assert await agent.load_memory() == []
    assert await agent.clear_conversation() == 0
    assert (await agent.entries(), await agent.session_summary(), agent.tools()) == ([], None, [])
    assert await memory.users() == []


@pytest.mark.req("S2-14", "S2-17", "S2-18", "S2-19", "S2-58", "S2-59")
async def test_a_message_is_an_entry_that_expires_and_stays_for_audit(memory: AsyncMemory):
    agent = session(memory)
    await agent.save_memory("assistant", "hello")
    (entry,) = await agent.entries()
    assert entry.updated_at == entry.created_at
    stored = await memory.runtime.store.read("memories_turns", entry.id, ("user123", "session456"))
    assert stored is not None
    assert stored["ttl"] == 604800
    assert await agent.clear_conversation() == 1
    assert await agent.entries() == []
    assert [entry.is_active for entry in await agent.entries(include_inactive=True)] == [False]
    forever = session(memory, name="s2", message_ttl=None)
    await say(forever, "hello")
    assert (await forever.entries())[0].expires_at is None


@pytest.mark.req("S2-14")
async def test_agents_can_have_conversations_of_their_own_in_one_session(memory: AsyncMemory):
    one, other = (
        session(memory, profile() | {"agent_id": name}, agent_scoped=True) for name in ("research", "writing")
    )
    await say(one, "for the researcher")
    assert await other.load_memory() == []
    (entry,) = await one.entries()
    assert (entry.session_id, entry.agent_id) == ("session456", "research")


@pytest.mark.req("S2-52")
@pytest.mark.parametrize(("user_id", "session_id", "agent_id"), [("", "s", "a"), ("u", "a/b", "a"), ("u", "s", "")])
async def test_every_key_of_an_entry_is_demanded(memory: AsyncMemory, user_id: str, session_id: str, agent_id: str):
    with pytest.raises(InvalidInput):
        AgentSession(memory, profile() | {"agent_id": agent_id}, user_id, session_id)._thread  # noqa: B018


@pytest.mark.req("S2-46", "S2-16", "S2-23", "S2-20", "S2-21", "S2-22", "S2-24", "S2-25", "S2-39")
async def test_a_long_conversation_compresses_by_itself(memory: AsyncMemory, chat: ScriptedChat):
    agent = session(memory, profile(enabled=True, threshold_tokens=5000, recent_messages_to_keep=8))
    for number in range(20):
        await agent.save_memory("user", f"Research topic {number}. {'x' * 1000}")
        await agent.save_memory("assistant", f"Findings about {number}. {'y' * 400}")
    history = await agent.load_memory()
    assert "Research topic 0." in history[0]["content"]
    assert all(message["role"] in ("user", "assistant") for message in history[1:])
    assert 8 <= len(history) - 1 < 28
    assert set(chat.calls) == {"summarize"}  # a task with a prompt of its own, that sees the messages as data
    assert chat.seen[0].turns[0].content.startswith("Research topic 0.")
    summary = await agent.session_summary()
    assert summary is not None
    assert "Research topic 0." in summary.summary


@pytest.mark.req("S2-03", "S2-55")
async def test_compression_that_is_not_enabled_asks_no_model(memory: AsyncMemory, chat: ScriptedChat):
    agent = session(memory, profile(enabled=False, threshold_tokens=10, recent_messages_to_keep=1))
    await say(agent, *[LINE] * 10)
    assert len(await agent.load_memory()) == 10
    assert chat.calls.total() == 0


@pytest.mark.req("S2-06", "S2-26")
async def test_what_is_compressed_is_archived_if_the_profile_says_so(memory: AsyncMemory, chat: ScriptedChat):
    for archiving in (False, True):
        given = profile(threshold_tokens=50, recent_messages_to_keep=2, archive_conversations=archiving)
        agent = session(memory, given | {"resources": ["memory", "knowledge_base"]}, name=f"s-{archiving}")
        await say(agent, *[LINE] * 7)
        await agent.cleanup()
        assert chat.calls["archive"] == (2 if archiving else 0)  # when it was compressed, and the rest at the end
    assert {document.metadata["session_id"] for document in await agent.list_documents()} == {"s-True"}


@pytest.mark.req("S2-33", "S2-34", "S2-35", "S2-37", "S2-47", "S2-48", "S2-08")
async def test_another_session_is_recalled_if_the_user_asks_for_it(memory: AsyncMemory):
    async with session(memory, ARCHIVING, name="session1") as first:
        await say(first, "I'm building a REST API with authentication", "Sounds good.")
        await say(first, "Planning to use JWT tokens with 1-hour expiration")
    async with session(memory, ARCHIVING, name="session2") as second:
        await say(second, "Hello again", "Welcome back!")
        assert len(await second.load_memory("How are you?")) == 2
        question = "What did we discuss about authentication?"
        await second.save_memory("user", question)
        history = await second.load_memory()
    assert [message["role"] for message in history] == ["system", "user", "assistant", "user"]
    assert history[0]["content"].startswith(CROSS_SESSION_HEADER)
    assert "JWT tokens with 1-hour expiration" in history[0]["content"]
    back = session(memory, ARCHIVING, name="session1")
    assert await back._cross_session(question) == []  # the one that tells is its own; the other only asked
    strict = {"enable_cross_session_context": True, "relevance_threshold": 0.9}
    custom = {"enable_cross_session_context": True, "search_triggers": ["previous session"]}
    for kind, asked in ((strict, question), (custom, question)):
        agent = session(memory, ARCHIVING | {"resource_config": {"knowledge_base": kind}}, name="session3")
        assert await agent._cross_session(asked) == []
    assert await agent._cross_session("In our Previous Session, what about authentication?")
    off = ARCHIVING | {"resource_config": {"knowledge_base": {"relevance_threshold": 0.1}}}
    assert await session(memory, off, name="session3")._cross_session(question) == []


@pytest.mark.req("S2-35")
async def test_the_session_that_is_going_on_is_left_out_also_where_another_agent_holds_it(memory: AsyncMemory):
    for name in ("s1", "s2"):
        async with session(memory, ARCHIVING | {"agent_id": "one"}, name, agent_scoped=True) as one:
            await say(one, f"We chose authentication by tokens in {name}", "Good.")
    other = session(memory, ARCHIVING | {"agent_id": "two"}, "s1", agent_scoped=True)
    for question in ("What did we discuss about authentication?", "What did we discuss last time?"):
        assert [found.metadata["session_id"] for found in await other._cross_session(question)] == ["s2"]


@pytest.mark.req("S2-61", "S2-38")
async def test_when_other_sessions_cannot_be_searched_the_conversation_goes_on(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def fails(*_: Any) -> None:
        raise StoreUnavailable("the archive is down")

    agent = session(memory, ARCHIVING)
    await say(agent, "What did we discuss about authentication?")
    monkeypatch.setattr(agent.knowledge_base, "look", fails)
    assert [message["role"] for message in await agent.load_memory()] == ["user"]
    assert "Other sessions cannot be searched, going on without: the archive is down" in caplog.text


@pytest.mark.req("S2-42", "S2-43", "S2-12", "S2-61")
async def test_the_two_tools_have_schemas_and_do_what_they_say(memory: AsyncMemory):
    for name in ("s1", "s2"):
        async with session(memory, ARCHIVING, name=name) as agent:
            await say(agent, f"topic: authentication in {name}")
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in agent.tools()}
    assert set(tools) == {"search_knowledge_base", "list_documents"}
    assert {name: schema["required"] for name, schema in tools.items()} == {
        "search_knowledge_base": ["query"],
        "list_documents": [],
    }
    search, listing = tools["search_knowledge_base"]["properties"], tools["list_documents"]["properties"]
    assert {name: field.get("default") for name, field in search.items()} == {
        "query": None,
        "search_type": "conversations",
        "limit": 5,
    }
    assert {name: field["default"] for name, field in listing.items()} == {"doc_type": "conversations", "limit": 10}
    found = await agent.call_tool("search_knowledge_base", '{"query": "authentication in s1"}')
    assert found[0].metadata["session_id"] == "s1"
    assert (found[0].namespace, found[0].doc_type) == ("conversations:user123", "conversation")
    assert found[0].score is not None
    assert len(await agent.call_tool("list_documents", {"limit": 1})) == 1
    assert await agent.search_knowledge_base("authentication", "documents") == []
    for name, arguments in [
        ("search_knowledge_base", "{}"),
        ("search_knowledge_base", '{"query": "x", "limit": 1000}'),
        ("search_knowledge_base", "not json"),
        ("list_documents", {"doc_type": "secrets"}),
        ("drop_table", {}),
    ]:
        with pytest.raises(InvalidInput):
            await agent.call_tool(name, arguments)
    with pytest.raises(InvalidInput):
        await agent.search_knowledge_base("x", "secrets")  # type: ignore[arg-type]
    plain = session(memory)
    assert await plain.search_knowledge_base("authentication") == await plain.list_documents() == []
    stranger = AgentSession(memory, ARCHIVING, "user999", "s1")
    assert await stranger.search_knowledge_base("authentication") == await stranger.list_documents() == []


@pytest.mark.req("S2-42", "S2-43")
async def test_a_search_gives_five_conversations_and_a_list_ten_documents_if_nothing_else_is_said(memory: AsyncMemory):
    agent = session(memory, ARCHIVING)
    base = agent.knowledge_base
    assert base is not None
    for number in range(12):
        await base.add_document(f"rule{number}", f"Rule {number}: the form is due on day {number}.")
    query = {"query": "form", "search_type": "documents"}
    for found in (
        await agent.call_tool("search_knowledge_base", query),
        await agent.search_knowledge_base("form", "documents"),
        await base.search_knowledge_base("form", "documents"),
    ):
        assert len(found) == 5
    for listed in (
        await agent.call_tool("list_documents", {"doc_type": "documents"}),
        await agent.list_documents("documents"),
        await base.list_documents("documents"),
    ):
        assert len(listed) == 10
    # Conversations are meant, of which there are none.
    assert await agent.call_tool("search_knowledge_base", {"query": "form"}) == []
    assert await agent.search_knowledge_base("form") == await agent.list_documents() == []
    assert await agent.call_tool("list_documents", {}) == []


@pytest.mark.req("S2-11", "S2-43", "S2-66")
async def test_documents_are_indexed_in_pieces_beside_conversations(memory: AsyncMemory):
    agent = session(memory, ARCHIVING)
    assert agent.knowledge_base is not None
    text = " ".join(f"Rule {number} says that form F{number} is due on day {number}." for number in range(60))
    pieces = await agent.knowledge_base.add_document("handbook", text, title="Handbook")
    assert pieces == len(list(chunks(text, 800, 100))) > 2
    assert await agent.knowledge_base.add_document("handbook", text, title="Handbook") == pieces
    stored = await memory.user("user123").memories(types=["document"])
    assert sorted(one.content for one in stored) == sorted(chunks(text, 800, 100))
    await agent.knowledge_base.add_document("form", "The form F42 has two pages.")
    listed = await agent.list_documents("documents", limit=2)
    assert [one.metadata["document_id"] for one in listed] == ["form", "handbook"]
    assert listed[1].content == next(chunks(text, 800, 100))
    assert await agent.knowledge_base.delete_document("form") == 1
    (best, *_) = await agent.search_knowledge_base("When is form F42 due?", "documents")
    assert "form F42" in best.content
    assert (best.doc_type, best.metadata["document_id"], best.metadata["title"]) == ("document", "handbook", "Handbook")
    with pytest.raises(InvalidInput):
        await agent.knowledge_base.add_document("empty", "  ")
    assert await agent.knowledge_base.delete_document("handbook") == pieces
    assert await agent.list_documents("documents") == []
    smaller = {"knowledge_base": KNOWLEDGE | {"chunk_size": 300, "chunk_overlap": 40}}
    other = session(memory, ARCHIVING | {"resource_config": smaller})
    assert other.knowledge_base is not None
    await other.knowledge_base.add_document("handbook", text)
    stored = await memory.user("user123").memories(types=["document"])
    assert sorted(one.content for one in stored) == sorted(chunks(text, 300, 40))


def test_pieces_of_a_text_overlap_and_lose_nothing():
    text = " ".join(f"word{number}" for number in range(500))
    pieces = list(chunks(text, 800, 100))
    assert all(len(piece) <= 800 for piece in pieces)
    assert {word for piece in pieces for word in piece.split()} >= set(text.split())
    for before, after in itertools.pairwise(pieces):
        assert text.index(after[:60]) < text.index(before) + len(before)
    assert list(chunks("short", 800, 100)) == ["short"]
    assert next(chunks("x" * 2000, 800, 100)) == "x" * 800
    assert len(list(chunks("x" * 50, 1, 5))) == 50


@pytest.mark.req("S2-35")
async def test_a_session_that_was_archived_often_does_not_hide_the_others_from_itself(memory: AsyncMemory):
    async with session(memory, ARCHIVING, name="s1") as first:
        await say(first, "We chose JWT tokens for authentication, and the garden gets roses and lilies.")
    here = memory.user("user123").thread("s2")
    for number in range(21):
        await here.add("user", f"JWT tokens for authentication {number}")
        await here.process("archive")
    history = await session(memory, ARCHIVING, name="s2").load_memory(
        "What did we discuss about JWT tokens for authentication?"
    )
    assert "roses" in history[0]["content"]


@pytest.mark.req("S2-62", "S2-63", "S2-64", "S2-16")
async def test_a_diagnosis_says_what_is_missing(memory: AsyncMemory):
    nothing = await session(memory, profile(resources=[], enabled=False)).diagnose()
    assert nothing.reasons == [
        'memory: "memory" is not among the resources',
        "compression: it is not enabled",
        "compression: 0 tokens are not above 10000",
        'cross-session: "knowledge_base" is not among the resources',
        "cross-session: enable_cross_session_context is off",
        "cross-session: archive_conversations is off",
        "cross-session: no conversation of another session has been archived yet",
    ]
    async with session(memory, ARCHIVING, name="s1") as agent:
        await say(agent, LINE)
        assert (await agent.diagnose()).tokens == 10
    alone = await session(memory, ARCHIVING, name="s1").diagnose()
    assert (alone.memory_active, alone.cross_session_active, alone.archived_conversations) == (True, True, 0)
    compression = "compression: 10 tokens are not above 10000"
    nobody = "cross-session: no conversation of another session has been archived yet"
    assert alone.reasons == [compression, nobody, "cross-session: the message has none of the search_triggers"]
    asked = await session(memory, ARCHIVING, name="s1").diagnose("What did we discuss about gardens?")
    assert (asked.trigger, asked.reasons) == ("what did we discuss", [compression, nobody])
    async with session(memory, ARCHIVING, name="s2") as agent:
        await say(agent, "topic: authentication")
    strict = ARCHIVING | {"resource_config": {"knowledge_base": dict(KNOWLEDGE, relevance_threshold=0.9)}}
    far = await session(memory, strict, name="s1").diagnose("What did we discuss about gardens?")
    assert (far.relevance_threshold, far.found, far.archived_conversations) == (0.9, 0, 1)
    assert far.best_score is not None
    assert far.best_score < 0.9
    assert far.reasons[-1] == f"cross-session: the best score {far.best_score:.2f} is below the relevance_threshold 0.9"
    near = await session(memory, ARCHIVING, name="s1").diagnose("What did we discuss about authentication?")
    assert near.best_score is not None
    assert near.best_score >= 0.1
    assert (near.found, near.reasons) == (1, [compression])
    due = session(memory, profile(threshold_tokens=5, recent_messages_to_keep=5), name="s2")
    await say(due, LINE)
    assert (await due.diagnose()).should_compress
    off = session(memory, profile(enabled=False, threshold_tokens=5), name="s2")
    assert not (await off.diagnose()).should_compress


@pytest.mark.req("S2-62")
async def test_a_diagnosis_names_the_roles_of_models_that_are_off(chat: ScriptedChat):
    roles = RoleChat(chat, {"summary": None, "extraction": ScriptedChat()})
    async with opened(roles) as memory:
        reasons = (await session(memory).diagnose()).reasons
    assert [reason for reason in reasons if "switched off" in reason] == [
        "summary: switched off, the role has no model"
    ]


@pytest.mark.req("S2-49", "S2-50", "S2-54")
async def test_sessions_share_one_connection_and_the_models_that_were_injected(chat: ScriptedChat):
    embeddings = HashingEmbeddings()
    async with AsyncMemory.local(chat_model=chat, embedding_model=embeddings, cadence=NEVER) as memory:
        agents = [session(memory, profile(threshold_tokens=10, recent_messages_to_keep=1), f"s{n}") for n in range(5)]
        clients = list(memory.runtime.store._clients)
        for agent in agents:
            await agent.initialize()
            await say(agent, LINE, LINE)
        assert memory.runtime.store._clients == clients
        assert all(agent.knowledge_base is None for agent in agents)
        assert chat.calls["summarize"] == 5
        assert memory.runtime.tools.embeddings.asked is embeddings


@pytest.mark.req("S2-11", "S2-38", "S2-62")
async def test_what_a_profile_expects_and_the_memory_has_not_is_in_the_log(
    memory: AsyncMemory, caplog: pytest.LogCaptureFixture
):
    wanted = {"knowledge_base": {"vector_provider": "pgvector", "embedding_model": "text-embedding-ada-002"}}
    wanted["knowledge_base"]["rerank_provider"] = "azure_openai_cc"
    agent = session(memory, {"agent_id": "a", "resources": ["memory", "knowledge_base"], "resource_config": wanted})
    with caplog.at_level(logging.WARNING):
        await agent.initialize()
    assert "embedding_model text-embedding-ada-002; the memory has hashing" in caplog.text
    assert "vector_provider pgvector" in caplog.text
    assert "rerank_provider azure_openai_cc; the memory has scripted" in caplog.text
