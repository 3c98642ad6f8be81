"""A secret told in several wordings, forgotten, and then everything that could bring it back.

`FORGET_HISTORIES=200` runs as many seeded histories; docs/architecture.md has the figure of the last recorded run.
"""

import os

import pytest
from secret_histories import History, make_history
from store_scan import documents, scan

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.defaults import default_embeddings
from agent_memory.store.containers import MEMORIES

pytestmark = pytest.mark.acceptance

HISTORIES = int(os.environ.get("FORGET_HISTORIES", "4"))
COMPARED = min(HISTORIES // 2, 10)
ON_DEMAND = Cadence(extract=10**6, summarize=10**6, profile=10**6, reconcile=10**6, idle_seconds=0)


async def live_through(memory: AsyncMemory, history: History) -> list[str]:
    """Writes a history, processes all but what comes late, and exports; the lines of the export."""
    user = memory.user(history.user_id)
    for thread, turns in history.threads.items():
        await user.thread(thread).add_many(turns)
    await memory.drain(timeout=120)
    for thread, turns in history.late.items():
        await user.thread(thread).add_many(turns)
    lines: list[str] = []
    await user.export(lines.append)
    return lines


async def secret_facts(memory: AsyncMemory, history: History) -> list[str]:
    """The ids of the facts that tell the secret."""
    facts = await memory.user(history.user_id).memories(include_superseded=True)
    told = [needle.lower() for needle in history.secret.needles]
    return [fact.id for fact in facts if any(needle in fact.content.lower() for needle in told)]


async def go_on(memory: AsyncMemory, history: History, old_export: list[str]) -> None:
    """All that could bring it back: more talk, all steps, deriving anew, an old export, summaries made again."""
    user = memory.user(history.user_id)
    thread = next(iter(history.threads))
    await user.thread(thread).add("user", "By the way, my neighbour plays the trombone.")
    await memory.drain(timeout=120)
    await user.reprocess(prompt_version="rules-7")
    await user.import_lines(old_export)
    await memory.drain(timeout=120)
    for info in await user.threads():
        await user.thread(info.thread_id).end()
    await user.process("reconcile")
    await user.process("profile")


async def left(memory: AsyncMemory, history: History, ids: set[str]) -> list[str]:
    """What every byte of every container still says of the secret, and of the documents that told it."""
    return await scan(memory, *history.secret.needles, *ids)


async def turn_ids(memory: AsyncMemory, history: History) -> set[str]:
    return {row["id"] for row in await documents(memory, history.user_id) if row["type"] == "turn"}


async def forget(memory: AsyncMemory, history: History, facts: list[str]) -> None:
    user = memory.user(history.user_id)
    if history.secret.by_id and facts:
        await user.forget(facts[0])
    else:
        await user.forget(query=history.secret.query)


@pytest.mark.req("S0-007", "S0-062", "S0-064")
async def test_a_forgotten_secret_stays_forgotten_and_the_rest_stays():
    leaks: dict[str, list[str]] = {}
    lost: dict[str, list[str]] = {}
    for seed in range(HISTORIES):
        history = make_history(seed)
        async with AsyncMemory.local(embedding_model=default_embeddings(), cadence=ON_DEMAND) as memory:
            old_export = await live_through(memory, history)
            facts = await secret_facts(memory, history)
            ids = {*facts, *history.telling}
            before = {m.content for m in await memory.user(history.user_id).memories() if m.id not in facts}
            await forget(memory, history, facts)
            await go_on(memory, history, old_export)
            found = await left(memory, history, ids)
            after = {m.content for m in await memory.user(history.user_id).memories()}
            if found:
                leaks[f"{history.secret.kind} {seed}"] = found
            gone = (before - after) | (history.aside - await turn_ids(memory, history))
            if gone:
                lost[f"{history.secret.kind} {seed}"] = sorted(gone)
            assert (await memory.user(history.user_id).stats()).unprocessed_turns == 0
    print(f"{HISTORIES} histories: {len(leaks)} with a trace of the secret, {len(lost)} lost something else: {lost}")
    assert (leaks, lost) == ({}, {})


async def test_deleting_the_row_is_not_forgetting():
    """What memory layers commonly do: the documents of the memories go, and nothing else."""
    kept = []
    for seed in range(COMPARED):
        history = make_history(seed)
        async with AsyncMemory.local(embedding_model=default_embeddings(), cadence=ON_DEMAND) as memory:
            old_export = await live_through(memory, history)
            facts = await secret_facts(memory, history)
            for row in await documents(memory, history.user_id):
                if row["id"] in facts:
                    await memory.runtime.store.delete(MEMORIES, row["id"], (history.user_id, row["thread_id"]))
            await go_on(memory, history, old_export)
            if await left(memory, history, {*facts, *history.telling}):
                kept.append(seed)
    assert kept == list(range(COMPARED)) != []
