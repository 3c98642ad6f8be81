"""`agent-memory process`, `reprocess` and `dead-letters`: background work, run by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from agent_memory.cli.failures import FAILED, unfinished
from agent_memory.cli.ingest import TimeoutOption, end_if_given_up, process_all
from agent_memory.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import counted, emit, one_line, progress, stdout
from agent_memory.cli.views import day, table
from agent_memory.errors import InvalidInput, ModelError, NotFound
from agent_memory.steps.table import ThreadStep, UserStep

if TYPE_CHECKING:
    from agent_memory import Memory
    from agent_memory.models import DeadLetter, ProcessResult
    from agent_memory.sync import UserScope

PROCESS_EXAMPLES = examples(
    "process",
    "process summarize --user maya --thread trip-2026-05-17",
    "process reconcile --user maya",
)

LETTERS_EXAMPLES = examples("dead-letters", "dead-letters --replay --store https://memory.example")

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
    timeout: TimeoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Process waiting turns into memories, or run one step.

    The exit status is 1 if turns were given up, because a model gave no usable answer for them, or if a model fails.
    """
    if thread is not None and step not in OF_THREADS:
        raise InvalidInput(f"--thread only works with the steps {', '.join(OF_THREADS)}")
    if user is not None and step is None:
        raise InvalidInput("--user only works with a STEP; without one, all waiting work of all users is done")
    with existing_store(store) as memory:
        if step is None:
            left, given_up = process_all(memory, timeout)
            if as_json:
                emit({"unprocessed_turns": left} | ({"given_up_turns": given_up} if given_up else {}))
            elif left or not given_up:
                stdout().print("Everything is processed." if not left else f"{counted(left, 'turn')} left.")
            end_if_given_up(given_up, store, as_json=as_json)
            return
        with unfinished(lambda: "Turns processed so far stay processed."):
            results = _run(one_user(memory, user), step, thread)
    if as_json:
        emit(results)
    else:
        _show_results(results)
    if any(done.dead_letters for done in results.values()):
        raise typer.Exit(FAILED)


def _run(scope: UserScope, step: Step, thread: str | None) -> dict[str, ProcessResult]:
    """Runs a step. Returns its result for each thread, or for the user."""
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


def dead_letters(
    store: StoreOption = DEFAULT_STORE,
    replay: Annotated[bool, typer.Option("--replay", help="First process them again; lists those that fail.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the turns that a step could not process, and why.

    --json also prints their ids. `memory.replay(id)` in Python, or POST /v1/admin/dead-letters/ID/replay, tries one
    again. The exit status is 1 if one fails again with --replay.
    """
    with existing_store(store) as memory:
        letters = memory.dead_letters()
        if replay:
            with unfinished(lambda: "Those processed so far are gone from the list."):
                letters = [letter for letter in letters if not _replayed(memory, letter.id)]
    if as_json:
        emit(letters)
    else:
        _show_letters(letters)
    if replay and letters:
        raise typer.Exit(FAILED)


def _replayed(memory: Memory, letter_id: str) -> bool:
    """Processes the turns of a dead letter again; False if they fail again, or nothing is done for them."""
    try:
        return memory.replay(letter_id).skipped_reason is None
    except NotFound:  # somebody else has replayed or forgotten it
        return True
    except ModelError as error:
        if error.retryable:
            raise
        return False


def _show_letters(letters: Sequence[DeadLetter]) -> None:
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


REPROCESS_EXAMPLES = examples(
    "reprocess", "reprocess --user maya --thread trip-2026-05-17", "reprocess --prompt-version 1+0a1b2c3d"
)


def reprocess(
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="Only this thread.")] = None,
    prompt_version: Annotated[
        str | None,
        typer.Option(
            "--prompt-version", metavar="VERSION", help="Only memories from this prompt version; `why ID` shows it."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Derive memories again with a new prompt or model.

    Only memories from an older prompt or model are derived again. A memory found again stays, a new wording replaces
    the old one, and a memory no longer found is withdrawn. Memories written or corrected by hand, and pinned ones, stay
    as they are. You can interrupt it and run it again to continue.
    """
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        turns = (scope if thread is None else scope.thread(thread)).stats().turns
        with unfinished(lambda: "Memories derived so far are kept."), progress("turns read again") as told:
            result = scope.reprocess(
                prompt_version=prompt_version, thread_id=thread, progress=lambda done: told(done, turns)
            )
    if as_json:
        emit(result)
        return
    counts = ", ".join(f"{number} {name}" for name, number in result.counts.items()) or "nothing to do"
    cost = f"{counted(result.usage.model_calls, 'model call')}, {result.usage.request_units:.0f} RU"
    stdout().print(f"{counted(result.turns, 'turn')} read again: {counts} ({cost}).")
