"""A talk is filed away with an account of it, and each stretch of it once."""

from datetime import UTC, datetime, timedelta

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.language.answer_text import UnusableAnswer
from agent_memory.language.answers import read_answer
from agent_memory.language.offline.archive import archive
from agent_memory.language.tasks import ARCHIVE, ArchiveInput, TurnView

START = datetime(2024, 1, 15, 10, 0, tzinfo=UTC)
ACCOUNT = """
Here is the account.

## SUMMARY
They planned a REST API, and chose JWT.

## TOPICS
authentication, JWT,  security

## ENTITIES
John, UserService, Redis

## DECISIONS
- Use JWT, with 1-hour expiration
- Keep Redis

## QUESTIONS
None
"""


@pytest.mark.req("S2-29", "S2-31", "S2-32", "S2-26")
async def test_an_archived_talk_says_what_it_was_about(memory: AsyncMemory):
    chat = memory.user("u1").thread("session_123", agent_id="research_agent")
    lines = ["topic: JWT", "decided: 1 hour", "refresh tokens?", "thanks"]
    turns = [
        {"role": "user", "content": line, "created_at": START + timedelta(minutes=30 * n)}
        for n, line in enumerate(lines)
    ]
    await chat.add_many(turns)
    result = await chat.process("archive")
    assert (result.created, result.turns, result.usage.model_calls) == (1, 4, 1)
    (session,) = await chat.memories()
    assert (session.type, session.kind, len(session.source_turn_ids)) == ("episodic", "session", 4)
    assert session.content == (
        "# Conversation Summary\n## Date Range: 2024-01-15T10:00:00.000000Z to 2024-01-15T11:30:00.000000Z\n"
        "## Summary: topic: JWT / decided: 1 hour / refresh tokens? / thanks"
    )
    assert session.metadata == {
        "namespace": "conversations:u1",
        "doc_type": "conversation",
        "session_id": "session_123",
        "agent_id": "research_agent",
        "conversation_topics": ["JWT"],
        "entities_mentioned": ["Script"],
        "decisions_made": ["decided: 1 hour"],
        "open_questions": ["refresh tokens?"],
        "message_count": 4,
        "date_range": {"start": "2024-01-15T10:00:00.000000Z", "end": "2024-01-15T11:30:00.000000Z"},
    }


async def test_each_stretch_is_archived_once(memory: AsyncMemory, chat: ScriptedChat):
    thread = memory.user("alice").thread("t1")
    await thread.add("user", "the first stretch")
    assert (await thread.process("archive")).created == 1
    assert (await thread.process("archive")).created == 0
    await thread.add("user", "the second stretch")
    assert (await thread.process("archive")).created == 1
    assert chat.calls["archive"] == 2
    assert len(await memory.user("alice").memories(types=["episodic"])) == 2


@pytest.mark.parametrize(("speakers", "contributor"), [(("ann", "ann"), "ann"), (("ann", "bob"), None)])
async def test_an_account_of_what_several_members_said_is_ascribed_to_none(
    memory: AsyncMemory, speakers: tuple[str, str], contributor: str | None
):
    for number, name in enumerate(speakers):
        await memory.group("team", member=name).thread("standup").add("user", f"topic: release {number}")
    await memory.group("team").thread("standup").process("archive")
    (session,) = await memory.group("team").memories(types=["episodic"])
    assert session.contributor_id == contributor


async def test_when_the_model_fails_nothing_is_archived_and_nothing_is_lost(memory: AsyncMemory, chat: ScriptedChat):
    thread = memory.user("alice").thread("t1")
    await thread.add("user", "hello there")
    chat.fault = lambda task, call: ModelError("down", retryable=True)
    with pytest.raises(ModelError):
        await thread.process("archive")
    chat.fault = lambda task, call: ModelError("unusable") if call == 5 else None
    assert (await thread.process("archive")).dead_letters == 1
    (letter,) = await memory.dead_letters()
    assert (await memory.replay(letter.id)).created == 1
    assert await memory.dead_letters() == []


@pytest.mark.req("S2-30")
def test_an_account_in_sections_is_read_and_one_in_json_too():
    data = ArchiveInput(turns=[])
    account, _ = read_answer(ARCHIVE, ACCOUNT, data)
    assert account.model_dump() == {
        "summary": "They planned a REST API, and chose JWT.",
        "topics": ["authentication", "JWT", "security"],
        "entities": ["John", "UserService", "Redis"],
        "decisions": ["Use JWT, with 1-hour expiration", "Keep Redis"],
        "questions": [],
    }
    as_json, _ = read_answer(ARCHIVE, account.model_dump_json(), data)
    assert as_json == account


@pytest.mark.req("S2-30")
@pytest.mark.parametrize("missing", ["TOPICS", "ENTITIES", "DECISIONS", "QUESTIONS"])
def test_a_section_that_is_missing_is_empty(missing: str):
    before, _, after = ACCOUNT.partition(f"## {missing}")
    rest = after[after.index("\n## ") :] if "\n## " in after else ""
    account, _ = read_answer(ARCHIVE, before + rest, ArchiveInput(turns=[]))
    assert account.model_dump()[missing.lower()] == []
    assert account.summary == "They planned a REST API, and chose JWT."


@pytest.mark.req("S2-30")
@pytest.mark.parametrize("answer", ["", "I cannot do that.", "## TOPICS\na, b", "## SUMMARY\n\n## TOPICS\na"])
def test_an_account_without_a_summary_cannot_be_used(answer: str):
    with pytest.raises(UnusableAnswer):
        read_answer(ARCHIVE, answer, ArchiveInput(turns=[]))


@pytest.mark.req("S2-29")
def test_the_rules_find_topics_names_decisions_and_questions():
    said = [
        ("user", "I'm building a REST API with authentication for Contoso."),
        ("agent", "Will you use sessions or JWT tokens?"),
        ("user", "We decided to use JWT tokens with 1-hour expiration."),
        ("user", "I am not sure yet whether we need refresh tokens. Priya will tell us."),
    ]
    turns = [
        TurnView(ref=f"t{n}", role=role, content=text, created_at=START)  # type: ignore[arg-type]
        for n, (role, text) in enumerate(said, 1)
    ]
    account = archive(ArchiveInput(turns=turns))
    assert "JWT tokens with 1-hour expiration" in account.summary
    assert any("JWT" in decision for decision in account.decisions)
    assert any("refresh tokens" in question for question in account.questions)
    assert {"Contoso", "JWT"} <= set(account.entities)
    assert account.topics
    assert len({topic.lower() for topic in account.topics}) == len(account.topics)
    assert archive(ArchiveInput(turns=[])).summary == "Nothing of note."
