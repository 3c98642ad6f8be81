"""The workflows, written once as generators (docs/decisions/0006).

A workflow yields what it wants done and is sent the result; it never does anything itself, and touches no clock,
no randomness, no environment. The inline driver runs it in process; a durable orchestrator replays the same code.
All that passes through a `yield` is JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """Runs one activity (`extract.think`, `commit`, …) with retries for transient faults; sends its result."""

    activity: str
    payload: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sub:
    """Runs another workflow; sends its result."""

    workflow: str
    payload: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Says that all so far is in the store, with the results of it; sends nothing.

    A driver that keeps a history may start the workflow anew here: what is done will not be done again.
    """

    results: list[Json]


Effect = Call | Sub | Checkpoint
Workflow = Generator[Effect, Any, list[Json]]
Step = Generator[Effect, Any, None]
"""Part of a workflow; adds what it did to a list that it is given."""

BOTH = ("extract", "summarize")
"""The steps that one call of a model can answer, in the order in which they commit."""
BOTH_THINK = "extract_and_summarize.think"

MAX_RACES = 20
"""Commits lost in a row to other runs of the same step before one gives way; the others have done the work."""


def _piece(step: str, request: Json) -> Generator[Effect, Any, Json | None]:
    """Thinks and commits one time; what came of the commit, or None if there was nothing to do."""
    if step == "index":
        return (yield Call(step, request))  # type: ignore[no-any-return]
    draft = yield Call(f"{step}.think", request)
    return None if draft is None else (yield Call("commit", draft))


def _once(step: str, request: Json, results: list[Json]) -> Step:
    """Does one piece of a step."""
    committed = yield from _piece(step, request)
    if committed is not None and not committed["raced"]:
        results.append(committed["result"])


def _until_done(step: str, request: Json, results: list[Json]) -> Step:
    """Does a step piece by piece, until it has covered everything there was."""
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


def _index(request: Json, results: list[Json]) -> Step:
    yield from _until_done("index", request, results)


def _archive(request: Json, results: list[Json]) -> Step:
    yield from _until_done("archive", request, results)


def _indexed(request: Json, results: list[Json]) -> Step:
    # What no model reads is found by its words all the same.
    yield from _index({name: value for name, value in request.items() if name != "recent_k"}, results)


def _extract(request: Json, results: list[Json]) -> Step:
    yield from _indexed(request, results)
    yield from _until_done("extract", request, results)


def _summarize(request: Json, results: list[Json]) -> Step:
    yield from _until_done("summarize", request, results)


def _extract_and_summarize(request: Json, results: list[Json]) -> Step:
    """Thinks for both at once, and commits one after the other.

    What a step still has to do then, it does alone: because it has further to go than the other, because another run
    was ahead of it, or because no model could be asked for it.
    """
    yield from _indexed(request, results)
    while True:
        thought = yield Call(BOTH_THINK, request)
        if thought is None:
            return
        further, left = [], [step for step in BOTH if step not in thought["drafts"]]
        for step, draft in thought["drafts"].items():
            committed = None if draft is None else (yield Call("commit", draft))
            if committed is None:
                continue
            if committed["raced"]:
                left.append(step)
                continue
            results.append(committed["result"])
            if committed["more"]:
                further.append(step)
        if left or len(further) < len(BOTH):
            break
        yield Checkpoint(list(results))
    for step in BOTH:
        if step in left or step in further:
            yield from _until_done(step, request, results)


def _profile(request: Json, results: list[Json]) -> Step:
    yield from _until_done("profile", request, results)


def _reconcile(request: Json, results: list[Json]) -> Step:
    yield from _once("reconcile", request, results)
    results += yield Sub("correct", {"user_id": request["user_id"]})


def _prune(request: Json, results: list[Json]) -> Step:
    yield from _until_done("prune", request, results)


def _consolidate(request: Json, results: list[Json]) -> Step:
    yield from _once("consolidate", request, results)


def _synthesize(request: Json, results: list[Json]) -> Step:
    yield from _once("synthesize", request, results)


def _reflect(request: Json, results: list[Json]) -> Step:
    yield from _once("reflect", request, results)


DEEPENING = ("consolidate", "synthesize", "reflect", "prune")
"""The parts of `deepen`, in their order."""

_PARTS = {
    "index_turns": _index,
    "archive": _archive,
    "extract": _extract,
    "summarize": _summarize,
    "extract_and_summarize": _extract_and_summarize,
    "profile": _profile,
    "reconcile": _reconcile,
    "consolidate": _consolidate,
    "synthesize": _synthesize,
    "reflect": _reflect,
    "prune": _prune,
}


def _alone(name: str, request: Json) -> Workflow:
    results: list[Json] = []
    yield from _PARTS[name](request, results)
    return results


def index_turns(request: Json) -> Workflow:
    """Makes the raw turns of a thread searchable."""
    return (yield from _alone("index_turns", request))


