"""An embedding endpoint on this machine that answers, hangs, fails or hangs up, as a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from tcp_server import tcp_server

from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.openai_embeddings import OpenAIEmbeddings
from agent_memory.language.retries import RetryPolicy

Mood = Literal["answers", "hangs", "fails", "hangs up"]


class EmbeddingServer:
    """Speaks as much of OpenAI's embeddings API as its client needs."""

    def __init__(self) -> None:
        self.mood: Mood = "answers"
        self.asked = 0
        self._model = HashingEmbeddings()
        self.url = ""

    def model(self) -> OpenAIEmbeddings:
        """Its client, which tries a service that failed again at once."""
        again = RetryPolicy(attempts=2, first_wait=0.01, first_pause=0.0, longest_pause=0.0)
        return OpenAIEmbeddings("m", dimensions=self._model.dimensions, base_url=self.url, api_key="k", retries=again)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            body = await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
            self.asked += 1
            if self.mood == "hangs":
                await asyncio.Future[None]()
            if self.mood == "hangs up":
                break
            given = json.loads(body)["input"]
            vectors = (await self._model.embed([given] if isinstance(given, str) else given)).vectors
            data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            said = json.dumps({"object": "list", "model": "m", "data": data, "usage": usage}).encode()
            status = "200 OK" if self.mood == "answers" else "500 Internal Server Error"
            kind = f"content-type: application/json\r\ncontent-length: {len(said)}"
            writer.write(f"HTTP/1.1 {status}\r\n{kind}\r\n\r\n".encode() + said)
            await writer.drain()


@asynccontextmanager
async def embedding_server() -> AsyncIterator[EmbeddingServer]:
    made = EmbeddingServer()
    async with tcp_server(made.answer) as url:
        made.url = f"{url}/v1"
        yield made
