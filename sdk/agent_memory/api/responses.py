"""Memory for an endpoint of responses: requests as such a system sends them (rows S0-070 to S0-072).

Such a request says `input` for the question, `previous_response_id` for the conversation, and brings its restrictions
in `memory_config`.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import ConfigDict, Field

from agent_memory.api.binding import scope_of
from agent_memory.api.errors import documented
from agent_memory.api.identity import UserId
from agent_memory.api.routes import OpenMemory
from agent_memory.contract.wire import Body, Params
from agent_memory.errors import NotFound
from agent_memory.models import Context, ForgetReceipt, Hit, Model
from agent_memory.recall.context import DEFAULT_BUDGET

router = APIRouter(prefix="/v1/memory", tags=["responses"])


class MemoryContext(Model):
    """Whose memory it is about."""

    user_id: str | None = Field(default=None, description="The caller's own id, if it is said at all; else 403.")


class ResponsesRequest(Body):
    """A request to a model, as far as memory is concerned; what it says to the model itself is left aside."""

    model_config = ConfigDict(
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
        }
    )

    input: str = Field(description="The question.")
    model: str | None = None
    previous_response_id: str | None = Field(default=None, description="The conversation.")
    memory_context: MemoryContext | None = None


class ByProject(Params):
    """What is forgotten."""

    project_id: str = Field(description="All that was said for this project, and what was derived from it.")


class ResponsesHits(Model):
    """Memories, best first."""

    hits: list[Hit]


@router.post("/search", responses=documented(), operation_id="responses_search")
async def search(memory: OpenMemory, user_id: UserId, body: ResponsesRequest) -> ResponsesHits:
    """The memories that matter for the input."""
    scope = scope_of(memory, user_id, body.previous_response_id, body.memory_config)
    return ResponsesHits(hits=await scope.search(body.input))


@router.post("/context", responses=documented(), operation_id="responses_context")
async def context(memory: OpenMemory, user_id: UserId, body: ResponsesRequest) -> Context:
    """What the model should be told before it answers the input."""
    scope = scope_of(memory, user_id, body.previous_response_id, body.memory_config)
    return await scope.context(body.input, budget=DEFAULT_BUDGET)


@router.delete("/{memory_id}", responses=documented(NotFound), operation_id="responses_forget")
async def forget(memory: OpenMemory, user_id: UserId, memory_id: str) -> ForgetReceipt:
    """Forgets a memory, with the turns that say it and all that was made of them."""
    return await memory.user(user_id).forget(memory_id)


@router.delete("", responses=documented(), operation_id="responses_forget_project")
async def forget_project(memory: OpenMemory, user_id: UserId, query: Annotated[ByProject, Query()]) -> ForgetReceipt:
    """Forgets what was said for a project."""
    return await memory.user(user_id).forget(project_id=query.project_id)
