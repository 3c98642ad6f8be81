"""Services that misbehave as no documentation says: each ends in bounded time, with an answer or a typed error.

What a `ModelError` that is retryable says: the turns wait, and nothing is lost. One that is not says that this input
has no usable answer; steps cut the input in halves then.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from time import sleep
from typing import Any

import pytest
from dialect_servers import FACT, GOOD, TALK, Json, completion
from pytest_httpserver import HTTPServer
from tcp_server import tcp_server
from werkzeug import Request, Response

from agent_memory.errors import ModelError
from agent_memory.language.anthropic_chat import AnthropicChat
from agent_memory.language.clients import MOST_REDIRECTS
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.openai_protocol import LARGEST_BODY
from agent_memory.language.prompts import ModelParameters
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.tasks import EXTRACT, TaskResult

QUICK = RetryPolicy(attempts=2, total=120, first_wait=0.001, longest_wait=0.01)
Handler = Callable[[Request], Response]


class Odd:
    """A service that gives each call to a handler, and counts the calls."""

    def __init__(self, server: HTTPServer, handler: Handler) -> None:
        self.calls = 0
        self._handler = handler
        self.url = f"{server.url_for('').rstrip('/')}/v1"
        server.expect_request(re.compile(".*"), method="POST").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.calls += 1
        return self._handler(request)

    async def ask(self) -> TaskResult[Any]:
        async with self.chat() as chat:
            return await chat.run(EXTRACT, TALK)

    @asynccontextmanager
    async def chat(self, timeout: float = 20) -> AsyncIterator[OpenAIChat]:
        """Each test has a name of its own, because what fails is left alone by all adapters of a name."""
        parameters = ModelParameters(timeout=timeout)
        chat = OpenAIChat(f"odd-{id(self)}", base_url=self.url, api_key="k", retries=QUICK, parameters=parameters)
        try:
            yield chat
        finally:
            await chat.close()


@pytest.fixture
def odd(httpserver: HTTPServer) -> Callable[[Handler], Odd]:
    return lambda handler: Odd(httpserver, handler)


def raw(body: str | bytes, status: int = 200, mimetype: str = "application/json", **headers: str) -> Handler:
    return lambda request: Response(body, status, headers, mimetype=mimetype)


def said(text: str | list[Json] | None, **changes: Any) -> Handler:
    """A good envelope around this text, with some of its fields changed."""
    return raw(json.dumps(completion(text)[1] | changes))


async def test_no_choices_are_an_unusable_answer(odd):
    service = odd(said(None, choices=[]))
    with pytest.raises(ModelError, match="it is empty") as caught:
        await service.ask()
    assert (caught.value.retryable, service.calls) == (False, 3)


BROKEN = {
    "an error with 200": json.dumps({"error": {"message": "upstream died", "code": 500}}),
    "half of an envelope": json.dumps(completion(json.dumps(GOOD))[1])[:90],
    "a stream that nobody asked for": 'data: {"choices":[{"delta":{"content":"{"}}]}\n\ndata: {"cho',
    "null": "null",
    "nothing": "",
    "choices that are no list": json.dumps({"choices": {"0": "yes"}}),
    "a message without its envelope": json.dumps({"role": "assistant", "content": json.dumps(GOOD)}),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_no_answer_is_a_fault_of_the_service_that_may_pass(odd, name: str):
    service = odd(raw(BROKEN[name]))
    with pytest.raises(ModelError) as caught:
        await service.ask()
    assert (caught.value.retryable, caught.value.fault, service.calls) == (True, "no_api_answer", 2)


async def test_gzip_that_is_broken_is_a_fault_that_may_pass(odd):
    whole = gzip.compress(json.dumps(completion(json.dumps(GOOD))[1]).encode())
    service = odd(lambda request: Response(whole[:20] + b"\0" * 40, 200, {"content-encoding": "gzip"}))
    with pytest.raises(ModelError) as caught:
        await service.ask()
    assert (caught.value.retryable, service.calls) == (True, 2)


HALF = json.dumps(completion(json.dumps(GOOD))[1]).encode()[:90]
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
BROKEN_OFF = {
    "less than was promised": _HEAD + b"content-length: 9999\r\n\r\n" + HALF,
    "a chunk of no length": _HEAD + b"transfer-encoding: chunked\r\n\r\nZZ\r\nhello\r\n0\r\n\r\n",
    "another encoding": _HEAD + b"content-encoding: gzip\r\ncontent-length: 90\r\n\r\n" + HALF,
}


@pytest.mark.parametrize("adapter", [OpenAIChat, AnthropicChat])
@pytest.mark.parametrize("name", BROKEN_OFF)
async def test_an_answer_that_breaks_off_is_a_fault_that_may_pass(name: str, adapter: type[OpenAIChat | AnthropicChat]):
    calls = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        await reader.readuntil(b"\r\n\r\n")
        calls += 1
        writer.write(BROKEN_OFF[name])
        await writer.drain()

    async with tcp_server(answer) as url:
        chat = adapter("m", base_url=f"{url}/v1", api_key="k", retries=QUICK)
        with pytest.raises(ModelError, match=r"m broke off its answer: \w") as caught:
            await chat.run(EXTRACT, TALK)
        await chat.close()
    assert (caught.value.retryable, caught.value.fault, calls) == (True, "unreachable", 2)


@pytest.mark.parametrize("adapter", [OpenAIChat, AnthropicChat])
async def test_the_talk_is_sent_to_no_other_server(odd, adapter: type[OpenAIChat | AnthropicChat]):
    arrived = 0

    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal arrived
        arrived += 1

    async with tcp_server(other) as url:
        service = odd(raw("", 307, location=f"{url}/v1/chat/completions"))
        chat = adapter("m", base_url=service.url, api_key="k", retries=RetryPolicy(attempts=1))
        with pytest.raises(ModelError, match=f"it redirects to another server, {url}"):
            await chat.run(EXTRACT, TALK)
        await chat.close()
    assert (service.calls, arrived) == (1, 0)


async def test_redirects_in_a_circle_end(odd):
    service = odd(raw("", 307, location="/v1/chat/completions"))
    chat = OpenAIChat("m", base_url=service.url, api_key="k", retries=RetryPolicy(attempts=1))
    with pytest.raises(ModelError, match="redirects") as caught:
        await chat.run(EXTRACT, TALK)
    await chat.close()
    assert (caught.value.retryable, service.calls) == (True, 1 + MOST_REDIRECTS)


async def test_a_connection_that_is_reset_is_named():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    async with tcp_server(answer) as url:
        chat = OpenAIChat("m", base_url=f"{url}/v1", api_key="k", retries=RetryPolicy(attempts=1))
        with pytest.raises(ModelError, match=r"cannot be reached: .*\w.*\.") as caught:
            await chat.run(EXTRACT, TALK)
        await chat.close()
    assert caught.value.fault == "unreachable"


@pytest.mark.parametrize("adapter", [OpenAIChat, AnthropicChat])
@pytest.mark.parametrize("packed", [False, True])
async def test_a_huge_answer_is_not_read_to_its_end(odd, packed: bool, adapter: type[OpenAIChat | AnthropicChat]):
    """Packed, it takes a thousandth of its length on the way."""
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(40):
            sent += 1
            yield b" " * (LARGEST_BODY // 4)

    def handler(request: Request) -> Response:
        if packed:
            return Response(gzip.compress(b" " * (6 * LARGEST_BODY)), 200, {"content-encoding": "gzip"})
        return Response(pieces(), 200, mimetype="application/json")

    service = odd(handler)
    chat = adapter(f"huge-{packed}", base_url=service.url, api_key="k", retries=RetryPolicy(attempts=1))
    with pytest.raises(ModelError, match="more than 8 MB") as caught:
        await chat.run(EXTRACT, TALK)
    await chat.close()
    assert (caught.value.retryable, caught.value.fault, service.calls) == (True, "no_api_answer", 1)
    assert sent < 40


async def test_a_service_that_drips_is_given_up_at_the_timeout(odd):
    def drips() -> Iterator[bytes]:
        for _ in range(40):
            sleep(0.05)
            yield b" "

    service = odd(lambda request: Response(drips(), 200, mimetype="application/json"))
    async with service.chat(timeout=0.2) as chat:
        with pytest.raises(ModelError, match=r"within 0\.2 s") as caught:
            await chat.run(EXTRACT, TALK)
    assert (caught.value.retryable, caught.value.fault) == (True, "timeout")


@pytest.mark.parametrize("status", [429, 529, 599])
async def test_a_status_without_a_wait_is_asked_again_after_one_of_ours(odd, status: int):
    service = odd(raw("", status, "text/plain"))
    with pytest.raises(ModelError) as caught:
        await service.ask()
    assert caught.value.retryable
    assert caught.value.fault == ("throttled" if status == 429 else "server_error")
    assert service.calls == 2


REFUSALS = [
    "Es tut mir leid, dabei kann ich nicht helfen.",
    "Lo siento, no puedo ayudar con eso.",
    "申し訳ありません。",
]


@pytest.mark.parametrize("text", REFUSALS)
async def test_a_refusal_in_any_language_is_an_unusable_answer(odd, text: str):
    service = odd(said(text))
    with pytest.raises(ModelError, match="no JSON") as caught:
        await service.ask()
    assert (caught.value.retryable, service.calls) == (False, 3)


ANSWER = json.dumps(GOOD)
READ: dict[str, Handler] = {
    "another content type": raw(json.dumps(completion(ANSWER)[1]), mimetype="text/html"),
    "a byte order mark": raw(b"\xef\xbb\xbf" + json.dumps(completion(ANSWER)[1]).encode()),
    "no usage": said(ANSWER, usage=None),
    "usage that is no number": raw(
        json.dumps(completion(ANSWER)[1] | {"usage": {"prompt_tokens": float("nan"), "completion_tokens": "many"}})
    ),
    "usage below zero": said(ANSWER, usage={"prompt_tokens": -5, "completion_tokens": -1}),
    "usage in another shape": said(ANSWER, usage=[1, 2]),
    "an unknown finish": said(ANSWER, choices=[{"message": {"content": ANSWER}, "finish_reason": "eos_token"}]),
    "a finish that is no word": said(ANSWER, choices=[{"message": {"content": ANSWER}, "finish_reason": 7}]),
    "a list of parts": said([{"type": "thinking", "thinking": []}, {"type": "text", "text": ANSWER}]),
    "parts without a type": said([{"text": ANSWER[:30]}, {"text": ANSWER[30:]}]),
    "a tool of another name": said(
        None,
        choices=[{"message": {"tool_calls": [{"function": {"name": "save_memories", "arguments": ANSWER}}]}}],
    ),
    "two answers": said(ANSWER, choices=[{"message": {"content": ANSWER}}, {"message": {"content": "no"}}]),
    "a list under one name twice": said(
        f'{{"worth_extracting": true, "memories": [{json.dumps(FACT)}], "memories": []}}'
    ),
}


@pytest.mark.parametrize("name", READ)
async def test_what_is_odd_beside_a_good_answer_costs_nothing(odd, name: str):
    service = odd(READ[name])
    answer = await service.ask()
    assert [memory.content for memory in answer.output.memories] == [FACT["content"]]
    assert service.calls == 1
    assert answer.usage.input_tokens >= 0


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_a_number_that_is_none_costs_nothing_but_the_number(odd, number: str):
    wrong = json.dumps(FACT | {"content": "User goes to Hawaii", "confidence": 0}).replace(
        '"confidence": 0', f'"confidence": {number}'
    )
    service = odd(said(f'{{"worth_extracting": true, "memories": [{json.dumps(FACT)}, {wrong}]}}'))
    answer = await service.ask()
    assert [memory.content for memory in answer.output.memories] == [FACT["content"], "User goes to Hawaii"]
    assert answer.output.memories[1].confidence == (1.0 if number in ("Infinity", "1e999") else 0.8)
    assert answer.rejected == []


async def test_half_a_character_in_an_envelope_is_left_out(odd):
    body = json.dumps(completion(ANSWER)[1]).replace('"role": "assistant"', '"role": "assistant", "name": "\\ud83d"')
    service = odd(raw(body.replace(FACT["content"], FACT["content"] + "\\ud83d")))
    answer = await service.ask()
    assert [memory.content for memory in answer.output.memories] == [FACT["content"]]
    assert service.calls == 1
