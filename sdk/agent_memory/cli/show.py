"""`agent-memory show` and `threads`: what is remembered of a user, of one thread, or one memory with its history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_memory.cli.options import (
    DEFAULT_STORE,
    AsOfOption,
    FilterOption,
    JsonOption,
    StoreOption,
    TypesOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import counted, emit, one_line, stdout
from agent_memory.cli.views import (
    day,
    full_id,
    heading,
    in_zone,
    memory_table,
    profile_view,
    short_id,
    show_zone_of,
    summary_lines,
    summary_view,
    superseded_pairs,
    superseded_table,
    table,
)
from agent_memory.errors import NotFound

if TYPE_CHECKING:
    from rich.console import Console

    from agent_memory.models import Memory as Remembered, ThreadState, ThreadSummary, UserProfile
    from agent_memory.sync import UserScope

EXAMPLES = examples(
    "show --user maya",
    "show --user maya --superseded --type fact",
    "show --user maya --thread trip-2026-05-17",
    "show ID --user maya",
)


@dataclass(frozen=True, slots=True)
class UserView:
    """Everything remembered about a user. `superseded` pairs each outdated memory with the one that replaced it."""

    user_id: str
    memories: list[Remembered]
    superseded: list[tuple[Remembered, Remembered | None]]
    summaries: list[ThreadSummary]
    profile: UserProfile | None


@dataclass(frozen=True, slots=True)
class ThreadView:
    """Everything kept about a thread, except its turns."""

    summary: ThreadSummary | None
    state: ThreadState | None
    memories: list[Remembered]


def show(
    memory_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Show the memory with this id, with all its versions.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="Only this conversation.")] = None,
    types: TypesOption = None,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Also show replaced memories, and what replaced them.")
    ] = False,
    as_of: AsOfOption = None,
    filters: FilterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is remembered."""
    console = stdout()
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        if memory_id is not None:
            versions = scope.history(full_id(scope, memory_id))
            emit(versions) if as_json else _show_history(console, versions)
        elif thread is not None:
            of_thread = thread_view(scope, thread, filters)
            show_zone_of(scope.thread(thread), scope)
            emit(of_thread) if as_json else _show_thread(console, of_thread)
        else:
            of_user = user_view(scope, types=types, as_of=in_zone(as_of), filters=filters)
            emit(of_user) if as_json else _show_user(console, of_user, superseded)


def user_view(
    scope: UserScope,
    *,
    types: list[str] | None = None,
    as_of: datetime | None = None,
    filters: dict[str, Any] | None = None,
) -> UserView:
    """Gathers what is remembered about a user."""
    summaries = (scope.thread(info.thread_id).summary() for info in reversed(scope.threads()))
    return UserView(
        user_id=scope.user_id,
        memories=scope.memories(types=types, as_of=as_of, filters=filters),
        superseded=superseded_pairs(scope.memories(types=types, include_superseded=True, filters=filters)),
        summaries=[summary for summary in summaries if summary is not None],
        profile=scope.profile(),
    )


def thread_view(scope: UserScope, thread_id: str, filters: dict[str, Any] | None = None) -> ThreadView:
    """Gathers what is kept about a thread. Raises NotFound if the user has no such thread."""
    if thread_id not in {info.thread_id for info in scope.threads()}:
        raise NotFound(f"user {scope.user_id!r} has no thread {thread_id!r}")
    thread = scope.thread(thread_id)
    return ThreadView(thread.summary(), thread.state(), thread.memories(filters=filters))


def _show_user(console: Console, view: UserView, superseded: bool) -> None:
    if view.profile:
        console.print(heading(f"Profile of {view.user_id}"), profile_view(view.profile))
    if view.summaries:
        console.print(heading("Threads"), *(summary_lines(summary) for summary in view.summaries), sep="\n")
    console.print(heading(counted(len(view.memories), "memory", "memories")), memory_table(view.memories), sep="\n")
    if superseded and view.superseded:
        console.print(heading("Replaced"), superseded_table(view.superseded), sep="\n")
    elif view.superseded:
        console.print(f"Replaced: {len(view.superseded)}; --superseded shows them.")


def _show_thread(console: Console, view: ThreadView) -> None:
    if view.summary:
        console.print(summary_view(view.summary))
    values = view.state.state.get("values") if view.state else None
    if isinstance(values, dict) and values:
        console.print(heading("Current values"))
        for name, value in values.items():
            console.print(f"  {one_line(str(name))}: {one_line(str(value))}")
    console.print(heading(counted(len(view.memories), "memory", "memories")), memory_table(view.memories), sep="\n")


def _show_history(console: Console, versions: list[Remembered]) -> None:
    console.print(memory_table(versions))
    for version in versions:
        until = f" to {day(version.valid_to)}" if version.valid_to else ""
        since = f"true from {day(version.valid_from or version.created_at)}{until}"
        reason = f", replaced ({version.supersede_reason})" if version.superseded_at else ""
        console.print(f"  {short_id(version)}: {since}{reason}; from turns {', '.join(version.source_turn_ids)}")


THREADS_EXAMPLES = examples("threads --user maya", "threads --user maya --limit 5 --json")


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
