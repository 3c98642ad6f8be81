"""Instances of the function app in a simulated world, with what the platform does to them.

They share one account and one task hub. The platform delivers batches of the change feed more than once, lets two
instances hold one lease for a while, and runs an activity on any instance, sometimes twice. A read may be answered by
a replica that lacks what another process has just written; a process always reads what it wrote itself, as the session
consistency of the SDK provides.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import azure.durable_functions as df
import pytest
from azure.core.pipeline.transport import AsyncHttpResponse, HttpRequest
from simulation import Machine, World

from agent_memory.errors import AgentMemoryError
from agent_memory.processing.workflows import LANE, SWEEP, workflow_names
from agent_memory.store.client import Store
from azure_functions import activities, sweeps, triggers
from azure_functions.orchestrators import function_name, orchestrate, orchestrator_name, workflow_name
from azure_functions.wiring import Parts

Json = dict[str, Any]

LAG = 2.0
"""Seconds by which a replica is behind, at most: as long as the cursors look back (`OVERLAP_SECONDS`)."""
TRIES = 5
"""How often the platform runs an activity or delivers a batch. A batch is lost after that."""
_Status = df.OrchestrationRuntimeStatus
here: ContextVar[Parts] = ContextVar("here")
"""The instance that runs now."""


def kind_of(request: HttpRequest) -> str | None:
    """What a request reads: its container, and the document or `query`; None if it writes."""
    path = str(request.url).split("?")[0].rstrip("/")
    if "/docs" not in path or "/colls/leases/" in path:
        return None
    container = path.split("/colls/")[1].split("/")[0]
    if request.method == "GET" and "/docs/" in path:
        return f"{container} {path.rsplit('/', 1)[1]}"
    return f"{container} query" if request.headers.get("x-ms-documentdb-isquery", "").lower() == "true" else None


class Lagging(Machine):
    """The way of an instance to the account, on which reads may be answered as they were a moment ago."""

    def __init__(self, world: World, lags: Callable[[str], bool]) -> None:
        super().__init__(world)
        self._lags = lags
        self._answers: dict[tuple[object, ...], tuple[float, tuple[Any, ...]]] = {}
        self.stale: Counter[str] = Counter()

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        """Answers a request, perhaps as a replica does that is behind."""
        response: Any = await super().send(request, **options)
        kind, container = kind_of(request), str(request.url).split("/docs")[0]
        if kind is None:
            if request.method != "GET":  # whoever has written here reads that
                self._answers = {key: kept for key, kept in self._answers.items() if key[0] != container}
            return response  # type: ignore[no-any-return]
        now = asyncio.get_running_loop().time()
        key = (container, str(request.url), request.headers.get("x-ms-documentdb-partitionkey"), str(request.data))
        fresh = (response.status_code, response.headers.copy(), response._body)
        at, kept = self._answers.get(key, (0.0, fresh))
        if response.status_code not in (200, 404):
            return response  # type: ignore[no-any-return]
        if key in self._answers and now - at <= LAG and self._lags(kind):
            self.stale[kind] += kept[2] != fresh[2]
            response.status_code, response.headers, response._body = kept[0], kept[1].copy(), kept[2]
        elif key not in self._answers or now - at > LAG:
            self._answers[key] = (now, fresh)
        return response  # type: ignore[no-any-return]


class Hub:
    """The task hub, and the instances that work for it."""

    def __init__(self, world: World, instances: list[Parts]) -> None:
        self.world, self.instances = world, instances
        self.rng = world.rng
        self.states: dict[str, Any] = {}
        self.repeated = 0
        self._runs: set[asyncio.Task[None]] = set()
        self._activities = {function_name(name): _of(name) for name in activities.activity_names()} | {
            made._function.get_function_name(): _code_of(made)
            for made in (
                activities.finish,
                activities.sweep_slice,
                activities.sweep_end,
                activities.lane_list,
                activities.lane_start,
            )
        }

    async def get_status(self, instance: str) -> SimpleNamespace:
        """The state of an orchestration, as the client gives it."""
        await self._travel()
        return SimpleNamespace(runtime_status=self.states.get(instance))

    async def start_new(self, name: str, instance: str, given: Any) -> None:
        """Starts an orchestration; an error if it runs."""
        await self._travel()
        if self.states.get(instance) == _Status.Running:
            raise RuntimeError(f"{instance} runs")
        self.states[instance] = _Status.Running
        run = asyncio.create_task(self._run(name, instance, given))
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)

    async def quiet(self) -> None:
        """Waits until nothing runs."""
        while self._runs:
            await asyncio.wait(self._runs)

    async def call(self, function: Any, *given: Any) -> None:
        """Calls a trigger on one of the instances."""
        here.set(self.rng.choice(self.instances))
        await _code_of(function)(*given, self)

    async def _travel(self) -> None:
        await asyncio.sleep(self.rng.random() * 0.05)

    async def _run(self, name: str, instance: str, given: Json) -> None:
        try:
            await self._orchestrate(name, given)
        except Exception:
            self.states[instance] = _Status.Failed
        else:
            self.states[instance] = _Status.Completed

    async def _orchestrate(self, name: str, given: Json) -> Any:
        while True:
            context = Context(given)
            code = {SWEEP: sweeps.sweep, LANE: sweeps.lane}.get(name)
            run = code(context) if code else orchestrate(context, workflow_name(name))  # type: ignore[arg-type]
            outcome: Any = None
            while True:
                try:
                    task = run.send(outcome)
                except StopIteration as stop:
                    if context.continued is None:
                        return stop.value
                    given = context.continued
                    break
                outcome = await self._perform(task)

    async def _perform(self, task: Any) -> Any:
        if isinstance(task, list):
            return await asyncio.gather(*(self._perform(one) for one in task))
        kind, name, given = task
        if kind == "timer":
            return await asyncio.sleep(5)
        if kind == "orchestration":
            return await self._orchestrate(name, given)
        for attempt in range(TRIES):
            try:
                return await self._activity(name, given)
            except Exception:
                if attempt == TRIES - 1:
                    raise
                await asyncio.sleep(5)
        raise AssertionError("unreachable")

    async def _activity(self, name: str, given: Any) -> Any:
        """Runs an activity, one time in four twice: one answer was lost, or came when another instance had begun."""

        async def once(instance: Parts) -> Any:
            here.set(instance)
            code = self._activities[name]
            plain = json.loads(json.dumps(given))
            takes_client = code.__code__.co_argcount == 2
            return json.loads(json.dumps(await (code(plain, self) if takes_client else code(plain))))

        await self._travel()
        runs = 2 if self.rng.random() < 0.25 else 1
        self.repeated += runs - 1
        together = [asyncio.create_task(once(self.rng.choice(self.instances))) for _ in range(runs)]
        if self.rng.random() < 0.5:
            await asyncio.wait(together)
        outcomes = await asyncio.gather(*together, return_exceptions=True)
        good = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
        if not good:
            raise next(outcome for outcome in outcomes if isinstance(outcome, BaseException))
        return self.rng.choice(good)


class Context:
    """The context of an orchestration that is not replayed."""

    def __init__(self, given: Json) -> None:
        self._given, self.continued = json.loads(json.dumps(given)), None
        self.current_utc_datetime = datetime.fromtimestamp(0, UTC)

    def get_input(self) -> Json:
        return self._given  # type: ignore[no-any-return]

    def call_activity_with_retry(self, name: str, retry: object, given: Any) -> Any:
        return ("activity", name, given)

    def call_sub_orchestrator(self, name: str, given: Any) -> Any:
        return ("orchestration", name, given)

    def create_timer(self, at: object) -> Any:
        return ("timer", "", None)

    def task_all(self, tasks: list[Any]) -> list[Any]:
        return tasks

    def continue_as_new(self, given: Any) -> None:
        self.continued = given


def _of(activity: str) -> Any:
    async def perform(payload: Json) -> Json:
        return await activities.run(activity, payload)

    return perform


def _code_of(function: Any) -> Any:
    made = function._function.get_user_function()
    return getattr(made, "client_function", made)


def on_instances(patch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    """Lets the app's functions run on the instance that `here` names, by a clock."""

    async def open_parts() -> Parts:
        return here.get()

    for module in (activities, triggers):
        patch.setattr(module, "open_parts", open_parts)
    patch.setattr(triggers, "time", SimpleNamespace(time=clock))
    assert {orchestrator_name(name) for name in workflow_names()}, "the app is loaded"


async def deliver(hub: Hub, instance: Parts, is_over: Callable[[], bool], leases: Json) -> None:
    """What an instance does with a lease that it may share: reads on from its place, or from where the lease says.

    Another instance may move the lease back, because it has lost it and does not know. A batch that fails again and
    again is lost.
    """
    store, rng = instance.runtime.store, hub.rng
    place = leases.get("place")
    while True:
        over = is_over()
        place = leases.get("place") if rng.random() < 0.3 else place
        try:
            page, after = await _next_page(store, place, rng.randrange(1, 6))
        except AgentMemoryError:
            continue
        if page:
            for _ in range(TRIES):
                here.set(instance)
                try:
                    await _code_of(triggers.on_memory_change)(page, hub)
                except AgentMemoryError:
                    await asyncio.sleep(rng.random() * 2)
                else:
                    break
            place = leases["place"] = after
        elif over:
            return
        await asyncio.sleep(rng.random())


async def _next_page(store: Store, place: str | None, size: int) -> tuple[list[Json], str | None]:
    [part] = await store.feed_ranges()
    async for page, after in store.changes(part, place, size):
        return page, after
    return [], place
