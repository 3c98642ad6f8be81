"""The workflows, written once as generators (docs/decisions/0006).

A workflow yields each effect that it wants and is sent the result. It has no effects itself, and touches no clock, no
randomness and no environment. The inline driver runs it in process; a durable orchestrator replays the same code.
Everything that passes through a `yield` is JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any

from agent_memory.steps.step import Step
from agent_memory.steps.table import steps, those

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """Runs one activity (`extract.think`, `commit`, …), with retries for transient faults; sends back its result."""

    activity: str
    payload: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sub:
    """Runs another workflow; sends back its result."""

    workflow: str
    payload: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Reports that everything so far is in the store, with its results; sends back nothing.

    A driver that keeps a history may restart the workflow here, because finished work is not repeated: with the request
    for what is `left`, or (None) with the same one.
    """

    results: list[Json]
    left: Json | None = None


Effect = Call | Sub | Checkpoint
Workflow = Generator[Effect, Any, list[Json]]
Part = Generator[Effect, Any, None]
"""Part of a workflow; adds its results to a list that it is given."""

TOGETHER = "extract_and_summarize"
"""The workflow of the steps that share one call of a model."""

MAX_RACES = 20
"""After how many commits lost in a row to other runs of its step a run gives up. The others have done the work."""


def sharing() -> list[str]:
    """The steps that can share one call of a model, in the order in which they commit."""
    return [name for name, step in steps().items() if step.shares_call]


def ending() -> list[str]:
    """The steps to run for a thread whose conversation has ended."""
    return [step.name for step in those("thread", "counted", "at the end")]


def _piece(step: Step, request: Json) -> Generator[Effect, Any, Json | None]:
    """Thinks and commits once; returns the outcome of the commit, or None if there was nothing to do."""
    if step.files_talk:
        return (yield Call(step.name, request))  # type: ignore[no-any-return]
    draft = yield Call(f"{step.name}.think", request)
    return None if draft is None else (yield Call("commit", draft))


def _once(step: Step, request: Json, results: list[Json]) -> Part:
    """Runs one piece of a step."""
    committed = yield from _piece(step, request)
    if committed is not None and not committed["raced"]:
        results.append(committed["result"])


def _until_done(step: Step, request: Json, results: list[Json]) -> Part:
    """Runs a step piece by piece, until it has covered everything."""
    races = 0
    while races < MAX_RACES:
        committed = yield from _piece(step, request)
        if committed is None:
            return
        if committed["raced"]:
            races += 1
            continue
        races = 0
        results.append(committed["result"])
        if not committed["more"]:
            return
        yield Checkpoint(list(results))


def _ahead(name: str, request: Json, results: list[Json]) -> Part:
    """Runs the steps that must come before a step, each with the options that it knows."""
    step = steps()[name]
    for first in step.first:
        unknown = step.options - steps()[first].options
        yield from _whole(first, {key: value for key, value in request.items() if key not in unknown}, results)


def _whole(name: str, request: Json, results: list[Json]) -> Part:
    """Runs a step, the steps before it and the workflows after it."""
    if name == TOGETHER:
        yield from _together(request, results)
        return
    step = steps()[name]
    yield from _ahead(name, request, results)
    yield from (_until_done if step.in_pieces else _once)(step, request, results)
    for workflow in step.then:
        results += yield Sub(workflow, {"user_id": request["user_id"]})


def _together(request: Json, results: list[Json]) -> Part:
    """Thinks once for the steps that share a call, and commits one after the other.

    A step does the rest alone if it has more turns to cover than the other, if another run was faster, or if no model
    could be asked for it.
    """
    both = sharing()
    for name in both:
        yield from _ahead(name, request, results)
    while True:
        thought = yield Call(f"{TOGETHER}.think", request)
        if thought is None:
            return
        further, left = [], [name for name in both if name not in thought["drafts"]]
        for name, draft in thought["drafts"].items():
            committed = None if draft is None else (yield Call("commit", draft))
            if committed is None:
                continue
            if committed["raced"]:
                left.append(name)
                continue
            results.append(committed["result"])
            if committed["more"]:
                further.append(name)
        if left or len(further) < len(both):
            break
        yield Checkpoint(list(results))
    for name in both:
        if name in left or name in further:
            yield from _until_done(steps()[name], request, results)


def alone(name: str, request: Json) -> Workflow:
    """The workflow of one step, with the steps before it and the workflows after it."""
    results: list[Json] = []
    yield from _whole(name, request, results)
    return results


def correct(request: Json) -> Workflow:
    """Corrects, thread by thread, the summaries that rest on memories which another thread has replaced."""
    results: list[Json] = []
    planned = yield Call("summarize.plan", request)
    for thread_id in planned["threads"]:
        before = len(results)
        yield from _whole("summarize", request | {"thread_id": thread_id}, results)
        if len(results) > before:  # else, after a restart, the plan would name this thread again without end
            yield Checkpoint(list(results))
    return results


def settle(request: Json) -> Workflow:
    """Runs everything for one thread at the end of its conversation, whatever its counts, and archives it.

    With `one_call`, one call of a model serves extraction and summary.
    """
    results: list[Json] = []
    inner = {name: value for name, value in request.items() if name != "one_call"}
    shared = sharing() if request.get("one_call") else []
    names = [TOGETHER] * bool(shared) + [name for name in ending() if name not in shared]
    for name in [*names, *(step.name for step in those("user", "counted"))]:
        results += yield Sub(name, inner)
    return results


