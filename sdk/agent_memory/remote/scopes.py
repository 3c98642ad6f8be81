"""The scopes of a user and a thread on a server.

A method that is a single request is `sent`: it has the signature of the scope's own method, and its line in the table
of endpoints says how to send it. The few other methods are written here.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack, cast
from urllib.parse import quote

from agent_memory.contract.endpoint import IF_MATCH, MAX_PAGE, Endpoint
from agent_memory.contract.schemas import ProcessRun, StaticKnowledge
from agent_memory.contract.table import ENDPOINTS
from agent_memory.errors import AgentMemoryError, InvalidInput, NotFound, StoreUnavailable
from agent_memory.models import (
    Context,
    ContextSection,
    Filter,
    ImportReceipt,
    Memory,
    MemoryConfig,
    Page,
    ProcessResult,
    Receipt,
    TurnInput,
    Usage,
)
from agent_memory.recall.early import ContextOptions, whole
from agent_memory.remote.http import Http, MemberHttp, error_of, in_requests, pieces, read
from agent_memory.rules.switches import Asked
from agent_memory.scopes import AsyncGroupScope, AsyncStaticScope, AsyncThreadScope, AsyncUserScope
from agent_memory.scopes.scope import Scope, Start
from agent_memory.scopes.shared import checked_filter, turn_inputs
from agent_memory.store.ids import check_id
from agent_memory.store.pages import token_of
from agent_memory.store.static import as_fact
from agent_memory.store.turns import make_turns

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, R]]

POLL_SECONDS = 0.5
PROCESS_TIMEOUT = 600.0
"""Seconds that one request for processing may take where the server does the work before it answers."""
_CONTEXT = next(one for one in ENDPOINTS if one.call is Scope.context)


def sent(local: Method[S, P, R]) -> Method[S, P, R]:
    """The twin of a scope's method that sends a request to the endpoint of that method: a thread's, if it has one."""
    by_scope = {one.scope: one for one in ENDPOINTS if one.call is local}
    signature = inspect.signature(local)
    variable = inspect.Parameter.VAR_KEYWORD
    options = next((name for name, one in signature.parameters.items() if one.kind is variable), "")

    @functools.wraps(local)
    async def call(scope: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        given = dict(signature.bind(scope, *args, **kwargs).arguments)
        del given["self"]
        given |= given.pop(options, {})
        # An older server refuses a field that it does not know, so an empty one is not sent.
        arguments = {name: value for name, value in given.items() if value not in (None, ()) and not callable(value)}
        assert isinstance(scope, RemoteScope)
        own = scope.thread_id is not None and "thread" in by_scope
        return cast(R, await _answer(scope, by_scope["thread" if own else "user"], arguments))

    return call


async def _answer(scope: RemoteScope, endpoint: Endpoint, arguments: dict[str, Any]) -> Any:
    try:
        if endpoint.paged:
            return await _all_pages(scope, endpoint, arguments)
        answer = read(endpoint.answer, await _send(scope, endpoint, arguments))
    except NotFound:
        if endpoint.may_be_missing:
            return None
        raise
    except AgentMemoryError as error:
        if endpoint.returned is Context:  # which never breaks a conversation
            return Context(degraded=[f"memory: {error}"])
        raise
    return getattr(answer, endpoint.noun) if endpoint.noun else answer


class RemoteScope(Scope):
    """What a user and a conversation on a server have in common."""

    _http: Http

    search = sent(Scope.search)
    memories = sent(Scope.memories)
    context = sent(Scope.context)

    async def context_stream(self, query: str, **options: Unpack[ContextOptions]) -> AsyncIterator[ContextSection]:
        """Yields the sections of a context as they arrive from the server, and then the whole context."""
        async for section in _stream(self, {"query": query, **options}):
            yield section


class RemoteUserScope(RemoteScope, AsyncUserScope):
    """Everything that is kept about one user, on a server."""

    reflect = sent(AsyncUserScope.reflect)
    profile = sent(AsyncUserScope.profile)
    stats = sent(AsyncUserScope.stats)
    remember = sent(AsyncUserScope.remember)
    get = sent(AsyncUserScope.get)
    update = sent(AsyncUserScope.update)
    history = sent(AsyncUserScope.history)
    why = sent(AsyncUserScope.why)
    changes = sent(AsyncUserScope.changes)
    entities = sent(AsyncUserScope.entities)
    entity = sent(AsyncUserScope.entity)
    review = sent(AsyncUserScope.review)
    approve = sent(AsyncUserScope.approve)
    reject = sent(AsyncUserScope.reject)
    audit = sent(AsyncUserScope.audit)
    add_document = sent(AsyncUserScope.add_document)
    delete_document = sent(AsyncUserScope.delete_document)
    settings = sent(AsyncUserScope.settings)
    update_settings = sent(AsyncUserScope.update_settings)
    forget = sent(AsyncUserScope.forget)
    export_part = sent(AsyncUserScope.export_part)
    threads = sent(AsyncUserScope.threads)

    def __init__(self, http: Http, user_id: str, asked: Asked | None = None) -> None:
        super().__init__(http, user_id, asked)
        self._http = http

    def thread(
        self,
        thread_id: str,
        *,
        agent_id: str | None = None,
        project_id: str | None = None,
        config: MemoryConfig | Mapping[str, Any] | None = None,
        resources: Sequence[str] | None = None,
    ) -> AsyncThreadScope:
        """A conversation of this user."""
        local = super().thread(thread_id, agent_id=agent_id, project_id=project_id, config=config, resources=resources)
        return RemoteThreadScope(self._http, local)

    async def process(
        self,
        step: str,
        *,
        n: int | None = None,
        recent_k: int | None = None,
        memory_ids: Sequence[str] | None = None,
        project_id: str | None = None,
    ) -> ProcessResult:
        """Runs a step of this user, and waits for it."""
        ids = None if memory_ids is None else list(memory_ids)
        asked = {"n": n, "recent_k": recent_k, "memory_ids": ids, "project_id": project_id}
        return await _process(self._http, self.user_id, f"/v1/process/{quote(step, safe='')}", asked)

    async def reprocess(
        self,
        *,
        prompt_version: str | None = None,
        thread_id: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ProcessResult:
        """Derives memories again, and waits for it; it reports no progress."""
        asked = {"prompt_version": prompt_version, "thread_id": thread_id}
        return await _process(self._http, self.user_id, "/v1/process/reprocess", asked)

    async def import_lines(self, lines: Iterable[str], progress: Callable[[int], None] | None = None) -> ImportReceipt:
        """Imports the lines of an export, in pieces that fit into a request."""
        total = ImportReceipt()
        for piece, done in pieces(lines):
            answer = await self._http.send(
                "POST", "/v1/import", user_id=self.user_id, lines=piece, timeout=PROCESS_TIMEOUT
            )
            receipt = read(ImportReceipt, answer)
            for name in ImportReceipt.model_fields:
                counts = Counter(getattr(total, name)) + Counter(getattr(receipt, name))
                setattr(total, name, dict(counts))
            if progress is not None:
                progress(done)
        return total


class RemoteGroupScope(RemoteUserScope, AsyncGroupScope):
    """Everything that a group shares, on a server."""

    contributions = sent(AsyncGroupScope.contributions)

    def __init__(self, http: Http, group_id: str, asked: Asked | None = None, member: str | None = None) -> None:
        AsyncGroupScope.__init__(self, http, group_id, asked, member)
        self._http = http if self.member is None else MemberHttp(http, self.member)


class RemoteThreadScope(RemoteScope, AsyncThreadScope):
    """One conversation of one user, on a server."""

    turns = sent(AsyncThreadScope.turns)
    pop = sent(AsyncThreadScope.pop)
    view = sent(AsyncThreadScope.view)
    clear = sent(AsyncThreadScope.clear)
    retire = sent(AsyncThreadScope.retire)
    delete = sent(AsyncThreadScope.delete)
    delete_index = sent(AsyncThreadScope.delete_index)
    forget = sent(AsyncThreadScope.forget)
    summary = sent(AsyncThreadScope.summary)
    state = sent(AsyncThreadScope.state)
    stats = sent(AsyncThreadScope.stats)
    settings = sent(AsyncThreadScope.settings)
    update_settings = sent(AsyncThreadScope.update_settings)

    def __init__(self, http: Http, local: AsyncThreadScope) -> None:
        super().__init__(
            http,
            local.user_id,
            local.thread_id,
            agent_id=local.agent_id,
            project_id=local.project_id,
            asked=local._asked,
        )
        self._http = http

    async def add_many(self, turns: Sequence[TurnInput | Mapping[str, Any]]) -> Receipt:
        """Stores any number of turns in order. They get their ids here, so that a request can be repeated.

        Invalid turns are found here, before the first request.
        """
        inputs = turn_inputs(turns, self.agent_id, self.project_id)
        kept = make_turns(inputs, self.user_id, self.thread_id)
        named = [given.model_copy(update={"id": turn.id}) for given, turn in zip(inputs, kept, strict=True)]
        extras = _extras(self._asked)
        receipts = []
        for part in in_requests(named):
            body = {"turns": [turn.model_dump(mode="json", exclude_none=True) for turn in part], **extras}
            path = f"/v1/threads/{_segment(self.thread_id, 'thread_id')}/turns"
            answer = await self._http.send("POST", path, user_id=self.user_id, body=body, repeatable=True)
            receipts.append(read(Receipt, answer))
        return Receipt(
            ids=[one for receipt in receipts for one in receipt.ids],
            created=sum(receipt.created for receipt in receipts),
            skipped_reason=next((receipt.skipped_reason for receipt in receipts if receipt.skipped_reason), None),
            forgotten=[turn_id for receipt in receipts for turn_id in receipt.forgotten],
            usage=sum((receipt.usage for receipt in receipts), Usage()),
        )

    async def process(self, step: str, *, retired: bool = False, recent_k: int | None = None) -> ProcessResult:
        """Runs a step of this thread, and waits for it."""
        path = f"/v1/process/{quote(step, safe='')}"
        asked = {"thread_id": self.thread_id, "recent_k": recent_k} | ({"retired": True} if retired else {})
        return await _process(self._http, self.user_id, path, asked)

    async def end(self) -> ProcessResult:
        """Ends the conversation, and waits until its turns are processed."""
        return await _process(
            self._http, self.user_id, f"/v1/threads/{_segment(self.thread_id, 'thread_id')}/end", None
        )


class RemoteStaticScope(AsyncStaticScope):
    """Knowledge that all users share, on a server; for the operator."""

    def __init__(self, http: Http) -> None:
        super().__init__(http)
        self._http = http

    async def seed(self, facts: Sequence[Any]) -> Receipt:
        """Stores facts. Seeding the same facts again adds nothing."""
        body = {"facts": [as_fact(fact) for fact in facts]}
        return read(Receipt, await self._http.send("POST", "/v1/admin/static", body=body))

    async def list(self) -> Sequence[Memory]:
        """The facts."""
        return read(StaticKnowledge, await self._http.send("GET", "/v1/admin/static")).facts


async def _process(http: Http, user_id: str, path: str, asked: Mapping[str, Any] | None) -> ProcessResult:
    body = None if asked is None else {name: value for name, value in asked.items() if value is not None}
    answer = await http.send("POST", path, user_id=user_id, body=body, timeout=PROCESS_TIMEOUT)
    run = read(ProcessRun, answer)
    while run.status == "running":
        await asyncio.sleep(POLL_SECONDS)
        path = f"/v1/process/{quote(run.id, safe='')}"
        run = read(ProcessRun, await http.send("GET", path, user_id=user_id))
    if run.result is None:
        raise error_of(run.code or "", run.error or f"{run.step} ended {run.status}")
    return run.result


def _extras(asked: Asked) -> dict[str, Any]:
    """The restrictions that the requests of a handle send."""
    config = asked.config.model_dump(exclude_defaults=True)
    resources = None if asked.resources is None else sorted(asked.resources)
    extras = {"memory_config": config or None, "resources": resources}
    return {name: value for name, value in extras.items() if value is not None}


def _segment(value: object, name: str) -> str:
    """An id as one segment of a path."""
    if value in (".", ".."):  # HTTP clients resolve them: the path would name the user instead of the thread
        raise InvalidInput(f"{name} cannot be {value!r} over HTTP")
    return quote(check_id(value, name), safe="")


async def _send(scope: RemoteScope, endpoint: Endpoint, arguments: dict[str, Any]) -> Any:
    rest = dict(arguments)
    headers = {"If-Match": rest.pop(IF_MATCH)} if IF_MATCH in rest else {}
    path = endpoint.path
    for name in endpoint.path_names:
        value = scope.thread_id if name == "thread_id" and scope.thread_id else rest.pop(name)
        path = path.replace(f"{{{name}}}", _segment(value, name))
    in_query = endpoint.verb in ("GET", "DELETE")
    if "filters" in rest:
        rest["filters"] = _filter_sent(rest["filters"], in_query=in_query)
    if in_query:
        return await scope._http.send(endpoint.verb, path, user_id=scope.user_id, query=rest, headers=headers)
    body = _body(scope, endpoint, rest)
    reads = endpoint.reads
    return await scope._http.send(endpoint.verb, path, user_id=scope.user_id, body=body, headers=headers, reads=reads)


def _body(scope: RemoteScope, endpoint: Endpoint, rest: Mapping[str, Any]) -> dict[str, Any]:
    thread = {"thread_id": scope.thread_id} if endpoint.threads_too and scope.thread_id else {}
    fields = {} if endpoint.given is None else endpoint.given.model_fields
    extras = {name: value for name, value in _extras(scope._asked).items() if name in fields}
    return {**rest, **thread, **extras}


async def _stream(scope: RemoteScope, given: Mapping[str, Any]) -> AsyncIterator[ContextSection]:
    """Early sections are passed on. If the stream breaks, an empty context says why, as `context` does."""
    rest = {name: value for name, value in given.items() if value is not None}
    try:
        if "filters" in rest:
            rest["filters"] = _filter_sent(rest["filters"], in_query=False)
        body = _body(scope, _CONTEXT, rest)
        async for line in scope._http.lines("/v1/context/stream", user_id=scope.user_id, body=body):
            section = ContextSection.model_validate_json(line, extra="ignore")
            yield section
            if section.context is not None:
                return
        raise StoreUnavailable("the stream ended before the context arrived")
    except (AgentMemoryError, ValueError) as error:
        yield whole(Context(degraded=[f"memory: {error}"]))


async def _all_pages(scope: RemoteScope, endpoint: Endpoint, arguments: dict[str, Any]) -> Page[Any]:
    """A listing of the requested length, read page by page, newest first.

    Raises:
        InvalidInput: if both `before` and `cursor` are given.
    """
    limit: int | None = arguments.pop(endpoint.paged, None)
    before = Start(arguments.pop("before", None), arguments.pop("cursor", None), limit).time
    token = None if before is None else token_of(before)
    pages: list[list[Any]] = []
    while True:
        left = MAX_PAGE if limit is None else limit - sum(map(len, pages))
        asked = {endpoint.paged: min(left, MAX_PAGE)} | ({} if token is None else {"continuation": token})
        answer = read(endpoint.answer, await _send(scope, endpoint, arguments | asked))
        pages.append(getattr(answer, endpoint.noun))
        token = getattr(answer, "next", None)
        if token is None or (limit is not None and sum(map(len, pages)) >= limit):
            break
    oldest_first = endpoint.paged == "last"
    found = Page(item for page in (reversed(pages) if oldest_first else pages) for item in page)
    found.next = token
    return found


def _filter_sent(given: Filter | Mapping[str, Any], *, in_query: bool) -> Any:
    """A filter as it is sent: in a query string as text. Raises InvalidInput naming what is wrong with it."""
    checked = checked_filter(given)
    assert checked is not None
    text = checked.model_dump_json(exclude_unset=True)
    return text if in_query else json.loads(text)
