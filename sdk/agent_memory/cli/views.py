"""How memories look in a terminal: plain tables and lists, readable without colour and in a pipe.

Tables name a memory by the end of its id, which is short enough to type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from agent_memory.cli.failures import with_hint
from agent_memory.cli.terminal import clean, counted, one_line
from agent_memory.errors import AgentMemoryError, InvalidInput, NotFound
from agent_memory.text.patterns import linear

if TYPE_CHECKING:
    from agent_memory.evaluation import Miss
    from agent_memory.models import Context, ContextSection, Hit, Memory, ThreadSummary, UserProfile
    from agent_memory.sync import ThreadScope, UserScope


_SECTIONS = ("personal", "preferences", "current_work", "environment", "constraints")
_ID_WIDTH = 24
"""The width of an id in a line; the rest is for the text."""

DIGEST_LINES = 4
"""Number of lines in the preview of a context."""


def day(moment: datetime | None) -> str:
    """A date as people write it, in the time zone of the user who is shown."""
    if moment is None:
        return ""
    here = local(moment)
    return f"{here.day} {here:%b %Y}"


def day_and_time(moment: datetime) -> str:
    """A time as people write it, with its offset from UTC."""
    here = local(moment)
    return f"{day(moment)}, {here:%H:%M} {'UTC' if not here.utcoffset() else here.isoformat()[-6:]}"


def heading(text: str) -> RenderableType:
    """The title of a part."""
    return Text.assemble("\n", (text, "bold"))


def table(*columns: str, right: Iterable[str] = ()) -> Table:
    """An empty table with these columns; the widest text column takes what is left."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", no_wrap=column in _NARROW)
    return made


_NARROW = {"id", "kind", "sure", "said", "when", "near", "why", "turns", "step", "tries", "user", "waiting", "newest"}


def statement(memory: Memory) -> Text:
    """A memory with the words it comes from; in quotation marks if it is exactly those words."""
    content, quote = one_line(memory.content), one_line(memory.quote or "")
    verbatim = quote.rstrip(".!") == content.rstrip(".!")
    shown = Text(f"“{content}”" if verbatim else content)
    if memory.valid_to:
        shown.append(f" (until {day(memory.valid_to)})", style="dim")
    if quote and not verbatim and memory.kind != "chunk":  # its content already has those words
        shown.append(f"\n“{one_line(quote, 160)}”", style="dim")
    return shown


def memory_table(memories: Iterable[Memory]) -> Table:
    """Memories with their id, kind, confidence, and when they were said."""
    made = table("id", "kind", "remembered", "sure", "said", right=["sure"])
    for memory in memories:
        id, words = _named(memory)
        made.add_row(id, _kind(memory), words, f"{memory.confidence:.2f}", day(memory.created_at))
    return made


def superseded_table(pairs: Iterable[tuple[Memory, Memory | None]]) -> Table:
    """What was replaced, by what, why and when."""
    made = table("no longer", "instead", "why", "since")
    for old, new in pairs:
        since = new.created_at if new else old.superseded_at
        instead = one_line(new.content) if new else "(nothing)"
        made.add_row(Text(one_line(old.content)), Text(instead), old.supersede_reason or "", day(since))
    return made


def superseded_pairs(memories: Sequence[Memory]) -> list[tuple[Memory, Memory | None]]:
    """Each memory that was replaced, oldest first, with the one that replaced it."""
    by_id = {memory.id: memory for memory in memories}
    gone = [memory for memory in memories if memory.superseded_at is not None]
    pairs = [(memory, by_id.get(memory.superseded_by or "")) for memory in gone]
    return sorted(pairs, key=lambda pair: pair[0].created_at)


def hit_table(hits: Iterable[Hit], *, explain: bool = False) -> Table:
    """Results of a search, best first; if asked, with what each score is made of."""
    made = table("id", "kind", "remembered", "near", "said", right=["near"])
    for hit in hits:
        near = "" if hit.similarity is None else f"{hit.similarity:.2f}"
        id, words = _named(hit.memory)
        if explain:
            words.append(f"\n{one_line(hit.explanation, 400)}", style="dim")
        made.add_row(id, _kind(hit.memory), words, near, day(hit.memory.created_at))
    return made


def miss_view(miss: Miss) -> RenderableType:
    """A question that an evaluation missed: why, the rank of its evidence, and what ranks before it."""
    rank = "not found" if miss.rank is None else f"best rank {miss.rank}"
    words = f"; shares {', '.join(miss.shared_words)}" if miss.shared_words else ""
    lines = [
        Text.assemble("\n", (one_line(miss.question), "bold"), f"  {miss.category}, {clean(miss.conversation)}"),
        Text(f"  {miss.kind}: {', '.join(map(clean, miss.missing))}, {rank}{words}"),
    ]
    for result in miss.outranked_by:
        lines.append(Text(f"  before it: {one_line(result.text, 100)}"))
        if result.why:
            lines.append(Text(f"    {one_line(result.why, 300)}", style="dim"))
    return Group(*lines)


def summary_lines(summary: ThreadSummary, points: int = 2) -> RenderableType:
    """A thread in a few lines: its length, its topic and its first points."""
    title = Text.assemble((clean(summary.thread_id), "bold"), f"  {counted(summary.turn_count, 'turn')}")
    if summary.topic:
        title.append(f"  {one_line(summary.topic, 60)}", style="dim")
    return Group(title, *_bullets(summary.key_points[:points], points))


def summary_view(summary: ThreadSummary) -> RenderableType:
    """A thread's whole summary."""
    lines = [summary_lines(summary, points=len(summary.key_points))]
    for label, items in (("Decided", summary.decisions), ("Open", summary.open_issues), ("Next", summary.next_steps)):
        if items:
            lines += [Text(label), *_bullets(items, len(items))]
    return Group(*lines)


