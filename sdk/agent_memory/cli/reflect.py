"""`agent-memory reflect`: a question about a user, answered from what is remembered, with the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from agent_memory.cli.options import (
    DEFAULT_STORE,
    AsOfOption,
    FilterOption,
    JsonOption,
    StoreOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.search import GroupsOption
from agent_memory.cli.terminal import clean, emit, one_line, stdout
from agent_memory.cli.views import day

if TYPE_CHECKING:
    from agent_memory.models import Reflection

EXAMPLES = examples(
    'reflect "What does she care about when she travels?" --user maya',
    'reflect "How did my plans for Hawaii change?" --user maya --json',
)


def reflect(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question about the user.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="Maximum number of memories that are read.")
    ] = 20,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="ID", help="Only from conversations with this agent.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="ID", help="Only from conversations in this project.")
    ] = None,
    as_of: AsOfOption = None,
    filters: FilterOption = None,
    groups: GroupsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question about a user, with the evidence.

    Asks the chat model that the environment names; without one, shows the memories that bear on the question.
    """
    with existing_store(store) as memory:
        found = one_user(memory, user).reflect(
            question,
            limit=limit,
            groups=groups or (),
            agent_id=agent,
            project_id=project,
            as_of=as_of,
            filters=filters,
        )
    if as_json:
        emit(found)
    else:
        stdout().print(_view(found))


def _view(found: Reflection) -> Text:
    shown = Text()
    for sentence in found.sentences:
        shown.append(f"{one_line(sentence.text, 1000)}\n")
        for one in sentence.evidence:
            group = f", group {one_line(one.group, 40)}" if one.group else ""
            place = f"{day(one.said_at)}{group}, {one.memory_id}"
            shown.append(f"  “{one_line(one.quote, 160)}” ({place})\n", style="dim")
    if not found.sentences:
        shown.append(clean(found.skipped_reason or "What is remembered does not answer this."))
        shown.append("\n")
    for reason in found.rejected:
        shown.append(f"left out: {one_line(reason, 200)}\n", style="dim")
    shown.rstrip()
    return shown
