"""Orchestrations: runs orchestrators, episode by episode, and the tasks that they schedule.

An episode is stored before its tasks run. So after a crash, a task may run again, but no episode does. Activities are
written for that.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Coroutine, Iterable
from datetime import UTC, datetime
from typing import Any

from functions_host.errors import HostError, InvocationFailed
from functions_host.events import orchestrator_completed, orchestrator_started, scheduled
from functions_host.functions import ACTIVITY, ORCHESTRATION, Function
from functions_host.invoker import Invoker
from functions_host.replay import Event, NonDeterministic, Task, Unsupported, continued, schedule
from functions_host.taskhub import Instance, OpenTask, TaskHub
from functions_host.worker import json_datum

logger = logging.getLogger(__name__)

_ERROR_DATA = "$OutOfProcData$:"


class UnknownOrchestrator(HostError):
    """There is no orchestrator with this name."""


class AlreadyRunning(HostError):
    """An orchestration with this id has not ended."""


class Orchestrations:
    """The orchestrations of one task hub."""

    def __init__(self, hub: TaskHub, invoker: Invoker, functions: Iterable[Function], activities: int) -> None:
        self._hub = hub
        self._invoker = invoker
        functions = list(functions)
        self._orchestrators = {one.name: one for one in functions if one.kind == ORCHESTRATION}
        self._activities = {one.name: one for one in functions if one.kind == ACTIVITY}
        self._slots = asyncio.Semaphore(activities)
        self._awake: set[str] = set()
        self._background: set[asyncio.Task[None]] = set()

    def resume(self) -> None:
        """Continues where the last host stopped: runs open tasks, and delivers messages to orchestrators."""
        for open_task in self._hub.open_tasks():
            self._hand_out(open_task)
        for instance_id in self._hub.waiting():
            self._wake(instance_id)

    async def stop(self) -> None:
        """Stops all work. The next host continues it."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def start(self, name: str, instance_id: str | None, given: str) -> str:
        """Starts an orchestration and returns its id. It replaces an ended one with the same id. `given` is JSON.

        Raises:
            UnknownOrchestrator: if the app has none with that name.
            HostError: if Durable Functions would refuse the id.
            AlreadyRunning: if an orchestration with this id is running.
        """
        if name not in self._orchestrators:
            raise UnknownOrchestrator(f"The function '{name}' doesn't exist, is disabled, or is not an orchestrator.")
        chosen = instance_id or uuid.uuid4().hex
        if len(chosen) > 100 or chosen.startswith("@") or any(c in chosen for c in "/\\#?"):
            raise HostError(f"'{chosen}' cannot be the id of an orchestration.")
        before = self._hub.instance(chosen)
        if before is not None and before.is_running:
            raise AlreadyRunning(f"An orchestration with the id '{chosen}' is running already.")
        self._hub.create(chosen, name, given)
        self._wake(chosen)
        return chosen

    def terminate(self, instance: Instance, reason: str) -> None:
        """Ends an orchestration. Its scheduled tasks may still run, but their results are dropped."""
        parent = self._hub.end(instance, "Terminated", json.dumps(reason))
        if parent is not None:
            self._wake(parent)

    def suspend(self, instance: Instance) -> None:
        """Suspends an orchestration: it gets no messages until it is resumed."""
        self._hub.set_status(instance, "Suspended")

    def wake_up(self, instance: Instance) -> None:
        """Resumes an orchestration."""
        self._hub.set_status(instance, "Running")
        self._wake(instance.id)

    def _wake(self, instance_id: str) -> None:
        """Gives an orchestrator its messages, one episode of an instance at a time."""
        if instance_id not in self._awake:
            self._awake.add(instance_id)
            self._spawn(self._episodes(instance_id))

    async def _episodes(self, instance_id: str) -> None:
        try:
            while True:
                instance = self._hub.instance(instance_id)
                if instance is None or instance.status not in ("Pending", "Running"):
                    return
                messages = self._hub.messages(instance)
                if not messages:
                    return
                await self._episode(instance, messages)
        finally:
            self._awake.discard(instance_id)

    async def _episode(self, instance: Instance, messages: list[tuple[int, Event]]) -> None:
        """Delivers messages to an orchestrator, and stores its actions."""
        seen = [number for number, _ in messages]
        events = [orchestrator_started(), *(event for _, event in messages)]
        history = self._hub.history(instance)
        try:
            state = await self._ask(instance, history, events)
            actions = state["actions"][0] if state["actions"] else []
            wanted = schedule([*map(json.loads, history), *events], actions)
            self._check_names(wanted)
        except (InvocationFailed, NonDeterministic, Unsupported, HostError) as error:
            reason = f"Orchestrator function '{instance.name}' failed: {_message(error)}"
            logger.error("%s: %s", instance.id, reason)
            self._tell_parent(
                self._hub.finish(instance, seen, events, "Failed", json.dumps(reason), instance.custom_status)
            )
            return
        custom = json.dumps(state["customStatus"]) if "customStatus" in state else instance.custom_status
        again = continued(actions)
        if again is not None:
            self._hub.continue_as_new(instance, json.dumps(again["input"]))
        elif state["isDone"]:
            events.append(orchestrator_completed())
            output = json.dumps(state.get("output"))
            self._tell_parent(self._hub.finish(instance, seen, events, "Completed", output, custom))
        else:
            self._go_on(instance, seen, events, wanted, custom)

    def _go_on(
        self, instance: Instance, seen: list[int], events: list[Event], wanted: list[Task], custom: str | None
    ) -> None:
        children = {
            task.id: task.instance_id or f"{instance.id}:{instance.execution}:{task.id}"
            for task in wanted
            if task.kind == "orchestration"
        }
        events += [scheduled(task, children.get(task.id)) for task in wanted]
        events.append(orchestrator_completed())
        if self._hub.go_on(instance, seen, events, {task.id: task for task in wanted}, children, custom):
            for task in wanted:
                self._hand_out(OpenTask(instance.id, instance.execution, task))
            for child in children.values():
                self._wake(child)

    async def _ask(self, instance: Instance, history: list[str], events: list[Event]) -> dict[str, Any]:
        """Runs the orchestrator over its whole history and returns its answer."""
        head = {
            "instanceId": instance.id,
            "isReplaying": bool(history),
            "parentInstanceId": instance.parent.instance if instance.parent else None,
            "upperSchemaVersion": 1,
            "upperSchemaVersionNew": 2,
            "longRunningTimerIntervalDuration": "3.00:00:00",
            "maximumShortTimerDuration": "6.00:00:00",
        }
        # Histories and inputs are JSON already, and may be long, so they are not parsed.
        lines = ",".join([*history, *map(json.dumps, events)])
        body = f'{json.dumps(head)[:-1]},"input":{instance.input},"history":[{lines}]}}'
        value = await self._invoker.run(self._orchestrators[instance.name], json_datum(body))
        assert value is not None
        return dict(json.loads(value.value))

    def _check_names(self, tasks: list[Task]) -> None:
        for task in tasks:
            if task.kind == "activity" and task.name not in self._activities:
                raise HostError(f"The function '{task.name}' doesn't exist, is disabled, or is not an activity.")
            if task.kind == "orchestration" and task.name not in self._orchestrators:
                raise HostError(f"The function '{task.name}' doesn't exist, is disabled, or is not an orchestrator.")

    def _tell_parent(self, parent: str | None) -> None:
        if parent is not None:
            self._wake(parent)

    def _hand_out(self, open_task: OpenTask) -> None:
        if open_task.task.kind == "activity":
            self._spawn(self._perform(open_task))
        elif open_task.task.kind == "timer":
            self._spawn(self._wait(open_task))

    async def _perform(self, open_task: OpenTask) -> None:
        task = open_task.task
        async with self._slots:
            try:
                value = await self._invoker.run(self._activities[task.name], json_datum(task.input or "null"))
            except InvocationFailed as error:
                reason = f"Activity function '{task.name}' failed: {error}"
                told = self._hub.task_failed(open_task, reason, error.details)
            else:
                told = self._hub.task_completed(open_task, value.value if value is not None else None)
        if told:
            self._wake(open_task.instance)

    async def _wait(self, open_task: OpenTask) -> None:
        assert open_task.task.fire_at is not None
        await asyncio.sleep(max(0.0, (open_task.task.fire_at - datetime.now(UTC)).total_seconds()))
        if self._hub.task_fired(open_task):
            self._wake(open_task.instance)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("the host failed unexpectedly", exc_info=task.exception())


def _message(error: Exception) -> str:
    """The error of an orchestrator. The SDK puts it into a JSON document at the end of the exception's text."""
    if isinstance(error, InvocationFailed) and _ERROR_DATA in error.details:
        data, _ = json.JSONDecoder().raw_decode(error.details.split(_ERROR_DATA, 1)[1])
        return str(data.get("error", error))
    return str(error)
