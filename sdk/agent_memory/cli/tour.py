"""What the quickstart found, and how it shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from agent_memory.cli.ingest import Ingested
from agent_memory.cli.options import invocation
from agent_memory.cli.show import UserView
from agent_memory.cli.terminal import one_line
from agent_memory.cli.views import (
    context_digest,
    context_view,
    day,
    heading,
    memory_table,
    profile_view,
    summary_lines,
    superseded_table,
    table,
)

if TYPE_CHECKING:
    from agent_memory.models import Context, Memory

SHOWN_MEMORIES = 12
SHOWN_SUPERSEDED = 8
FEW = 2
WIDTH = 76
_SHORT = 3
"""Letters of words that occur in any line."""
NOTHING_EXTRACTED = (
    "No memories were extracted. Without a language model, rules extract them, and only from English; the README\n"
    "describes how to set a model. Search and context still use the turns themselves."
)


@dataclass(frozen=True, slots=True)
class Question:
    """Something a user asks, perhaps about the past."""

    user_id: str
    text: str
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, the context that an agent would get for it, and the best-matching facts in it."""

    question: Question
    context: Context
    best: list[Memory]

    @property
    def told(self) -> list[str]:
        """What the agent would get: the best-matching facts, or else the best lines of the context."""
        if self.best:
            return [f"{one_line(memory.content)} (said {day(memory.created_at)})" for memory in self.best]
        lines = [line.removeprefix("- ") for line in self.context.text.splitlines() if line.startswith("- ")]
        asked = set(self.question.text.casefold().strip("?").split())
        return sorted(lines, key=lambda line: -sum(word in line.casefold() for word in asked if len(word) > _SHORT))


@dataclass(frozen=True, slots=True)
class Tour:
    """Everything that a quickstart shows."""

    store: str
    resumed: bool
    ingested: Ingested
    users: list[UserView]
    answers: list[Answer]
    page: str
    """The file that shows it all in a browser."""


def by_importance(memories: Sequence[Memory]) -> list[Memory]:
    """Memories by importance, then confidence, then newest first."""
    return sorted(memories, key=lambda memory: (-memory.importance, -memory.confidence, -memory.created_at.timestamp()))


def show_tour(console: Console, tour: Tour, *, full: bool) -> None:
    """Prints what is remembered, what changed, and answers; in full with summaries, profiles and whole contexts."""
    if full:
        for number, user in enumerate(tour.users, start=1):
            console.print()
            console.rule(Text(f"{number}. {user.user_id}", style="bold"), align="left", style="dim")
            _show_user(console, user)
    else:
        _show_users(console, tour.users)
    console.print()
    console.rule(Text("Asked from a new session", style="bold"), align="left", style="dim")
    for answer in tour.answers:
        _show_answer(console, answer, full=full)
    _show_next(console, tour, full=full)


def _show_users(console: Console, users: Sequence[UserView]) -> None:
    remembered = table("user", "memories", "such as", right=["memories"])
    changed = table("user", "no longer", "instead", "since")
    for user in users:
        best = by_importance(user.memories)[:FEW]
        such = Text("\n").join(Text(one_line(memory.content, WIDTH)) for memory in best)
        remembered.add_row(user.user_id, str(len(user.memories)), such)
        for old, new in [pair for pair in user.superseded if pair[1] is not None][-FEW - 1 :]:
            instead = new or old
            changed.add_row(user.user_id, one_line(old.content), one_line(instead.content), day(instead.created_at))
    console.print(heading("Remembered"), remembered, sep="\n")
    if not any(user.memories for user in users):
        console.print(Text(NOTHING_EXTRACTED, style="dim"))
    if changed.row_count:
        console.print(heading("No longer true"), changed, sep="\n")


def _show_user(console: Console, user: UserView) -> None:
    chosen = sorted(by_importance(user.memories)[:SHOWN_MEMORIES], key=lambda memory: memory.created_at)
    console.print(heading("Remembered"), memory_table(chosen), sep="\n")
    if len(user.memories) > len(chosen):
        console.print(Text(f"and {len(user.memories) - len(chosen)} more", style="dim"))
    if user.superseded:
        console.print(heading("No longer true"), superseded_table(user.superseded[-SHOWN_SUPERSEDED:]), sep="\n")
    if user.summaries:
        console.print(heading("Threads"), *(summary_lines(summary, points=1) for summary in user.summaries), sep="\n")
    if user.profile:
        console.print(heading("Profile"), profile_view(user.profile, points=3), sep="\n")


def _show_answer(console: Console, answer: Answer, *, full: bool) -> None:
    past = f" (as of {day(answer.question.as_of)})" if answer.question.as_of else ""
    console.print()
    console.print(Text.assemble(f"{answer.question.user_id}: ", (one_line(answer.question.text), "bold"), past))
    console.print(context_view(answer.context) if full else context_digest(answer.context, answer.told))


def _show_next(console: Console, tour: Tour, *, full: bool) -> None:
    first = tour.answers[0].question if tour.answers else Question(tour.users[0].user_id, "What do you know about me?")
    of_user = ("--user", first.user_id, "--store", tour.store)
    commands = [
        invocation("context", first.text, *of_user),
        invocation("explore", tour.store),
        invocation("show", "--superseded", *of_user),
        invocation("ingest", "FILE", "--store", tour.store),
    ]
    if not full:
        commands.append(invocation("quickstart", "--full"))
    console.print(heading("Try next"))
    for command in commands:
        console.print(f"  {command}", soft_wrap=True)
    console.print(heading("See it in a browser"))
    console.print(f"  {tour.page}", soft_wrap=True)
