"""The task hub: keeps orchestrations in a SQLite file, so that a killed host continues where it stopped.

An instance has a status and, for each execution (a start, or a continuation as new), a history of the events that its
orchestrator has seen. Messages are events that it has not seen yet. Tasks are scheduled and have not ended. The data of
an ended execution is deleted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from functions_host.errors import HostError
from functions_host.events import completed, execution_started, failed, timer_fired
from functions_host.replay import Event, EventType, Task, write_time

RUNNING = ("Pending", "Running", "Suspended")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS instances (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL, execution INTEGER NOT NULL, input TEXT NOT NULL,
    output TEXT, custom_status TEXT, created TEXT NOT NULL, updated TEXT NOT NULL,
    parent TEXT, parent_execution INTEGER, parent_task INTEGER
);
CREATE TABLE IF NOT EXISTS history (
    instance TEXT NOT NULL, execution INTEGER NOT NULL, position INTEGER NOT NULL, event TEXT NOT NULL,
    PRIMARY KEY (instance, execution, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY, instance TEXT NOT NULL, execution INTEGER NOT NULL, event TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_of ON messages (instance, execution);
CREATE TABLE IF NOT EXISTS tasks (
    instance TEXT NOT NULL, execution INTEGER NOT NULL, id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    input TEXT, fire_at TEXT, PRIMARY KEY (instance, execution, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS schedules (function TEXT PRIMARY KEY, last TEXT NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Parent:
    """The task of the parent instance that a sub-orchestration completes."""

    instance: str
    execution: int
    task: int


@dataclass(frozen=True, slots=True)
class Instance:
    """The current state of an orchestration. Input, output and custom status are JSON."""

    id: str
    name: str
    status: str
    execution: int
    input: str
    output: str | None
    custom_status: str | None
    created: str
    updated: str
    parent: Parent | None

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.status in RUNNING


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task that is running, or was running when the host stopped."""

    instance: str
    execution: int
    task: Task


