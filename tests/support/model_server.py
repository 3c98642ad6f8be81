"""A server of OpenAI's protocol on loopback that answers well, or misbehaves in one of many ways."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from scripted_model import ScriptedChat
from tcp_server import tcp_server

from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import EXTRACT, EXTRACT_AND_SUMMARIZE

DIMENSIONS = HashingEmbeddings().dimensions
Answer = tuple[int, dict[str, str], str]
_JSON = {"content-type": "application/json"}


def _failure(status: int, code: str, message: str, **headers: str) -> Answer:
    return status, _JSON | headers, json.dumps({"error": {"message": message, "code": code}})


_PLAIN: dict[str, Answer] = {
    "500": _failure(500, "server_error", "it broke"),
    "HTML 200": (200, {"content-type": "text/html"}, "<html><body>Please log in</body></html>"),
    "error 200": (200, _JSON, json.dumps({"error": {"message": "upstream is down"}})),
    "empty 200": (200, _JSON, ""),
    "content filter": _failure(400, "content_filter", "the prompt was filtered"),
    "no form": _failure(400, "unsupported_parameter", "response_format and tools are not supported"),
    "short 429": _failure(429, "rate_limit", "slow down", **{"retry-after-ms": "50"}),
    "long 429": _failure(429, "rate_limit", "come back later", **{"retry-after-ms": "1500"}),
    "quota 429": _failure(429, "insufficient_quota", "you exceeded your quota"),
    "model not found": _failure(404, "model_not_found", "there is no such model"),
    "401": _failure(401, "invalid_api_key", "wrong key"),
}
MISBEHAVIOURS = (
    *_PLAIN,
    "hang",
    "drip",
    "reset",
    "broken off",
    "wrong encoding",
    "truncated",
    "refusal",
    "wrong schema",
    "huge answer",
    "wrong dimensions",
    "zeros",
    "nulls",
)


class ModelServer:
    """`mode` says for `chat` and `embeddings` how it behaves: `good`, or one of `MISBEHAVIOURS`. It counts calls.

    It misbehaves `only` for requests with one of these texts.
    """

    def __init__(self) -> None:
        self.mode = {"chat": "good", "embeddings": "good"}
        self.calls: Counter[str] = Counter()
        self.only: tuple[str, ...] = ("",)
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await self._answer(reader, writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:"))
        request = json.loads(await reader.readexactly(length))
        service = "embeddings" if "/embeddings" in head.split("\r\n", 1)[0] else "chat"
        self.calls[service] += 1
        text = json.dumps(request)
        mode = self.mode[service] if any(only in text for only in self.only) else "good"
        if mode == "hang":
            await asyncio.sleep(60)
        if mode == "reset":
            writer.transport.abort()
            raise ConnectionResetError
        status, headers, body = _PLAIN.get(mode) or await self._made(service, mode, request)
        data = body.encode()
        if mode == "wrong encoding":
            headers = headers | {"content-encoding": "gzip"}
        lines = [f"HTTP/1.1 {status} X", f"content-length: {len(data)}", *(f"{n}: {v}" for n, v in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        if mode == "broken off":
            writer.write(data[: len(data) // 2])
            await writer.drain()
            raise ConnectionResetError
        for start in range(0, len(data), 1) if mode == "drip" else [0]:
            writer.write(data[start : start + 1] if mode == "drip" else data)
            await writer.drain()
            if mode == "drip":
                await asyncio.sleep(0.05)

    async def _made(self, service: str, mode: str, request: Any) -> Answer:
        made = await (_embeddings(request, mode) if service == "embeddings" else completion(request, mode))
        text = json.dumps(made)
        return 200, _JSON, text[: len(text) // 2] if mode == "truncated" else text


async def completion(request: Any, mode: str = "good") -> Any:
    """The answer to a task's request, as the protocol's object."""
    name = request.get("response_format", {}).get("json_schema", {}).get("name", EXTRACT.name)
    task = EXTRACT_AND_SUMMARIZE if name == EXTRACT_AND_SUMMARIZE.name else EXTRACT
    data = task.input.model_validate_json(request["messages"][1]["content"])
    content: Any = ScriptedChat().outputs[task.name](data).model_dump_json()
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if mode == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I will not."}
    elif mode == "wrong schema":
        message["content"] = '{"answer": 42}'
    elif mode == "huge answer":
        message["content"] = '{"memories": [' + "[" * 3_000_000
    elif mode == "wrong dimensions":
        raise AssertionError("chat has no dimensions")
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": {"prompt_tokens": 5}}


async def _embeddings(request: Any, mode: str) -> Any:
    texts = request["input"]
    vectors = (await HashingEmbeddings().embed(texts)).vectors
    if mode == "wrong dimensions":
        vectors = [vector[:5] for vector in vectors]
    elif mode == "huge answer":
        vectors = vectors * 40
    fill = {"zeros": 0.0, "nulls": None}
    items = [
        {"index": number, "embedding": [fill[mode]] * len(vector) if mode in fill else list(vector)}
        for number, vector in enumerate(vectors)
    ]
    return {"data": items if mode != "wrong schema" else "none", "usage": {"prompt_tokens": 5}}


@asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    """A running server, in this event loop."""
    made = ModelServer()
    async with tcp_server(made.serve) as url:
        made.url = f"{url}/v1"
        yield made


@contextmanager
def model_server_aside() -> Iterator[ModelServer]:
    """A running server in a thread of its own, for other processes to ask."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    running = model_server()
    try:
        yield asyncio.run_coroutine_threadsafe(running.__aenter__(), loop).result(10)
    finally:
        asyncio.run_coroutine_threadsafe(running.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
