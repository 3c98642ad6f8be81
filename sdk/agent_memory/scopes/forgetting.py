"""How a scope forgets: reads the request, plans, deletes, and has summaries and the profile rebuilt."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory.errors import AgentMemoryError, InvalidInput, NotFound
from agent_memory.forgetting.accounts import add_accounts
from agent_memory.forgetting.corpus import Corpus, open_corpus
from agent_memory.forgetting.deletion import carry_out, finish_forgettings
from agent_memory.forgetting.erasure import begin_erasure, count_documents
from agent_memory.forgetting.jobs import store_job
from agent_memory.forgetting.plan import ForgetPlan, plan_claim, plan_place, tombstones
from agent_memory.forgetting.selection import select_id, select_place, select_query
from agent_memory.forgetting.tombstones import Place, bury, of_place, of_request
from agent_memory.language.current import for_asking
from agent_memory.models import ForgetReceipt, as_utc, now
from agent_memory.processing.activities import run_workflow
from agent_memory.runtime import Runtime
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.counted import USER
from agent_memory.store.counters import Counters
from agent_memory.store.ids import FORGOTTEN_THREAD, USER_SUMMARY_THREAD, check_id, summary_id, user_summary_id
from agent_memory.store.replies import forget_replies
from agent_memory.text.folding import folded

PIECE = 5000
"""Turns that are forgotten at a time: the maximum in one stored deletion job."""
LONGEST_TOPIC = 100_000
"""Maximum characters of a topic. A choice: more than any turn of the development sets, and read in 0.2 s."""
ALL = 2**31 - 1
"""Turns in the plan of a dry run, which has no job."""
UNSCRUBBED = (
    "store file: the deleted bytes are not overwritten yet, because another program reads the file or the disk failed;"
    " it will be tried again"
)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request to a scope to forget."""

    user_id: str
    id: str | None = None
    query: str | None = None
    place: Place = field(default_factory=Place)
    include_sources: bool = True
    only_waiting: bool = False
    """Whether other wordings go with the named memory only if they wait for review, too."""

    @property
    def is_claim(self) -> bool:
        """Whether it names what was said, not where."""
        return self.id is not None or self.query is not None

    def check(self) -> None:
        """Refuses invalid requests.

        Raises:
            InvalidInput: if it names nothing, names both an id and a query, or is invalid.
        """
        if self.id is not None and self.query is not None:
            raise InvalidInput("forget by id or by query, not both")
        if not self.is_claim and not self.place:
            raise InvalidInput(
                "nothing to forget: give an id, a query, a thread, a project, a time range or everything"
            )
        if self.id is not None:
            check_id(self.id, "id")
        if self.query is not None and (not isinstance(self.query, str) or not self.query.strip()):
            raise InvalidInput("a query is a text that says what to forget")
        if self.query is not None and len(self.query) > LONGEST_TOPIC:
            raise InvalidInput(f"a query has at most {LONGEST_TOPIC:,} characters, not {len(self.query):,}")
        if not self.include_sources and not self.is_claim:
            raise InvalidInput("include_sources=False is for a memory that is wrong: give its id, or a query")


def make_place(thread_id: str | None, project_id: str | None, since: datetime | None, until: datetime | None) -> Place:
    """The place that a caller names.

    Raises:
        InvalidInput: for an invalid id or time.
    """
    thread = None if thread_id is None else check_id(thread_id, "thread_id")
    project = None if project_id is None else check_id(project_id, "project_id")
    start, end = _utc(since, "since"), _utc(until, "until")
    if start is not None and end is not None and start > end:
        raise InvalidInput(f"a time range ends ({end}) before it begins ({start})")
    return Place(thread, project, start, end)


def _utc(value: Any, what: str) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidInput(f"{what} must be a datetime, not {value!r:.60}")
    try:
        return as_utc(value)
    except ValueError as error:
        raise InvalidInput(f"{what}: {error}") from error


async def forget(runtime: Runtime, request: ForgetRequest, *, dry_run: bool) -> ForgetReceipt:
    """Carries out a request to forget, or reports what it would delete.

    Raises:
        NotFound: if the user has nothing with this id.
        InvalidInput: if the request is invalid.
        ModelError: if texts must be compared and the embedding model is unavailable; nothing was deleted.
        StoreUnavailable: if the store failed; the next `forget`, or maintenance, finishes what had started.
    """
    request.check()
    if dry_run:
        return (await _plan(runtime, request, now(), most=ALL)).receipt(dry_run=True)
    return await _scrubbed(runtime.store, _forget_once(runtime, request))


async def _forget(runtime: Runtime, request: ForgetRequest) -> ForgetReceipt:
    await finish_forgettings(runtime.store, runtime.counters, request.user_id)
    at = now()
    receipt = ForgetReceipt(dry_run=False, at=at)
    if not request.is_claim:
        await bury(runtime.store, request.user_id, [of_place(request.user_id, request.place, at)])
    while plan := await _plan(runtime, request, at, most=PIECE):
        if plan.by_place:
            await bury(runtime.store, request.user_id, plan.of_later_turns())
        await _do(runtime, plan, receipt)
        if request.is_claim:
            break
    else:  # no turns or memories are left; stored replies may still quote them
        await forget_replies(runtime.store, request.user_id)
    return receipt


async def _forget_once(runtime: Runtime, request: ForgetRequest) -> ForgetReceipt:
    """Carries out a request, unless it was done before and only its answer was lost.

    That receipt names only the id that the caller gives: of all ids, only hashes were kept.
    """
    try:
        return await _forget(runtime, request)
    except NotFound:
        if request.id is None:
            raise
        named = of_request(request.user_id, request.place.thread_id, request.id)
        done = await runtime.store.query(
            MEMORIES, queries.FORGETTING_DONE, (request.user_id, FORGOTTEN_THREAD), named=named
        )
        if not done:
            raise
        at = datetime.fromisoformat(done[0]["at"])
        return ForgetReceipt(dry_run=False, at=at, deleted={done[0]["type"]: [request.id]})


