"""Context: the few hundred tokens that an agent is given before it answers. Never raises (docs/decisions/0012)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from agent_memory.errors import InvalidInput
from agent_memory.forgetting.profiles import told_profile
from agent_memory.language.endpoints import health_of
from agent_memory.language.roles import is_off, models_of
from agent_memory.language.tasks import QUERY_REWRITE, ChatModel
from agent_memory.models import (
    Context,
    ContextFormat,
    Hit,
    Memory,
    SearchFilters,
    Signals,
    ThreadState,
    ThreadSummary,
    Turn,
    UserProfile,
    iso,
    now,
)
from agent_memory.recall.archive import Conversation, search_archive
from agent_memory.recall.asking import repeats_question
from agent_memory.recall.bm25 import Bm25
from agent_memory.recall.budget import HINTS, TURNS, fit
from agent_memory.recall.changes import newer_versions, with_newer
from agent_memory.recall.gate import Decision, classify, decide
from agent_memory.recall.hints import find_hints, untold
from agent_memory.recall.questions import HISTORY_MESSAGES, Question, build_question, hypothetical
from agent_memory.recall.render import (
    Line,
    archive_line,
    hint_line,
    memory_line,
    profile_line,
    state_lines,
    summary_line,
)
from agent_memory.recall.search import LONGEST_QUERY, Searcher, search
from agent_memory.settings import QueryStrategy
from agent_memory.store.static import StaticFacts
from agent_memory.store.summaries import read_state, read_summary
from agent_memory.store.windows import last_live_turns
from agent_memory.text.asked_back import trigger_in
from agent_memory.text.folding import folded
from agent_memory.text.terms import query_terms
from agent_memory.text.tokens import TokenCounter

logger = logging.getLogger("agent_memory")

DEFAULT_BUDGET = 650
"""Tokens: about 150 of memories, 100 of state and 400 of the last turns."""
DEFAULT_LIMIT = 20
"""Memories at most; the budget mostly holds fewer."""
COMPARED = 60
"""Hits that are compared with each other, so that the newest of those that say different things is told."""
LAST_TURNS = 5
"""Turns that a context shows."""
_HISTORY_TURNS = 8
"""Turns that are read: among them are mostly the last three messages of the user."""
_HISTORY_SHARE = 0.3
"""Of the deadline: how long a question that leaves things out waits for the talk before it."""
_VECTOR_SHARE = 0.6
"""Of what is left of the deadline: how long vectors are waited for, so that there is time to search by words."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is asked for.

    `history` are messages that the store may not have; the thread's own if None. `timeout` is what is left of the
    deadline; all of it if None. Hints of a project are told if it is `project_id`.
    """

    user_id: str
    thread_id: str | None
    query: str
    budget: int = DEFAULT_BUDGET
    limit: int = DEFAULT_LIMIT
    as_of: datetime | None = None
    format: ContextFormat = "sections"
    strategy: QueryStrategy | None = None
    signals: Signals | None = None
    history: Sequence[Mapping[str, Any]] | None = None
    timeout: float | None = None
    project_id: str | None = None

    def check(self) -> None:
        """Refuses what no context can be made of.

        Raises:
            InvalidInput: naming the argument.
        """
        if not isinstance(self.query, str):
            raise InvalidInput(f"a context needs a query, a text, not {self.query!r:.60}")
        if not isinstance(self.budget, int) or not isinstance(self.limit, int) or self.limit < 1:
            raise InvalidInput(f"budget and limit must be numbers: {self.budget!r:.60}, {self.limit!r:.60}")
        if self.format not in get_args(ContextFormat):
            raise InvalidInput(f"no format {self.format!r:.60}; there are {', '.join(get_args(ContextFormat))}")
        if self.strategy not in (None, *get_args(QueryStrategy)):
            raise InvalidInput(f"no strategy {self.strategy!r:.60}; there are {', '.join(get_args(QueryStrategy))}")


@dataclass(frozen=True, slots=True)
class Recaller:
    """What contexts are made with."""

    searcher: Searcher
    chat: ChatModel
    tokens: TokenCounter
    static: StaticFacts

    def timeout(self, request: ContextRequest) -> float:
        """Seconds within which a context must be there."""
        return self.searcher.settings.context_timeout if request.timeout is None else request.timeout


@dataclass(slots=True)
class _Parts:
    """What was found, and how."""

    hits: Sequence[Hit] = ()
    hints: Sequence[Hit] = ()
    static: Sequence[Memory] = ()
    archive: Sequence[Conversation] = ()
    profile: UserProfile | None = None
    summary: ThreadSummary | None = None
    state: ThreadState | None = None
    turns: Sequence[Turn] = ()
    question: Question | None = None
    decisions: dict[str, str] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)


async def build_context(recaller: Recaller, request: ContextRequest) -> Context:
    """Decides whether to search, gathers within the deadline, and renders what the budget holds.

    A part that fails or is late is left out and named in `degraded`.
    """
    started = time.perf_counter()
    parts = _Parts()
    try:
        request.check()
        deadline = asyncio.get_running_loop().time() + recaller.timeout(request)
        gate = await _gate(recaller, request, parts)
        request = replace(request, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
        await _gather(recaller, request, gate, parts)
        context = _compose(parts, recaller, request)
        context.skipped_reason = gate.reason or _why_empty(context, parts)
    except Exception as error:
        logger.warning("Memory context failed, skipping", exc_info=True)
        context = Context(decisions=parts.decisions)
        parts.degraded.append(f"context: {str(error) or type(error).__name__}")
    context.degraded = parts.degraded + _behind(recaller)
    context.milliseconds = round((time.perf_counter() - started) * 1000, 2)
    return context


def _behind(recaller: Recaller) -> list[str]:
    """What a context may lack because a model fails, so that what was said lately is not processed."""
    models = (*models_of(recaller.chat).items(), ("embeddings", recaller.searcher.embeddings))
    return [
        f"processing: the model for {name} has failed since {iso(health.failing_since)} ({health.fault})"
        for name, model in models
        if (health := health_of(model)).failing_since
    ]


async def _gate(recaller: Recaller, request: ContextRequest, parts: _Parts) -> Decision:
    settings = recaller.searcher.settings
    signals = request.signals
    if signals is None:
        signals = await classify(request.query, settings.classifier, recaller.timeout(request), parts.degraded)
    decision = decide(request.query, signals)
    parts.decisions["gate"] = "search" if decision.search else f"skip: {decision.reason}"
    return decision


async def _gather(recaller: Recaller, request: ContextRequest, gate: Decision, parts: _Parts) -> None:
    """Reads all parts at once. What a conversation holds itself is read whatever the gate says: only recall is not."""
    store, user, thread = recaller.searcher.store, request.user_id, request.thread_id
    loop = asyncio.get_running_loop()
    timeout = recaller.timeout(request)
    deadline = loop.time() + timeout

    async def turns() -> None:
        assert thread is not None
        recent = await last_live_turns(store, user, thread, _HISTORY_TURNS)
        # A tool's answer without its call is refused by chat models.
        parts.turns = [turn for turn in recent if turn.role in ("user", "agent")]

    async def summary() -> None:
        assert thread is not None
        parts.summary = await read_summary(store, user, thread)

    async def state() -> None:
        assert thread is not None
        parts.state = await read_state(store, user, thread)

    async def static() -> None:
        parts.static = await recaller.static.all()

    async def archive() -> None:
        assert trigger is not None
        query = request.query[:LONGEST_QUERY]
        patience = timeout * _VECTOR_SHARE
        parts.archive = await search_archive(recaller.searcher, user, thread, query, trigger, patience)

    async def profile() -> None:
        parts.profile = await told_profile(store, user, recaller.searcher.threads_off)

    work: dict[str, asyncio.Task[None]] = {}
    trigger: str | None = None

    async def memories() -> None:
        said = await _said_before(request, work.get(TURNS), parts, timeout)
        await _find(recaller, request, said, parts, deadline)

    async def hints() -> None:
        said = await _said_before(request, work.get(TURNS), parts, timeout)
        patience = max(0.0, deadline - loop.time()) * _VECTOR_SHARE
        talk = [request.query, *said[-HISTORY_MESSAGES:]]
        parts.hints = await find_hints(recaller.searcher, user, talk, request.project_id, patience)

    if thread is not None:
        work[TURNS] = asyncio.ensure_future(turns())
        # Summary, state and profile tell what holds now, which is beside the point when the past is asked for.
        if request.as_of is None:
            work["summary"] = asyncio.ensure_future(summary())
            work["state"] = asyncio.ensure_future(state())
    if gate.search:
        work["static"] = asyncio.ensure_future(static())
        if request.as_of is None:
            work["profile"] = asyncio.ensure_future(profile())
            trigger = trigger_in(request.query, recaller.searcher.settings.archive_triggers)
            if trigger is not None:
                parts.decisions["archive"] = f"search: {trigger}"
                work["archive"] = asyncio.ensure_future(archive())
            if recaller.searcher.settings.hints:
                work[HINTS] = asyncio.ensure_future(hints())
        work["memories"] = asyncio.ensure_future(memories())
    await _in_time(work, timeout, parts.degraded)


async def _said_before(
    request: ContextRequest, turns: asyncio.Task[None] | None, parts: _Parts, timeout: float
) -> list[str]:
    """The user's messages before the question, oldest first, as far as they can be had in time."""
    if request.history is not None:
        said = [str(message["content"]) for message in request.history if message.get("role") == "user"]
    elif turns is not None:
        await asyncio.wait([turns], timeout=timeout * _HISTORY_SHARE)
        said = [turn.content for turn in parts.turns if turn.role == "user"]
    else:
        said = []
    return said[:-1] if said and said[-1].strip() == request.query.strip() else said


