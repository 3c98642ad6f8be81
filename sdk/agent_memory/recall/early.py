"""A context that streams: sections that do not depend on the search are sent while the search is still running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from typing_extensions import TypedDict

from agent_memory.models import Context, ContextFormat, ContextSection, Filter, Signals
from agent_memory.recall.render import SHARES, TURNS, Line, render
from agent_memory.settings import QueryStrategy
from agent_memory.text.tokens import TokenCounter


class ContextOptions(TypedDict, total=False):
    """The options of `context`, which `context_stream` takes too."""

    budget: int
    limit: int
    as_of: datetime | None
    format: ContextFormat
    strategy: QueryStrategy | None
    signals: Signals | None
    history: Sequence[Mapping[str, Any]] | None
    filters: Filter | Mapping[str, Any] | None
    groups: Sequence[str]
    agent_id: str | None


_listener: ContextVar[Callable[[ContextSection], None] | None] = ContextVar("context_listener", default=None)
"""The receiver of early sections, in the task that builds a context and in the tasks that it starts."""


def tell(name: str, lines: Sequence[Line], budget: int, form: ContextFormat, tokens: TokenCounter) -> None:
    """Sends a section to the caller that streams this context, cut to its share of the budget."""
    listener = _listener.get()
    if listener is None:
        return
    kept: list[Line] = []
    room = int(budget * SHARES[name])
    for line in lines:
        room -= tokens.count(f"- {line.dated}\n")
        if room < 0:
            break
        kept.append(line)
    if not kept:
        return
    used = [line.used for line in kept]
    if name == TURNS:
        messages = [{"role": str(line.used["role"]), "content": line.text} for line in reversed(kept)]
        listener(ContextSection(name="turns", messages=messages, used=used))
    else:
        listener(ContextSection.model_validate({"name": name, "text": render(kept, form), "used": used}))


async def stream(build: Callable[[], Coroutine[Any, Any, Context]]) -> AsyncIterator[ContextSection]:
    """The early sections of a context that `build` makes, and then the whole of it."""
    sections: asyncio.Queue[ContextSection | None] = asyncio.Queue()
    token = _listener.set(sections.put_nowait)
    try:
        task = asyncio.create_task(build())
    finally:
        _listener.reset(token)
    task.add_done_callback(lambda _: sections.put_nowait(None))
    try:
        while (section := await sections.get()) is not None:
            yield section
        yield whole(await task)
    finally:
        task.cancel()


def whole(context: Context) -> ContextSection:
    """The last part of a stream."""
    return ContextSection(
        name="context", text=context.text, messages=context.messages, used=context.used, context=context
    )
