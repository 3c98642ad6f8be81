"""The sweep: an orchestration that goes through what waits in the store, slice by slice, a few at the same time.

Timers start it. Its input names the slices: what to look for, from when, until when. A slice that holds too much is
halved. After some rounds it continues as new, with the slices that are left. Replay runs this code many times.

A sweep with a `spread` goes through its span of time evenly (`SPREAD`), so that the users of a large store are not all
reached in the same minute. A span that fits one slice is handled at once.
"""

from __future__ import annotations

from collections.abc import Generator
from datetime import timedelta
from operator import itemgetter
from typing import Any

import azure.durable_functions as df

from azure_functions.orchestrators import RETRY

blueprint = df.Blueprint()

SWEEP = "sweep"
SLICE = "sweep_slice"
END = "sweep_end"
AT_ONCE = 4
"""Slices at the same time. The platform spreads them over instances."""
ROUNDS = 25
"""Rounds in one history."""
SPREAD = timedelta(minutes=40)
"""The duration of a sweep with a `spread`. A choice: it ends before the timer starts the next one, each hour."""

Json = dict[str, Any]
Slice = list[Any]
"""What to look for, from when, until when (seconds since 1970); in a second with many rows, after which user."""


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
        for (of, since, until, *_), outcome in zip(now, outcomes, strict=True):
            if outcome["halve"]:
                middle = (since + until) // 2
                slices = [[of, since, middle], [of, middle, until], *slices]
            else:
                done = {name: done[name] + outcome[name] for name in done}
                if "after" in outcome:
                    slices = [[of, since, until, outcome["after"]], *slices]
        rounds += 1
    if "end" in request:
        yield context.call_activity_with_retry(END, RETRY, request["end"] | done)
    return done


def _share(piece: Slice, spread: Json) -> float:
    """The share of the sweep's span that lies before a slice; 0 for what is older than the span."""
    return float(max(0, piece[1] - spread["since"]) / max(1, spread["until"] - spread["since"]))


@blueprint.function_name(SWEEP)
@blueprint.orchestration_trigger(context_name="context")
def _sweep(context: df.DurableOrchestrationContext) -> Generator[Any, Any, Json | None]:
    return sweep(context)
