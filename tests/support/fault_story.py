"""What is said in the schedules of faults, the faults themselves, and what must be there in the end."""

from __future__ import annotations

import random
from collections import Counter

from agent_memory import AsyncMemory
from agent_memory.remembering.untold import untold_threads
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.counters import count_extractions
from agent_memory.store.cursors import read_cursor
from embedded_cosmos.faults import FaultPlan, FaultRule

THREADS = ("t0", "t1")
Turns = dict[str, list[dict[str, object]]]


def faults(seed: int) -> FaultPlan:
    return FaultPlan(
        seed=seed,
        rules=[
            FaultRule("drop_after", probability=0.05),
            FaultRule("drop_before", probability=0.03),
            FaultRule("unavailable", probability=0.03),
            FaultRule("throttle", probability=0.3),
        ],
    )


def script(rng: random.Random) -> Turns:
    """What is said: things of each thread's own, one that all say alike, and one of which each thread says another."""
    turns: Turns = {}
    for day, thread in enumerate(THREADS, 1):
        lines = [f"fact: {thread} key{n}=some value {n}" for n in range(rng.randrange(2, 6))]
        lines += ["fact: everybody knows=the seat is at the aisle", f"fact: home of alice=city number {day}"]
        turns[thread] = [
            {"id": f"{thread}-{n}", "role": "user", "content": line, "created_at": f"2026-03-0{day}T10:00:{n:02d}Z"}
            for n, line in enumerate(lines)
        ]
    return turns


async def check(memory: AsyncMemory, turns: Turns) -> None:
    """Everything that was said is there as often as it should be, and nothing else."""
    alice, store = memory.user("alice"), memory.runtime.store
    said = [str(turn["content"]).removeprefix("fact: ") for part in turns.values() for turn in part]
    last_home = max(line for line in said if line.startswith("home"))
    believed = {line.lower() for line in said if not line.startswith("home")} | {last_home}
    active = await alice.memories()
    assert sorted(m.content.lower() for m in active) == sorted(believed)
    everything = await alice.memories(include_superseded=True)
    derived = Counter(m.source_turn_ids[0] for m in everything if not m.supersedes_ids)
    assert set(derived.values()) == {1}
    ids = {m.id for m in everything}
    assert {m.superseded_by for m in everything} <= ids | {None}
    homes = [m for m in everything if m.content.startswith("home")]
    assert {m.supersede_reason for m in homes if m.content != last_home} == {"contradict"}
    chunks = await store.query(MEMORIES, 'SELECT VALUE c.source_turn_ids[0] FROM c WHERE c.kind = "chunk"', ("alice",))
    assert Counter(chunks) == Counter(turn["id"] for part in turns.values() for turn in part)
    for thread, part in turns.items():
        assert [turn.id for turn in await alice.thread(thread).turns()] == [turn["id"] for turn in part]
        counter = await memory.runtime.counters.get("alice", thread)
        assert (counter.count, counter.pending) == (len(part), 0)
        for container, step in ((MEMORIES, "index"), (MEMORIES, "extract"), (SUMMARIES, "summarize")):
            stored = await read_cursor(store, container, ("alice", thread), step)
            assert (step, stored.cursor.count) == (step, len(part))
            assert "intents" not in stored.extra
        summary = await alice.thread(thread).summary()
        assert summary is not None
        told, lines = summary.key_points, [str(turn["content"]) for turn in part]
        assert [line for line in told if "home" not in line] == [line for line in lines if "home" not in line]
        own = [line for line in lines if "home" in line]
        assert len([line for line in told if "home" in line]) == len(own)
        if own and max(own) != f"fact: {last_home}":  # another thread knows better
            assert max(own) not in told
            assert f"fact: {last_home}" in told
        assert summary.turn_count == len(part)
    assert (await memory.runtime.counters.user("alice")).turns == sum(map(len, turns.values()))
    runs = [(await read_cursor(store, MEMORIES, ("alice", thread), "extract")).cursor.runs for thread in turns]
    assert await count_extractions(store, "alice") == sum(runs)
    assert await untold_threads(store, "alice") == []
    profile = await alice.profile()
    assert profile is not None
    assert sorted(line.lower() for line in profile.personal) == sorted(believed)
    assert set(profile.source_ids) == {m.id for m in active}
    assert await memory.dead_letters() == []
