"""`agent-memory threads`: the conversations of a user."""

from __future__ import annotations

from typing import Annotated

import typer

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

EXAMPLES = examples("threads --user maya", "threads --user maya --limit 5 --json")


def threads(
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="Maximum number; default: all.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the conversations of a user, the newest first."""
    with existing_store(store) as memory:
        found = one_user(memory, user).threads(limit=limit)[:limit]
    if as_json:
        emit(found)
        return
    if not found:
        stdout().print("There are no conversations.")
        return
    made = table("thread", "turns", "waiting", "newest", right=["turns", "waiting"])
    for info in found:
        made.add_row(one_line(info.thread_id), str(info.turns), str(info.unprocessed_turns), day(info.last_turn_at))
    stdout().print(made)