def archive(request: Json) -> Workflow:
    """Files away an account of the turns of a thread."""
    return (yield from _alone("archive", request))


def extract(request: Json) -> Workflow:
    """Indexes the raw turns of a thread, then extracts memories from them."""
    return (yield from _alone("extract", request))


def summarize(request: Json) -> Workflow:
    """Brings a thread's summary and state up to date."""
    return (yield from _alone("summarize", request))


def extract_and_summarize(request: Json) -> Workflow:
    """Extracts and summarizes, with one call of a model where both go over the same turns."""
    return (yield from _alone("extract_and_summarize", request))


def profile(request: Json) -> Workflow:
    """Brings a user's profile up to date."""
    return (yield from _alone("profile", request))


def reconcile(request: Json) -> Workflow:
    """Merges duplicates and settles contradictions among a user's newest facts, in one pass.

    Summaries of threads that rest on what was replaced in another are corrected then.
    """
    return (yield from _alone("reconcile", request))


def correct(request: Json) -> Workflow:
    """Corrects the summaries of a user's threads that rest on what was replaced in another, thread by thread."""
    results: list[Json] = []
    planned = yield Call("summarize.plan", request)
    for thread_id in planned["threads"]:
        before = len(results)
        yield from _summarize(request | {"thread_id": thread_id}, results)
        if len(results) > before:  # a thread of which nothing may be derived now would be planned again for ever
            yield Checkpoint(list(results))
    return results


def settle(request: Json) -> Workflow:
    """Does everything for one thread, whatever its counts: at the end of a conversation, which is then archived.

    With `one_call` a model answers extraction and summary together.
    """
    results: list[Json] = []
    inner = {name: value for name, value in request.items() if name != "one_call"}
    first = ("extract_and_summarize",) if request.get("one_call") else BOTH
    for name in (*first, "archive", "reconcile", "profile"):
        results += yield Sub(name, inner)
    return results


def settle_user(request: Json) -> Workflow:
    """Does everything for threads of a user that went quiet, and then for the user, once.

    `threads` are their ids, `thread_steps` and `user_steps` what is to be done.
    """
    results: list[Json] = []
    user = {"user_id": request["user_id"]}
    for thread_id in request["threads"]:
        for name in request["thread_steps"]:
            yield from _PARTS[name](user | {"thread_id": thread_id}, results)
    for name in request["user_steps"]:
        yield from _PARTS[name](user, results)
    return results


def consolidate(request: Json) -> Workflow:
    """Tells a user's many facts about one thing in fewer sentences."""
    return (yield from _alone("consolidate", request))


def synthesize(request: Json) -> Workflow:
    """Puts a user's procedures together from how-tos of several conversations."""
    return (yield from _alone("synthesize", request))


def reflect(request: Json) -> Workflow:
    """Draws insights from a user's memories."""
    return (yield from _alone("reflect", request))


def prune(request: Json) -> Workflow:
    """Withdraws the memories of a user that nobody has used in a long time."""
    return (yield from _alone("prune", request))


def deepen(request: Json) -> Workflow:
    """Does for a user what need not be done often: merges, puts procedures together, reflects, withdraws what faded."""
    results: list[Json] = []
    for name in DEEPENING:
        results += yield Sub(name, request)
    return results


def reprocess(request: Json) -> Workflow:
    """Derives the memories of a user (or one thread) anew where another prompt or model made them.

    Thread by thread; what is through is not planned again, so it may be cut short anywhere.
    """
    results: list[Json] = []
    planned = yield Call("reprocess.plan", request)
    for thread_id in planned["threads"]:
        results += yield Sub("reprocess_thread", request | {"thread_id": thread_id})
        yield Checkpoint(list(results))
    # Also when nothing was done now: a run that was cut short may have got as far as here.
    results += yield Sub("profile", {"user_id": request["user_id"]})
    return results


def reprocess_thread(request: Json) -> Workflow:
    """Derives the memories of one thread anew."""
    results: list[Json] = []
    yield from _until_done("reprocess", request, results)
    return results


def replay(request: Json) -> Workflow:
    """Runs one step again over the range of a dead letter, which goes when that succeeds."""
    results: list[Json] = []
    inner = {name: value for name, value in request.items() if name != "step"}
    yield from _once(request["step"], inner, results)
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


WORKFLOWS: dict[str, Callable[[Json], Workflow]] = {
    "index_turns": index_turns,
    "archive": archive,
    "extract": extract,
    "summarize": summarize,
    "extract_and_summarize": extract_and_summarize,
    "profile": profile,
    "reconcile": reconcile,
    "correct": correct,
    "consolidate": consolidate,
    "synthesize": synthesize,
    "reflect": reflect,
    "prune": prune,
    "deepen": deepen,
    "reprocess": reprocess,
    "reprocess_thread": reprocess_thread,
    "settle": settle,
    "settle_user": settle_user,
    "replay": replay,
    "erase": erase,
}
