"""Every workflow, killed at each of its commits: before it, with the answer lost, and right after it.

Another process takes over and goes on; in the end the store holds what it would hold if nobody had died.
`FAULT_KILLS=all` kills at every request, not only at the commits: some 1,100 kills, 112 s on a busy machine.
"""

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from azure.core.pipeline.transport import HttpRequest
from scripted_model import ScriptedChat
from simulation import Machine, World, commit_of, open_on, simulate

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.tasks import ExtractInput, ExtractOutput
from agent_memory.models import Memory
from agent_memory.processing.activities import run_workflow
from agent_memory.settings import Limits
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES, TURNS

pytestmark = pytest.mark.acceptance

EVERY_REQUEST = os.environ.get("FAULT_KILLS") == "all"
NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0, one_call=True)
LIMITS = Limits(batch_turns=2, reconcile_candidates=100, merge_from=2)
VOLATILE = {"recorded_at", "superseded_at", "updated_at", "_etag", "_ts", "_rid", "_self", "seen", "ts", "known"}
USER = {"user_id": "alice"}
THREAD = USER | {"thread_id": "t2"}
WORKFLOWS: dict[str, dict[str, Any]] = {
    "extract": THREAD,
    "summarize": THREAD,
    "extract_and_summarize": THREAD,
    "reconcile": USER,
    "profile": USER,
    "settle": THREAD,
    "settle_user": USER
    | {"threads": ["t2"], "thread_steps": ["extract", "summarize"], "user_steps": ["reconcile", "profile"]},
    "replay": THREAD | {"step": "extract"},
    "reprocess": USER,
    "consolidate": USER,
    "synthesize": USER,
    "reflect": USER,
    "prune": USER,
}
EARLIER = ["fact: home=Lisbon", "fact: seat=at the aisle", "howto: to deploy run make"]
LATER = [
    "fact: home=Oslo, since May",
    "fact: seat=at the aisle",
    "fact: seat=At the aisle!",
    "howto: to deploy run make and push",
]


def said(thread: str, lines: list[str], month: int) -> list[dict[str, object]]:
    return [
        {"id": f"{thread}-{n}", "role": "user", "content": line, "created_at": f"2026-0{month}-01T10:00:{n:02d}Z"}
        for n, line in enumerate(lines)
    ]


async def prepare(world: World, workflow: str) -> None:
    """A user with a past, and a thread with something for every step to do."""
    chat = ScriptedChat()
    if workflow == "reprocess":
        chat.version = "script-0"
        chat.outputs["extract"] = reworded
    async with open_on(Machine(world), chat, NEVER, LIMITS, provision=True) as memory:
        alice, activities = memory.user("alice"), memory.runtime.activities
        await alice.thread("t1").add_many(said("t1", EARLIER, 3))
        await run_workflow("settle", USER | {"thread_id": "t1"}, activities)
        await alice.thread("t2").add_many(said("t2", LATER, 5))
        if workflow in ("reconcile", "profile", "reprocess", "consolidate", "synthesize", "reflect", "prune"):
            await run_workflow("extract", THREAD, activities)
        if workflow == "prune":
            for one in await alice.memories():
                await age(memory, one)
        if workflow == "replay":
            chat.fault = lambda task, call: ModelError("no JSON in it")
            await run_workflow("extract", THREAD, activities)


def reworded(data: ExtractInput) -> ExtractOutput:
    """What an earlier prompt made of it: some as now, some in other words, and one thing that is not there."""
    found = ScriptedChat().outputs["extract"](data).memories
    words = [
        one.model_copy(update={"content": f"It was said: {one.content}"} if "home" in one.content else {})
        for one in found
    ]
    return ExtractOutput(memories=[*words, *(one.model_copy(update={"content": "Nothing of it"}) for one in found[:1])])


async def age(memory: AsyncMemory, one: Memory) -> None:
    """Makes the store believe that it has known a memory for years."""
    store = memory.runtime.store
    years_ago = {"recorded_at": "2020-01-01T00:00:00.000000Z", "created_at": "2020-01-01T00:00:00.000000Z"}
    await store.patch(MEMORIES, one.id, ("alice", one.thread_id), years_ago, "FROM c WHERE true")


