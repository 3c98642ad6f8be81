"""Context: the few hundred tokens that an agent gets before it answers. Never raises (docs/decisions/0012)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, get_args

from agent_memory.errors import InvalidInput
from agent_memory.forgetting.profiles import held_up
from agent_memory.language.endpoints import health_of
from agent_memory.language.roles import is_off, models_of
from agent_memory.language.tasks import QUERY_REWRITE, ChatModel
from agent_memory.models import Context, ContextFormat, Filter, Hit, SearchFilters, Signals, TextIs, iso
from agent_memory.recall import early
from agent_memory.recall.archive import search_archive
from agent_memory.recall.compose import (
    LAST_TURNS,
    Parts,
    Wanted,
    compose,
    state_lines,
    static_lines,
    summary_lines,
    turn_lines,
)
from agent_memory.recall.gate import Decision, classify, decide
from agent_memory.recall.groups import check_groups, merged, search_groups, with_conditions_of_groups
from agent_memory.recall.hints import find_hints
from agent_memory.recall.questions import HISTORY_MESSAGES, Question, build_question, hypothetical
from agent_memory.recall.relevance import COMPARED
from agent_memory.recall.render import HINTS, TURNS
from agent_memory.recall.search import LONGEST_QUERY, search
from agent_memory.recall.searcher import Searcher
from agent_memory.settings import QueryStrategy
from agent_memory.store.client import Store
from agent_memory.store.documents import Document
from agent_memory.store.ids import check_id
from agent_memory.store.scope_documents import ScopeDocuments
from agent_memory.store.static import StaticFacts
from agent_memory.store.turns import LiveTurn, last_turns_written
from agent_memory.text.asked_back import trigger_in
from agent_memory.text.tokens import TokenCounter

logger = logging.getLogger("agent_memory")

DEFAULT_BUDGET = 650
"""In tokens. `recall.render` divides it among the parts of a context."""
DEFAULT_LIMIT = 20
"""Memories at most; the budget mostly holds fewer."""
_HISTORY_TURNS = 8
"""Number of turns that are read. They mostly include the user's last three messages."""
_HISTORY_SHARE = 0.3
"""Share of the deadline that an incomplete question waits for the turns before it."""
_VECTOR_SHARE = 0.6
"""Share of the remaining time to wait for vectors, so that there is time to search by words."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The request for a context.

    `history` are messages that the store may not have; None: the thread's own. `timeout` is the remaining time; None:
    the whole deadline. Hints of a project are shown only if it is `project_id`. With `filters`, `types` or a
    `threshold` (as in `SearchFilters`), only matching memories are shown, and the profile, hints and other
    conversations are left out; `agent_id` is a filter as well. Memories of `groups` are shown too.
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
    project_id: str | None = None
    filters: Filter | Mapping[str, Any] | None = None
    groups: Sequence[str] = ()
    agent_id: str | None = None
    timeout: float | None = None
    types: Sequence[str] | None = None
    threshold: float | None = None

    @property
    def is_confined(self) -> bool:
        """Whether only some memories may be shown."""
        return not (self.filters is None and self.types is None and self.threshold is None)

    def confined(self, filters: Filter | None) -> Filter | None:
        """These filters, and the agent's if there is one."""
        if self.agent_id is None:
            return filters
        of_agent = Filter(agent_id=TextIs(eq=check_id(self.agent_id, "agent_id")))
        return of_agent if filters is None else Filter(and_=[of_agent, filters])

    def check(self) -> None:
        """Refuses a request from which no context can be built. Raises InvalidInput naming the argument."""
        if not isinstance(self.query, str):
            raise InvalidInput(f"a context needs a query, a text, not {self.query!r:.60}")
        if not isinstance(self.budget, int) or not isinstance(self.limit, int) or self.limit < 1:
            raise InvalidInput(f"budget and limit must be numbers: {self.budget!r:.60}, {self.limit!r:.60}")
        check_groups(self.groups)
        if self.format not in get_args(ContextFormat):
            raise InvalidInput(f"no format {self.format!r:.60}; the formats are {', '.join(get_args(ContextFormat))}")
        if self.strategy not in (None, *get_args(QueryStrategy)):
            raise InvalidInput(
                f"no strategy {self.strategy!r:.60}; the strategies are {', '.join(get_args(QueryStrategy))}"
            )


@dataclass(frozen=True, slots=True)
class Read:
    """What was read for the scope of a context: its small documents, and its last turns once they arrive."""

    documents: ScopeDocuments
    turns: Awaitable[list[LiveTurn]]


async def last_turns(store: Store, request: ContextRequest) -> list[LiveTurn]:
    """The last turns of the thread of a request; none if it has no thread."""
    if request.thread_id is None:
        return []
    return await last_turns_written(store, request.user_id, request.thread_id, _HISTORY_TURNS)


@dataclass(frozen=True, slots=True)
class Recaller:
    """The parts with which contexts are built."""

    searcher: Searcher
    chat: ChatModel
    tokens: TokenCounter
    static: StaticFacts
    groups: Mapping[str, Searcher] = field(default_factory=dict)
    """A searcher for each group whose memory is shown too."""

    def timeout(self, request: ContextRequest) -> float:
        """The time limit of a context, in seconds."""
        return self.searcher.settings.context_timeout if request.timeout is None else request.timeout


