"""The workflows, written once as generators (decision D6).

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


Effect = Call | Sub
Workflow = Generator[Effect, Any, list[Json]]

MAX_RACES = 20
"""Commits lost in a row to other runs of the same step before one gives way; the others have done the work."""


def _until_done(step: str, request: Json) -> Workflow:
    """Thinks and commits, range after range, until the step has covered everything there was."""
    results: list[Json] = []
    races = 0
    while races < MAX_RACES:
        draft = yield Call(f"{step}.think", request)
        if draft is None:
            break
        committed = yield Call("commit", draft)
        if committed["raced"]:
            races += 1
            continue
        races = 0
        results.append(committed["result"])
        if not committed["more"]:
            break
    return results


def extract(request: Json) -> Workflow:
    """Indexes the raw turns of a thread, then extracts memories from them."""
    indexed = yield from _until_done("index", request)
    extracted = yield from _until_done("extract", request)
    return indexed + extracted


def summarize(request: Json) -> Workflow:
    """Brings a thread's summary and state up to date."""
    return (yield from _until_done("summarize", request))


def profile(request: Json) -> Workflow:
    """Brings a user's profile up to date."""
    return (yield from _until_done("profile", request))


def reconcile(request: Json) -> Workflow:
    """Merges duplicates and settles contradictions among a user's newest facts, in one pass."""
    draft = yield Call("reconcile.think", request)
    if draft is None:
        return []
    committed = yield Call("commit", draft)
    return [] if committed["raced"] else [committed["result"]]


def settle(request: Json) -> Workflow:
    """Does everything for one thread, whatever its counts: at the end of a conversation."""
    results: list[Json] = []
    for name in ("extract", "summarize", "reconcile", "profile"):
        results += yield Sub(name, request)
    return results


def replay(request: Json) -> Workflow:
    """Runs one step again over the range of a dead letter, which goes when that succeeds."""
    step, inner = request["step"], {name: value for name, value in request.items() if name != "step"}
    draft = yield Call(f"{step}.think", inner)
    committed = yield Call("commit", draft)
    return [] if committed["raced"] else [committed["result"]]


WORKFLOWS: dict[str, Callable[[Json], Workflow]] = {
    "extract": extract,
    "summarize": summarize,
    "profile": profile,
    "reconcile": reconcile,
    "settle": settle,
    "replay": replay,
}
