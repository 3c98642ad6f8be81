"""Context: the few hundred tokens that an agent is given before it answers. Never raises (decision D12)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.language.tokens import TokenCounter
from agent_memory.models import Context, Hit, ThreadSummary, Turn, UserProfile
from agent_memory.recall.render import Line, memory_line, profile_line, render, summary_line
from agent_memory.recall.search import Searcher, search
from agent_memory.store.summaries import read_profile, read_summary
from agent_memory.store.windows import last_live_turns

logger = logging.getLogger("agent_memory")

DEFAULT_BUDGET = 650
"""Tokens: about 150 of memories, 100 of state and 400 of the last turns (row S0-098)."""
LAST_TURNS = 5
MAX_CHUNKS = 3
"""Pieces of raw talk at most; what was derived from talk says more in fewer tokens."""
_SHARES = {"memories": 0.45, "turns": 0.25, "summary": 0.15, "profile": 0.15}
"""How the budget is first divided; what one part leaves goes to the next, in this order, which is that of value."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is asked for."""

    user_id: str
    thread_id: str | None
    query: str
    budget: int = DEFAULT_BUDGET
    limit: int = 10
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Parts:
    hits: Sequence[Hit]
    profile: UserProfile | None
    summary: ThreadSummary | None
    turns: Sequence[Turn]


async def build_context(searcher: Searcher, tokens: TokenCounter, request: ContextRequest) -> Context:
    """Gathers memories, profile, summary and last turns within the deadline, and renders what the budget holds.

    A part that fails or is late is left out and named in `degraded`.
    """
    started = time.perf_counter()
    degraded: list[str] = []
    try:
        parts = await _gather(searcher, request, degraded)
        context = _compose(parts, tokens, request)
    except Exception as error:
        logger.warning("Memory context failed, skipping", exc_info=True)
        context = Context()
        degraded.append(f"context: {error}")
    context.degraded = degraded
    context.milliseconds = round((time.perf_counter() - started) * 1000, 2)
    return context


async def _gather(searcher: Searcher, request: ContextRequest, degraded: list[str]) -> _Parts:
    store, user = searcher.store, request.user_id
    partition = (user,)

    async def find() -> Sequence[Hit]:
        found = await search(searcher, partition, request.query, limit=request.limit, as_of=request.as_of)
        degraded.extend(found.degraded)
        return found.hits

    async def profile() -> UserProfile | None:
        # The profile tells what holds now, which is beside the point when the past is asked for.
        if request.as_of is not None:
            return None
        return await read_profile(store, user)

    async def summary() -> ThreadSummary | None:
        if request.thread_id is None or request.as_of is not None:
            return None
        return await read_summary(store, user, request.thread_id)

    async def turns() -> Sequence[Turn]:
        if request.thread_id is None:
            return []
        recent = await last_live_turns(store, user, request.thread_id, LAST_TURNS)
        # A tool's answer without its call is refused by chat models.
        return [turn for turn in recent if turn.role in ("user", "agent")]

    work: dict[str, Callable[[], Awaitable[Any]]] = {
        "memories": find,
        "profile": profile,
        "summary": summary,
        "turns": turns,
    }
    answers = await _in_time(work, searcher.settings.context_timeout, degraded)
    return _Parts(answers.get("memories", []), answers.get("profile"), answers.get("summary"), answers.get("turns", []))


async def _in_time(
    work: dict[str, Callable[[], Awaitable[Any]]], timeout: float, degraded: list[str]
) -> dict[str, Any]:
    """What each piece of work gave, without those that failed or did not end in time."""
    tasks = {asyncio.ensure_future(run()): name for name, run in work.items()}
    done, late = await asyncio.wait(tasks, timeout=timeout)
    for task in late:
        task.cancel()
        logger.warning("Memory %s timeout, skipping", tasks[task])
        degraded.append(f"{tasks[task]}: not ready within {timeout} s")
    answers = {}
    for task in done:
        error = task.exception()
        if error is None:
            answers[tasks[task]] = task.result()
        else:
            logger.warning("Memory %s failed, skipping: %s", tasks[task], error)
            degraded.append(f"{tasks[task]}: {error}")
    return answers


def _compose(parts: _Parts, tokens: TokenCounter, request: ContextRequest) -> Context:
    hits = _worth_telling(parts.hits, request)
    memories = [memory_line(hit.memory, hit.score) for hit in hits]
    profile = _profile_lines(parts.profile, {hit.memory.content for hit in hits})
    summary = [summary_line(line) for line in parts.summary.content.splitlines()] if parts.summary else []
    sections: dict[str, list[Line]] = {
        "memories": memories,
        "turns": [_turn_line(turn) for turn in reversed(parts.turns)],
        "summary": summary,
        "profile": profile,
    }
    kept, left_out = _fit(sections, tokens, request.budget)
    told = [line for name in ("profile", "memories", "summary") for line in kept[name]]
    text = render(told)
    recent = [{"role": line.used["role"], "content": line.text} for line in reversed(kept["turns"])]
    messages = ([{"role": "system", "content": text}] if text else []) + recent
    return Context(
        text=text,
        messages=messages,
        used=[line.used for line in [*told, *reversed(kept["turns"])]],
        left_out=[line.used for line in left_out],
        tokens=sum(tokens.count(message["content"]) for message in messages),
        skipped_reason=None if messages else "nothing is known that would help",
    )


def _fit(
    sections: dict[str, list[Line]], tokens: TokenCounter, budget: int
) -> tuple[dict[str, list[Line]], list[Line]]:
    """What the budget holds of each section, best lines first, and what it does not hold."""
    # The frame (header, section titles) costs too; it is reserved once, so that the whole stays within the budget.
    room = budget - tokens.count(render([profile_line("")])) - 20
    cost = {id(line): tokens.count(line.text) + 3 for lines in sections.values() for line in lines}
    kept: dict[str, list[Line]] = {name: [] for name in sections}
    waiting = {name: list(lines) for name, lines in sections.items()}
    shares = {name: int(room * share) for name, share in _SHARES.items()}
    for caps in (shares, dict.fromkeys(_SHARES, room)):
        for name, cap in caps.items():
            spent = sum(cost[id(line)] for line in kept[name])
            while waiting[name] and cost[id(waiting[name][0])] <= min(room, cap - spent):
                line = waiting[name].pop(0)
                kept[name].append(line)
                spent += cost[id(line)]
                room -= cost[id(line)]
    return kept, [line for name in _SHARES for line in waiting[name]]


def _worth_telling(hits: Sequence[Hit], request: ContextRequest) -> list[Hit]:
    """The hits without the raw talk that says little beside the others, or says what has been replaced since."""
    chosen = []
    chunks = 0
    for hit in hits:
        if hit.memory.kind == "chunk":
            outdated = hit.memory.valid_to is not None and request.as_of is None
            if outdated or chunks == MAX_CHUNKS:
                continue
            chunks += 1
        chosen.append(hit)
    return chosen


def _profile_lines(profile: UserProfile | None, told: set[str]) -> list[Line]:
    """The profile line by line, what binds the agent most first, without what the memories tell already."""
    if profile is None:
        return []
    parts = [profile.constraints, profile.preferences, profile.personal, profile.current_work, profile.environment]
    return [profile_line(text) for part in parts for text in part if text not in told]


def _turn_line(turn: Turn) -> Line:
    role = {"agent": "assistant"}.get(turn.role, turn.role)
    return Line("", turn.content, {"id": turn.id, "type": "turn", "role": role})
