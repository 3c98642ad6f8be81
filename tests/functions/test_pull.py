"""Runs on demand in the function app: their status, and what of a request reaches them, over HTTP."""

import json
from collections.abc import AsyncIterator
from typing import Any

import azure.durable_functions as df
import pytest
from api_world import serving
from azure.durable_functions.models.DurableOrchestrationStatus import DurableOrchestrationStatus
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.roles import RoleChat
from agent_memory.language.tasks import ConsolidateInput, ReflectInput
from agent_memory.models import iso, now
from agent_memory.processing.activities import run_workflow
from agent_memory.processing.due import instance_id
from agent_memory.runtime import Runtime
from agent_memory.settings import RecallSettings
from azure_functions.pull import DurableProcessing, durable_client

SILENT = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


class Host:
    """A Durable client whose orchestrations run in this process, to their end. It keeps what it is asked for."""

    def __init__(self, runtime: Runtime) -> None:
        self.asked: list[str] = []
        self.started: set[tuple[str, str]] = set()
        """Ids of runs, and what they were given."""
        self._runtime = runtime
        self._runs: dict[str, DurableOrchestrationStatus] = {}

    async def get_status(self, run_id: str, **_: Any) -> DurableOrchestrationStatus:
        self.asked.append(run_id)
        return self._runs.get(run_id, DurableOrchestrationStatus())

    async def start_new(self, name: str, run_id: str, given: dict[str, Any]) -> str:
        self.started.add((run_id, json.dumps(given["request"], sort_keys=True)))
        output = await run_workflow(name, given["request"], self._runtime.activities)
        self._runs[run_id] = DurableOrchestrationStatus(
            name,
            run_id,
            createdTime=iso(now()),
            input=json.dumps(given),
            output=json.loads(json.dumps(output)),
            runtimeStatus=df.OrchestrationRuntimeStatus.Completed,
        )
        return run_id


@pytest.mark.parametrize("thread", ["t1", "café/1", ""])
@pytest.mark.parametrize(("alice", "bob"), [("alice", "bob"), ("alïce", "böb"), ("a" * 200, "b" * 200)])
async def test_a_forged_id_of_a_run_is_not_even_looked_up(memory: AsyncMemory, alice: str, bob: str, thread: str):
    host, processing = Host(memory.runtime), DurableProcessing(memory.runtime)
    token = durable_client.set(host)  # type: ignore[arg-type]
    try:
        hers, his = (instance_id("extract", user, thread, "pull-3") for user in (alice, bob))
        for forged in (hers, hers.replace("extract", "summarize"), "nothing", "a:b", f"{hers}:{bob}", f"x:{alice}"):
            assert await processing.status(bob, forged) is None
        assert host.asked == []
        assert await processing.status(bob, his) is None
        assert host.asked == [his]
    finally:
        durable_client.reset(token)


@pytest.fixture
def host(memory: AsyncMemory) -> Host:
    return Host(memory.runtime)


@pytest.fixture(params=["server", "function app"])
async def remote(memory: AsyncMemory, host: Host, request: pytest.FixtureRequest) -> AsyncIterator[AsyncMemory]:
    """The memory over HTTP, whose steps this process runs, or the host of a function app."""
    processing = DurableProcessing(memory.runtime) if request.param == "function app" else None
    # The tasks of the server take over the context in which it is started.
    token = durable_client.set(host)  # type: ignore[arg-type]
    async with serving(memory, processing=processing) as url, AsyncMemory.remote(url) as opened:
        yield opened
    durable_client.reset(token)
    assert bool(host.started) is (processing is not None)
    assert len({run for run, _ in host.started}) == len(host.started), "what differs in its request is another run"


