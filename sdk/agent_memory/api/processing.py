"""Processing on demand (pull): which step a name means, and who runs it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from agent_memory.contract.schemas import ProcessQuery, ProcessRun
from agent_memory.errors import AgentMemoryError, InvalidInput
from agent_memory.runtime import Runtime
from agent_memory.scopes.shared import check_material, check_recent
from agent_memory.steps.table import check_option, on_demand, steps
from agent_memory.store.containers import TURNS
from agent_memory.store.ids import check_id, derived_id, new_turn_id

KEPT_RUNS = 1000


StepPayload = dict[str, str | int | list[str]]
"""The request of a workflow, in JSON."""


def steps_in_urls() -> dict[str, str]:
    """The steps by their names in URLs."""
    return {name: step.name for step in steps().values() for name in (step.name, *step.aliases)}


class Processing(Protocol):
    """Runs steps: durable functions, or this process."""

    async def start(self, user_id: str, step: str, query: ProcessQuery) -> ProcessRun:
        """Starts a step, or reports that the same run is already in progress."""
        ...

    async def status(self, user_id: str, run_id: str) -> ProcessRun | None:
        """The progress of a run of this user; None if they have no such run."""
        ...


def step_request(runtime: Runtime, user_id: str, step: str, query: ProcessQuery) -> StepPayload:
    """The request of a step's workflow. That of `settle` also says whether one call serves extraction and summary.

    Raises:
        InvalidInput: if the query does not fit the step.
    """
    request: StepPayload = {"user_id": user_id}
    if query.thread_id is not None:
        if step in on_demand("user"):
            raise InvalidInput(f"{step} runs for a whole user: leave out thread_id")
        request["thread_id"] = check_id(query.thread_id, "thread_id")
    elif step == "settle" or step in on_demand("thread"):
        raise InvalidInput(f"{step} needs a thread_id")
    given = {"prompt_version": query.prompt_version, "retired": query.retired or None, "n": query.n}
    for name, value in given.items():
        if value is not None:
            check_option(step, name)
            request[name] = value
    if query.recent_k is not None:
        check_recent(step, query.recent_k)
        request["recent_k"] = query.recent_k
    ids, project_id = check_material(step, query.memory_ids, query.project_id)
    request |= {} if ids is None else {"memory_ids": ids}
    request |= {} if project_id is None else {"project_id": project_id}
    return request | (runtime.settling if step == "settle" else {})


async def mark_of(runtime: Runtime, request: StepPayload, query: ProcessQuery) -> str:
    """What identifies a run of this request: the same for two equal requests with no new turn between them."""
    thread_id = request.get("thread_id")
    partition = [str(request["user_id"])] + ([str(thread_id)] if thread_id else [])
    mark = f"pull-{await runtime.store.count(TURNS, partition)}" + (f"-{query.n}" if query.n else "")
    mark += "-retired" if query.retired else ""
    mark += f"-recent-{query.recent_k}" if query.recent_k else ""
    if query.memory_ids or query.project_id:
        mark += f"-{derived_id('of', *(query.memory_ids or ()), query.project_id or '')}"
    return mark


class InlineProcessing:
    """Runs steps in this process, to their end. It remembers the last thousand runs."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._runs: OrderedDict[tuple[str, str], ProcessRun] = OrderedDict()

    async def start(self, user_id: str, step: str, query: ProcessQuery) -> ProcessRun:
        """Runs a step; returns what it did, or why it failed."""
        request = step_request(self._runtime, user_id, step, query)
        run_id = new_turn_id()
        try:
            result = await self._runtime.run(step, **request)
        except AgentMemoryError as error:
            run = ProcessRun(id=run_id, step=step, status="failed", error=str(error), code=error.code)
        else:
            run = ProcessRun(id=run_id, step=step, status="completed", result=result)
        self._runs[user_id, run_id] = run
        if len(self._runs) > KEPT_RUNS:
            self._runs.popitem(last=False)
        return run

    async def status(self, user_id: str, run_id: str) -> ProcessRun | None:
        """What became of a run."""
        return self._runs.get((user_id, run_id))
