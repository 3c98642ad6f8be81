"""Memory for a system with an endpoint of responses, in the form of its requests.

Such a request has the question in `input`, the conversation in `previous_response_id`, and its restrictions in
`memory_config`.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import ConfigDict, Field

from agent_memory.api.binding import IdempotencyKey, answer_once, owned, scope_of
from agent_memory.api.errors import documented
from agent_memory.api.identity import UserId
from agent_memory.contract.wire import STORED, Body, GivenType, Params, StoredMemory, WireTime, as_score, as_stored
from agent_memory.errors import Conflict, InvalidInput, MemoryDisabled, ModelError, NotFound, QuotaExceeded
from agent_memory.models import Context, ForgetReceipt, Hit, Model, Receipt, Signals
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.store.ids import group_of, new_turn_id

router = APIRouter(prefix="/v1/memory", tags=["responses"])


class MemoryContext(Model):
    """Whose memory it is about."""

    user_id: str | None = Field(default=None, description="Optional; must be the caller's own id, else 403.")
    project_id: str | None = Field(default=None, description="What an exchange that is kept belongs to.")


class InputItem(Model):
    """One item of an input that is a list: a message, a tool's output or anything else."""

    model_config = ConfigDict(extra="ignore")

    role: str | None = None
    content: str | list[dict[str, Any]] | None = Field(default=None, description="Text, or parts that may have `text`.")

    @property
    def text(self) -> str:
        """What it says; nothing if it has no text."""
        if not isinstance(self.content, list):
            return self.content or ""
        return "\n".join(text for part in self.content if isinstance(text := part.get("text"), str))


class ResponsesRequest(Body):
    """A request to a model. The fields that do not concern memory are ignored."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [
                {
                    "model": "gpt-4.1-mini",
                    "input": "What's my budget for the Hawaii trip?",
                    "previous_response_id": "hawaii",
                    "memory_config": {"enabled": True, "auto_store": True},
                    "memory_context": {"user_id": "alice"},
                }
            ]
        },
    )

    input: str | list[InputItem] = Field(description="The question; of a list, the user's last message.")
    previous_response_id: str | None = Field(default=None, description="The conversation.")
    memory_context: MemoryContext | None = None

    @property
    def messages(self) -> list[dict[str, str]]:
        """What the user and the assistant say in the input."""
        items = [InputItem(role="user", content=self.input)] if isinstance(self.input, str) else self.input
        return [
            {"role": one.role, "content": one.text} for one in items if one.role in ("user", "assistant") and one.text
        ]

    @property
    def question(self) -> str:
        """What the user says last. Raises InvalidInput if a list has no message of the user."""
        if isinstance(self.input, str):
            return self.input
        said = [message["content"] for message in self.messages if message["role"] == "user"]
        if not said:
            raise InvalidInput("input: there is no message of the user")
        return said[-1]


class SignalledRequest(ResponsesRequest):
    """A request, with what the router found out about it."""

    signals: Signals | None = Field(default=None, description="Whether it asks for a general fact, or needs a tool.")


class Exchange(ResponsesRequest):
    """A request with what the model answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "input": "My budget for the Hawaii trip is $10,000.",
                    "output": "Noted.",
                    "memory_config": {"auto_store": True},
                    "memory_context": {"user_id": "alice", "project_id": "hawaii"},
                }
            ]
        }
    )

    output: str | None = Field(default=None, description="The answer, if there is one.")


class Kept(Model):
    """Where an exchange is kept."""

    id: str = Field(description="The conversation: `previous_response_id` of the next request.")
    receipt: Receipt


class NewMemory(Body):
    """A memory to keep, in the fields of that system."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"type": "semantic", "content": "The budget for the Hawaii trip is $10,000."}],
        }
    )

    content: str
    type: GivenType = "semantic"
    id: str | None = Field(default=None, description="Ignored: the store makes ids.")
    project_id: str | None = None
    source: str | None = None
    created_at: WireTime | None = None
    access_count: int = Field(default=0, description="Ignored: the store counts it.")
    importance: float = Field(default=0.5, ge=0, le=1)


class ForgetScope(Params):
    """What to forget: give at least one of the two."""

    project_id: str | None = Field(default=None, description="Only what was said for this project.")


class ResponsesHit(Hit):
    """A memory that was found."""

    score: float = Field(
        description="The similarity, 0 to 1; 0 if no vector was compared. Hits are ordered by `rank_score`."
    )
    rank_score: float = Field(description="The score that orders the hits: words, vector and neighbours together.")

    @classmethod
    def of(cls, hit: Hit) -> ResponsesHit:
        """A hit with that system's score."""
        return cls(**(dict(hit) | {"score": as_score(hit), "rank_score": hit.score}))


