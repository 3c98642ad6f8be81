"""`agent-memory why`: where a memory comes from, back to the words of the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from agent_memory.cli.ids import full_id
from agent_memory.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import clean, emit, one_line, stdout
from agent_memory.cli.views import day, day_and_time, heading, memory_table, table

if TYPE_CHECKING:
    from agent_memory.models import Memory as Remembered
    from agent_memory.models import Provenance, Turn

EXAMPLES = examples("why ID", "why ID --user maya --json")


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
        made.add_row(day(version.created_at), one_line(version.content) + mark, version.supersede_reason or "holds")
    return made
