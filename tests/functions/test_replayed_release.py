"""Orchestrations that the release before this one began go on: their histories are replayed by today's code."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from azure.durable_functions import Orchestrator
from durable_replay import _ask, _context, play

from agent_memory.processing import workflows
from agent_memory.processing.workflows import Call, Workflow
from azure_functions.orchestrators import orchestrate, workflow_name
from azure_functions.sweeps import lane, sweep
from functions_host.replay import Task, continued, schedule

RECORDER = Path(__file__).parents[2] / "tools/record_release.py"
RECORDED = Path(__file__).parents[1] / "data/release/histories.json.gz"
THREAD = {"user_id": "alice", "thread_id": "t1"}


def named(name: str, context: Any) -> Iterator[Any]:
    own = {"sweep": sweep, "lane": lane}.get(name)
    return orchestrate(context, workflow_name(name)) if own is None else own(context)


def recorded(path: Path = RECORDED) -> list[Any]:
    return [(one["workflow"], one["episodes"]) for one in json.loads(gzip.decompress(path.read_bytes()))]


@pytest.mark.parametrize(("name", "runs"), recorded(), ids=[name for name, _ in recorded()])
def test_a_history_of_the_previous_release_is_replayed(name: str, runs: list[dict[str, Any]]):
    """After each of its events, the orchestrator asks for what it asked for then."""
    replay(name, runs)


def test_what_the_next_release_records_is_replayed(tmp_path: Path):
    spec = spec_from_file_location("record_release", RECORDER)
    assert spec is not None
    assert spec.loader is not None
    recorder = module_from_spec(spec)
    spec.loader.exec_module(recorder)
    recorder.record_histories(tmp_path / "histories")
    made = recorded(tmp_path / "histories")
    known = {name for name, _ in recorded()}
    assert {name for name, _ in made} >= known | {"index", "extract_and_summarize", "sweep", "lane"}
    for name, runs in made:
        replay(name, runs)


def replay(name: str, runs: list[dict[str, Any]]) -> None:
    handle = Orchestrator.create(partial(named, name))
    assert sum(len(run["asked"]) for run in runs) >= 3
    for run in runs:
        for events, actions in run["asked"]:
            history = run["history"][:events]
            state, error = _ask(handle, json.dumps(_context(run["input"], history)))
            asked = state["actions"][0] if state.get("actions") else []
            assert [[one["actionType"], one.get("functionName", "")] for one in asked] == run["actions"][:actions]
            if error is None and continued(asked) is None:
                schedule(history, asked)


def test_a_changed_workflow_replays_histories_of_its_earlier_version(monkeypatch: pytest.MonkeyPatch):
    def earlier(request: dict[str, Any]) -> Workflow:
        yield Call("commit", request)
        return [{"step": "earlier"}]

    def perform(task: Task) -> Any:
        return {"value": None}

    monkeypatch.setattr(workflows, "EARLIER", {("profile", 1): earlier, ("profile", 0): None})
    monkeypatch.setattr(workflows, "VERSION", 2)
    before = play(partial(named, "profile"), {"request": THREAD}, perform)
    assert (before.names, before.output) == (["commit"], [{"step": "earlier"}])
    after = play(partial(named, "profile"), {"request": THREAD, "version": 2}, perform)
    assert after.names == ["profile_think"]
