"""Every adapter keeps the same promises, shown with an agent of its real framework and a scripted model.

A framework that is not installed is skipped here; `make integrations` installs each by itself and runs this.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from agent_server import BUDGET, KNOWS, KNOWS_NOT, AgentServer, agent_server
from rigs import ADAPTERS, Adapter, Rig, drained, texts
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence, Memory
from agent_memory.errors import InvalidInput
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.screening.injected import HEADER, NOTICE

pytestmark = pytest.mark.filterwarnings("ignore")  # frameworks warn of their own affairs

FACT = f"fact: My budget for Hawaii is {BUDGET}."
QUESTION = "What is my budget for Hawaii?"
QUIET = Cadence(extract=1_000_000, summarize=1_000_000, profile=1_000_000, reconcile=1_000_000, idle_seconds=0)


@pytest.fixture(scope="module")
def server() -> Iterator[AgentServer]:
    with agent_server() as running:
        yield running


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.name)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    if request.param.missing:
        pytest.skip(request.param.missing)
    found: Adapter = request.param
    return found


@pytest.fixture
async def memory(adapter: Adapter) -> AsyncIterator[AsyncMemory | Memory]:
    options: dict[str, Any] = {"chat_model": ScriptedChat(), "embedding_model": HashingEmbeddings(), "cadence": QUIET}
    if adapter.sync:
        with Memory.local(**options) as opened:
            yield opened
    else:
        async with AsyncMemory.local(**options) as opened_too:
            yield opened_too


@pytest.fixture
def rig(adapter: Adapter, memory: Any, server: AgentServer) -> Rig:
    return adapter.rig()(memory, server)


async def test_what_was_said_in_one_session_is_known_in_the_next(rig: Rig, memory: Any):
    assert await rig.say("alice", "monday", FACT) == KNOWS_NOT
    await drained(memory)
    assert await rig.say("alice", "friday", QUESTION) == KNOWS


async def test_nothing_of_another_user_is_recalled(rig: Rig, memory: Any, server: AgentServer):
    await rig.say("alice", "monday", FACT)
    await drained(memory)
    assert await rig.say("bob", "friday", QUESTION) == KNOWS_NOT
    assert BUDGET not in server.told
    assert await texts(memory, "bob", "monday") == []


async def test_a_run_succeeds_when_the_store_fails(rig: Rig, memory: Any):
    if isinstance(memory, Memory):
        memory.close()
    else:
        await memory.close()
    assert await rig.say("alice", "monday", QUESTION) == KNOWS_NOT


async def test_what_was_recalled_is_not_learned_again(rig: Rig, memory: Any, server: AgentServer):
    await rig.say("alice", "monday", FACT)
    await drained(memory)
    await rig.say("alice", "friday", QUESTION)
    assert BUDGET in server.told
    kept = await texts(memory, "alice", "friday")
    assert kept == [QUESTION, KNOWS]
    assert not any(HEADER in text or NOTICE in text for text in kept)


async def test_no_turn_is_written_twice(rig: Rig, memory: Any):
    await rig.say("alice", "monday", "The first.")
    await rig.say("alice", "monday", "The second.")
    written = ["The first.", KNOWS_NOT, "The second.", KNOWS_NOT]
    assert await texts(memory, "alice", "monday") == written
    await rig.again("alice", "monday")
    assert await texts(memory, "alice", "monday") == written


async def test_a_run_without_a_user_is_refused(rig: Rig, memory: Any):
    with pytest.raises(Exception, match="no user id") as refused:
        await rig.say(None, "monday", FACT)
    assert any(isinstance(one, InvalidInput) for one in causes(refused.value))


def causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
