"""Google ADK, beyond the promises: files, calls and results of tools are kept as parts, and nothing recalled is."""

from __future__ import annotations

import pytest

pytest.importorskip("google.adk", reason="not installed: make integrations ARGS=google_adk")

from google.adk.events import Event
from google.adk.sessions import Session
from google.genai import types

from agent_memory import AsyncMemory
from agent_memory.integrations.google_adk import MemoryService

pytestmark = pytest.mark.filterwarnings("ignore")


def event(author: str, *parts: types.Part) -> Event:
    return Event(author=author, content=types.Content(role="user" if author == "user" else "model", parts=list(parts)))


async def test_parts_of_events_are_kept(memory: AsyncMemory):
    call = types.FunctionCall(id="c1", name="weather", args={"city": "Lisbon"})
    result = types.FunctionResponse(id="c1", name="weather", response={"degrees": 24})
    recall = types.FunctionCall(id="c2", name="load_memory", args={"query": "budget"})
    recalled = types.FunctionResponse(id="c2", name="load_memory", response={"memories": "The budget is $10,000"})
    plan = types.Blob(data=b"PDF", mime_type="application/pdf", display_name="plan.pdf")
    events = [
        event("user", types.Part(text="What do I pack for this?"), types.Part(inline_data=plan)),
        event("user", types.Part(file_data=types.FileData(file_uri="gs://trips/bag.png", mime_type="image/png"))),
        event("guide", types.Part(function_call=call)),
        event("guide", types.Part(function_response=result)),
        event("guide", types.Part(function_call=recall)),
        event("guide", types.Part(function_response=recalled)),
        event("guide", types.Part(text="thinking", thought=True), types.Part(text="Light clothes.")),
    ]
    service = MemoryService(memory)
    session = Session(id="s", app_name="travel", user_id="alice", events=events)
    await service.add_session_to_memory(session)
    await service.add_session_to_memory(session)
    turns = await memory.user("alice").thread("s").turns()
    parts = [[part.model_dump(exclude_none=True) for part in turn.parts or ()] for turn in turns]
    assert [(turn.role, turn.content) for turn in turns] == [
        ("user", "What do I pack for this?"),
        ("user", "[image]"),
        ("tool", '[calls weather({"city": "Lisbon"})]'),
        ("tool", '{"degrees": 24}'),
        ("agent", "Light clothes."),
    ]
    file = {"type": "file", "name": "plan.pdf", "mime_type": "application/pdf"}
    assert parts == [
        [{"type": "text", "text": "What do I pack for this?"}, file | {"url": "data:application/pdf;base64,UERG"}],
        [{"type": "image", "url": "gs://trips/bag.png", "mime_type": "image/png"}],
        [{"type": "tool_call", "name": "weather", "id": "c1", "args": {"city": "Lisbon"}}],
        [
            {
                "type": "tool_result",
                "name": "weather",
                "tool_call_id": "c1",
                "content": '{"degrees": 24}',
                "is_error": False,
            }
        ],
        [],
    ]
