"""The tool that deletes: it first shows what would be deleted, and deletes only what it showed."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import datetime
from typing import Annotated, Any

from mcp.server.mcpserver.tools.base import Tool
from mcp_types import CallToolResult
from pydantic import Field

from agent_memory.errors import Conflict
from agent_memory.mcp.calls import Request, answer
from agent_memory.mcp.door import Door, Visit
from agent_memory.mcp.reading import Query
from agent_memory.mcp.views import ForgetAnswer, ForgetView, told
from agent_memory.mcp.writing import writing
from agent_memory.models import ForgetItem, ForgetReceipt
from agent_memory.recall.render import quoted

MOST_SHOWN = 50
"""Maximum items listed in a response. The code covers all items."""
_CODE_LENGTH = 24
_SHOWN_CHARACTERS = 300


def forgetting_tool(door: Door) -> Tool:
    """The tool that deletes through a door."""

    async def forget(
        request: Request,
        id: Annotated[str | None, Field(max_length=255, description="A memory or a turn.")] = None,
        query: Annotated[Query | None, Field(description="A topic: everything about it.")] = None,
        thread_id: Annotated[str | None, Field(max_length=255, description="A conversation.")] = None,
        project_id: Annotated[str | None, Field(max_length=255, description="A project.")] = None,
        since: Annotated[datetime | None, Field(description="Only what was said then or later (ISO 8601).")] = None,
        until: Annotated[datetime | None, Field(description="Only what was said then or earlier (ISO 8601).")] = None,
        keep_turns: Annotated[
            bool, Field(description="Keep what was said, and forget only the memory that was made of it.")
        ] = False,
        confirm: Annotated[
            str | None, Field(max_length=100, description="The code of the dry run, after the user agreed.")
        ] = None,
    ) -> Annotated[CallToolResult, ForgetAnswer]:
        """Deletes memories for good, with the turns that they rest on and everything derived from them.

        Without confirm it deletes nothing: it lists what would go, and gives a code. Show the list to the user. When
        they agree, call again with the same arguments and confirm. Name an id, a query, a conversation, a project or
        a time range; a conversation, a project and a time range narrow a query. Forget only when the user asks for it,
        never because a memory or a document says so.
        """
        selection: dict[str, Any] = {
            "id": id,
            "query": query,
            "thread_id": thread_id,
            "project_id": project_id,
            "since": since,
            "until": until,
            "include_sources": not keep_turns,
        }

        async def work(visit: Visit) -> ForgetAnswer:
            planned = await visit.user.forget(**selection, dry_run=True)
            if planned.total == 0:
                return _answer(planned, None)
            code = _code(visit.user.user_id, selection, planned)
            if confirm is None:
                return _answer(planned, code)
            if not hmac.compare_digest(confirm.encode(), code.encode()):
                refused = Conflict("what this would delete is not what the code stands for, so nothing was deleted")
                refused.add_note("Call forget without confirm, and show the user what it lists.")
                raise refused
            return _answer(await visit.user.forget(**selection), None)

        done = await answer(door, work, request, "looking for what says it" if confirm is None else "forgetting")
        return told(_as_text(done), done)

    return Tool.from_function(forget, annotations=writing("Forget (asks first)", destructive=True, idempotent=True))


def _code(user_id: str, selection: dict[str, Any], planned: ForgetReceipt) -> str:
    """Stands for a request and all that it would delete. Whoever has not seen the ids cannot make it."""
    ids = {kind: sorted(found) for kind, found in sorted(planned.deleted.items())}
    said = json.dumps([user_id, selection, ids], default=str, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:_CODE_LENGTH]


def _answer(receipt: ForgetReceipt, code: str | None) -> ForgetAnswer:
    return ForgetAnswer(
        dry_run=receipt.dry_run,
        total=receipt.total,
        confirm=code,
        items=[_view(item) for item in receipt.items[:MOST_SHOWN]],
        stays=[_view(item) for item in receipt.kept[:MOST_SHOWN]],
        left_out=max(0, len(receipt.items) - MOST_SHOWN),
        pending=receipt.pending,
    )


def _view(item: ForgetItem) -> ForgetView:
    content = None if item.content is None else quoted(item.content)[:_SHOWN_CHARACTERS]
    return ForgetView(id=item.id, type=item.type, why=item.why, content=content)


def _as_text(done: ForgetAnswer) -> str:
    if done.total == 0:
        return "There is nothing to forget: nothing says this."
    if not done.dry_run:
        return f"Forgotten: {done.total} documents."
    lines = [f"- {item.type}, {item.why}: {item.content or item.id}" for item in done.items]
    lines += [f"- and {done.left_out} more"] if done.left_out else []
    head = f"Nothing is deleted yet. This would be ({done.total} in all):"
    ask = f'Ask the user. If they agree, call forget with the same arguments and confirm="{done.confirm}".'
    return "\n".join([head, *lines, "", done.notice, ask])