def settle_user(request: Json) -> Workflow:
    """Runs everything for threads of a user that went quiet, and then once for the user.

    `threads` holds their ids; `thread_steps` and `user_steps` name what to run. An import may bring hundreds of
    threads, so a restart does not ask again what the finished ones have left to do.
    """
    results: list[Json] = []
    user = {"user_id": request["user_id"]}
    threads = request["threads"]
    for number, thread_id in enumerate(threads):
        for name in request["thread_steps"]:
            part = _whole(name, user | {"thread_id": thread_id}, results)
            yield from _leaving(part, request | {"threads": threads[number:]})
        yield Checkpoint(list(results), request | {"threads": threads[number + 1 :]})
    for name in request["user_steps"]:
        yield from _leaving(_whole(name, user, results), request | {"threads": []})
    return results


def _leaving(part: Part, request: Json) -> Part:
    """Runs a part of a workflow; at its checkpoints, this request is left."""
    outcome: Any = None
    while True:
        try:
            effect = part.send(outcome)
        except StopIteration:
            return
        outcome = yield replace(effect, left=request) if isinstance(effect, Checkpoint) else effect


def _settle_user_1(request: Json) -> Workflow:
    """The shape of version 1, which started again with the first thread at each checkpoint."""
    results: list[Json] = []
    user = {"user_id": request["user_id"]}
    for thread_id in request["threads"]:
        for name in request["thread_steps"]:
            yield from _whole(name, user | {"thread_id": thread_id}, results)
    for name in request["user_steps"]:
        yield from _whole(name, user, results)
    return results


def deepen(request: Json) -> Workflow:
    """Runs the rarer steps of a user: merges facts, combines procedures, reflects, and withdraws what has faded."""
    results: list[Json] = []
    for step in those("user", "deepening"):
        results += yield Sub(step.name, request)
    return results


def reprocess(request: Json) -> Workflow:
    """Derives again, thread by thread, the memories of a user (or one thread) that another prompt or model made.

    Finished threads are not planned again, so a run may be interrupted anywhere.
    """
    results: list[Json] = []
    planned = yield Call("reprocess.plan", request)
    for thread_id in planned["threads"]:
        results += yield Sub("reprocess_thread", request | {"thread_id": thread_id})
        yield Checkpoint(list(results))
    # Also if nothing was done now: an interrupted run may have got as far as this.
    results += yield Sub("profile", {"user_id": request["user_id"]})
    return results


def replay(request: Json) -> Workflow:
    """Runs one step again over the range of a dead letter. Success deletes the letter."""
    results: list[Json] = []
    inner = {name: value for name, value in request.items() if name != "step"}
    yield from _once(steps()[request["step"]], inner, results)
    return results


def erase(request: Json) -> Workflow:
    """Deletes everything of a user, piece by piece, until a scan finds nothing."""
    results: list[Json] = []
    while True:
        piece = yield Call("erase_piece", request)
        if not piece["more"]:
            return results
        results.append(piece)
        yield Checkpoint(list(results))


def reembed(request: Json) -> Workflow:
    """Moves the store to another embedding model, piece by piece."""
    results: list[Json] = []
    while True:
        piece = yield Call("reembed_piece", request)
        results = [piece]
        if piece["done"]:
            return results
        yield Checkpoint(results)


_COMPOSED: dict[str, Callable[[Json], Workflow]] = {
    "correct": correct,
    "deepen": deepen,
    "reprocess": reprocess,
    "reprocess_thread": partial(alone, "reprocess"),
    "settle": settle,
    "settle_user": settle_user,
    "replay": replay,
    "erase": erase,
    "reembed": reembed,
}


VERSION = 2
"""The version of the workflows' shapes: which effects they want, in which order. A history replays only the shape that
wrote it. If you change a shape, raise this, and keep the earlier one in `EARLIER` until no history uses it."""
EARLIER: dict[tuple[str, int], Callable[[Json], Workflow]] = {("settle_user", 1): _settle_user_1}
"""Earlier shapes of workflows, each by its name and the last version that had it."""


def workflow(name: str, request: Json, version: int = VERSION) -> Workflow:
    """The workflow with this name, of one step or of several, for a request, in the shape that it had in a version."""
    shapes = [(last, shape) for (earlier, last), shape in EARLIER.items() if earlier == name and last >= version]
    if shapes:
        return min(shapes, key=itemgetter(0))[1](request)
    composed = _COMPOSED.get(name)
    return alone(name, request) if composed is None else composed(request)


def workflow_names() -> list[str]:
    """The names of all workflows. Orchestrations are stored under them, so a name must never change."""
    return list(dict.fromkeys([*steps(), TOGETHER, *_COMPOSED]))


SWEEP, LANE = "sweep", "lane"
"""The cloud's orchestrations through what waits in the whole store (`slices`, `lanes`), which are no workflows."""
Slice = list[Any]
"""What to look for, from when, until when (seconds since 1970); in a second with many rows, after which user."""
User = list[Any]
"""A user in a lane: the kind of work; the user's id; for an import, the threads with their numbers of turns; how often
the start failed."""
