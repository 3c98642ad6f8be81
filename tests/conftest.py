"""Fixtures that all tests share."""

import gc
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import fields
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

import pytest
from azure.cosmos import partition_key
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.settings import RecallSettings

with suppress(ImportError):  # the environments of `make integrations` do not have it
    import hypothesis

    hypothesis.settings.load_profile("ci")  # the same examples each time, however long they take

gc.disable()  # nearly all that is imported stays: looking for garbage in it is an eighth of the time of collection


def pytest_collection_finish() -> None:
    gc.freeze()  # and an eighth of the time of the tests
    gc.enable()


ON_DEMAND = Cadence(extract=1_000_000, summarize=1_000_000, profile=1_000_000, reconcile=1_000_000, idle_seconds=0)
"""A cadence under which nothing is due by itself: the test says when."""


@pytest.fixture(autouse=True, scope="session")
def interleaved() -> Iterator[None]:
    """Tasks that ask an embedded store at once take turns, as they would with an account."""
    with pytest.MonkeyPatch.context() as patch:
        if "EMBEDDED_COSMOS_INTERLEAVE" not in os.environ:
            patch.setenv("EMBEDDED_COSMOS_INTERLEAVE", "16")
        yield


@pytest.fixture(autouse=True, scope="session")
def _contexts_are_waited_for() -> Iterator[None]:
    """A context ends after five seconds with what it has. On a busy machine that is nothing, whatever is tested."""
    names = [field.name for field in fields(RecallSettings)]
    defaults = list(RecallSettings.__init__.__defaults__ or ())
    defaults[names.index("context_timeout")] = 60.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecallSettings.__init__, "__defaults__", tuple(defaults))
        yield


@pytest.fixture(autouse=True, scope="session")
def _commands_are_built_once() -> Iterator[None]:
    """A process runs one command. Here it runs hundreds, and building all of them takes longer than most."""
    try:
        import typer.testing
    except ImportError:  # the environments of `make integrations` have no command line
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(autouse=True, scope="session")
def _partition_keys_are_hashed_once() -> Iterator[None]:
    """The SDK hashes the partition key for most requests, in Python. Tests have few keys."""
    murmurhash = partition_key._murmurhash3_128

    @cache
    def hashed(span: bytes, low: int, high: int) -> Any:
        return murmurhash(bytearray(span), partition_key._UInt128(low, high))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            partition_key,
            "_murmurhash3_128",
            lambda span, seed: hashed(bytes(span), seed.low.value, seed.high.value),
        )
        yield


@pytest.fixture(autouse=True)
def _nothing_is_known_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process learns of a deployment is for life, and scripted servers share addresses."""
    monkeypatch.setattr("agent_memory.language.dialects._DEPLOYMENTS", {})
    monkeypatch.setattr("agent_memory.language.endpoints._SHARED", WeakValueDictionary())


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def chat() -> ScriptedChat:
    return ScriptedChat()


@pytest.fixture
async def memory(chat: ScriptedChat) -> AsyncIterator[AsyncMemory]:
    """An embedded memory in RAM whose model does as the transcript says; nothing is processed unasked."""
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=ON_DEMAND) as opened:
        yield opened