class TaskHub:
    """The one task hub of a host. Every change is one transaction."""

    def __init__(self, path: Path) -> None:
        """Opens or creates the file.

        Raises:
            HostError: if another host has it open.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=0.2)
        try:
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            self._connection.close()
            raise HostError(f"{path} cannot be opened; is another host running on it? ({error})") from error

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # Instances

    def instance(self, instance_id: str) -> Instance | None:
        """An instance by its id."""
        row = self._connection.execute("SELECT * FROM instances WHERE id = ?", (instance_id,)).fetchone()
        return _instance(row) if row else None

    def instances(self) -> list[Instance]:
        """All instances, by their ids."""
        return [_instance(row) for row in self._connection.execute("SELECT * FROM instances ORDER BY id")]

    def history(self, instance: Instance) -> list[str]:
        """The events that the orchestrator has seen in the current execution, as JSON."""
        rows = self._connection.execute(
            "SELECT event FROM history WHERE instance = ? AND execution = ? ORDER BY position",
            (instance.id, instance.execution),
        )
        return [event for (event,) in rows]

    def create(self, instance_id: str, name: str, given: str, parent: Parent | None = None) -> None:
        """Starts an instance. It replaces an ended one with the same id. `given` is its input as JSON."""
        with self._transaction():
            self._create(instance_id, name, given, parent)

    def _create(self, instance_id: str, name: str, given: str, parent: Parent | None) -> None:
        before = self.instance(instance_id)
        execution = before.execution + 1 if before else 0
        self._forget(instance_id)
        now = write_time(datetime.now(UTC))
        link = (parent.instance, parent.execution, parent.task) if parent else (None, None, None)
        self._connection.execute(
            "INSERT OR REPLACE INTO instances VALUES (?, ?, 'Pending', ?, ?, NULL, NULL, ?, ?, ?, ?, ?)",
            (instance_id, name, execution, given, now, now, *link),
        )
        self._post(instance_id, execution, execution_started(name, given, now))

    def end(self, instance: Instance, status: str, output: str | None) -> str | None:
        """Ends an instance from outside. Returns the id of its parent, which gets a message."""
        with self._transaction():
            return self._end(instance, status, output, instance.custom_status)

    def set_status(self, instance: Instance, status: str) -> None:
        """Suspends or resumes an instance."""
        now = write_time(datetime.now(UTC))
        self._connection.execute(
            "UPDATE instances SET status = ?, updated = ? WHERE id = ?", (status, now, instance.id)
        )

    def purge(self, instance: Instance) -> None:
        """Deletes an instance and all its data."""
        with self._transaction() as connection:
            self._forget(instance.id)
            connection.execute("DELETE FROM instances WHERE id = ?", (instance.id,))

    # Episodes

    def messages(self, instance: Instance) -> list[tuple[int, Event]]:
        """The events that the orchestrator has not seen, with their numbers."""
        rows = self._connection.execute(
            "SELECT number, event FROM messages WHERE instance = ? AND execution = ? ORDER BY number",
            (instance.id, instance.execution),
        )
        return [(number, json.loads(event)) for number, event in rows]

    def waiting(self) -> list[str]:
        """The instances that have messages."""
        return [i for (i,) in self._connection.execute("SELECT DISTINCT instance FROM messages ORDER BY instance")]

    def _is_current(self, instance: Instance) -> bool:
        """Whether an instance is still in the execution that was read."""
        now = self.instance(instance.id)
        return now is not None and now.is_running and now.execution == instance.execution

    def _see(self, instance: Instance, seen: Sequence[int], events: Sequence[Event]) -> None:
        """Moves messages into the history, with the other events of the episode."""
        ((position,),) = self._connection.execute(
            "SELECT count(*) FROM history WHERE instance = ? AND execution = ?", (instance.id, instance.execution)
        )
        self._connection.executemany("DELETE FROM messages WHERE number = ?", [(number,) for number in seen])
        self._connection.executemany(
            "INSERT INTO history VALUES (?, ?, ?, ?)",
            [
                (instance.id, instance.execution, position + n, json.dumps({**event, "IsPlayed": True}))
                for n, event in enumerate(events)
            ],
        )

    def go_on(
        self,
        instance: Instance,
        seen: Sequence[int],
        events: Sequence[Event],
        tasks: Mapping[int, Task],
        children: Mapping[int, str],
        custom_status: str | None,
    ) -> bool:
        """Stores an episode that scheduled tasks. `children` holds the ids of the sub-orchestrations among them.

        Returns False, and stores nothing, if the instance has ended meanwhile.
        """
        with self._transaction() as connection:
            if not self._is_current(instance):
                return False
            self._see(instance, seen, events)
            connection.executemany(
                "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        *(instance.id, instance.execution, task.id, task.kind, task.name, task.input),
                        write_time(task.fire_at) if task.fire_at else None,
                    )
                    for task in tasks.values()
                ],
            )
            for number, child in children.items():
                task = tasks[number]
                parent = Parent(instance.id, instance.execution, task.id)
                before = self.instance(child)
                if before is not None and before.is_running:
                    reason = f"an orchestration {child} is running already"
                    self._complete(parent, failed(EventType.SUB_ORCHESTRATION_FAILED, task.id, reason, ""))
                else:
                    self._create(child, task.name, json.dumps(task.input), parent)
            connection.execute(
                "UPDATE instances SET status = iif(status = 'Pending', 'Running', status), custom_status = ?,"
                " updated = ? WHERE id = ?",
                (custom_status, write_time(datetime.now(UTC)), instance.id),
            )
            return True

    def finish(
        self,
        instance: Instance,
        seen: Sequence[int],
        events: Sequence[Event],
        status: str,
        output: str | None,
        custom_status: str | None,
    ) -> str | None:
        """Stores the last episode of an instance. Returns the id of its parent, which gets a message."""
        with self._transaction():
            if not self._is_current(instance):
                return None
            self._see(instance, seen, events)
            return self._end(instance, status, output, custom_status)

    def continue_as_new(self, instance: Instance, given: str) -> bool:
        """Starts the instance's next execution, with an empty history."""
        with self._transaction() as connection:
            if not self._is_current(instance):
                return False
            self._forget(instance.id)
            now = write_time(datetime.now(UTC))
            connection.execute(
                "UPDATE instances SET execution = execution + 1, input = ?, updated = ? WHERE id = ?",
                (given, now, instance.id),
            )
            self._post(instance.id, instance.execution + 1, execution_started(instance.name, given, now))
            return True

    def _end(self, instance: Instance, status: str, output: str | None, custom_status: str | None) -> str | None:
        for table in ("messages", "tasks"):
            self._connection.execute(f"DELETE FROM {table} WHERE instance = ?", (instance.id,))
        self._connection.execute(
            "UPDATE instances SET status = ?, output = ?, custom_status = ?, updated = ? WHERE id = ?",
            (status, output, custom_status, write_time(datetime.now(UTC)), instance.id),
        )
        parent = instance.parent
        if parent is None:
            return None
        if status == "Completed":
            self._complete(parent, completed(EventType.SUB_ORCHESTRATION_COMPLETED, parent.task, output))
        else:
            reason = json.loads(output) if output else status
            self._complete(parent, failed(EventType.SUB_ORCHESTRATION_FAILED, parent.task, str(reason), status))
        return parent.instance

    # Tasks

    def open_tasks(self) -> list[OpenTask]:
        """The running tasks."""
        rows = self._connection.execute("SELECT * FROM tasks ORDER BY instance, id")
        return [
            OpenTask(i, execution, Task(n, kind, name, given, None, datetime.fromisoformat(at) if at else None))
            for i, execution, n, kind, name, given, at in rows
        ]

    def task_completed(self, open_task: OpenTask, result: str | None) -> bool:
        """Tells an orchestrator that an activity succeeded. Returns False if it no longer waits for it."""
        event = completed(EventType.TASK_COMPLETED, open_task.task.id, result)
        return self._tell(open_task, event)

    def task_failed(self, open_task: OpenTask, reason: str, details: str) -> bool:
        """Tells an orchestrator that an activity failed. Returns False if it no longer waits for it."""
        return self._tell(open_task, failed(EventType.TASK_FAILED, open_task.task.id, reason, details))

    def task_fired(self, open_task: OpenTask) -> bool:
        """Tells an orchestrator that a timer fired. Returns False if it no longer waits for it."""
        return self._tell(open_task, timer_fired(open_task.task))

    def _tell(self, open_task: OpenTask, event: Event) -> bool:
        with self._transaction():
            return self._complete(Parent(open_task.instance, open_task.execution, open_task.task.id), event)

    def _complete(self, whose: Parent, event: Event) -> bool:
        """Ends a task and sends a message to its orchestrator. Only the first call has an effect."""
        deleted = self._connection.execute(
            "DELETE FROM tasks WHERE instance = ? AND execution = ? AND id = ?",
            (whose.instance, whose.execution, whose.task),
        )
        if deleted.rowcount == 0:
            return False
        self._post(whose.instance, whose.execution, event)
        return True

    def _post(self, instance_id: str, execution: int, event: Event) -> None:
        self._connection.execute(
            "INSERT INTO messages (instance, execution, event) VALUES (?, ?, ?)",
            (instance_id, execution, json.dumps(event)),
        )

    def _forget(self, instance_id: str) -> None:
        for table in ("history", "messages", "tasks"):
            self._connection.execute(f"DELETE FROM {table} WHERE instance = ?", (instance_id,))

    # Schedules

    def last_run(self, function: str) -> datetime | None:
        """When a timer function was last run, or first seen."""
        row = self._connection.execute("SELECT last FROM schedules WHERE function = ?", (function,)).fetchone()
        return datetime.fromisoformat(row[0]) if row else None

    def ran(self, function: str, at: datetime) -> None:
        """Notes when a timer function was run."""
        self._connection.execute("INSERT OR REPLACE INTO schedules VALUES (?, ?)", (function, write_time(at)))


def _instance(row: Sequence[Any]) -> Instance:
    instance_id, name, status, execution, given, output, custom, created, updated, *link = row
    parent = Parent(*link) if link[0] is not None else None
    return Instance(instance_id, name, status, execution, given, output, custom, created, updated, parent)
