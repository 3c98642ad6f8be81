"""Import of an export as lines of JSON, and erasure of a user."""

from __future__ import annotations

from fastapi import APIRouter, Request

from agent_memory.api.binding import owned
from agent_memory.api.errors import documented
from agent_memory.api.identity import UserId
from agent_memory.contract.schemas import NDJSON
from agent_memory.errors import Conflict, InvalidInput, MemoryDisabled, ModelError
from agent_memory.models import ForgetReceipt, ImportReceipt

router = APIRouter(prefix="/v1", tags=["transfer"])

_LINES = {"content": {NDJSON: {"schema": {"type": "string"}}}}


@router.post(
    "/import",
    responses=documented(Conflict, MemoryDisabled, ModelError),
    openapi_extra={"requestBody": {"required": True, **_LINES}},
    operation_id="user_import_lines",
)
async def import_lines(request: Request, user_id: UserId) -> ImportReceipt:
    """Imports the lines of an export. Existing data stays as it is, so the request may be repeated.

    Send a long export in pieces, each with the header line first, and with a thread's line before its turns.
    """
    try:
        text = (await request.body()).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("an export is UTF-8") from error
    return await owned(request, user_id).import_lines(text.splitlines())


@router.delete("/users/me", responses=documented(), operation_id="user_erase")
async def erase(request: Request, user_id: UserId) -> ForgetReceipt:
    """Erases the user: every document in every container, verified at the end. It cannot be undone."""
    return await owned(request, user_id).forget(everything=True)
