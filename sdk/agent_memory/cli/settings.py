"""`agent-memory settings`: the switches of a user or a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

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
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.models import ScopeSettings

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
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show or change the settings of a user or a thread."""
    changes: dict[str, Any] = {
        "enabled": enabled,
        "auto_store": auto_store,
        "keep_turns": keep_turns,
        "deny_categories": _listed(deny),
        "allow_categories": _listed(allow),
        "time_zone": time_zone,
    }
    with existing_store(store) as memory:
        owner = one_user(memory, user)
        if thread is not None:
            if retain is not None:
                raise InvalidInput("--retain applies to a user, not to a thread")
            scope = owner.thread(thread)
            now = scope.update_settings(**changes) if _any(changes) else scope.settings()
        else:
            changes["retention_days"] = _days(retain)
            now = owner.update_settings(**changes) if _any(changes) else owner.settings()
    if as_json:
        emit(now)
    else:
        _show(now)


def _any(changes: dict[str, Any]) -> bool:
    return any(value is not None for value in changes.values())


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
    lines = {
        "memory": "on" if now.enabled else "off",
        "memories are derived from turns": "yes" if now.auto_store else "no",
        "turns are kept": "yes" if now.keep_turns else "no",
        "never remembered": ", ".join(now.deny_categories) or "(nothing)",
        "remembered": ", ".join(now.allow_categories) or "everything else",
        "deleted after": retention or "never",
        "time zone": now.time_zone or "UTC",
    }
    for name, value in lines.items():
        stdout().print(f"{name}: {one_line(value)}")
