"""`agent-memory settings`, `extraction` and `audit`: what is remembered, and who read or changed it."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    parse_since,
)
from agent_memory.cli.terminal import clean, counted, emit, one_line, stdout
from agent_memory.cli.views import local, table, zone_name
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.models import Extraction, ScopeSettings

EXAMPLES = examples(
    "settings",
    "settings --deny health --deny money",
    "settings --thread diary --off",
    "settings --retain fact=365",
)


def settings(
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="The settings of this thread, not of the user.")
    ] = None,
    enabled: Annotated[bool | None, typer.Option("--on/--off", help="Whether to remember and recall anything.")] = None,
    auto_store: Annotated[
        bool | None, typer.Option("--auto-store/--no-auto-store", help="Whether to derive memories from turns.")
    ] = None,
    keep_turns: Annotated[
        bool | None, typer.Option("--keep-turns/--no-keep-turns", help="Whether to keep the turns themselves.")
    ] = None,
    deny: Annotated[
        list[str] | None,
        typer.Option(
            "--deny",
            metavar="TOPIC",
            help="Never remember this topic: health, money, …; may be given several times; '' allows all again.",
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="TOPIC",
            help="Remember only this topic; may be given several times; '' allows all again.",
        ),
    ] = None,
    retain: Annotated[
        list[str] | None,
        typer.Option(
            "--retain",
            metavar="TYPE=DAYS",
            help="Delete memories of this type after so many days; may be given several times; '' keeps all.",
        ),
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option("--time-zone", metavar="NAME", help="The user's time zone, like Europe/Lisbon.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    user: NewUserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show or change the settings of a user or a thread.

    A change creates the store if there is none.
    """
    changes: dict[str, Any] = {
        "enabled": enabled,
        "auto_store": auto_store,
        "keep_turns": keep_turns,
        "deny_categories": _listed(deny),
        "allow_categories": _listed(allow),
        "time_zone": time_zone,
    }
    if thread is None:
        changes["retention_days"] = _days(retain)
    elif retain is not None:
        raise InvalidInput("--retain applies to a user, not to a thread")
    is_change = any(value is not None for value in changes.values())
    # Memory can be switched off before there is any.
    with (any_store if is_change else existing_store)(store) as memory:
        owner = new_user(memory, user)
        scope = owner if thread is None else owner.thread(thread)
        now = scope.update_settings(**changes) if is_change else scope.settings()
    if as_json:
        emit(now)
    else:
        _show(now)


def _listed(given: list[str] | None) -> list[str] | None:
    return None if given is None else [name for name in given if name.strip()]


def _days(given: list[str] | None) -> dict[str, int] | None:
    if given is None:
        return None
    found = {}
    for pair in filter(None, given):
        name, _, days = pair.partition("=")
        if not days.isdigit():
            raise InvalidInput(f"--retain: {pair!r} is not TYPE=DAYS, like fact=365")
        found[name] = int(days)
    return found


def _show(now: ScopeSettings) -> None:
    retention = ", ".join(f"{name} {days} days" for name, days in now.retention_days.items())
    is_on = now.enabled and not now.off_by
    lines = {
        "memory": f"off (by {now.off_by})" if now.off_by else "on" if is_on else "off",
        "memories are derived from turns": "yes" if is_on and now.auto_store else "no",
        "turns are kept": "yes" if is_on and now.keep_turns else "no",
        "never remembered": ", ".join(now.deny_categories) or "(nothing)",
        "remembered": ", ".join(now.allow_categories) or "everything else",
        "deleted after": retention or "never",
        "time zone": now.time_zone or "UTC",
    }
    for name, value in lines.items():
        stdout().print(f"{name}: {one_line(value)}")


EXTRACTION_EXAMPLES = examples("extraction", "extraction invoices.json", "extraction --group team --clear")


def extraction(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="JSON with instructions, kinds and categories.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the custom extraction.")] = False,
    group: Annotated[
        str | None, typer.Option("--group", metavar="ID", help="Only for the memory of this group.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show or set the custom extraction.

    It tells the model what to extract in addition: your instructions, custom kinds and categories. `reprocess` derives
    older memories again. The rules that work without a model ignore it.

    FILE is JSON: {"instructions": "…", "kinds": [{"name": "invoice", "description": "…"}], "categories": {"tag": "…"}}.
    """
    if file is not None and clear:
        raise InvalidInput("give a file or --clear, not both")
    given = None if file is None else _read(file)
    with (any_store if given is not None else existing_store)(store) as memory:
        if file is not None or clear:
            memory.set_extraction(given, group_id=group)
        now = memory.extraction(group_id=group)
    if as_json:
        emit({"extraction": now})
    else:
        _show_extraction(now)


def _read(file: Path) -> dict[str, Any]:
    try:
        given = json.loads(file.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise InvalidInput(f"{file} must contain a JSON object with instructions, kinds or categories")
    return given


def _show_extraction(now: Extraction | None) -> None:
    if now is None:
        stdout().print("Nothing beyond the usual is extracted.")
        return
    lines = [f"version {now.version}", *([f"instructions: {now.instructions}"] if now.instructions else [])]
    for kind in now.kinds:
        fields = ", ".join((kind.data_schema or {}).get("properties", {}))
        lines.append(f"kind {kind.name}: {kind.description}" + (f" (data: {fields})" if fields else ""))
    lines += [f"category {name}: {meaning}" for name, meaning in now.categories.items()]
    stdout().print(clean("\n".join(lines)), soft_wrap=True)


AUDIT_EXAMPLES = examples("audit", "audit --since 2026-04-01", "audit --user maya --limit 20 --json")


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
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=1000, help="Maximum number of entries.")
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
    made = table(f"when ({zone_name()})", "who", "how", "what", "of")
    for entry in entries:
        who = f"{entry.actor} ({entry.address})" if entry.address else entry.actor
        what = f"{entry.action}, {counted(entry.count, 'id')}" if entry.count else entry.action
        made.add_row(
            f"{local(entry.at):%Y-%m-%d %H:%M:%S}", one_line(who), entry.via, what, one_line(entry.thread_id or "")
        )
    stdout().print(made)
