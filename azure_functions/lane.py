"""The lane: an orchestration that does deferrable work for many users, a limited number of them at the same time.

Imported threads (`lane-backfill`) and scheduled deepening (`lane-deepen`) have one each. So live turns never wait
behind the work of a whole store. The lane lists users by slices of time, starts work for as many as the limit allows,
checks every few seconds which users are done, and starts the next ones. Replay runs this code many times.
"""

from __future__ import annotations

from collections.abc import Generator
from datetime import timedelta
from typing import Any

import azure.durable_functions as df

from azure_functions.orchestrators import RETRY
from azure_functions.sweeps import END, Slice

blueprint = df.Blueprint()

LANE = "lane"
LIST = "lane_list"
START = "lane_start"
LOOK = timedelta(seconds=5)
"""How often the lane checks which users are done."""
AHEAD = 50
"""Maximum users for whom one activity starts work, so that histories stay small."""
ROUNDS = 25
"""Activities in one history."""

Json = dict[str, Any]
User = list[Any]
"""The kind of work; the user's id; for an import, the threads with their numbers of turns; how often the start
failed."""


def lane(context: df.DurableOrchestrationContext) -> Generator[Any, Any, int | None]:
    """Does the work of all users in some slices of time; returns the number of users for whom it started work."""
    given: Json = context.get_input()
    request: Json = given["request"]
    slices: list[Slice] = request["slices"]
    users: list[User] = request.get("users", [])
    running: list[str] = request.get("running", [])
    started: int = request.get("started", 0)
    for _ in range(ROUNDS):
        if slices and not users:
            of, since, until, *_ = piece = slices.pop(0)
            listed = yield context.call_activity_with_retry(LIST, RETRY, piece)
            if listed is None:
                middle = (since + until) // 2
                slices = [[of, since, middle], [of, middle, until], *slices]
            elif isinstance(listed, dict):
                users, slices = listed["users"], [[of, since, until, listed["after"]], *slices]
            else:
                users = listed
        elif users or running:
            found = yield context.call_activity_with_retry(START, RETRY, {"users": users[:AHEAD], "running": running})
            failed: list[User] = found.get("failed", [])  # an earlier version returned neither this nor `started`
            users, running = [*users[found["taken"] :], *failed], found["running"]
            started += found.get("started", found["taken"])
            if failed or (running and (users or not slices)):
                yield context.create_timer(context.current_utc_datetime + LOOK)
        else:
            if "end" in request:
                yield context.call_activity_with_retry(END, RETRY, request["end"])
            return started
    left = {"slices": slices, "users": users, "running": running, "started": started}
    context.continue_as_new(given | {"request": request | left})
    return None


@blueprint.function_name(LANE)
@blueprint.orchestration_trigger(context_name="context")
def _lane(context: df.DurableOrchestrationContext) -> Generator[Any, Any, int | None]:
    return lane(context)
