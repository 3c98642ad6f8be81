"""A user's own page, under `/api/memory`: lists, writes, corrects and counts memories, and sets the two switches.

The paths and shapes are those of a system that keeps memories by account. `/memory` answers the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import ConfigDict, Field

from agent_memory.api.binding import IdempotencyKey, answer_once
from agent_memory.api.errors import documented
from agent_memory.api.identity import UserId
from agent_memory.api.routes import OpenMemory
from agent_memory.contract.wire import Body, Params, QuerySwitch
from agent_memory.errors import Conflict, InvalidInput, MemoryDisabled, NotFound, QuotaExceeded
from agent_memory.memory import AsyncMemory
from agent_memory.models import ForgetReceipt, Memory, Model, UtcTime
from agent_memory.rules.switches import read_rules
from agent_memory.store.ids import check_id, is_reserved

router = APIRouter(tags=["account"])

AccountType = Literal["fact", "preference", "context", "conversation_summary"]
COUNTED: tuple[AccountType, ...] = ("fact", "preference", "context", "conversation_summary")
RETRIEVED = ("fact", "conversation_summary", "event", "procedural", "reflection")
"""The memories that an account can retrieve: those on its page, without chunks."""
LARGEST_TIER = 100
"""Results that any tier may allow; the user's own tier sets the limit."""
BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
_STORED = {"conversation_summary": "episodic"}


class AccountMemory(Model):
    """A memory as an account's page shows it."""

    memory_id: str
    content: str
    memory_type: str = Field(description="fact, preference, context, conversation_summary; or procedural, reflection.")
    confidence_score: float
    source_thread_id: str | None
    created_at: UtcTime
    metadata: dict[str, Any] = Field(description="Metadata given with it, or noted by extraction.")


class AccountMemories(Model):
    """A numbered page."""

    memories: list[AccountMemory]
    total: int
    page: int
    limit: int
    pages: int


class RetrievedMemory(AccountMemory):
    """A memory that was found."""

    similarity: float | None = Field(description="Cosine to the query, if it was found by its vector.")


class RetrievedMemories(Model):
    """Memories, best first."""

    memories: list[RetrievedMemory]


class AccountStats(Model):
    """Counts of what is kept, and the limits of the tier."""

    total_memories: int
    memories_by_type: dict[str, int]
    oldest_memory: UtcTime | None
    newest_memory: UtcTime | None
    max_memories: int | None = Field(description="None: any number.")
    retrieval_limit: int
    tier_name: str
    memory_enabled: bool


class PageQuery(Params):
    """Which page, of what."""

    page: int = Field(default=1, ge=1, le=1_000_000)
    limit: int = Field(default=50, ge=1, le=100)
    memory_type: AccountType | None = None


class Confirmation(Params):
    """The confirmation."""

    confirm: QuerySwitch = False


class NewMemory(Body):
    """A memory that the user dictates."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "content": "Is building a mobile app with React Native",
                    "memory_type": "context",
                    "confidence_score": 0.9,
                    "metadata": {"project": "mobile-app"},
                }
            ]
        }
    )

    content: str
    memory_type: AccountType = "fact"
    confidence_score: float = Field(default=0.8, ge=0, le=1)
    metadata: dict[str, Any] = Field(default_factory=dict)


class Retrieval(Body):
    """The query. The account is the caller's; the tier is the account's."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query_text": "Which seat do I like?"}]})

    query_text: str
    similarity_threshold: float = Field(default=0.1, ge=-1, le=1, description="Cosine that a result exceeds.")


class Correction(Body):
    """What a memory should say instead."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "Prefers aisle seats"}]})

    content: str


class Switch(Body):
    """On or off."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"enabled": False}]})

    enabled: bool


class AccountSettings(Model):
    """Whether an account is remembered."""

    memory_enabled: bool


class ThreadSwitch(AccountSettings):
    """Whether a conversation is remembered."""

    thread_id: str


