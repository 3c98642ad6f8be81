"""A chat service with memory: FastAPI, answers streamed word by word.

    python samples/chat_api.py                              # http://127.0.0.1:8000, until Ctrl-C
    curl -N localhost:8000/chat/monday -H 'Authorization: Bearer ann-key' --json '{"message": "I moved to Porto."}'
    curl -N localhost:8000/chat/friday -H 'Authorization: Bearer ann-key' --json '{"message": "Where do I live?"}'

The key says who the user is; a request cannot choose another. CHAT_KEYS='{"ann-key": "ann"}' sets the keys.

With OPENAI_API_KEY (or OPENAI_BASE_URL) a model answers. Without, a script takes its place: it repeats what is
remembered. With MEMORY_URL the memory is that of a server, which several workers can share; without, it is chat_api.db.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.language.openai_chat import OpenAIChat

HAS_A_MODEL = bool(os.environ.keys() & {"OPENAI_API_KEY", "OPENAI_BASE_URL"})
MODEL = os.environ.get("AGENT_MEMORY_CHAT_MODEL", "gpt-4.1-mini")
KEYS: dict[str, str] = json.loads(os.environ.get("CHAT_KEYS", '{"ann-key": "ann", "bob-key": "bob"}'))
SYSTEM = {"role": "system", "content": "You are a helpful assistant."}


class Question(BaseModel):
    """What a user says."""

    message: str = Field(min_length=1, max_length=20_000)


def open_memory() -> AsyncMemory:
    """The memory of a server, or a file; the embeddings of the file are made on this machine."""
    if url := os.environ.get("MEMORY_URL"):
        return AsyncMemory.remote(url, os.environ.get("MEMORY_KEY"))
    return AsyncMemory.local("chat_api.db", chat_model=OpenAIChat(MODEL) if HAS_A_MODEL else None)


@asynccontextmanager
async def lifespan(service: FastAPI) -> AsyncIterator[None]:
    """Keeps one memory open for all requests; closing it finishes the work in the background."""
    async with open_memory() as memory:
        service.state.memory = memory
        yield


app = FastAPI(title="A chat with memory", lifespan=lifespan)


@app.exception_handler(InvalidInput)
async def refused(request: Request, error: InvalidInput) -> JSONResponse:
    """Says what is wrong with a request, such as the name of its thread."""
    return JSONResponse({"detail": str(error)}, 422)


async def user_of(given: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> str:
    """Whose key it is."""
    if given.credentials not in KEYS:
        raise HTTPException(401, "unknown key", {"WWW-Authenticate": "Bearer"})
    return KEYS[given.credentials]


@app.post("/chat/{thread_id}")
async def chat(thread_id: str, question: Question, user: Annotated[str, Depends(user_of)]) -> StreamingResponse:
    """Answers with what is known of the user, and keeps the question and the answer."""
    thread = app.state.memory.user(user).thread(thread_id)
    context = await thread.context(question.message)  # what is remembered, and the last turns; never raises
    await thread.add("user", question.message)
    messages = [SYSTEM, *context.messages, {"role": "user", "content": question.message}]

    async def told() -> AsyncIterator[str]:
        parts: list[str] = []
        try:
            async for part in streamed(messages) if HAS_A_MODEL else scripted(context.text):
                parts.append(part)
                yield part
        finally:  # if the user goes away, what they have read so far is kept
            with anyio.CancelScope(shield=True):
                if parts and HAS_A_MODEL:  # the script only repeats what is known
                    await thread.add("assistant", "".join(parts))

    return StreamingResponse(told(), media_type="text/plain; charset=utf-8")


async def streamed(messages: list[Any]) -> AsyncIterator[str]:
    """The answer of a model, in parts."""
    from openai import AsyncOpenAI

    async with AsyncOpenAI() as client:
        async for chunk in await client.chat.completions.create(model=MODEL, messages=messages, stream=True):
            if chunk.choices and (text := chunk.choices[0].delta.content):
                yield text


async def scripted(known: str) -> AsyncIterator[str]:
    """What stands in for a model: what it would be told."""
    for line in known.splitlines(keepends=True) or ["(Nothing is known of this yet.)"]:
        yield line


if __name__ == "__main__":
    uvicorn.run(app, port=int(os.environ.get("PORT", "8000")))
