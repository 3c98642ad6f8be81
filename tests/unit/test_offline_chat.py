"""The offline adapter as a chat model: which tasks it runs, and what it says of itself."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from agent_memory.errors import ModelError
from agent_memory.language.grounding.ground import ground
from agent_memory.language.offline import OfflineChat
from agent_memory.language.tasks import (
    EXTRACT,
    PROFILE,
    RECONCILE,
    SUMMARIZE,
    ChatModel,
    Data,
    ExtractInput,
    FactView,
    ProfileInput,
    ReconcileInput,
    SummarizeInput,
    Task,
    TurnView,
)
from agent_memory.models import Usage

WHEN = datetime(2026, 5, 8, 10, tzinfo=UTC)
TURN = TurnView(ref="t1", role="user", content="I'm allergic to peanuts and I live in Porto.", created_at=WHEN)
FACT = FactView(ref="f1", kind="fact", content="I live in Porto.", said_at=WHEN)


@pytest.mark.parametrize(
    ("task", "data"),
    [
        (EXTRACT, ExtractInput(turns=[TURN])),
        (SUMMARIZE, SummarizeInput(turns=[TURN])),
        (RECONCILE, ReconcileInput(facts=[FACT])),
        (PROFILE, ProfileInput(facts=[FACT])),
    ],
)
async def test_every_task_runs_says_who_made_it_and_costs_nothing(task: Task[Data, Data], data: Data) -> None:
    result = await OfflineChat().run(task, data)
    assert isinstance(result.output, task.output)
    assert (result.model, result.prompt_version) == ("offline-extractive", "rules-7")
    assert result.usage == Usage()
    assert result.rejected == []


async def test_what_it_extracts_passes_the_grounding_of_any_model() -> None:
    data = ExtractInput(turns=[TURN])
    result = await OfflineChat().run(EXTRACT, data)
    grounded, rejected = ground(result.output, data)
    assert rejected == []
    assert [memory.content for memory in grounded.memories] == ["I'm allergic to peanuts", "I live in Porto."]


async def test_it_is_a_chat_model_and_closing_it_twice_is_harmless() -> None:
    chat = OfflineChat()
    assert isinstance(chat, ChatModel)
    assert chat.model_id == "offline-extractive"
    await chat.close()
    await chat.close()


async def test_a_task_without_rules_is_a_clear_error() -> None:
    with pytest.raises(ModelError, match="no rules for the task 'rewrite'") as caught:
        await OfflineChat().run(Task("rewrite", ExtractInput, Data), ExtractInput(turns=[TURN]))
    assert caught.value.retryable is False


async def test_the_loop_stays_free_while_it_works() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await OfflineChat().run(EXTRACT, ExtractInput(turns=[TURN] * 300))
    ticking.cancel()
    assert ticks > 3


def test_importing_the_adapter_loads_none_of_its_libraries() -> None:
    code = (
        "import sys, agent_memory.language.offline\n"
        "print([m for m in ('nupunkt', 'dateparser', 'snowballstemmer') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
