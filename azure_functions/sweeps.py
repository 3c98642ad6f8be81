"""Sweeps and lanes: orchestrations that go through what waits in the store. Replay runs this code many times.

The input of both names slices: what to look for, from when, until when. A slice that holds too much is halved. After
some rounds, both continue as new with what is left.

A **sweep** handles a few slices at the same time; timers start it. With a `spread` it goes through its span of time
evenly (`SPREAD`), so that the users of a large store are not all reached in the same minute. A span that fits one slice
is handled at once.

A **lane** does deferrable work for many users, a limited number of them at the same time. Imported threads
(`lane-backfill`) and scheduled deepening (`lane-deepen`) have one each. So live turns never wait behind the work of a
whole store. The lane starts work for as many users as the limit allows, checks every few seconds which are done, and
starts the next ones.
"""

from __future__ import annotations

from collections.abc import Generator
from datetime import timedelta
from operator import itemgetter
from typing import Any

import azure.durable_functions as df

from agent_memory.processing.workflows import LANE, SWEEP, Slice, User
from azure_functions.orchestrators import RETRY

blueprint = df.Blueprint()

SLICE, END = "sweep_slice", "sweep_end"
LIST, START = "lane_list", "lane_start"
AT_ONCE = 4
"""Slices at the same time. The platform spreads them over instances."""
ROUNDS = 25
"""Rounds in one history."""
SPREAD = timedelta(minutes=40)
"""The duration of a sweep with a `spread`. A choice: it ends before the timer starts the next one, each hour."""
LOOK = timedelta(seconds=5)
"""How often the lane checks which users are done."""
AHEAD = 50
"""Maximum users for whom one activity starts work, so that histories stay small."""

Json = dict[str, Any]


def sweep(context: df.DurableOrchestrationContext) -> Generator[Any, Any, Json | None]:
    """Goes through the slices of its input. Returns how many rows it handled, and how many of these failed."""
    given: Json = context.get_input()
    request: Json = given["request"]
    slices: list[Slice] = request["slices"]
    done: Json = request.get("done", {"handled": 0, "failed": 0})
    spread: Json | None = request.get("spread")
    began = context.current_utc_datetime - timedelta(seconds=request.get("seconds", 0))
    rounds = 0
    while slices:
        if rounds == ROUNDS:
            left: Json = {"slices": slices, "done": done}
            if spread is not None:
                left["seconds"] = (context.current_utc_datetime - began).total_seconds()
            context.continue_as_new(given | {"request": request | left})
            return None
        size = AT_ONCE
        if spread is not None:
            slices = sorted(slices, key=itemgetter(1))
            turns = [began + SPREAD * _share(piece, spread) for piece in slices[:AT_ONCE]]
            if turns[0] > context.current_utc_datetime:
                yield context.create_timer(turns[0])
            size = max(1, sum(turn <= context.current_utc_datetime for turn in turns))
        now, slices = slices[:size], slices[size:]
        outcomes = yield context.task_all([context.call_activity_with_retry(SLICE, RETRY, piece) for piece in now])
        for piece, outcome in zip(now, outcomes, strict=True):
            if outcome["halve"]:
                slices = [*_halves(piece), *slices]
            else:
                done = {name: done[name] + outcome[name] for name in done}
                if "after" in outcome:
                    slices = [_behind(piece, outcome["after"]), *slices]
        rounds += 1
    if "end" in request:
        yield context.call_activity_with_retry(END, RETRY, request["end"] | done)
    return done


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
            piece = slices.pop(0)
            listed = yield context.call_activity_with_retry(LIST, RETRY, piece)
            if listed is None:
                slices = [*_halves(piece), *slices]
            elif isinstance(listed, dict):
                users, slices = listed["users"], [_behind(piece, listed["after"]), *slices]
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


def _share(piece: Slice, spread: Json) -> float:
    """The share of the sweep's span that lies before a slice; 0 for what is older than the span."""
    return float(max(0, piece[1] - spread["since"]) / max(1, spread["until"] - spread["since"]))


def _halves(piece: Slice) -> list[Slice]:
    of, since, until, *_ = piece
    middle = (since + until) // 2
    return [[of, since, middle], [of, middle, until]]


def _behind(piece: Slice, after: str) -> Slice:
    """The slice of the users in the same second who come after one."""
    return [*piece[:3], after]


@blueprint.function_name(SWEEP)
@blueprint.orchestration_trigger(context_name="context")
def _sweep(context: df.DurableOrchestrationContext) -> Generator[Any, Any, Json | None]:
    return sweep(context)


@blueprint.function_name(LANE)
@blueprint.orchestration_trigger(context_name="context")
def _lane(context: df.DurableOrchestrationContext) -> Generator[Any, Any, int | None]:
    return lane(context)
