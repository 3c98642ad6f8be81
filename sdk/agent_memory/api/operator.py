"""The operator's routes: what concerns all users."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic.json_schema import SkipJsonSchema

from agent_memory.api.errors import documented
from agent_memory.api.identity import Operator
from agent_memory.api.routes import OpenMemory
from agent_memory.contract.schemas import (
    CustomExtraction,
    DeadLetters,
    Drained,
    ExtractionChoice,
    Groups,
    StaticFacts,
    StaticKnowledge,
    TierChoice,
    Users,
)
from agent_memory.errors import ConfigurationError, Conflict, InvalidInput, ModelError, NotFound
from agent_memory.models import Health, ProcessResult, Receipt

MAX_WAIT = 60.0
"""How long one long-poll request waits, in seconds. Proxies close longer ones."""

GroupQuery = Annotated[
    str | SkipJsonSchema[None], Query(max_length=246, description="The group; if you leave it out, the store.")
]

router = APIRouter(prefix="/v1/admin", tags=["admin"])


@router.get("/health", responses=documented(), operation_id="admin_health")
async def health(memory: OpenMemory, _: Operator) -> Health:
    """Whether the parts respond, which they are, and what is waiting."""
    return await memory.health()


@router.get("/users", responses=documented(), operation_id="admin_users")
async def users(memory: OpenMemory, _: Operator) -> Users:
    """Every user with stored data."""
    return Users(users=await memory.users())


@router.get("/groups", responses=documented(), operation_id="admin_groups")
async def groups(
    memory: OpenMemory, _: Operator, contributor: Annotated[str | SkipJsonSchema[None], Query(max_length=255)] = None
) -> Groups:
    """Every group with stored data, or to which a user has contributed."""
    return Groups(groups=await memory.groups(contributor))


@router.put("/users/{user}/tier", status_code=204, responses=documented(), operation_id="admin_assign_tier")
async def assign_tier(memory: OpenMemory, _: Operator, user: str, body: TierChoice) -> None:
    """Puts a user into a tier, or (null) back into the default one."""
    try:
        await memory.assign_tier(user, body.tier)
    except ConfigurationError as error:
        raise InvalidInput(str(error)) from error


@router.get("/extraction", responses=documented(), operation_id="admin_extraction")
async def extraction(memory: OpenMemory, _: Operator, group: GroupQuery = None) -> CustomExtraction:
    """The custom extraction of the store or of a group."""
    return CustomExtraction(extraction=await memory.extraction(group_id=group))


@router.put("/extraction", responses=documented(), operation_id="admin_set_extraction")
async def set_extraction(
    memory: OpenMemory, _: Operator, body: ExtractionChoice, group: GroupQuery = None
) -> CustomExtraction:
    """Sets instructions, custom kinds and categories, for the store or for a group; null removes them."""
    return CustomExtraction(extraction=await memory.set_extraction(body.extraction, group_id=group))


@router.post("/static", status_code=201, responses=documented(Conflict), operation_id="admin_seed")
async def seed(memory: OpenMemory, _: Operator, body: StaticFacts) -> Receipt:
    """Stores knowledge for every user. Seeding the same facts again adds nothing."""
    return await memory.static.seed(body.facts)


@router.get("/static", responses=documented(), operation_id="admin_static")
async def static(memory: OpenMemory, _: Operator) -> StaticKnowledge:
    """The knowledge that all users share."""
    return StaticKnowledge(facts=list(await memory.static.list()))


@router.get("/dead-letters", responses=documented(), operation_id="admin_dead_letters")
async def dead_letters(memory: OpenMemory, _: Operator) -> DeadLetters:
    """The ranges of turns that processing gave up on, oldest first."""
    return DeadLetters(dead_letters=await memory.dead_letters())


@router.post(
    "/dead-letters/{dead_letter_id}/replay",
    responses=documented(NotFound, InvalidInput, ModelError),
    operation_id="admin_replay",
)
async def replay(memory: OpenMemory, _: Operator, dead_letter_id: str) -> ProcessResult:
    """Processes the range of a dead letter again, and deletes the letter if that succeeds."""
    return await memory.replay(dead_letter_id)


@router.post("/drain", responses=documented(), operation_id="admin_drain")
async def drain(memory: OpenMemory, _: Operator, timeout: Annotated[float, Query(ge=0, le=MAX_WAIT)] = 20.0) -> Drained:
    """Waits until everything written so far is processed, if this process does it; returns how many turns are left."""
    return Drained(left=await memory.drain(timeout))