async def contents(memory: AsyncMemory) -> list[Any]:
    """All documents, without what differs from run to run."""

    def lasting(row: dict[str, Any]) -> dict[str, Any]:
        made = {"created_at"} if row["type"] in ("summary", "user_summary") else set()  # when it was made, not said
        again = {"runs"} if row.get("step") == "reconcile" else set()  # it has no range, so it may look twice
        if "recorded" in row.get("extra", {}):
            row["extra"] = {**row["extra"], "recorded": "at some time"}
        return {name: value for name, value in row.items() if name not in VOLATILE | made | again and value != {}}

    store = memory.runtime.store
    rows = [row for name in (TURNS, MEMORIES, SUMMARIES, COUNTER) for row in await store.query(name, "SELECT * FROM c")]
    return sorted((lasting(row) for row in rows), key=lambda row: (row["id"], row["thread_id"], row["user_id"]))


async def take(memory: AsyncMemory, workflow: str) -> None:
    """Runs a workflow as its caller does, who does not know how far an earlier run has come."""
    request = WORKFLOWS[workflow]
    if workflow == "replay":
        letters = await memory.dead_letters()
        for letter in letters:
            await run_workflow(workflow, request | {"dead_letter_id": letter.id}, memory.runtime.activities)
    else:
        await run_workflow(workflow, request, memory.runtime.activities)


class KillAt:
    """Kills a machine at its n-th request or commit."""

    def __init__(self, number: int, moment: str) -> None:
        self.left, self.moment = number, moment
        self.next_dies = False

    def __call__(self, request: HttpRequest) -> str | None:
        if self.next_dies:
            return "before"
        if not EVERY_REQUEST and commit_of(request) is None:
            return None
        self.left -= 1
        if self.left != 0:
            return None
        self.next_dies = self.moment == "then"
        return None if self.next_dies else self.moment


async def undisturbed(world: World, workflow: str) -> tuple[list[Any], int]:
    """What the store holds when nobody dies, and how many kill points there were."""
    async with open_on(Machine(world), ScriptedChat(), NEVER, LIMITS, provision=True) as memory:
        requests, commits = world.requests, len(world.commits)
        await take(memory, workflow)
        points = world.requests - requests if EVERY_REQUEST else len(world.commits) - commits
        return await contents(memory), points


async def killed(world: World, workflow: str, number: int, moment: str) -> list[Any]:
    """What it holds when one process dies and another takes over."""
    machine = Machine(world)
    memory = open_on(machine, ScriptedChat(), NEVER, LIMITS, provision=True)
    await memory.open()
    machine.kill_at = KillAt(number, moment)
    run = asyncio.create_task(take(memory, workflow))
    death = asyncio.create_task(machine.dead.wait())
    await asyncio.wait({run, death}, return_when=asyncio.FIRST_COMPLETED)
    run.cancel()
    death.cancel()
    await memory.close()  # only so that it lets go of what the SDK shares within a process; nothing leaves it
    async with open_on(Machine(world), ScriptedChat(), NEVER, LIMITS, provision=True) as memory:
        await take(memory, workflow)
        return await contents(memory)


@pytest.mark.req("S0-105", "S1-25", "S2-28")
@pytest.mark.parametrize("workflow", [name for name in WORKFLOWS if EVERY_REQUEST or name != "settle_user"])
def test_the_next_process_finishes_a_commit_that_a_crash_interrupted(workflow: str, tmp_path: Path):
    prepared = tmp_path / "prepared.db"
    simulate(0, lambda world: prepare(world, workflow), prepared)

    def again(story: Any) -> Any:
        copy = tmp_path / "copy.db"
        shutil.copy(prepared, copy)
        return simulate(1, story, copy)

    expected, points = again(lambda world: undisturbed(world, workflow))
    assert points > 0
    for number in range(1, points + 1):
        for moment in ("before", "after") if EVERY_REQUEST else ("before", "after", "then"):
            outcome = again(lambda world, n=number, m=moment: killed(world, workflow, n, m))
            assert outcome == expected, f"killed {moment} {number} of {points}"
