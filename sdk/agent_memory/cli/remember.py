"""`agent-memory remember` and `update`: memories written and corrected by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agent_memory.cli.ids import full_id
from agent_memory.cli.options import (
    DEFAULT_STORE,
    DEFAULT_USER,
    JsonOption,
    StoreOption,
    UserOption,
    any_store,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import emit, stdout
from agent_memory.cli.views import memory_table
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.models import Memory as Remembered

REMEMBER_EXAMPLES = examples(
    'remember "Allergic to peanuts" --user ann',
    'remember "Prefers the train" --kind preference --tag travel',
    """remember "Invoice 7 to Contoso" --kind invoice --data '{"amount": 1200}'""",
    'remember "To release: run make dist, then tag" --type procedural',
)
UPDATE_EXAMPLES = examples(
    'update ID --content "Allergic to peanuts and cashews" --reason "new test"', "update ID --pin"
)

Type = Literal["fact", "episodic", "procedural"]
DataOption = Annotated[
    str | None, typer.Option("--data", metavar="JSON", help="The data of a custom kind that has a schema.")
]
TtlOption = Annotated[
    int | None, typer.Option("--ttl", metavar="SECONDS", min=1, help="Seconds after which it expires and is deleted.")
]


def remember(
    content: Annotated[str, typer.Argument(metavar="TEXT", help="The text to remember, word for word.")],
    kind: Annotated[
        str,
        typer.Option(
            "--kind", metavar="KIND", help="fact, preference, context, requirement, decision, or a custom kind."
        ),
    ] = "fact",
    data: DataOption = None,
    type: Annotated[
        Type, typer.Option("--type", metavar="TYPE", help="fact; procedural for how to do something; episodic.")
    ] = "fact",
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be given several times.")
    ] = None,
    importance: Annotated[
        float, typer.Option("--importance", metavar="0-1", min=0, max=1, help="How important it is.")
    ] = 0.8,
    ttl: TtlOption = None,
    store: StoreOption = DEFAULT_STORE,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="ID", help=f"Whose memory; in an empty store '{DEFAULT_USER}'."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Remember something that needs no extraction.

    A memory with the same words is not stored twice.
    """
    given = _object(data)
    with any_store(store) as memory:
        if user is None and not memory.users():
            user = DEFAULT_USER
        scope = one_user(memory, None) if user is None else memory.user(user)
        made = scope.remember(
            content, kind=kind, data=given, type=type, tags=tags or (), importance=importance, ttl=ttl
        )
    _show(made, as_json)


def update(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id, as `show` and `search` print it.")],
    content: Annotated[str | None, typer.Option("--content", metavar="TEXT", help="The new text.")] = None,
    pinned: Annotated[
        bool | None, typer.Option("--pin/--unpin", help="Whether to keep it even if it is never used.")
    ] = None,
    data: DataOption = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="The reason for the correction.")
    ] = None,
    ttl: TtlOption = None,
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Correct what a memory says, or pin it.

    New content or data creates a new version; the old one stays on record.
    """
    given = _object(data)
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        made = scope.update(
            full_id(scope, memory_id), content=content, data=given, pinned=pinned, reason=reason, ttl=ttl
        )
    _show(made, as_json)


def _object(given: str | None) -> dict[str, Any] | None:
    """The object that an option gives as JSON.

    Raises:
        InvalidInput: if it is none.
    """
    if given is None:
        return None
    try:
        value = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"--data is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidInput("--data is a JSON object, such as '{\"amount\": 1200}'")
    return value


def _show(made: Remembered, as_json: bool) -> None:
    if as_json:
        emit(made)
        return
    stdout().print(memory_table([made]))
    if made.status != "active":
        stdout().print(f"It waits for review ({made.review_reason or made.status}): agent-memory review")
