"""LlamaIndex, beyond the promises: messages come back as they were, and their parts are kept as parts."""

from __future__ import annotations

from typing import Any

import pytest
from agent_server import agent_server

pytest.importorskip("llama_index.core", reason="not installed: make integrations ARGS=llama_index")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, DocumentBlock, ImageBlock, TextBlock
from llama_index.llms.openai_like import OpenAILike

from agent_memory import AsyncMemory
from agent_memory.integrations.llama_index import ThreadMemory

pytestmark = pytest.mark.filterwarnings("ignore")


async def test_files_calls_and_results_are_kept_as_parts(memory: AsyncMemory):
    def weather(city: str) -> str:
        """The weather."""
        return "24 degrees"

    with agent_server() as server:
        options: dict[str, Any] = {"is_chat_model": True, "is_function_calling_model": True, "context_window": 8000}
        llm = OpenAILike(model="scripted", api_base=f"{server.url}/v1", api_key="k", max_retries=0, **options)
        kept = ThreadMemory(memory, "alice", "trip")
        agent = FunctionAgent(llm=llm, tools=[weather], streaming=False)
        await agent.run('call weather {"city": "Lisbon"}', memory=kept)
    _, call, result, answer = turns = await memory.user("alice").thread("trip").turns()
    assert [turn.role for turn in turns] == ["user", "tool", "tool", "agent"]
    parts = [part.model_dump(exclude_none=True) for turn in (call, result) for part in turn.parts or ()]
    assert [part["type"] for part in parts] == ["tool_call", "tool_result"]
    assert (parts[0]["name"], parts[1]["content"]) == ("weather", "24 degrees")
    assert parts[0]["id"] == parts[1]["tool_call_id"]
    assert answer.parts is None


async def test_images_and_documents_are_references_and_come_back_whole(memory: AsyncMemory):
    kept = ThreadMemory(memory, "alice", "files")
    blocks = [
        TextBlock(text="What is this?"),
        ImageBlock(url="https://example.org/a.png"),
        ImageBlock(image=b"PNG", image_mimetype="image/png"),
        DocumentBlock(data=b"PDF", title="plan.pdf", document_mimetype="application/pdf"),
    ]
    message = ChatMessage(role="user", blocks=blocks)
    alone = ChatMessage(role="user", blocks=[DocumentBlock(data=b"PDF", title="plan.pdf")])
    await kept.aput_messages([message, alone])
    assert await kept.aget_all() == [message, alone]
    turns = await memory.user("alice").thread("files").turns()
    assert [turn.content for turn in turns] == ["What is this?", "[file: plan.pdf]"]
    assert [part.model_dump(exclude_none=True) for part in turns[0].parts or ()] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "url": "https://example.org/a.png", "mime_type": "image/png"},
        {"type": "image", "mime_type": "image/png"},
        {"type": "file", "mime_type": "application/pdf", "name": "plan.pdf"},
    ]
