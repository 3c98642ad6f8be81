"""Google ADK: a memory service.

    runner = Runner(app_name="travel", agent=agent, session_service=…, memory_service=MemoryService(memory))

ADK recalls with the agent's tools `preload_memory` and `load_memory`. It stores nothing by itself: set
`after_agent_callback=keep_session` on the agent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, Turn, encode_id, owner, survive, turn, turn_id
from agent_memory.integrations.parts import media, role_of, words
from agent_memory.models import Hit
from agent_memory.transfer.parts import read_parts

require("google.adk", "google-adk")

from google.adk.memory import BaseMemoryService  # noqa: E402
from google.adk.memory.base_memory_service import SearchMemoryResponse  # noqa: E402
from google.adk.memory.memory_entry import MemoryEntry  # noqa: E402
from google.genai import types  # noqa: E402

__all__ = ["MemoryService", "keep_session"]

_HOW = "ADK gives the user_id of the session"
_RECALLING = ("load_memory", "preload_memory")
"""Tools of ADK that answer with memories. These answers are not stored, so that nothing is learned again."""


class MemoryService(BaseMemoryService):
    """Sessions become threads of their users, and memories are found in all of them.

    The app is noted as the agent of a turn. Users are the same in all apps, as in the rest of this library.
    """

    def __init__(self, memory: AnyMemory, *, limit: int = 8) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory.
            limit: The maximum memories of a search; ADK has no such option.
        """
        self._bridge = Bridge(memory)
        self._limit = limit

    async def add_session_to_memory(self, session: Any) -> None:
        """Keeps the events of a session. Those that were kept before are not written again.

        Raises:
            InvalidInput: if the session has no user.
        """
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores events. If the store fails, this is logged.

        Raises:
            InvalidInput: if there is no user id.
        """
        user, thread = owner(user_id, _HOW), session_id or app_name
        bridge = Bridge(self._bridge.memory, agent_id=app_name)
        await bridge.keep(user, thread, [_turn(thread, event) for event in events])

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The memories relevant to a query; none if the store fails.

        Raises:
            InvalidInput: if there is no user id.
        """
        scope = self._bridge.user(owner(user_id, _HOW))
        hits: list[Hit] = []
        if query.strip():
            hits = await survive(self._bridge.ask(scope.search, query, limit=self._limit), "search", hits)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in hits])

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remembers texts as facts.

        Raises:
            InvalidInput: if there is no user id, or no text.
            AgentMemoryError: as `remember` of a user.
        """
        scope = self._bridge.user(owner(user_id, _HOW))
        for entry in memories:
            await self._bridge.ask(scope.remember, _text(entry.content))

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forgets one memory, or without an id everything of the user.

        Raises:
            InvalidInput: if there is no user id.
            NotFound: if the user has no such memory.
        """
        scope = self._bridge.user(owner(user_id, _HOW))
        await self._bridge.ask(scope.forget, memory_id, everything=memory_id is None)


async def keep_session(callback_context: Any) -> None:
    """Keeps the session after a run, as `after_agent_callback` of an agent."""
    await callback_context.add_session_to_memory()


def _turn(thread_id: str, event: Any) -> Turn | None:
    said, parts = _text(event.content), read_parts([_block(part) for part in _parts(event.content)])
    role = role_of("user" if event.author == "user" else "assistant", said, parts)
    text = words(said, parts)
    if event.partial or not text.strip():
        return None
    id = encode_id(event.id, "the event's id") if event.id else turn_id(thread_id, role, text)
    made = turn(role, text, id, parts)
    return made if made is None or role == "user" else made | {"name": event.author}


def _parts(content: Any) -> list[types.Part]:
    """The parts of a message, without thoughts and without what the tools of ADK recalled from the memory."""
    every = (content.parts if content is not None else None) or ()
    return [part for part in every if not part.thought and _tool(part) not in _RECALLING]


def _tool(part: types.Part) -> str | None:
    called = part.function_call or part.function_response
    return None if called is None else called.name


def _block(part: types.Part) -> dict[str, Any] | None:
    """A part of a message, in the shape of a chat API."""
    if part.text:
        return {"type": "text", "text": part.text}
    if (blob := part.inline_data) is not None:
        return media(blob.mime_type, data=blob.data, name=blob.display_name)
    if (file := part.file_data) is not None:
        return media(file.mime_type, url=file.file_uri, name=file.display_name)
    if (call := part.function_call) is not None:
        return {"type": "tool_call", "name": call.name, "id": call.id, "args": call.args}
    if (result := part.function_response) is not None:
        given = {"type": "tool_result", "name": result.name, "tool_call_id": result.id}
        return given | {"content": json.dumps(result.response, ensure_ascii=False, default=str)}
    return None


def _entry(hit: Hit) -> MemoryEntry:
    memory = hit.memory
    content = types.Content(role="user", parts=[types.Part(text=memory.content)])
    return MemoryEntry(id=memory.id, content=content, author="memory", timestamp=memory.created_at.isoformat())


def _text(content: Any) -> str:
    return "\n".join(part.text for part in _parts(content) if part.text)
