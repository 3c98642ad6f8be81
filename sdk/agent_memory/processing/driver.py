"""The inline driver: runs a workflow in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from agent_memory.errors import AgentMemoryError, ModelError
from agent_memory.processing.activities import Activity
from agent_memory.processing.workflows import Call, Json, Sub, workflow

ATTEMPTS = 4
"""How often an activity is tried before its workflow fails. The turns then stay pending, and are tried again later."""


async def run_workflow(
    name: str, payload: Json, activities: Mapping[str, Activity], told: Callable[[list[Json]], None] | None = None
) -> list[Json]:
    """Runs a workflow to its end and returns the results of its steps. At checkpoints, `told` gets those so far.

    Raises:
        AgentMemoryError: the error of an activity's last attempt. What was committed stays committed.
    """
    run = workflow(name, payload)
    effect = next(run)
    while True:
        try:
            outcome: Any = None
            if isinstance(effect, Call):
                outcome = await _attempt(activities[effect.activity], effect.payload)
            elif isinstance(effect, Sub):
                outcome = await run_workflow(effect.workflow, effect.payload, activities)
            elif told is not None:
                told(effect.results)
            effect = run.send(outcome)
        except StopIteration as stop:
            results: list[Json] = stop.value
            return results


async def _attempt(activity: Activity, payload: Json) -> Json | None:
    """Runs one activity; tries again after a pause if the fault may be transient."""
    async for attempt in AsyncRetrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.2, max=10),
        retry=retry_if_exception(_may_pass_soon),
        reraise=True,
    ):
        with attempt:
            return await activity(payload)
    raise AssertionError("unreachable: the last attempt raises")


def _may_pass_soon(error: BaseException) -> bool:
    """Whether to try again soon. If a model asked for a wait, its adapter has already waited."""
    if isinstance(error, ModelError) and error.retry_after is not None:
        return False
    return isinstance(error, AgentMemoryError) and error.retryable
