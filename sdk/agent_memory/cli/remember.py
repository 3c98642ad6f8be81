"""Memories one by one: `agent-memory remember`, `update`, `why` and `review`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from agent_memory.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    NewUserOption,
    StoreOption,
    UserOption,
    any_store,
    examples,
    existing_store,
    new_user,
    one_user,
)
from agent_memory.cli.terminal import clean, emit, one_line, stdout
from agent_memory.cli.views import day, day_and_time, full_id, heading, memory_table, short_id, table
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.models import Memory as Remembered, Provenance, Turn

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
        Type,
        typer.Option("--type", metavar="TYPE", help="fact, procedural (how to do something) or episodic (an event)."),
    ] = "fact",
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be given several times.")
    ] = None,
    importance: Annotated[
        float, typer.Option("--importance", metavar="0-1", min=0, max=1, help="How important it is.")
    ] = 0.8,
    ttl: TtlOption = None,
    store: StoreOption = DEFAULT_STORE,
    user: NewUserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember something that needs no extraction.

    A memory with the same words is not stored twice.
    """
    given = _object(data)
    with any_store(store) as memory:
        made = new_user(memory, user).remember(
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
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="A tag, instead of the earlier ones; may be given several times."),
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove all tags.")] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="The reason for the correction.")
    ] = None,
    ttl: TtlOption = None,
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Correct what a memory says, or tag or pin it.

    New content or data creates a new version; the old one stays on record.
    """
    if no_tags and tags:
        raise InvalidInput("--no-tags removes all tags; leave it out to set them with --tag")
    given = _object(data)
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        made = scope.update(
            full_id(scope, memory_id),
            content=content,
            data=given,
            tags=[] if no_tags else tags or None,
            pinned=pinned,
            reason=reason,
            ttl=ttl,
        )
    _show(made, as_json)


def _object(given: str | None) -> dict[str, Any] | None:
    """The object that an option gives as JSON. Raises InvalidInput if it is none."""
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


WHY_EXAMPLES = examples("why ID", "why ID --user maya --json")


def why(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id, as `show` and `search` print it.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show why something is remembered.

    Shows who said it, when and in which words, what derived it, and what it replaced.
    """
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        found = scope.why(full_id(scope, memory_id))
    if as_json:
        emit(found)
        return
    console = stdout()
    console.print(memory_table([found.memory]), _facts(found.memory), sep="\n")
    if found.turns:
        console.print(heading("Said"), _turn_table(found.turns), sep="\n")
    if found.missing_turn_ids:
        console.print(f"No longer kept: {', '.join(map(clean, found.missing_turn_ids))}")
    if found.sources:
        console.print(heading("Made from"), memory_table(found.sources), sep="\n")
    if found.related:
        console.print(heading("Linked with"), memory_table(found.related), sep="\n")
    if len(found.history) > 1:
        console.print(heading("Versions"), _version_table(found), sep="\n")


def _facts(memory: Remembered) -> Table:
    lines = Table.grid(padding=(0, 2))
    derived = f"{memory.model}, prompt {memory.prompt_version}" if memory.model else "written by hand, or edited"
    lines.add_row("  derived by", Text(one_line(derived)))
    lines.add_row("  quote", Text(one_line(memory.quote)) if memory.quote else "(none)")
    lines.add_row("  said by", f"{memory.source}, {memory.status}{', pinned' if memory.pinned else ''}")
    return lines


def _turn_table(turns: list[Turn]) -> Table:
    made = table("when", "thread", "who", "words")
    for turn in turns:
        who = turn.name or turn.role
        when, thread = day_and_time(turn.created_at), one_line(turn.thread_id, 24)
        made.add_row(when, thread, one_line(who, 16), one_line(turn.content))
    return made


def _version_table(found: Provenance) -> Table:
    made = table("said", "remembered", "why")
    for version in found.history:
        mark = " (this one)" if version.id == found.memory.id else ""
        made.add_row(day(version.created_at), one_line(version.content) + mark, version.supersede_reason or "current")
    return made


REVIEW_EXAMPLES = examples(
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
            _show_waiting(scope.review(), as_json)
        elif verdict == "approve":
            approved = scope.approve(full_id(scope, memory_id), content=content)
            _say(approved, f"Remembered: {one_line(approved.content)}", as_json)
        else:
            _say(
                scope.reject(full_id(scope, memory_id)),
                "Rejected; earlier turns will not bring it back.",
                as_json,
            )


def _show_waiting(waiting: list[Remembered], as_json: bool) -> None:
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
