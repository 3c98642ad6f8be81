"""`agent-memory forget`: shows what would be deleted, asks, and deletes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from agent_memory.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    SinceOption,
    StoreOption,
    UntilOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import clean, counted, emit, one_line, stdout, waiting
from agent_memory.cli.views import full_id, in_zone, table

if TYPE_CHECKING:
    from agent_memory.models import ForgetItem, ForgetReceipt

EXAMPLES = examples(
    'forget "the code of my locker" --user maya',
    "forget --id 8b5e02c1 --yes",
    "forget --thread trip-2026-05-17",
    "forget --since 2026-05-01 --until 2026-05-31 --dry-run",
    "forget --everything --user maya",
)
WIDTH = 70


def forget(
    topic: Annotated[str | None, typer.Argument(metavar="TOPIC", help="Delete what was said about this.")] = None,
    item: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="A memory or a turn; of a memory, the last eight characters are enough."
        ),
    ] = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="A conversation.")] = None,
    project: Annotated[str | None, typer.Option("--project", metavar="ID", help="A project.")] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    everything: Annotated[bool, typer.Option("--everything", help="The user, with all their data.")] = False,
    keep_turns: Annotated[
        bool, typer.Option("--keep-turns", help="Delete only the memories, and keep the turns that they come from.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget something and everything derived from it.

    Shows what would be deleted, and asks first.
    """
    with existing_store(store, needs_model=False) as memory:
        scope = one_user(memory, user)
        named = None if item is None else full_id(scope, item, lambda id: scope.forget(id, dry_run=True))

        def run(*, dry: bool) -> ForgetReceipt:
            with waiting("Looking" if dry else "Forgetting"):
                return scope.forget(
                    named,
                    query=topic,
                    thread_id=thread,
                    project_id=project,
                    since=in_zone(since),
                    until=in_zone(until),
                    include_sources=not keep_turns,
                    everything=everything,
                    dry_run=dry,
                )

        done = run(dry=dry_run or not yes)
        if done.dry_run and not as_json:
            _show(done)
        # With --json a program calls this; it must confirm with --yes.
        if done.dry_run and done.total and not (dry_run or as_json) and typer.confirm("Forget this?"):
            done = run(dry=False)
    if as_json:
        emit(done)
    elif not done.dry_run:
        made = f"; {counted(len(done.rebuilt), 'summary', 'summaries')} rebuilt" if done.rebuilt else ""
        stdout().print(f"{counted(done.total, 'document')} forgotten{made}.")
        for line in done.pending:
            stdout().print(f"  pending: {one_line(line)}")
    elif done.total and not dry_run:
        stdout().print("Nothing was forgotten.")


def _show(plan: ForgetReceipt) -> None:
    console = stdout()
    if not plan.total:
        console.print("Nothing found.")
        return
    if plan.erased:
        counts = table("what", "documents", right=["documents"])
        for kind, count in plan.erased.items():
            counts.add_row(kind, str(count))
        console.print(counts)
        return
    console.print(_items(plan.items))
    if plan.kept:
        console.print("\nKept, without its quote:", _items(plan.kept), sep="\n")


def _items(items: list[ForgetItem]) -> object:
    made = table("what", "where", "says", "reason")
    for item in items:
        made.add_row(item.type, clean(item.thread_id), Text(one_line(item.content or "", WIDTH)), item.why)
    return made
