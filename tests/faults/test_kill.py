"""A process that is killed loses nothing and does nothing twice."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scripted_model import ScriptedChat

from agent_memory import Memory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.settings import Cadence, Limits

pytestmark = pytest.mark.acceptance

WORK = """
import sys
from scripted_model import ScriptedChat
from agent_memory import Cadence, Memory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.settings import Limits

with Memory.local(
    sys.argv[1],
    chat_model=ScriptedChat(),
    embedding_model=HashingEmbeddings(),
    cadence=Cadence(extract=5, summarize=5, profile=10, reconcile=2, idle_seconds=0),
    limits=Limits(batch_turns=4, reconcile_candidates=200),
) as memory:
    for thread in range(6):
        turns = [
            {
                "id": f"turn-{thread}-{n}",
                "role": "user",
                "content": f"fact: key{n}=value of {thread}",
                "created_at": f"2026-03-0{thread + 1}T10:00:{n:02d}Z",
            }
            for n in range(12)
        ]
        memory.user("alice").thread(f"t{thread}").add_many(turns)
    print("written", flush=True)
    print("left", memory.drain(timeout=1800), flush=True)
"""


def start(path: Path) -> "subprocess.Popen[str]":
    support = Path(__file__).parent.parent / "support"
    return subprocess.Popen(
        [sys.executable, "-c", WORK, str(path)], stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(support)}
    )


def contents(path: Path) -> dict[str, object]:
    """What the store holds in the end, without ids and times that differ from run to run."""
    with Memory.local(
        path,
        chat_model=ScriptedChat(),
        embedding_model=HashingEmbeddings(),
        cadence=Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0),
        limits=Limits(),
    ) as memory:
        alice = memory.user("alice")
        everything = alice.memories(include_superseded=True)
        stats = alice.stats()
        summaries = [alice.thread(f"t{n}").summary() for n in range(6)]
        profile = alice.profile()
        assert profile is not None
        return {
            "facts": sorted((m.content, m.quote, m.superseded_by is None, m.supersede_reason) for m in everything),
            "ids": sorted(m.id for m in everything),
            "turns": (stats.turns, stats.unprocessed_turns),
            "summaries": [(s.key_points, s.turn_count) for s in summaries if s is not None],
            "profile": sorted(profile.personal),
            "left": memory.drain(timeout=10),
        }


@pytest.mark.req("S1-44", "S0-105")
def test_killed_at_random_moments_it_ends_like_one_that_was_not(tmp_path: Path):
    calm = start(tmp_path / "calm.db")
    output, _ = calm.communicate(timeout=1800)
    assert "left 0" in output
    expected = contents(tmp_path / "calm.db")
    assert len(expected["facts"]) == 72  # type: ignore[arg-type]
    assert expected["turns"] == (72, 0)

    rng = random.Random(7)
    path = tmp_path / "killed.db"
    for _ in range(5):
        process = start(path)
        assert process.stdout is not None
        process.stdout.readline()  # turns are written; processing is under way
        time.sleep(rng.uniform(0, 0.4))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    output, _ = start(path).communicate(timeout=1800)
    assert "left 0" in output
    assert contents(path) == expected


NOT_CLOSED = """
import sys
from agent_memory import Memory
from agent_memory.language.hashing import HashingEmbeddings

def main():
    thread = Memory.local(sys.argv[1], embedding_model=HashingEmbeddings()).user("alice").thread("t")
    for n in range(60):
        thread.add("user", f"I moved to street number {n}.")

main()
"""


def test_a_script_that_does_not_close_its_memory_ends_quietly(tmp_path: Path):
    path = tmp_path / "m.db"
    command = [sys.executable, "-W", "ignore", "-c", NOT_CLOSED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert [line for line in done.stderr.splitlines() if "were left out: " not in line] == []
    assert not path.with_name("m.db-wal").exists(), "the engine was closed"
    with Memory.local(path, embedding_model=HashingEmbeddings()) as memory:
        assert len(memory.user("alice").thread("t").turns()) == 60
        assert memory.drain(timeout=300) == 0