async def _find(
    recaller: Recaller, request: ContextRequest, said: Sequence[str], parts: _Parts, deadline: float
) -> None:
    """Searches by the question as it is best asked, and by a hypothetical answer where that found little."""
    searcher = recaller.searcher
    settings = searcher.settings
    strategy = request.strategy or settings.query_strategy
    if strategy in ("rewrite", "hyde") and is_off(recaller.chat, QUERY_REWRITE):
        strategy = "prepend"
    question = await build_question(
        request.query[:LONGEST_QUERY], said, strategy, recaller.chat, recaller.timeout(request)
    )
    parts.question, parts.decisions["query"] = question, question.decision
    parts.hits = hits = await _search(searcher, request, question, parts, deadline)
    threshold = settings.threshold(searcher.embeddings.model_id)
    if strategy == "hyde" and max((hit.similarity or 0.0 for hit in hits), default=0.0) <= threshold:
        answer = await hypothetical(question, recaller.chat, recaller.timeout(request))
        if answer is not None:
            parts.question, parts.decisions["query"] = answer, answer.decision
            known = {hit.memory.id for hit in hits}
            more = await _search(searcher, request, answer, parts, deadline)
            hits = [*hits, *(hit for hit in more if hit.memory.id not in known)]
    if not hits:
        logger.debug("No memories above threshold")
    logger.info("Memory: Retrieved %d memories", len(hits))
    parts.hits = hits


