"""The catalogue of how a model's service misbehaves, against a server on loopback.

While it lasts writes are accepted and health says what is wrong. When it is over, everything is caught up, nothing is
lost, and dead letters are there only where an answer was final.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from model_server import DIMENSIONS, MISBEHAVIOURS, ModelServer, model_server

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.endpoints import MOST_REFUSED, QUESTION
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.openai_embeddings import OpenAIEmbeddings
from agent_memory.language.retries import RetryPolicy
from agent_memory.models import EndpointHealth, Health
from agent_memory.processing.worker import Pace
from agent_memory.text.tokens import ApproximateTokens

pytestmark = pytest.mark.acceptance

TIMEOUT = 1.0
QUICK = RetryPolicy(attempts=3, total=1.0, first_wait=0.01, longest_wait=0.05, first_pause=0.1, longest_pause=0.4)
PROMPT = f"---\nid: extract\nversion: 1\ndescription: d\nmodel: {{timeout: {TIMEOUT}}}\n---\nFind facts.\n"
FACTS = ("fact: city=Lisbon", "fact: pet=a cat", "fact: sister=Ana", "fact: car=none")

FAULTS = {
    "500": "server_error",
    "hang": "timeout",
    "drip": "timeout",
    "reset": "unreachable",
    "broken off": "unreachable",
    "wrong encoding": "unreachable",
    "HTML 200": "no_api_answer",
    "error 200": "no_api_answer",
    "empty 200": "no_api_answer",
    "truncated": "no_api_answer",
    "short 429": "throttled",
    "long 429": "throttled",
    "quota 429": "quota",
    "model not found": "not_found",
    "401": "credentials",
}
OF_EMBEDDINGS = FAULTS | {
    "wrong schema": "no_api_answer",
    "huge answer": "no_api_answer",
    "wrong dimensions": "dimensions",
}
FINAL_OF_CHAT = {"refusal", "wrong schema", "huge answer", "content filter", "no form"}
FINAL_OF_EMBEDDINGS = {"content filter", "zeros", "nulls"}


def test_the_catalogue_is_whole():
    assert set(FAULTS) | FINAL_OF_CHAT | {"wrong dimensions", "zeros", "nulls"} == set(MISBEHAVIOURS)
    assert set(OF_EMBEDDINGS) | FINAL_OF_EMBEDDINGS | {"refusal", "no form"} == set(MISBEHAVIOURS)


@asynccontextmanager
async def world(tmp_path: Path) -> AsyncIterator[tuple[ModelServer, AsyncMemory]]:
    (tmp_path / "extract.prompt.md").write_text(PROMPT)
    async with model_server() as server:
        chat = OpenAIChat("m", base_url=server.url, api_key="k", prompts=tmp_path, retries=QUICK)
        embeddings = OpenAIEmbeddings(
            "e",
            base_url=server.url,
            api_key="k",
            dimensions=DIMENSIONS,
            tokens=ApproximateTokens(),
            timeout=TIMEOUT,
            retries=QUICK,
        )
        cadence = Cadence(extract=2, summarize=0, profile=0, reconcile=0, idle_seconds=0)
        memory = AsyncMemory.local(chat_model=chat, embedding_model=embeddings, cadence=cadence)
        assert memory.runtime.worker is not None
        memory.runtime.worker._pace = Pace(poll=0.05, retry=0.05, longest=0.2, shutdown=0.1)
        async with memory:
            yield server, memory


async def until(memory: AsyncMemory, holds: Callable[[Health], bool]) -> Health:
    end = time.monotonic() + 300
    while True:
        health = await memory.health()
        if holds(health):
            return health
        assert time.monotonic() < end, health
        await asyncio.sleep(0.02)


async def tell(memory: AsyncMemory) -> None:
    chat = memory.user("alice").thread("t")
    receipt = await chat.add_many([{"role": "user", "content": fact} for fact in FACTS])
    assert receipt.created == len(FACTS)


async def assert_nothing_is_lost(memory: AsyncMemory) -> None:
    alice = memory.user("alice")
    assert await memory.drain(timeout=300) == 0
    assert {fact.content for fact in await alice.memories(types=["fact"])} == {fact[6:] for fact in FACTS}
    chunks = await memory.runtime.store.query("memories", "SELECT VALUE c.content FROM c WHERE c.kind = 'chunk'")
    assert len(chunks) == len(FACTS)


def of(health: Health, service: str) -> EndpointHealth:
    return health.models[service]


@pytest.mark.parametrize(
    ("service", "mode"),
    [("chat", mode) for mode in FAULTS] + [("embeddings", mode) for mode in OF_EMBEDDINGS],
)
async def test_a_fault_of_the_service_costs_nothing_but_time(tmp_path, service, mode):
    async with world(tmp_path) as (server, memory):
        server.mode[service] = mode
        await tell(memory)
        faults = FAULTS if service == "chat" else OF_EMBEDDINGS
        found = await until(memory, lambda health: of(health, service).fault == faults[mode])
        assert (found.ok, found.store_answers, found.unprocessed_turns) == (False, True, 4)
        assert found.oldest_unprocessed is not None
        assert any(faults[mode] in warning for warning in found.warnings)
        told = await memory.user("alice").thread("u").context("Which city, Lisbon?")
        assert any(line.startswith("processing: ") and faults[mode] in line for line in told.degraded)
        assert [hit.memory.content for hit in await memory.user("alice").search("Lisbon")]
        server.mode[service] = "good"
        await assert_nothing_is_lost(memory)
        assert await memory.dead_letters() == []
        assert (await memory.health()).ok


FINAL = [("chat", mode) for mode in sorted(FINAL_OF_CHAT)] + [
    ("embeddings", mode) for mode in sorted(FINAL_OF_EMBEDDINGS)
]


@pytest.mark.parametrize(("service", "mode"), FINAL)
async def test_a_final_answer_becomes_a_dead_letter_that_can_be_replayed(tmp_path, service, mode):
    async with world(tmp_path) as (server, memory):
        server.mode[service], server.only = mode, ("Ana",)
        await tell(memory)
        found = await until(memory, lambda health: health.dead_letters > 0)
        assert found.ok  # the service answers
        assert any("dead letters; the newest is of " in warning for warning in found.warnings)
        assert await memory.drain(timeout=300) == 0
        assert {turn for letter in await memory.dead_letters() for turn in letter.turn_ids} == {
            turn.id for turn in await memory.user("alice").thread("t").turns() if "Ana" in turn.content
        }
        assert len(await memory.user("alice").memories(types=["fact"])) == len(FACTS) - 1
        server.mode[service] = "good"
        for letter in await memory.dead_letters():
            await memory.replay(letter.id)
        assert await memory.dead_letters() == []
        await assert_nothing_is_lost(memory)


@pytest.mark.parametrize(("service", "mode"), FINAL)
async def test_a_service_without_a_usable_answer_to_anything_is_left_alone(tmp_path, service, mode):
    async with world(tmp_path) as (server, memory):
        server.mode[service] = mode
        await tell(memory)
        found = await until(memory, lambda health: of(health, service).fault == "unusable")
        assert not found.ok
        assert found.unprocessed_turns > 0
        others = [memory.user(f"user {number}") for number in range(8)]
        for user in others:
            await user.thread("t").add_many([{"role": "user", "content": fact} for fact in FACTS])
        assert await memory.drain(timeout=1) > 0
        given_up = [turn for letter in await memory.dead_letters() for turn in letter.turn_ids]
        assert len(given_up) <= MOST_REFUSED
        server.mode[service] = "good"
        assert await memory.drain(timeout=300) == 0
        for letter in await memory.dead_letters():
            await memory.replay(letter.id)
        for user in (memory.user("alice"), *others):
            assert {fact.content for fact in await user.memories(types=["fact"])} == {fact[6:] for fact in FACTS}
        assert (await memory.health()).ok


@pytest.mark.parametrize(("service", "mode"), FINAL)
async def test_a_service_that_fails_only_the_control_question_is_used_again(tmp_path, service, mode):
    async with world(tmp_path) as (server, memory):
        server.mode[service] = mode
        await tell(memory)
        await until(memory, lambda health: of(health, service).fault == "unusable")
        server.only = (QUESTION,)
        assert await memory.drain(timeout=60) == 0
        assert (await memory.health()).ok
        for letter in await memory.dead_letters():
            await memory.replay(letter.id)
        await assert_nothing_is_lost(memory)


async def test_a_spent_quota_is_asked_for_a_few_times_only(tmp_path):
    async with world(tmp_path) as (server, memory):
        server.mode["chat"] = "quota 429"
        chat = memory.user("alice").thread("t")
        begun = time.monotonic()
        while time.monotonic() < begun + 2:  # 7 pauses of what would be a minute with the settings of a deployment
            await chat.add("user", "fact: city=Lisbon")
            await asyncio.sleep(0.01)
        assert server.calls["chat"] <= 3 + 8
