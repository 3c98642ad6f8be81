"""`agent-memory audit`: who read or changed a user's data."""

from __future__ import annotations

from datetime import datetime
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
    parse_since,
)
from agent_memory.cli.terminal import counted, emit, one_line, stdout
from agent_memory.cli.views import table

EXAMPLES = examples("audit", "audit --since 2026-04-01", "audit --user maya --limit 20 --json")


def audit(
    since: Annotated[
        datetime | None,
        typer.Option(
            "--since",
            metavar="DATE",
            parser=parse_since,
            help="On that day or later, like 2026-04-01 or 2026-04-01T12:00Z.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="Maximum number of entries.")
    ] = 50,
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """List who read or changed a user's data.

    MEMORY_AUDIT_DAYS sets for how many days this is recorded.
    """
    with existing_store(store) as memory:
        entries = one_user(memory, user).audit(since=since, limit=limit)
    if as_json:
        emit({"entries": entries})
        return
    if not entries:
        stdout().print("Nothing is recorded. Set MEMORY_AUDIT_DAYS=90 to record reads and changes for 90 days.")
        return
    made = table("when (UTC)", "who", "how", "what", "of")
    for entry in entries:
        who = f"{entry.actor} ({entry.address})" if entry.address else entry.actor
        what = f"{entry.action}, {counted(entry.count, 'id')}" if entry.count else entry.action
        made.add_row(f"{entry.at:%Y-%m-%d %H:%M:%S}", one_line(who), entry.via, what, one_line(entry.thread_id or ""))
    stdout().print(made)