def account_type(memory: Memory) -> str:
    """The name of a memory's type on this page."""
    if memory.type == "fact":
        return memory.kind if memory.kind in ("preference", "context") else "fact"
    return "conversation_summary" if memory.type == "episodic" else memory.type


def account_memory(memory: Memory) -> AccountMemory:
    """A memory as this page shows it."""
    return AccountMemory(
        memory_id=memory.id,
        content=memory.content,
        memory_type=account_type(memory),
        confidence_score=memory.confidence,
        source_thread_id=None if is_reserved(memory.thread_id) else memory.thread_id,
        created_at=memory.created_at,
        metadata=memory.metadata,
    )


def page_of(memories: Sequence[Memory], query: PageQuery) -> AccountMemories:
    """One numbered page of a whole listing."""
    first = (query.page - 1) * query.limit
    return AccountMemories(
        memories=[account_memory(memory) for memory in memories[first : first + query.limit]],
        total=len(memories),
        page=query.page,
        limit=query.limit,
        pages=ceil(len(memories) / query.limit),
    )


@router.get("/memories", responses=documented(), operation_id="account_list")
async def list_memories(memory: OpenMemory, user_id: UserId, query: Annotated[PageQuery, Query()]) -> AccountMemories:
    """The user's memories in numbered pages, newest first.

    The total is counted by reading the whole listing; `/v1/memories` reads a page.
    """
    wanted = query.memory_type
    found = await memory.user(user_id).memories(types=None if wanted is None else [_STORED.get(wanted, "fact")])
    return page_of([one for one in found if wanted is None or account_type(one) == wanted], query)


@router.post(
    "/memories",
    status_code=201,
    response_model=AccountMemory,
    responses=documented(QuotaExceeded, MemoryDisabled, writes=True),
    operation_id="account_create",
)
async def create_memory(
    request: Request, memory: OpenMemory, user_id: UserId, body: NewMemory, idempotency_key: IdempotencyKey = None
) -> Response:
    """Stores a memory that the user dictates."""

    async def work() -> Response:
        made = await memory.user(user_id).remember(
            body.content,
            type="episodic" if body.memory_type == "conversation_summary" else "fact",
            kind="fact" if body.memory_type == "conversation_summary" else body.memory_type,
            confidence=body.confidence_score,
            metadata=body.metadata,
        )
        return Response(account_memory(made).model_dump_json(), 201, media_type="application/json")

    return await answer_once(request, user_id, idempotency_key, work)


@router.post("/search", responses=documented(), operation_id="account_retrieve")
async def retrieve_memories(memory: OpenMemory, user_id: UserId, body: Retrieval) -> RetrievedMemories:
    """The memories that are like a text, as many as the user's tier allows; none where memory is off."""
    hits = await memory.user(user_id).search(
        body.query_text, limit=LARGEST_TIER, types=RETRIEVED, threshold=body.similarity_threshold
    )
    return RetrievedMemories(
        memories=[RetrievedMemory(**account_memory(hit.memory).model_dump(), similarity=hit.similarity) for hit in hits]
    )


@router.get("/memories/{memory_id}", responses=documented(NotFound), operation_id="account_get")
async def get_memory(memory: OpenMemory, user_id: UserId, memory_id: str) -> AccountMemory:
    """One memory."""
    return account_memory(await memory.user(user_id).get(memory_id))