@pytest.mark.req("S0-066")
async def test_the_memories_to_merge_reach_the_step(remote: AsyncMemory, chat: ScriptedChat):
    alice = remote.user("alice")
    ids = [(await alice.remember(f"fact: budget={n},000, said in May")).id for n in range(4)]
    merged = await alice.process("consolidate", memory_ids=[ids[0], ids[2]])
    (seen,) = [given for given in chat.seen if isinstance(given, ConsolidateInput)]
    assert seen.named
    assert {fact.content.split("=")[1][0] for group in seen.groups for fact in group.facts} == {"0", "2"}
    assert (merged.created, merged.superseded) == (1, 2)
    await alice.process("consolidate", memory_ids=[ids[1], ids[3]])
    assert chat.calls["consolidate"] == 2, "other memories are another run"


@pytest.mark.req("S0-067")
async def test_the_project_to_reflect_on_reaches_the_step(remote: AsyncMemory, chat: ScriptedChat):
    alice = remote.user("alice")
    for project in ("payments", "garden"):
        for n in range(4):
            await alice.remember(f"Deployed {project} for the {n}th time", project_id=project)
    await alice.process("reflect", project_id="garden")
    (seen,) = [given for given in chat.seen if isinstance(given, ReflectInput)]
    assert {fact.content.split()[1] for fact in seen.memories} == {"garden"}


@pytest.mark.req("S2-26")
async def test_only_what_left_the_live_view_is_archived(remote: AsyncMemory):
    thread = remote.user("alice").thread("t1")
    receipt = await thread.add_many([{"role": "user", "content": f"topic: {word}"} for word in ("tea", "rice", "silk")])
    assert (await thread.process("archive", retired=True)).turns == 0
    await thread.retire(receipt.ids[1])
    assert (await thread.process("archive", retired=True)).turns == 2
    assert (await thread.process("archive")).turns == 1, "the rest is another run"


@pytest.mark.req("S0-075")
@pytest.mark.parametrize("app", ["server", "function app"])
async def test_a_search_gives_as_many_as_asked_for_or_set_for_all(app: str, chat: ScriptedChat):
    recall = RecallSettings(limit=2)
    made = AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=SILENT, recall=recall)
    async with made as memory:
        processing = DurableProcessing(memory.runtime) if app == "function app" else None
        async with serving(memory, processing=processing) as url, AsyncMemory.remote(url) as remote:
            alice = remote.user("alice")
            for n in range(5):
                await alice.remember(f"Budget number {n} for the Hawaii trip")
            given = [len(await alice.search("budget for Hawaii", limit=limit)) for limit in (None, 1, 3, 4)]
            assert given == [2, 1, 3, 4]


@pytest.mark.req("S0-076")
@pytest.mark.parametrize("app", ["server", "function app"])
async def test_what_a_role_that_is_off_keeps_from_being_done_is_said(app: str, chat: ScriptedChat):
    roles = RoleChat(chat, {})
    chat.fault = lambda task, _: ModelError("nonsense") if task == "profile" else None
    async with AsyncMemory.local(chat_model=roles, embedding_model=HashingEmbeddings(), cadence=SILENT) as memory:
        processing = DurableProcessing(memory.runtime) if app == "function app" else None
        token = durable_client.set(Host(memory.runtime))  # type: ignore[arg-type]
        async with serving(memory, processing=processing) as url, AsyncMemory.remote(url) as remote:
            alice = remote.user("alice")
            await alice.remember("Lives in Lisbon")
            with pytest.raises(ModelError, match="nonsense"):
                await memory.user("alice").process("profile")
            chat.fault = None
            roles.by_role["profile"] = None
            why = "the role 'profile' is switched off"
            (letter,) = await remote.dead_letters()
            assert (await remote.replay(letter.id)).skipped_reason == why
            assert [one.id for one in await remote.dead_letters()] == [letter.id]
            assert (await alice.process("profile")).skipped_reason == why
            roles.by_role.clear()
            replayed = await remote.replay(letter.id)
            assert (replayed.step, replayed.skipped_reason) == ("replay", None)
            assert await remote.dead_letters() == []
        durable_client.reset(token)
