"""Replay: finds which tasks an orchestrator has scheduled, from its history and the actions that it returns.

An orchestrator returns all its actions so far, in order, without ids. SDK and host number the tasks independently, in
the order of scheduling: an action when the previous one is done, a retry (a timer, then the task again) when a failure
arrives. So the host walks through the history and the actions side by side. These are pure functions, as replay needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any, Literal

Event = Mapping[str, Any]
Action = Mapping[str, Any]
Kind = Literal["activity", "orchestration", "timer"]


class EventType(IntEnum):
    """The events of a history."""

    EXECUTION_STARTED = 0
    TASK_SCHEDULED = 4
    TASK_COMPLETED = 5
    TASK_FAILED = 6
    SUB_ORCHESTRATION_CREATED = 7
    SUB_ORCHESTRATION_COMPLETED = 8
    SUB_ORCHESTRATION_FAILED = 9
    TIMER_CREATED = 10
    TIMER_FIRED = 11
    ORCHESTRATOR_STARTED = 12
    ORCHESTRATOR_COMPLETED = 13


class ActionType(IntEnum):
    """The actions of an orchestrator."""

    CALL_ACTIVITY = 0
    CALL_ACTIVITY_WITH_RETRY = 1
    CALL_SUB_ORCHESTRATOR = 2
    CALL_SUB_ORCHESTRATOR_WITH_RETRY = 3
    CONTINUE_AS_NEW = 4
    CREATE_TIMER = 5
    WAIT_FOR_EXTERNAL_EVENT = 6
    CALL_ENTITY = 7
    CALL_HTTP = 8
    SIGNAL_ENTITY = 9
    WHEN_ANY = 11
    WHEN_ALL = 12


class NonDeterministic(Exception):
    """The orchestrator requested other tasks than its history has."""


class Unsupported(Exception):
    """The orchestrator uses something that the local host does not support."""


@dataclass(frozen=True, slots=True)
class Task:
    """One scheduled task, with its number."""

    id: int
    kind: Kind
    name: str = ""
    input: str | None = None
    instance_id: str | None = None
    fire_at: datetime | None = None


_KINDS: dict[int, Kind] = {
    ActionType.CALL_ACTIVITY: "activity",
    ActionType.CALL_ACTIVITY_WITH_RETRY: "activity",
    ActionType.CALL_SUB_ORCHESTRATOR: "orchestration",
    ActionType.CALL_SUB_ORCHESTRATOR_WITH_RETRY: "orchestration",
    ActionType.CREATE_TIMER: "timer",
}
_SCHEDULED: dict[int, Kind] = {
    EventType.TASK_SCHEDULED: "activity",
    EventType.SUB_ORCHESTRATION_CREATED: "orchestration",
    EventType.TIMER_CREATED: "timer",
}
_TASK_OF = {
    EventType.TASK_COMPLETED: "TaskScheduledId",
    EventType.TASK_FAILED: "TaskScheduledId",
    EventType.SUB_ORCHESTRATION_COMPLETED: "TaskScheduledId",
    EventType.SUB_ORCHESTRATION_FAILED: "TaskScheduledId",
    EventType.TIMER_FIRED: "TimerId",
}
_FAILED = (EventType.TASK_FAILED, EventType.SUB_ORCHESTRATION_FAILED)


def schedule(history: Sequence[Event], actions: Sequence[Action]) -> list[Task]:
    """The tasks that an orchestrator wants and that are not scheduled yet.

    Raises:
        NonDeterministic: if the history has other tasks than the actions.
        Unsupported: if this host does not support an action.
    """
    walk = _Walk(iter(actions))
    for event in history:
        walk.see(event)
    before = {event["EventId"]: event for event in history if event["EventType"] in _SCHEDULED}
    for task in walk.tasks:
        _compare(task, before.pop(task.id, None))
    if before:
        raise NonDeterministic(f"the history has tasks that the orchestrator no longer requests: {sorted(before)}")
    known = {event["EventId"] for event in history if event["EventType"] in _SCHEDULED}
    return [task for task in walk.tasks if task.id not in known]


def continued(actions: Sequence[Action]) -> Action | None:
    """The action that continues the orchestration as new, if there is one."""
    return next((action for action in actions if action["actionType"] == ActionType.CONTINUE_AS_NEW), None)


def _compare(task: Task, event: Event | None) -> None:
    if event is None:
        return
    kind = _SCHEDULED[event["EventType"]]
    if (task.kind, task.name) != (kind, event.get("Name") or ""):
        raise NonDeterministic(
            f"task {task.id} was {kind} {event.get('Name') or ''} and is now {task.kind} {task.name}".replace("  ", " ")
        )


@dataclass(slots=True)
class _Leaf:
    """One task of an action, with its retries."""

    action: Action
    attempts: int = 1
    waiting: bool = False

    @property
    def retry(self) -> Mapping[str, Any] | None:
        return self.action.get("retryOptions")


@dataclass(slots=True)
class _Walk:
    """Follows an orchestrator through its history."""

    actions: Iterator[Action]
    tasks: list[Task] = field(default_factory=list)
    _open: dict[int, _Leaf] = field(default_factory=dict)
    _current: list[_Leaf] = field(default_factory=list)
    """The leaves of the action that the orchestrator awaits."""

    def see(self, event: Event) -> None:
        kind = event["EventType"]
        if kind == EventType.EXECUTION_STARTED:
            self._next()
        elif kind in _TASK_OF:
            leaf = self._open.pop(event[_TASK_OF[kind]], None)
            if leaf is not None:  # otherwise the event came twice
                self._settle(leaf, event, failed=kind in _FAILED)

    def _next(self) -> None:
        """The orchestrator continues to its next action."""
        action = next(self.actions, None)
        if action is None or action["actionType"] == ActionType.CONTINUE_AS_NEW:
            return
        self._current = [_Leaf(leaf) for leaf in _leaves(action)]
        for leaf in self._current:
            self._add(leaf)
        if not self._current:
            self._next()

    def _settle(self, leaf: _Leaf, event: Event, *, failed: bool) -> None:
        """Notes that a task of a leaf has ended, and repeats it if the action has a retry policy."""
        if leaf.waiting and leaf.retry is not None:
            leaf.waiting = False
            if leaf.attempts < leaf.retry["maxNumberOfAttempts"]:
                leaf.attempts += 1
                self._add(leaf)
                return
            failed = True
        elif failed and leaf.retry is not None:
            # The SDK sets a timer after the last failure, too.
            leaf.waiting = True
            pause = timedelta(milliseconds=leaf.retry["firstRetryIntervalInMilliseconds"])
            self._add_task(leaf, "timer", fire_at=read_time(event["Timestamp"]) + pause)
            return
        if leaf in self._current:
            # Of tasks that are awaited together, the first failure ends the waiting.
            self._current = [] if failed else [one for one in self._current if one is not leaf]
            if not self._current:
                self._next()

    def _add(self, leaf: _Leaf) -> None:
        action = leaf.action
        kind = _KINDS[action["actionType"]]
        if kind == "timer":
            self._add_task(leaf, kind, fire_at=read_time(action["fireAt"]))
        else:
            self._add_task(leaf, kind, action["functionName"], action.get("input"), action.get("instanceId"))

    def _add_task(
        self,
        leaf: _Leaf,
        kind: Kind,
        name: str = "",
        given: str | None = None,
        instance_id: str | None = None,
        fire_at: datetime | None = None,
    ) -> None:
        task = Task(len(self.tasks), kind, name, given, instance_id, fire_at)
        self._open[task.id] = leaf
        self.tasks.append(task)


def _leaves(action: Action) -> Iterable[Action]:
    kind = action["actionType"]
    if kind == ActionType.WHEN_ALL:
        return [leaf for part in action["compoundActions"] for leaf in _leaves(part)]
    if kind not in _KINDS or action.get("isCanceled"):
        name = ActionType(kind).name.replace("_", " ").lower()
        raise Unsupported(f"the local host does not do this in an orchestrator: {name}")
    return [action]


def read_time(text: str) -> datetime:
    """Reads a time of a history or an action, in UTC."""
    value = datetime.fromisoformat(text)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def write_time(value: datetime) -> str:
    """Writes a time for a history."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