async def _search(
    searcher: Searcher, request: ContextRequest, question: Question, parts: _Parts, deadline: float
) -> list[Hit]:
    filters = SearchFilters() if request.as_of is None else SearchFilters(as_of=request.as_of)
    # Some of what is found may be shown as turns of the conversation already.
    most = max(request.limit + LAST_TURNS + 1, COMPARED)
    patience = max(0.0, deadline - asyncio.get_running_loop().time()) * _VECTOR_SHARE
    found = await search(searcher, (request.user_id,), question.text, limit=most, filters=filters, patience=patience)
    parts.degraded.extend(found.degraded)
    return found.hits


async def _in_time(work: Mapping[str, asyncio.Task[None]], timeout: float, degraded: list[str]) -> None:
    """Waits for the work until the deadline; what failed or is late is left alone and named."""
    if not work:
        return
    names = {task: name for name, task in work.items()}
    try:
        done, late = await asyncio.wait(names, timeout=timeout)
    finally:
        for task in names:
            task.cancel()
    for task in late:
        task.add_done_callback(_swallow)
        logger.warning("Memory %s timeout, skipping", _LOGGED.get(names[task], names[task]))
        degraded.append(f"{names[task]}: not ready in time")
    for task in done:
        error = task.exception()
        if error is not None:
            logger.warning("Memory %s failed, skipping: %s", _LOGGED.get(names[task], names[task]), error)
            degraded.append(f"{names[task]}: {str(error) or type(error).__name__}")


_LOGGED = {"memories": "search"}