@router.patch(
    "/memories/{memory_id}",
    response_model=AccountMemory,
    responses=documented(NotFound, Conflict),
    operation_id="account_update",
)
async def update_memory(
    request: Request,
    memory: OpenMemory,
    user_id: UserId,
    memory_id: str,
    body: Correction,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Corrects a memory. The new version has its own id; the old one stays in the history."""

    async def work() -> Response:
        made = await memory.user(user_id).update(memory_id, content=body.content)
        return Response(account_memory(made).model_dump_json(), media_type="application/json")

    return await answer_once(request, user_id, idempotency_key, work)


@router.delete("/memories", responses=documented(), operation_id="account_delete_all")
async def delete_memories(
    memory: OpenMemory, user_id: UserId, query: Annotated[Confirmation, Query()]
) -> ForgetReceipt:
    """Deletes ALL TURNS of all conversations, also those off the record, all memories, summaries and the profile.

    It cannot be undone. The settings stay. The receipt has the ids of everything deleted, by type: `turn` for turns.
    """
    if not query.confirm:
        raise InvalidInput("this deletes all memories for good; send confirm=true")
    return await memory.user(user_id).forget(since=BEGINNING)


@router.delete("/memories/{memory_id}", responses=documented(NotFound), operation_id="account_delete")
async def delete_memory(memory: OpenMemory, user_id: UserId, memory_id: str) -> ForgetReceipt:
    """Forgets a memory AND DELETES THE TURNS that say it, with everything derived from them.

    The receipt has the ids of everything deleted, by type. To delete a wrong memory and keep the turns, call `POST
    /v1/memory/forget` with its `id` and `include_sources: false`.
    """
    owner = memory.user(user_id)
    await owner.get(memory_id)  # A deleted memory is 404 here, while `forget` answers a repeated request.
    return await owner.forget(memory_id)


@router.get("/stats", responses=documented(), operation_id="account_stats")
async def stats(memory: OpenMemory, user_id: UserId) -> AccountStats:
    """Counts of the user's memories, and what their tier allows."""
    runtime = memory.runtime
    kept = await memory.user(user_id).memories()
    rules = await read_rules(runtime.store, runtime.tools.policy, user_id)
    types = [account_type(one) for one in kept]
    return AccountStats(
        total_memories=len(kept),
        memories_by_type={name: types.count(name) for name in (*COUNTED, *sorted(set(types) - set(COUNTED)))},
        oldest_memory=min((one.created_at for one in kept), default=None),
        newest_memory=max((one.created_at for one in kept), default=None),
        max_memories=rules.tier.max_memories,
        retrieval_limit=rules.tier.retrieval_limit,
        tier_name=rules.tier_name,
        memory_enabled=rules.recall,
    )


@router.get("/settings", responses=documented(), operation_id="account_settings")
async def get_settings(memory: OpenMemory, user_id: UserId) -> AccountSettings:
    """Whether the account's own switch is on."""
    return AccountSettings(memory_enabled=(await memory.user(user_id).settings()).enabled)


@router.put("/settings", responses=documented(Conflict), operation_id="account_update_settings")
async def put_settings(memory: OpenMemory, user_id: UserId, body: Switch) -> AccountSettings:
    """Switches the user's memory on or off."""
    changed = await memory.user(user_id).update_settings(enabled=body.enabled)
    return AccountSettings(memory_enabled=changed.enabled)


@router.get("/thread/{thread_id}/settings", responses=documented(), operation_id="account_thread_settings")
async def get_thread_settings(memory: OpenMemory, user_id: UserId, thread_id: str) -> ThreadSwitch:
    """Whether a conversation is remembered: its own switch, the account's and the tier together."""
    return await _thread_switch(memory, user_id, thread_id)


@router.put(
    "/thread/{thread_id}/settings", responses=documented(Conflict), operation_id="account_update_thread_settings"
)
async def put_thread_settings(memory: OpenMemory, user_id: UserId, thread_id: str, body: Switch) -> ThreadSwitch:
    """Switches memory on or off for one conversation. If the account's switch is off, memory stays off."""
    await memory.user(user_id).thread(thread_id).update_settings(enabled=body.enabled)
    return await _thread_switch(memory, user_id, thread_id)


async def _thread_switch(memory: AsyncMemory, user_id: str, thread_id: str) -> ThreadSwitch:
    runtime = memory.runtime
    rules = await read_rules(runtime.store, runtime.tools.policy, user_id, check_id(thread_id, "thread_id"))
    return ThreadSwitch(thread_id=thread_id, memory_enabled=rules.recall)
