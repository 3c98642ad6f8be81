"""Orchestrators: the workflows, driven by the Durable context.

Replay runs this code again and again: it touches no clock, no randomness, no environment and does no I/O, and what
it sees comes out of the history. A history holds ids, results and drafts (`payloads`), never a transcript.

A workflow goes over a backlog in pieces. After a few of them an orchestration continues as new: everything is in the
store by then, so its history may go.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import azure.durable_functions as df

from agent_memory.errors import ModelError
from agent_memory.processing.workflows import Call, Checkpoint, workflow, workflow_names
from azure_functions.activities import FINISH
from azure_functions.names import function_name, orchestrator_name

blueprint = df.Blueprint()

RETRY = df.RetryOptions(first_retry_interval_in_milliseconds=5_000, max_number_of_attempts=5)
"""For faults that may pass. The adapters wait out a throttled model themselves."""
CHECKPOINTS = 8
"""Pieces of a backlog that one history holds: a few megabytes at the very most."""

Json = dict[str, Any]
Orchestration = Generator[Any, Any, list[Json] | None]


class StepFailed(Exception):
    """An activity failed in a way that will not pass; what was committed before stays."""


def orchestrate(context: df.DurableOrchestrationContext, name: str) -> Orchestration:
    """Runs a workflow to its end; the results of its steps.

    `given` holds the workflow's `request`; `counts`, if somebody wants to be told when it is done (`starts.finish`);
    and the results of `earlier` generations.
    """
    given: Json = context.get_input()
    earlier: list[Json] = given.get("earlier", [])
    run = workflow(name, given["request"])
    checkpoints = 0
    outcome: Any = None
    while True:
        try:
            effect = run.send(outcome)
        except StopIteration as stop:
            yield from _finish(context, name, given)
            return earlier + list(stop.value)
        if isinstance(effect, Call):
            answer = yield context.call_activity_with_retry(function_name(effect.activity), RETRY, effect.payload)
            if "error" in answer:
                # A model that was reached and gave nothing usable is not asked again until there is something new.
                if answer["error"]["code"] == ModelError.code:
                    yield from _finish(context, name, given)
                raise StepFailed(f"{answer['error']['code']}: {answer['error']['message']}")
            outcome = answer["value"]
        elif isinstance(effect, Checkpoint):
            outcome = None
            checkpoints += 1
            if checkpoints == CHECKPOINTS:
                context.continue_as_new(given | {"earlier": earlier + effect.results})
                return None
        else:
            outcome = yield context.call_sub_orchestrator(
                orchestrator_name(effect.workflow), {"request": effect.payload}
            )


def _finish(context: df.DurableOrchestrationContext, name: str, given: Json) -> Generator[Any, Any, None]:
    if given.get("counts"):
        done = {"workflow": name, "request": given["request"], "counts": given["counts"]}
        yield context.call_activity_with_retry(FINISH, RETRY, done)


def _register(name: str) -> None:
    @blueprint.function_name(orchestrator_name(name))
    @blueprint.orchestration_trigger(context_name="context")
    def orchestrator(context: df.DurableOrchestrationContext) -> Orchestration:
        return orchestrate(context, name)


for _name in workflow_names():
    _register(_name)
