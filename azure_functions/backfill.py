"""Backfill: an orchestration that processes imported threads for a limited number of users at the same time.

Live talk never waits for an import: the change feed starts nothing for imported turns, the sweep of idle threads leaves
them out, and `process` starts what a person asks for at once. The timer of idle threads starts this orchestration. It
looks every few seconds how many of its users are done, and starts the next. Replay runs this code many times.
"""

from __future__ import annotations

from collections.abc import Generator
from datetime import timedelta
from typing import Any

import azure.durable_functions as df

from azure_functions.orchestrators import RETRY

blueprint = df.Blueprint()

BACKFILL = "backfill"
LIST = "backfill_list"
START = "backfill_start"
LOOK = timedelta(seconds=5)
"""How often it looks whether users are done."""
AHEAD = 50
"""Users that one activity is given to start, so that histories stay small."""
ROUNDS = 25
"""Activities in one history."""

Json = dict[str, Any]
User = list[Any]
"""The id of a user, and their imported threads with their numbers of turns."""


def backfill(context: df.DurableOrchestrationContext) -> Generator[Any, Any, int | None]:
    """Processes the imported threads of some slices of time; returns for how many users it started that."""
    given: Json = context.get_input()
    request: Json = given["request"]
    slices: list[list[int]] = request["slices"]
    users: list[User] = request.get("users", [])
    running: list[str] = request.get("running", [])
    started: int = request.get("started", 0)
    for _ in range(ROUNDS):
        if slices and not users:
            since, until = slices.pop(0)
            listed = yield context.call_activity_with_retry(LIST, RETRY, [since, until])
            if listed is None:
                middle = (since + until) // 2
                slices = [[since, middle], [middle, until], *slices]
            else:
                users = listed
        elif users or running:
            found = yield context.call_activity_with_retry(START, RETRY, {"users": users[:AHEAD], "running": running})
            users, running, started = users[found["taken"] :], found["running"], started + found["taken"]
            if running and (users or not slices):
                yield context.create_timer(context.current_utc_datetime + LOOK)
        else:
            return started
    left = {"slices": slices, "users": users, "running": running, "started": started}
    context.continue_as_new(given | {"request": left})
    return None


@blueprint.function_name(BACKFILL)
@blueprint.orchestration_trigger(context_name="context")
def _backfill(context: df.DurableOrchestrationContext) -> Generator[Any, Any, int | None]:
    return backfill(context)