def profile_view(profile: UserProfile, points: int = 5) -> RenderableType:
    """A user's profile, section by section."""
    lines: list[RenderableType] = []
    for section in _SECTIONS:
        if items := getattr(profile, section):
            lines.append(Text(section.replace("_", " ").capitalize()))
            lines += _bullets(items, points)
    return Group(*lines or [Text(one_line(profile.content))])


def context_view(context: Context) -> RenderableType:
    """The text that an agent would get, and its cost."""
    text = Text(clean(context.text)) if context.text else Text(f"(empty: {context.skipped_reason or 'nothing fits'})")
    return Group(Panel(text, box=box.SQUARE, border_style="dim"), *_cost_of(context))


def section_view(section: ContextSection) -> RenderableType:
    """An early section of a context that streams."""
    said = "\n".join(f"{one['role']}: {one['content']}" for one in section.messages)
    return Panel(Text(clean(section.text or said)), title=section.name, box=box.SQUARE, border_style="dim")


def context_digest(context: Context, told: Sequence[str]) -> RenderableType:
    """The first lines of a context, and the cost of the whole."""
    nothing = Text(f"  (the context is empty: {context.skipped_reason or 'nothing fits'})")
    return Group(*_bullets(told, DIGEST_LINES) if told else [nothing], *_cost_of(context))


def _cost_of(context: Context) -> list[RenderableType]:
    lines = {item.get("line", -place) for place, item in enumerate(context.used)}
    cost = f"{context.tokens} tokens · {context.milliseconds:.0f} ms · {counted(len(lines), 'line')}"
    if context.relevance is not None:
        cost += f" · relevance {context.relevance:.0%}"
    if context.left_out:
        cost += f" · {len(context.left_out)} left out: no room in the budget"
    return [Text(f"  {cost}", style="dim"), *(Text(f"  degraded: {one_line(why)}") for why in context.degraded)]


def _bullets(items: Iterable[str], limit: int) -> list[RenderableType]:
    shown = list(items)
    lines: list[RenderableType] = []
    for item in shown[:limit]:
        line = Table.grid(padding=(0, 1))
        line.add_row("  -", Text(one_line(item, 240)))
        lines.append(line)
    if len(shown) > limit:
        lines.append(Text(f"    and {len(shown) - limit} more", style="dim"))
    return lines


def _named(memory: Memory) -> tuple[str, Text]:
    """The id and the text of a memory; an id too long for its column goes below the text."""
    id, words = clean(short_id(memory)), statement(memory)
    return (id, words) if len(id) <= _ID_WIDTH else ("", words.append(f"\n{id}", style="dim"))


def _kind(memory: Memory) -> str:
    if memory.kind == "chunk":
        return "talk"
    return memory.kind or memory.type if memory.type == "fact" else memory.type


_zone: ContextVar[tzinfo] = ContextVar("zone", default=UTC)


def show_utc() -> None:
    """From now on, days are those of UTC: nothing is known of a user yet."""
    _zone.set(UTC)


def show_zone_of(*scopes: UserScope | ThreadScope) -> None:
    """From now on, days are those of the first of these scopes whose settings name a time zone; else of UTC.

    A scope whose settings cannot be read counts as one without: no command fails for its days.
    """
    show_utc()
    for scope in scopes:
        try:
            name = scope.settings().time_zone
        except AgentMemoryError:
            continue
        if name is not None:
            from agent_memory.models import time_zone

            _zone.set(time_zone(name))
            return


def zone_name() -> str:
    """The zone of the days that are shown, like Europe/Lisbon."""
    return str(_zone.get())


def in_zone(moment: datetime | None) -> datetime | None:
    """A time that was typed: without a zone it is that of the user."""
    return moment.replace(tzinfo=_zone.get()) if moment and moment.tzinfo is None else moment


def local(moment: datetime) -> datetime:
    """A time where the user is."""
    from agent_memory.models import there

    return there(moment, _zone.get())


_MADE = linear(r"[a-z_]+_[0-9a-f-]{24,28}(?P<end>[0-9a-f]{8})")
"""With 1,000 memories, about one store in 8,000 has two ids with the same ending."""
_TYPED = linear(r"[0-9a-f-]{8,31}")
_TYPES = ["fact", "episodic", "procedural", "reflection"]


def short_id(memory: Memory) -> str:
    """What a table shows of an id: its last characters if `full_id` finds the memory by them, else all of it."""
    made = _MADE.fullmatch(memory.id)
    listed = memory.kind != "chunk" and (memory.status == "active" or memory.superseded_by is None)
    return made["end"] if made and listed else memory.id


def full_id(scope: UserScope, typed: str, look: Callable[[str], object] | None = None) -> str:
    """The full id: the one that was typed, or the one that ends with it, if eight characters or more were typed.

    Anything else is returned unchanged.

    Args:
        scope: Whose memory.
        typed: An id, or the end of one.
        look: Finds an item by its id, or raises NotFound; by default it looks for memories.

    Raises:
        InvalidInput: if several ids end with it.
    """
    if not _TYPED.fullmatch(typed):
        return typed
    try:
        (look or scope.get)(typed)
    except NotFound:
        listed = [*scope.memories(types=_TYPES, include_superseded=True), *scope.review()]
    else:
        return typed
    found = [memory.id for memory in listed if memory.id.endswith(typed)]
    if len(found) > 1:
        several = InvalidInput(f"{len(found)} memories end with {typed}")
        raise with_hint(several, f"type more of the id: {', '.join(found)}")
    return found[0] if found else typed
