"""`agent-memory review`: memories that wait for the user's approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agent_memory.cli.ids import full_id, short_id
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
from agent_memory.cli.views import day
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.models import Memory as Remembered

EXAMPLES = examples(
    "review", "review approve ID", 'review approve ID --content "Pays by bank transfer"', "review reject ID"
)

Verdict = Literal["approve", "reject"]


def review(
    verdict: Annotated[
        Verdict | None, typer.Argument(metavar="ACTION", help="What to do; default: list what is waiting.")
    ] = None,
    memory_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="The memory's id, as `review` lists it.")
    ] = None,
    content: Annotated[
        str | None, typer.Option("--content", metavar="TEXT", help="Approve it in these words instead.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what waits for review, approve or reject it."""
    if (verdict is None) != (memory_id is None):
        raise InvalidInput("give both the action and the memory's ID, or neither")
    if content is not None and verdict != "approve":
        raise InvalidInput("--content only works with approve")
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        if verdict is None or memory_id is None:
            _show(scope.review(), as_json)
        elif verdict == "approve":
            approved = scope.approve(full_id(scope, memory_id), content=content)
            _say(approved, f"Remembered: {one_line(approved.content)}", as_json)
        else:
            _say(
                scope.reject(full_id(scope, memory_id)),
                "Rejected; earlier turns will not bring it back.",
                as_json,
            )


def _show(waiting: list[Remembered], as_json: bool) -> None:
    if as_json:
        emit({"waiting": waiting})
        return
    console = stdout()
    if not waiting:
        console.print("Nothing is waiting for review.")
        return
    for memory in waiting:
        reason = memory.review_reason or f"said by {memory.source}"
        console.print(f"{short_id(memory)}  {day(memory.created_at)}  {one_line(reason)}")
        console.print(f"  {one_line(memory.content)}")


def _say(result: object, text: str, as_json: bool) -> None:
    if as_json:
        emit(result)
    else:
        stdout().print(text)
