"""Records what a release stores, so that later versions can be tried on it (tests/store/test_release.py).

`PYTHONPATH=.:tests/support python tools/record_release.py FOLDER`, in a checkout of the release. It writes a store file
(gzip), and the histories of orchestrations as they stood after each event.
"""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import durable_replay

from agent_memory import Cadence, Memory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.processing.workflows import TOGETHER
from azure_functions.orchestrators import orchestrate
from azure_functions.sweeps import lane, sweep

SAID = {
    "alice": {"trip": ["I live in Lisbon.", "My budget for the trip is $10,000.", "I am allergic to peanuts."]},
    "bob": {"work": ["I work as a nurse in Oslo.", "My sister is called Anna."], "home": ["I prefer tea to coffee."]},
}
QUIET = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


def record_store(path: Path) -> None:
    """A small store: turns that were processed, and one turn of each user that was counted but not processed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        for cadence, final in ((Cadence(extract=2, summarize=2, profile=2, reconcile=1), False), (QUIET, True)):
            with Memory.local(
                file, chat_model=OfflineChat(), embedding_model=HashingEmbeddings(), cadence=cadence
            ) as memory:
                for user, threads in SAID.items():
                    for thread, lines in threads.items():
                        talk = memory.user(user).thread(thread)
                        for line in [f"{lines[0]} Again."] if final else lines:
                            talk.add("user", line)
                memory.drain(timeout=60)
        database = sqlite3.connect(file)
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")
        database.close()
        path.write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))


def record_histories(path: Path) -> None:
    """Orchestrations whose activities fail now and then; of each its input, and its history after every event."""
    rng = random.Random(11)
    person, thread = {"user_id": "alice"}, {"user_id": "alice", "thread_id": "t1"}
    idle = {"threads": ["t1", "t2"], "thread_steps": ["extract", "summarize"], "user_steps": ["reconcile", "profile"]}
    runs: list[tuple[str, dict[str, Any]]] = [
        ("extract", thread),
        ("summarize", thread),
        ("profile", person),
        ("reconcile", person),
        ("settle", thread),
        ("settle_user", person | idle),
        ("deepen", person),
        ("reprocess", person),
        ("erase", person),
        ("index", thread),
        (TOGETHER, thread),
        ("sweep", {"slices": [["idle", 0, 1000]], "end": {"at": "then"}}),
        ("lane", {"slices": [["backfill", 0, 1000]], "end": {"at": "then"}}),
    ]

    def perform(task: Any) -> Any:
        if task.kind == "activity" and rng.random() < 0.1:
            raise RuntimeError("throttled")
        committed = {"result": {"step": "x"}, "more": rng.random() < 0.3, "raced": False}
        outcomes: dict[str, Any] = {
            "commit": committed,
            "index": committed,
            f"{TOGETHER}_think": {"drafts": {"extract": {"draft": task.id}, "summarize": {"draft": task.id}}},
            "erase_piece": {"more": rng.random() < 0.5},
            "reprocess_plan": {"threads": ["t1", "t2"]},
            "summarize_plan": {"threads": ["t1"]},
        }
        if task.kind == "orchestration":
            return [{"created": 1}]
        if task.name == "sweep_slice":
            return {"halve": rng.random() < 0.3, "handled": 1, "failed": 0}
        if task.name == "lane_list":
            return None if rng.random() < 0.3 else [["backfill", f"u{n}", {"t": 1}] for n in range(3)]
        if task.name == "lane_start":
            return {"taken": min(1, len(json.loads(task.input)["users"])), "running": ["u"] * (rng.random() < 0.7)}
        return 0 if task.name in ("finish", "sweep_end") else {"value": outcomes.get(task.name, {"draft": task.id})}

    recorded: list[dict[str, Any]] = []
    ask = durable_replay._ask
    for name, request in runs:
        given = {"request": request, "counts": {"t1": 3, "": 5} if name == "settle_user" else {"t1": 3}}
        episodes: list[dict[str, Any]] = []

        def keep(handle: Any, body: str, episodes: list[dict[str, Any]] = episodes) -> Any:
            answer = ask(handle, body)
            context = json.loads(body)
            actions = [[one["actionType"], one.get("functionName", "")] for one in _of(answer[0])]
            episode = {"input": context["input"], "history": context["history"], "actions": actions}
            if answer[1] is None and (not episodes or episodes[-1]["history"] != episode["history"]):
                episodes.append(episode)
            return answer

        durable_replay._ask = keep
        try:
            durable_replay.play(orchestrator(name), given, perform)
        finally:
            durable_replay._ask = ask
        recorded.append({"workflow": name, "episodes": _compact(episodes)})
    text = json.dumps(recorded, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _compact(episodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The longest history of each execution, and how many of its events and actions each episode had."""
    runs: list[dict[str, Any]] = []
    for episode in episodes:
        events, actions = len(episode["history"]), len(episode["actions"])
        if not runs or events < runs[-1]["asked"][-1][0]:
            runs.append({"input": episode["input"], "asked": []})
        runs[-1]["asked"].append([events, actions])
        runs[-1] |= {"history": episode["history"], "actions": episode["actions"]}
    return runs


def _of(state: dict[str, Any]) -> list[dict[str, Any]]:
    return state["actions"][0] if state.get("actions") else []


def orchestrator(name: str) -> Callable[[Any], Any]:
    """The orchestrator of a workflow, the sweep or the lane."""
    return {"sweep": sweep, "lane": lane}.get(name) or (lambda context: orchestrate(context, name))


def main() -> int:
    """Records a release; the exit status."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    record_store(folder / "store.db.gz")
    record_histories(folder / "histories.json.gz")
    for file in sorted(folder.iterdir()):
        print(f"{file}: {file.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
