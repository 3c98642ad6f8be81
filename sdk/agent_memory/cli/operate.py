"""`agent-memory process` and `dead-letters`: the background work, run by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from agent_memory.cli.failures import unfinished
from agent_memory.cli.ingest import work_off
from agent_memory.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import emit, one_line, stdout
from agent_memory.cli.views import day, table
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.steps.table import ThreadStep, UserStep

if TYPE_CHECKING:
    from agent_memory.models import ProcessResult
    from agent_memory.sync import UserScope

PROCESS_EXAMPLES = examples(
    "process",
    "process summarize --user maya --thread trip-2026-05-17",
    "process reconcile --user maya",
)

LETTERS_EXAMPLES = examples("dead-letters", "dead-letters --store https://memory.example --json")

Step = Literal[ThreadStep, UserStep]
"""A step that can be run on its own."""
OF_THREADS: tuple[str, ...] = get_args(ThreadStep)


def process(
    step: Annotated[
        Step | None, typer.Argument(metavar="STEP", help="Run only this step; default: all waiting work.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    thread: Annotated[
        str | None,
        typer.Option("--thread", metavar="ID", help=f"Only this conversation (with {', '.join(OF_THREADS)})."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Process waiting turns into memories, or run one step."""
    if thread is not None and step not in OF_THREADS:
        raise InvalidInput(f"--thread only works with the steps {', '.join(OF_THREADS)}")
    with existing_store(store) as memory:
        if step is None:
            left = work_off(memory)
            if as_json:
                emit({"unprocessed_turns": left})
            else:
                stdout().print("Everything is processed." if not left else f"{left} turns are still waiting.")
            return
        with unfinished(lambda: "Turns processed so far stay processed."):
            results = _run(one_user(memory, user), step, thread)
    if as_json:
        emit(results)
    else:
        _show_results(results)


def _run(scope: UserScope, step: Step, thread: str | None) -> dict[str, ProcessResult]:
    """Runs a step, and prints what it did for each thread or user."""
    if step in OF_THREADS:
        threads = [info.thread_id for info in scope.threads() if thread in (None, info.thread_id)]
        if thread is not None and not threads:
            raise NotFound(f"user {scope.user_id!r} has no thread {thread!r}")
        return {thread_id: scope.thread(thread_id).process(cast(ThreadStep, step)) for thread_id in threads}
    return {scope.user_id: scope.process(cast(UserStep, step))}


def _show_results(results: dict[str, ProcessResult]) -> None:
    console = stdout()
    made = table("of", "turns", "made", "replaced", "rejected", right=["turns", "made", "replaced", "rejected"])
    for name, done in results.items():
        made.add_row(name, str(done.turns), str(done.created), str(done.superseded), str(len(done.rejected)))
    console.print(made)
    for done in results.values():
        for reason in done.rejected:
            console.print(f"  rejected: {one_line(reason)}")


def dead_letters(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the turns that a step could not process, and why.

    --json also prints their ids. `memory.replay(id)` in Python, or POST /v1/admin/dead-letters/ID/replay, tries one
    again.
    """
    with existing_store(store) as memory:
        letters = memory.dead_letters()
    if as_json:
        emit(letters)
        return
    console = stdout()
    if not letters:
        console.print("No dead letters.")
        return
    made = table("when", "step", "user", "thread", "turns", "error", right=["turns"])
    for letter in letters:
        made.add_row(
            day(letter.created_at),
            letter.step,
            letter.user_id,
            letter.thread_id,
            str(len(letter.turn_ids)),
            one_line(letter.error),
        )
    console.print(made)
