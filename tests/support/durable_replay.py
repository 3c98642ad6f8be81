"""A harness for orchestrators: replays them after every event, through the SDK's own protocol, and compares.

It plays the host: one event at a time, the whole history each time, every episode twice. An orchestrator that does
not ask for the same each time is caught, whatever it ends with.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.durable_functions import DurableOrchestrationContext, Orchestrator

from functions_host.replay import EventType, NonDeterministic, Task, continued, schedule, write_time

Json = dict[str, Any]
Perform = Callable[[Task], Any]
"""Does what an orchestrator asked for. An exception is a failure."""

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass
class Played:
    """How an orchestration went: what it asked for, in order, and what came of it."""

    tasks: list[Task] = field(default_factory=list)
    output: Any = None
    error: str | None = None
    generations: int = 1
    largest_history: int = 0
    clock: datetime = START
    """When the last event happened. A timer moves it on."""

    @property
    def names(self) -> list[str]:
        """What it called, without the timers of retries."""
        return [task.name for task in self.tasks if task.name]


def play(orchestrator: Callable[[DurableOrchestrationContext], Any], given: Any, perform: Perform) -> Played:
    """Runs an orchestrator from beginning to end.

    Raises:
        NonDeterministic: if a replay asks for something else than the run before it.
    """
    handle = Orchestrator.create(orchestrator)
    played = Played()
    text = json.dumps(given)
    while text is not None:
        text = _play_generation(handle, text, perform, played)
        played.generations += text is not None
    return played


def _play_generation(handle: Callable[[str], str], given: str, perform: Perform, played: Played) -> str | None:
    """One execution; the input of the next, if it continues as new."""
    clock = played.clock
    history: list[Json] = []
    waiting: list[Json] = [_event(EventType.EXECUTION_STARTED, clock, Name="x", Input=given, Version="")]
    asked: list[Any] = []
    timers: dict[int, datetime] = {}
    while waiting:
        event = waiting.pop(0)
        played.clock = clock = max(clock + timedelta(seconds=1), timers.get(event.get("TimerId", -1), clock))
        history += [_event(EventType.ORCHESTRATOR_STARTED, clock), event]
        body = json.dumps(_context(given, history))
        played.largest_history = max(played.largest_history, len(body))
        state, error = _ask(handle, body)
        if (state, error) != _ask(handle, body):
            raise NonDeterministic("two replays of one history differ")
        if error is not None:
            played.error = error
            return None
        actions = state["actions"][0] if state["actions"] else []
        if actions[: len(asked)] != asked:
            raise NonDeterministic(f"it asked for {asked}, and in a replay for {actions}")
        asked = actions
        again = continued(actions)
        if again is not None:
            return str(again["input"])
        wanted = schedule(history, actions)
        if state["isDone"]:
            played.output = state.get("output")
            return None
        for task in wanted:
            history.append(_scheduled(task, clock))
            played.tasks.append(task)
            timers |= {} if task.fire_at is None else {task.id: task.fire_at}
            waiting.append(_outcome(task, perform, clock))
        for event in history:
            event["IsPlayed"] = True
    raise AssertionError("the orchestrator waits for nothing")


def _ask(handle: Callable[[str], str], body: str) -> tuple[Json, str | None]:
    with warnings.catch_warnings():
        # Said once by the SDK, about arguments that not all of its versions have.
        warnings.filterwarnings("ignore", "azure.functions df_loads was called without expected_type")
        try:
            return json.loads(handle(body)), None
        except Exception as error:
            return {}, str(error).split("\n\n$OutOfProcData$", 1)[0]


def _context(given: str, history: list[Json]) -> Json:
    return {
        "instanceId": "i",
        "isReplaying": len(history) > 2,
        "parentInstanceId": None,
        "input": given,
        "history": history,
        "upperSchemaVersion": 1,
        "upperSchemaVersionNew": 2,
    }


def _event(kind: EventType, at: datetime, **fields: Any) -> Json:
    return {"EventType": int(kind), "EventId": -1, "IsPlayed": False, "Timestamp": write_time(at), **fields}


def _scheduled(task: Task, at: datetime) -> Json:
    kinds = {
        "activity": EventType.TASK_SCHEDULED,
        "orchestration": EventType.SUB_ORCHESTRATION_CREATED,
        "timer": EventType.TIMER_CREATED,
    }
    return _event(kinds[task.kind], at, Name=task.name) | {"EventId": task.id}


def _outcome(task: Task, perform: Perform, at: datetime) -> Json:
    if task.kind == "timer":
        return _event(EventType.TIMER_FIRED, at, TimerId=task.id)
    activity = task.kind == "activity"
    try:
        result = perform(task)
    except Exception as error:
        kind = EventType.TASK_FAILED if activity else EventType.SUB_ORCHESTRATION_FAILED
        return _event(kind, at, TaskScheduledId=task.id, Reason=str(error), Details="")
    kind = EventType.TASK_COMPLETED if activity else EventType.SUB_ORCHESTRATION_COMPLETED
    return _event(kind, at, TaskScheduledId=task.id, Result=json.dumps(result))
