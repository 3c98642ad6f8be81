"""A model may put hits into order; without one, or when it fails, the search's order stands."""

import asyncio

from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline.chat import OfflineChat
from agent_memory.language.tasks import RERANK, ChatModel, RerankInput, RerankOutput
from agent_memory.settings import RecallSettings

FACTS = ["The cat is called Tom", "The cat eats fish", "The cat sleeps all day"]


async def found(chat: ChatModel, **settings: float) -> list[str]:
    recall = RecallSettings(**settings)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=recall) as memory:
        alice = memory.user("alice")
        for fact in FACTS:
            await alice.remember(fact)
        return [hit.memory.content for hit in await alice.search("What does the cat do?", limit=3)]


def answering(*refs: str) -> ScriptedChat:
    chat = ScriptedChat()
    chat.outputs["rerank"] = lambda data: RerankOutput(refs=list(refs))
    return chat


async def test_a_model_puts_hits_into_order():
    plain = await found(answering())
    chat = answering("n3", "n1", "n9", "n3")
    assert await found(chat, rerank=3) == [plain[2], plain[0], plain[1]]
    asked = next(data for data in chat.seen if isinstance(data, RerankInput))
    assert [note.text for note in asked.notes] == plain
    assert await found(answering("n2"), rerank=2) == [plain[1], plain[0], plain[2]]


async def test_what_a_model_ranks_first_is_shown_as_the_most_relevant():
    async with AsyncMemory.local(
        chat_model=answering("n3"), embedding_model=HashingEmbeddings(), recall=RecallSettings(rerank=3)
    ) as memory:
        alice = memory.user("alice")
        for fact in FACTS:
            await alice.remember(fact)
        hits = await alice.search("What does the cat do?", limit=3)
        assert [hit.relevance for hit in hits] == sorted((hit.relevance for hit in hits), reverse=True)
        context = await alice.context("What does the cat do?")
        told = [line for line in context.text.splitlines() if line.startswith("- ")]
        assert told[0].startswith(f"- {hits[0].memory.content}")


async def test_no_model_is_asked_unless_it_is_set():
    chat = answering("n3")
    await found(chat)
    assert chat.calls["rerank"] == 0


@simulated_time
async def test_what_fails_or_is_late_changes_nothing():
    plain = await found(answering())
    failing = ScriptedChat(fault=lambda task, call: ModelError("down") if task == "rerank" else None)
    assert await found(failing, rerank=3) == plain

    class Slow(ScriptedChat):
        async def run(self, task, data):
            if task is RERANK:
                await asyncio.sleep(30)
            return await super().run(task, data)

    began = asyncio.get_running_loop().time()
    assert await found(Slow(), rerank=3, rerank_timeout=0.05) == plain
    assert asyncio.get_running_loop().time() - began < 30


async def test_offline_rules_keep_the_order():
    assert await found(OfflineChat(), rerank=3) == await found(answering())


async def test_a_context_names_a_rerank_that_failed():
    chat = ScriptedChat(fault=lambda task, call: ModelError("down") if task == "rerank" else None)
    settings = RecallSettings(rerank=3)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=settings) as memory:
        for fact in FACTS:
            await memory.user("alice").remember(fact)
        context = await memory.user("alice").context("What does my cat do?")
    assert "The cat" in context.text
    assert "rerank: down" in context.degraded
