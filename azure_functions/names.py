"""Names: what the functions of the app are called.

All functions of an app share one space of names. Histories hold the names, so that a name stays.
"""

from __future__ import annotations

_ORCHESTRATORS = {"index": "index_turns"}
"""Workflows whose name an activity has already."""
_WORKFLOWS = {orchestrator: workflow for workflow, orchestrator in _ORCHESTRATORS.items()}


def function_name(activity: str) -> str:
    """The name of an activity's function; those know no dots."""
    return activity.replace(".", "_")


def orchestrator_name(workflow: str) -> str:
    """The name of a workflow's orchestrator."""
    return _ORCHESTRATORS.get(workflow, workflow)


def workflow_name(orchestrator: str) -> str:
    """The name of an orchestrator's workflow."""
    return _WORKFLOWS.get(orchestrator, orchestrator)
