"""`agent-memory reprocess`: memories derived anew after the prompt or the model has changed."""

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
        typer.Option("--prompt-version", metavar="VERSION", help="Only what this version made; `why ID` names it."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Derive memories anew after a new prompt or model.

    It is done where another prompt or model than today's made them. What is still found stays, what is worded anew
    replaces the old, what is found no more is withdrawn. Memories given or corrected by hand, and pinned ones, stay as
    they are. May be interrupted; the next call goes on.
    """
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        turns = (scope if thread is None else scope.thread(thread)).stats().turns
        with unfinished(lambda: "What was derived anew stays."), progress("turns read again") as told:
            result = scope.reprocess(
                prompt_version=prompt_version, thread_id=thread, progress=lambda done: told(done, turns)
            )
    if as_json:
        emit(result)
        return
    counts = ", ".join(f"{number} {name}" for name, number in result.counts.items()) or "nothing to do"
    cost = f"{counted(result.usage.model_calls, 'model call')}, {result.usage.request_units:.0f} RU"
    stdout().print(f"{counted(result.turns, 'turn')} read again: {counts} ({cost}).")