class ResponsesHits(Model):
    """Memories, best first."""

    hits: list[ResponsesHit]


@router.post("/search", responses=documented(), operation_id="responses_search")
async def search(request: Request, user_id: UserId, body: ResponsesRequest) -> ResponsesHits:
    """The memories that matter for the input, from all conversations; none if memory is off for this one."""
    owner = owned(request, user_id, body.memory_config)
    chain = body.previous_response_id
    if chain is not None and not (await owner.thread(chain).settings()).enabled:
        return ResponsesHits(hits=[])
    limit = None if body.memory_config is None else body.memory_config.retrieval_limit
    return ResponsesHits(hits=[ResponsesHit.of(hit) for hit in await owner.search(body.question, limit=limit)])


@router.post("/context", responses=documented(), operation_id="responses_context")
async def context(request: Request, user_id: UserId, body: SignalledRequest) -> Context:
    """What the model should know before it answers the input, as a system message with a bullet for each memory."""
    scope = scope_of(request, user_id, body.previous_response_id, body.memory_config)
    history = None if len(body.messages) < 2 else body.messages
    return await scope.context(
        body.question, budget=DEFAULT_BUDGET, format="bullets", signals=body.signals, history=history
    )


@router.post(
    "/exchanges",
    status_code=201,
    response_model=Kept,
    responses=documented(Conflict, writes=True),
    operation_id="responses_keep",
)
async def keep(request: Request, user_id: UserId, body: Exchange, idempotency_key: IdempotencyKey = None) -> Response:
    """Stores the input and the model's answer. Memories are derived in the background, if `auto_store` is on."""

    async def work() -> Response:
        thread_id = body.previous_response_id or f"resp_{new_turn_id()}"
        project_id = None if body.memory_context is None else body.memory_context.project_id
        thread = owned(request, user_id, body.memory_config).thread(thread_id, project_id=project_id)
        answer = [{"role": "assistant", "content": body.output}] if body.output else []
        receipt = await thread.add_many([*body.messages, *answer])
        return Response(Kept(id=thread_id, receipt=receipt).model_dump_json(), 201, media_type="application/json")

    return await answer_once(request, user_id, idempotency_key, work)


@router.post(
    "",
    status_code=201,
    response_model=StoredMemory,
    responses=documented(MemoryDisabled, QuotaExceeded, ModelError, writes=True),
    operation_id="responses_store",
)
async def store(request: Request, user_id: UserId, body: NewMemory, idempotency_key: IdempotencyKey = None) -> Response:
    """Stores a memory. If the same words are stored already, returns that memory."""

    async def work() -> Response:
        kept = await owned(request, user_id, body.memory_config).remember(
            body.content,
            type=STORED[body.type],
            importance=body.importance,
            project_id=body.project_id,
            valid_from=body.created_at,
            metadata={"source": body.source} if body.source else None,
        )
        return Response(as_stored(kept).model_dump_json(exclude_none=True), 201, media_type="application/json")

    return await answer_once(request, user_id, idempotency_key, work)


@router.get(
    "/{memory_id}",
    response_model_exclude_none=True,
    responses=documented(NotFound),
    operation_id="responses_get",
)
async def get(request: Request, user_id: UserId, memory_id: str) -> StoredMemory:
    """A memory, in the fields of that system."""
    return as_stored(await owned(request, user_id).get(memory_id))


@router.delete("/{memory_id}", responses=documented(NotFound), operation_id="responses_forget")
async def forget(request: Request, user_id: UserId, memory_id: str) -> ForgetReceipt:
    """Forgets a memory, with the turns that say it and everything derived from them."""
    owner = owned(request, user_id)
    await owner.get(memory_id)  # A deleted memory is 404 here, while `forget` answers a repeated request.
    return await owner.forget(memory_id)


@router.delete("", responses=documented(), operation_id="responses_forget_scope")
async def forget_scope(request: Request, user_id: UserId, query: Annotated[ForgetScope, Query()]) -> ForgetReceipt:
    """Forgets what was said in a project; without one, everything of the user, if `user_id` names them."""
    user = owned(request, user_id)
    if query.project_id is not None:
        return await user.forget(project_id=query.project_id)
    if query.user_id is None or group_of(user_id) is not None:
        raise InvalidInput("say what to forget: ?user_id=… for everything of the user, ?project_id=… for a project")
    return await user.forget(everything=True)