def _swallow(task: asyncio.Task[None]) -> None:
    """Looks at the end of a task that nobody waits for, so that asyncio does not complain of it."""
    if not task.cancelled():
        task.exception()


def _compose(parts: _Parts, recaller: Recaller, request: ContextRequest) -> Context:
    shown = _shown(parts.turns, request.query)
    since = now() - timedelta(seconds=recaller.searcher.settings.fresh_seconds)
    hits = [
        hit
        for hit in parts.hits
        if not (_is_shown(hit.memory, shown) or repeats_question(hit.memory, request.query, since))
    ]
    newer = newer_versions(hits, request.query) if request.as_of is None else {}
    near = _telling(hits[: request.limit], request, recaller.searcher.settings.context_cut)
    told = with_newer(near, hits, newer)
    memories = [memory_line(hit.memory, hit.score, is_older=hit.memory.id in newer) for hit in told]
    before = [request.query, *(turn.content for turn in shown)]
    lines: dict[str, list[Line]] = {
        "memories": memories,
        TURNS: [_turn_line(turn) for turn in reversed(shown)],
        HINTS: [hint_line(hit) for hit in untold(parts.hints, told, before, recaller.searcher.settings)],
        "state": state_lines(parts.state.state) if parts.state else [],
        "summary": [summary_line(line) for line in parts.summary.content.splitlines()] if parts.summary else [],
        "profile": _profile_lines(parts.profile),
        "archive": [archive_line(account) for account in parts.archive],
        "static": _static_lines(parts.static, request.query[:LONGEST_QUERY]),
    }
    found = fit(lines, recaller.tokens, request.budget, request.format)
    recent = [{"role": line.used["role"], "content": line.text} for line in reversed(found.kept[TURNS])]
    messages = ([{"role": "system", "content": found.text}] if found.text else []) + recent
    return Context(
        text=found.text,
        messages=messages,
        used=[line.used for name, part in found.kept.items() if name != TURNS for line in part]
        + [line.used for line in reversed(found.kept[TURNS])],
        left_out=[line.used for line in found.left_out],
        tokens=found.tokens,
        query=parts.question.text if parts.question else None,
        decisions=parts.decisions,
    )


def _why_empty(context: Context, parts: _Parts) -> str | None:
    if context.messages:
        return None
    return "memory did not answer" if parts.degraded else "nothing is known that would help"


def _telling(hits: Sequence[Hit], request: ContextRequest, cut: float) -> list[Hit]:
    """The hits that are not far behind the best, without raw talk that says what has been replaced since."""
    least = cut * max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score >= least and not (_is_overtaken(hit) and request.as_of is None)]


def _is_shown(memory: Memory, shown: Sequence[Turn]) -> bool:
    """Whether a memory is one of the last turns, which the agent has before it anyway."""
    here = {(turn.thread_id, turn.id) for turn in shown}
    return memory.kind == "chunk" and (memory.thread_id, memory.source_turn_ids[0]) in here


def _is_overtaken(hit: Hit) -> bool:
    return hit.memory.kind == "chunk" and hit.memory.valid_to is not None


def _profile_lines(profile: UserProfile | None) -> list[Line]:
    """The profile line by line, what binds the agent most first."""
    if profile is None:
        return []
    parts = [profile.constraints, profile.preferences, profile.personal, profile.current_work, profile.environment]
    return [profile_line(text) for part in parts for text in part]


def _static_lines(facts: Sequence[Memory], query: str) -> list[Line]:
    """What holds for everybody, what the question is about first: so that this is told if not all can be."""
    matches = Bm25({fact.id: fact.content for fact in facts}).scores(query_terms(query))
    return [memory_line(fact) for fact in sorted(facts, key=lambda fact: -matches[fact.id])]


def _shown(turns: Sequence[Turn], query: str) -> Sequence[Turn]:
    """The last turns, without the question itself if it has been written already: its asker sends it along."""
    asked = bool(turns) and turns[-1].role == "user" and turns[-1].content.strip() == query.strip()
    return (turns[:-1] if asked else turns)[-LAST_TURNS:]


def _turn_line(turn: Turn) -> Line:
    role = {"agent": "assistant"}.get(turn.role, turn.role)
    return Line(TURNS, folded(turn.content), {"id": turn.id, "type": "turn", "role": role})
