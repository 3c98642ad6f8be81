"""The other ways to open a memory: over a socket to a Cosmos server, and as the environment says."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence, Memory
from agent_memory.compat.toolkit import MemoryToolkit
from agent_memory.errors import ConfigurationError, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.settings import DEFAULT_CADENCE, Environment

KEY = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA=="


@pytest.fixture
def server() -> Iterator[str]:
    """A Cosmos account on a loopback port, in a process of its own."""
    command = [sys.executable, "-m", "embedded_cosmos", "--port", "0", "--key", KEY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = process.stdout.readline().split()
        assert ready[0] == "ready"
        yield ready[1]
        process.terminate()


@pytest.mark.req("S0-013", "S1-58", "S1-62")
async def test_the_same_memory_over_a_socket(server: str):
    async def opened() -> AsyncMemory:
        memory = AsyncMemory.cosmos(
            server,
            KEY,
            chat_model=ScriptedChat(),
            embedding_model=HashingEmbeddings(),
            process="inline",
            cadence=Cadence(idle_seconds=0),
        )
        await memory.create_memory_store()
        return memory

    async with await opened() as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add("user", "fact: I live in=Lisbon, since May")
        assert await memory.drain(timeout=300) == 0
    async with await opened() as memory:
        alice = memory.user("alice")
        assert [m.content for m in await alice.memories()] == ["I live in=Lisbon, since May"]
        assert "Lisbon" in (await alice.context("Where do I live?")).text
        assert (await alice.thread("t1").summary()) is not None


@pytest.mark.req("S1-55")
def test_a_store_that_nobody_made_can_be_made(server: str):
    with Memory.cosmos(server, KEY, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings()) as memory:
        alice = memory.user("alice")
        for work in (lambda: alice.thread("t1").add("user", "hello"), alice.memories, lambda: alice.remember("x y z")):
            with pytest.raises(ConfigurationError, match="create_memory_store"):
                work()
        MemoryToolkit(memory).create_memory_store()
        alice.remember("Lives in Lisbon")
        assert len(alice.memories()) == 1


def test_cosmos_needs_no_models(server: str):
    with Memory.cosmos(server, KEY, "other") as memory:
        memory.create_memory_store()
        health = memory.health()
        assert (health.chat_model, health.embedding_model) == ("offline-extractive", "all-MiniLM-L6-v2-int8")


async def test_a_wrong_key_is_a_configuration_error(server: str):
    memory = AsyncMemory.cosmos(server, "d3Jvbmc=", chat_model=ScriptedChat(), embedding_model=HashingEmbeddings())
    with pytest.raises(ConfigurationError):
        await memory.create_memory_store()
    await memory.close()


@pytest.mark.parametrize(
    ("endpoint", "key"),
    [
        ("x.documents.azure.com", KEY),
        ("", KEY),
        ("https://", KEY),
        ("https://[", KEY),
        (f"AccountEndpoint=https://x.documents.azure.com:443/;AccountKey={KEY};", KEY),
        ("https://x.documents.azure.com:443/", f"AccountEndpoint=https://x.documents.azure.com;AccountKey={KEY};"),
        ("https://x.documents.azure.com:443/", "abcde"),
        ("https://x.documents.azure.com:443/", "ключ"),
        ("https://x.documents.azure.com:443/", ""),
    ],
)
def test_what_is_no_account_is_a_configuration_error_that_tells_no_key(endpoint: str, key: str):
    with pytest.raises(ConfigurationError) as caught:
        Memory.cosmos(endpoint, key, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings())
    assert KEY not in str(caught.value)


async def test_processing_elsewhere_cannot_be_waited_for_here(server: str):
    memory = AsyncMemory.cosmos(server, KEY, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings())
    await memory.create_memory_store()
    async with memory:
        await memory.user("alice").thread("t1").add("user", "fact: I live in=Lisbon, since May")
        with pytest.raises(StoreUnavailable, match="function app"):
            await memory.drain(timeout=1)
        # On demand, the same workflow runs here.
        assert (await memory.user("alice").thread("t1").process("extract")).created == 1


@pytest.mark.parametrize(
    ("variables", "chat", "store"),
    [
        ({}, "offline-extractive", "embedded"),
        ({"AGENT_MEMORY_STORE": "STORE"}, "offline-extractive", "STORE"),
        ({"OPENAI_API_KEY": "k", "AGENT_MEMORY_CHAT_MODEL": "my-model"}, "my-model", "embedded"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, "gpt-4.1-mini", "embedded"),
        ({"AI_FOUNDRY_ENDPOINT": "https://x.openai.azure.com", "AI_FOUNDRY_API_KEY": "k"}, "gpt-4.1-mini", "embedded"),
        (
            {"COSMOS_ENDPOINT": "http://127.0.0.1:9/", "COSMOS_KEY": KEY, "OPENAI_API_KEY": "k"},
            "gpt-4.1-mini",
            "ai_memory",
        ),
        ({"COSMOS_DB_ENDPOINT": "http://127.0.0.1:9/", "COSMOS_DB_KEY": KEY}, "offline-extractive", "ai_memory"),
    ],
)
async def test_the_environment_chooses(
    monkeypatch: pytest.MonkeyPatch, tmp_path, variables: dict[str, str], chat: str, store: str
):
    for name in Environment.model_fields:
        for alias in _aliases(name):
            monkeypatch.delenv(alias, raising=False)
    path = str(tmp_path / "env.db")
    for name, value in variables.items():
        monkeypatch.setenv(name, value.replace("STORE", path))
    memory = AsyncMemory.from_env()
    assert memory.runtime.tools.chat.model_id == chat
    assert memory.runtime.store.name == store.replace("STORE", path)
    await memory.close()


def _aliases(name: str) -> list[str]:
    alias = Environment.model_fields[name].validation_alias
    return [alias] if isinstance(alias, str) else [str(choice) for choice in alias.choices]  # type: ignore[union-attr]


def test_a_model_of_ones_own(tmp_path):
    chat = OpenAIChat("m", base_url="http://127.0.0.1:9/v1", api_key="k")
    with Memory.local(tmp_path / "m.db", chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        assert memory.health().chat_model == "m"


async def test_a_cadence_in_the_environment_counts_for_a_local_store_too(monkeypatch: pytest.MonkeyPatch, tmp_path):
    for name in Environment.model_fields:
        for alias in _aliases(name):
            monkeypatch.delenv(alias, raising=False)
    assert Environment().local_cadence == DEFAULT_CADENCE
    monkeypatch.setenv("AGENT_MEMORY_STORE", str(tmp_path / "env.db"))
    monkeypatch.setenv("FACT_EXTRACTION_EVERY_N", "2")
    monkeypatch.setenv("THREAD_SUMMARY_EVERY_N", "0")
    async with AsyncMemory.from_env() as memory:
        thread = memory.user("alice").thread("t")
        await thread.add("user", "My sister Ann lives in Oslo.")
        await thread.add("user", "I am allergic to peanuts.")
        deadline = time.monotonic() + 300
        while not await memory.user("alice").memories(types=["fact"]):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
    assert Environment().local_cadence == Cadence(extract=2, summarize=0, one_call=True)