async def _scrubbed(store: Store, forgetting: Awaitable[ForgetReceipt]) -> ForgetReceipt:
    """The receipt of a deletion, once its bytes are gone from the store file too."""
    try:
        receipt = await forgetting
    finally:
        store.scrub_later()  # even if the caller is cancelled
    if not await store.scrub():
        receipt.pending.append(UNSCRUBBED)
    return receipt


async def erase(runtime: Runtime, user_id: str, *, dry_run: bool) -> ForgetReceipt:
    """Deletes everything of a user, including tombstones and settings; or reports how much that is.

    Raises:
        StoreUnavailable: if the store failed; background work, or another call, finishes what had started.
    """
    receipt = ForgetReceipt(dry_run=dry_run)
    if dry_run:
        receipt.erased = await count_documents(runtime.store, user_id)
        return receipt
    return await _scrubbed(runtime.store, _erase(runtime, user_id, receipt))


async def _erase(runtime: Runtime, user_id: str, receipt: ForgetReceipt) -> ForgetReceipt:
    await begin_erasure(runtime.store, user_id)
    for piece in await run_workflow("erase", {"user_id": user_id}, runtime.activities):
        for kind, count in piece["deleted"].items():
            receipt.erased[kind] = receipt.erased.get(kind, 0) + count
    return receipt


async def delete_thread(runtime: Runtime, user_id: str, thread_id: str) -> ForgetReceipt:
    """Deletes the turns of a thread, its summary and its state; the memories derived from it stay."""
    return await _scrubbed(runtime.store, _delete_thread(runtime, user_id, thread_id))


async def _delete_thread(runtime: Runtime, user_id: str, thread_id: str) -> ForgetReceipt:
    receipt = ForgetReceipt(dry_run=False)
    corpus = Corpus(runtime.store, for_asking(runtime.tools.embeddings), user_id, {})
    while True:
        selection = await select_place(corpus, Place(thread_id=thread_id), PIECE)
        plan = plan_place(corpus, selection, receipt.at)
        await add_accounts(corpus, selection, plan)
        if not plan:
            return receipt
        plan.keeps_memories = True
        await _do(runtime, plan, receipt)


async def _plan(runtime: Runtime, request: ForgetRequest, at: datetime, *, most: int) -> ForgetPlan:
    corpus = await open_corpus(runtime.store, for_asking(runtime.tools.embeddings), request.user_id)
    if request.id is not None:
        selection = await select_id(corpus, request.id, request.place)
        if request.only_waiting:
            waiting = {one.id for one in corpus.memories.values() if one.status != "active" and not one.superseded_by}
            selection.memories = {one: why for one, why in selection.memories.items() if one in waiting}
    elif request.query is not None:
        selection = await select_query(corpus, folded(request.query).strip(), request.place)
    else:
        selection = await select_place(corpus, request.place, most)
    if request.is_claim:
        plan = await plan_claim(corpus, selection, at, include_sources=request.include_sources)
    else:
        plan = plan_place(corpus, selection, at)
    if request.include_sources:
        await add_accounts(corpus, selection, plan)
    if request.id is not None:
        hashed = of_request(request.user_id, request.place.thread_id, request.id)
        plan.named = {"hash": hashed, "type": next((i.type for i in plan.items if i.id == request.id), "turn")}
    return plan


async def _do(runtime: Runtime, plan: ForgetPlan, receipt: ForgetReceipt) -> None:
    """Carries out a plan and adds the results to the receipt."""
    store = runtime.store
    if not plan.by_place:
        corpus = Corpus(store, for_asking(runtime.tools.embeddings), plan.user_id, {})
        async for some in tombstones(corpus, plan):
            await bury(store, plan.user_id, some)
    job = await store_job(store, plan.job)
    redo = await carry_out(store, runtime.counters, job)
    done = plan.receipt(dry_run=False)
    for kind, ids in done.deleted.items():
        receipt.deleted.setdefault(kind, []).extend(ids)
    receipt.items.extend(done.items)
    receipt.kept.extend(done.kept)
    for thread_id in redo:
        await _rebuild(runtime, plan.user_id, thread_id, receipt)


async def _rebuild(runtime: Runtime, user_id: str, thread_id: str, receipt: ForgetReceipt) -> None:
    """Rebuilds a summary or the profile. If that fails, background work rebuilds it later."""
    if thread_id == USER_SUMMARY_THREAD:
        made, step, request = user_summary_id(user_id), "profile", {"user_id": user_id}
    else:
        made, step = summary_id(user_id, thread_id), "summarize"
        request = {"user_id": user_id, "thread_id": thread_id}
    try:
        result = await runtime.run(step, **request)
    except AgentMemoryError as error:
        receipt.pending.append(f"{made}: {error}")
        return
    await _note(runtime.counters, user_id, thread_id)
    if result.created:
        receipt.rebuilt.append(made)


async def _note(counters: Counters, user_id: str, thread_id: str) -> None:
    """Notes that a summary or the profile no longer waits to be rebuilt."""
    if thread_id != USER_SUMMARY_THREAD:
        counter = await counters.get(user_id, thread_id)
        if counter.count:
            await counters.ran(user_id, thread_id, "summarize", counter.count)
        return
    threads = await counters.of_user(user_id)
    if threads:
        await counters.user_ran(user_id, "profile", (await counters.user(user_id)).total)
        await counters.ran(user_id, threads[0].thread_id, USER, threads[0].count)