async def build_context(recaller: Recaller, request: ContextRequest, read: Read) -> Context:
    """Decides whether to search, gathers within the deadline, and renders what the budget holds.

    A part that fails or is late is left out and named in `degraded`.
    """
    started = time.perf_counter()
    parts = Parts()
    try:
        request.check()
        deadline = asyncio.get_running_loop().time() + recaller.timeout(request)
        gate = await _gate(recaller, request, parts)
        request = replace(request, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
        await _gather(recaller, request, read, gate, parts)
        context = compose(parts, _wanted(recaller, request), recaller.tokens)
        context.skipped_reason = gate.reason or context.skipped_reason
    except Exception as error:
        logger.warning("Memory context failed, skipping", exc_info=True)
        context = Context(decisions=parts.decisions)
        parts.degraded.append(f"context: {str(error) or type(error).__name__}")
    context.degraded = parts.degraded + _failing_models(recaller)
    context.milliseconds = round((time.perf_counter() - started) * 1000, 2)
    return context


def _wanted(recaller: Recaller, request: ContextRequest) -> Wanted:
    searcher = recaller.searcher
    return Wanted(
        query=request.query[:LONGEST_QUERY],
        budget=request.budget,
        limit=request.limit,
        as_of=request.as_of,
        format=request.format,
        settings=searcher.settings,
        embedding_model=searcher.embeddings.model_id,
        zone=searcher.zone,
    )


def _failing_models(recaller: Recaller) -> list[str]:
    """The models that fail, so that recent turns may not be processed and a context may lack what they say."""
    models = (*models_of(recaller.chat).items(), ("embeddings", recaller.searcher.embeddings))
    return [
        f"processing: the model for {name} has failed since {iso(health.failing_since)} ({health.fault})"
        for name, model in models
        if (health := health_of(model)).failing_since
    ]


async def _gate(recaller: Recaller, request: ContextRequest, parts: Parts) -> Decision:
    settings = recaller.searcher.settings
    signals = request.signals
    if signals is None:
        signals = await classify(request.query, settings.classifier, recaller.timeout(request), parts.degraded)
    decision = decide(request.query, signals)
    parts.decisions["gate"] = "search" if decision.search else f"skip: {decision.reason}"
    return decision


async def _gather(recaller: Recaller, request: ContextRequest, read: Read, gate: Decision, parts: Parts) -> None:
    """Reads all parts in parallel. The gate stops only recall: the conversation's own parts are always shown."""
    store, user, thread = recaller.searcher.store, request.user_id, request.thread_id
    loop = asyncio.get_running_loop()
    timeout = recaller.timeout(request)
    deadline = loop.time() + timeout
    limits = (request.budget, request.format, recaller.tokens)

    async def turns() -> None:
        window = read.documents.window
        recent = [one.turn for one in await read.turns if window.shows(one.turn, one.ts)]
        # Chat models refuse a tool's answer without its call.
        parts.turns = [turn for turn in recent if turn.role in ("user", "agent")]
        early.tell(TURNS, turn_lines(parts.turns, request.query), *limits)

    async def static() -> None:
        parts.static = await recaller.static.all()
        early.tell("static", static_lines(parts.static, request.query[:LONGEST_QUERY]), *limits)

    async def archive() -> None:
        assert trigger is not None
        query = request.query[:LONGEST_QUERY]
        patience = timeout * _VECTOR_SHARE
        parts.archive = await search_archive(recaller.searcher, user, thread, query, trigger, patience)

    async def profile() -> None:
        assert stored is not None
        parts.profile = await held_up(store, stored, recaller.searcher.threads_off)

    work: dict[str, asyncio.Task[None]] = {}
    trigger: str | None = None
    stored: Document | None = None

    async def memories() -> None:
        said = await _said_before(request, work.get(TURNS), parts, timeout)
        await _find(recaller, request, said, parts, deadline)

    async def hints() -> None:
        said = await _said_before(request, work.get(TURNS), parts, timeout)
        patience = max(0.0, deadline - loop.time()) * _VECTOR_SHARE
        talk = [request.query, *said[-HISTORY_MESSAGES:]]
        parts.hints = await find_hints(recaller.searcher, user, talk, request.project_id, patience)

    # Summary, state and profile show what is current, which does not help with a question about the past.
    if request.as_of is None:
        parts.summary, parts.state = read.documents.summary, read.documents.state
        stored = read.documents.profile
        early.tell("state", state_lines(parts.state.state) if parts.state else (), *limits)
        early.tell("summary", summary_lines(parts.summary), *limits)
    if thread is not None:
        work[TURNS] = asyncio.ensure_future(turns())
    if gate.search:
        work["static"] = asyncio.ensure_future(static())
        if stored is not None and not request.is_confined:
            work["profile"] = asyncio.ensure_future(profile())
        if request.as_of is None and not request.is_confined:
            trigger = trigger_in(request.query, recaller.searcher.settings.archive_triggers)
            if trigger is not None:
                parts.decisions["archive"] = f"search: {trigger}"
                work["archive"] = asyncio.ensure_future(archive())
            if recaller.searcher.settings.hints:
                work[HINTS] = asyncio.ensure_future(hints())
        work["memories"] = asyncio.ensure_future(memories())
    await _in_time(work, timeout, parts.degraded)


def _text_of(message: Mapping[str, Any]) -> str:
    """The text of a chat message, whose content may be a list of parts; empty if it has none."""
    content = message.get("content")
    if isinstance(content, list | tuple):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "\n".join(text for text in parts if isinstance(text, str))
    return content if isinstance(content, str) else ""


async def _said_before(
    request: ContextRequest, turns: asyncio.Task[None] | None, parts: Parts, timeout: float
) -> list[str]:
    """The user's messages before the question, oldest first; only those that arrive in time."""
    if request.history is not None:
        said = [text for message in request.history if message.get("role") == "user" and (text := _text_of(message))]
    elif turns is not None:
        await asyncio.wait([turns], timeout=timeout * _HISTORY_SHARE)
        said = [turn.content for turn in parts.turns if turn.role == "user"]
    else:
        said = []
    return said[:-1] if said and said[-1].strip() == request.query.strip() else said


async def _find(
    recaller: Recaller, request: ContextRequest, said: Sequence[str], parts: Parts, deadline: float
) -> None:
    """Searches with the completed question, and with a hypothetical answer if that found little."""
    searcher = recaller.searcher
    settings = searcher.settings
    strategy = request.strategy or settings.query_strategy
    if strategy in ("rewrite", "hyde") and is_off(recaller.chat, QUERY_REWRITE):
        strategy = "prepend"
    question = await build_question(
        request.query[:LONGEST_QUERY], said, strategy, recaller.chat, recaller.timeout(request)
    )
    parts.question, parts.decisions["query"] = question, question.decision
    parts.hits = hits = await _search(recaller, request, question, parts, deadline)
    threshold = settings.threshold(searcher.embeddings.model_id)
    if strategy == "hyde" and max((hit.similarity or 0.0 for hit in hits), default=0.0) <= threshold:
        answer = await hypothetical(question, recaller.chat, recaller.timeout(request))
        if answer is not None:
            parts.question, parts.decisions["query"] = answer, answer.decision
            known = {hit.memory.id for hit in hits}
            more = await _search(recaller, request, answer, parts, deadline)
            hits = [*hits, *(hit for hit in more if hit.memory.id not in known)]
    if not hits:
        logger.debug("No memories above threshold")
    logger.info("Memory: Retrieved %d memories", len(hits))
    parts.hits = hits


async def _search(
    recaller: Recaller, request: ContextRequest, question: Question, parts: Parts, deadline: float
) -> list[Hit]:
    current = request.as_of is None
    filters = SearchFilters() if request.as_of is None else SearchFilters(as_of=request.as_of)
    if request.filters is not None:
        filters["filters"] = request.filters
    if request.types is not None:
        filters["types"] = request.types
    if request.threshold is not None:
        filters["threshold"] = request.threshold
    # Some of the hits may already be shown as turns of the conversation.
    most = max(request.limit + LAST_TURNS + 1, COMPARED)
    patience = max(0.0, deadline - asyncio.get_running_loop().time()) * _VECTOR_SHARE
    own = search(
        recaller.searcher,
        (request.user_id,),
        question.text,
        limit=most,
        filters=filters,
        patience=patience,
        standing=current,
        conditions=current,
        links=True,
        for_context=True,
        thread=request.thread_id,
    )
    others = search_groups(recaller.groups, question.text, most, filters, patience, parts.degraded, conditions=current)
    found, shared = await asyncio.gather(own, others)
    parts.standing = parts.standing or found.standing
    parts.conditions = parts.conditions or with_conditions_of_groups(found.conditions, shared)
    parts.degraded.extend(found.degraded)
    return merged(found.hits, {group: one.hits for group, one in shared.items()})


async def _in_time(work: Mapping[str, asyncio.Task[None]], timeout: float, degraded: list[str]) -> None:
    """Waits for the work until the deadline. Leaves out parts that failed or are late, and names them."""
    if not work:
        return
    names = {task: name for name, task in work.items()}
    try:
        done, late = await asyncio.wait(names, timeout=timeout)
    finally:
        for task in names:
            dismiss(task)
    for task in late:
        logger.warning("Memory %s timeout, skipping", _LOGGED.get(names[task], names[task]))
        degraded.append(f"{names[task]}: not ready in time")
    for task in done:
        error = task.exception()
        if error is not None:
            logger.warning("Memory %s failed, skipping: %s", _LOGGED.get(names[task], names[task]), error)
            degraded.append(f"{names[task]}: {str(error) or type(error).__name__}")


_LOGGED = {"memories": "search"}


def dismiss(task: asyncio.Task[Any]) -> None:
    """Cancels a task that nobody awaits any more, and retrieves its error, so that asyncio does not warn about it."""
    task.cancel()
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
