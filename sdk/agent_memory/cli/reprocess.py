"""`agent-memory reprocess`: derives memories again after the prompt or the model has changed."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_memory.cli.failures import unfinished
from agent_memory.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import counted, emit, progress, stdout

EXAMPLES = examples(
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
