"""Orchestrators: the workflows, driven by the Durable context.

Replay runs this code many times. So it uses no clock, randomness, environment or I/O; everything it sees comes from the
history. A history holds ids, results and drafts (`payloads`), never a transcript.

A workflow works through a backlog in pieces. After a few pieces, the orchestration continues as new with an empty
history, because all results are in the store.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import azure.durable_functions as df

from agent_memory.errors import ModelError
from agent_memory.processing.workflows import VERSION, Call, Checkpoint, workflow, workflow_names

blueprint = df.Blueprint()

_ORCHESTRATORS = {"index": "index_turns"}
"""Orchestrators whose workflow has the same name as an activity: all functions of an app share one namespace.

The names are stored in histories, so they must not change."""
_WORKFLOWS = {orchestrator: workflow for workflow, orchestrator in _ORCHESTRATORS.items()}
FINISH = "finish"
"""The activity that notes what an orchestration has done."""
RETRY = df.RetryOptions(first_retry_interval_in_milliseconds=5_000, max_number_of_attempts=5)
"""For temporary errors. The adapters wait for a throttled model themselves."""
CHECKPOINTS = 8
"""Most pieces of a backlog in one history. That is a few megabytes at most."""

Json = dict[str, Any]
Orchestration = Generator[Any, Any, list[Json] | None]


def function_name(activity: str) -> str:
    """The name of an activity's function. Function names have no dots."""
    return activity.replace(".", "_")


def orchestrator_name(workflow: str) -> str:
    """The name of a workflow's orchestrator."""
    return _ORCHESTRATORS.get(workflow, workflow)


def workflow_name(orchestrator: str) -> str:
    """The name of an orchestrator's workflow."""
    return _WORKFLOWS.get(orchestrator, orchestrator)


class StepFailed(Exception):
    """An activity failed permanently. Earlier commits stay."""


def orchestrate(context: df.DurableOrchestrationContext, name: str) -> Orchestration:
    """Runs a workflow to its end. Returns the results of its steps.

    The input holds the workflow's `request`; `counts`, if `Starter.finish` must note that it is done; the `version` of
    the workflows that started it (none is 1); and the `earlier` results from before it continued as new, which it does
    in the newest version.
    """
    given: Json = context.get_input()
    earlier: list[Json] = given.get("earlier", [])
    same_version = {"version": given["version"]} if "version" in given else {}
    run = workflow(name, given["request"], given.get("version", 1))
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
                # The model returned nothing usable. It is not called again until there are new turns.
                if answer["error"]["code"] == ModelError.code:
                    yield from _finish(context, name, given, gave_up=True)
                raise StepFailed(f"{answer['error']['code']}: {answer['error']['message']}")
            outcome = answer["value"]
        elif isinstance(effect, Checkpoint):
            outcome = None
            checkpoints += 1
            if checkpoints == CHECKPOINTS:
                left = given["request"] if effect.left is None else effect.left
                context.continue_as_new(
                    {**given, "request": left, "earlier": earlier + effect.results, "version": VERSION}
                )
                return None
        else:
            outcome = yield context.call_sub_orchestrator(
                orchestrator_name(effect.workflow), {"request": effect.payload, **same_version}
            )


def _finish(
    context: df.DurableOrchestrationContext, name: str, given: Json, *, gave_up: bool = False
) -> Generator[Any, Any, None]:
    if given.get("counts"):
        done = {"workflow": name, "request": given["request"], "counts": given["counts"]}
        done |= {"gave_up": True} if gave_up else {}
        yield context.call_activity_with_retry(FINISH, RETRY, done)


def _register(name: str) -> None:
    @blueprint.function_name(orchestrator_name(name))
    @blueprint.orchestration_trigger(context_name="context")
    def orchestrator(context: df.DurableOrchestrationContext) -> Orchestration:
        return orchestrate(context, name)


for _name in workflow_names():
    _register(_name)
