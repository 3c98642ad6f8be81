"""JSON that no store could keep: refused with a typed error at every entrance, whatever reads it first."""

import base64
import json
from datetime import datetime
from typing import Any

import pytest
from api_world import client_of, serving

from agent_memory import AsyncMemory, InvalidInput
from agent_memory.models import TurnInput
from agent_memory.store.documents import MAX_LEVELS, check_json, read_json

ALICE = {"x-user-id": "alice", "content-type": "application/json"}
HEADER = '{"type": "header", "format": "agent-memory", "version": 1}\n'


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def brackets(levels: int) -> str:
    return "[" * levels + "]" * levels


UNKEEPABLE = {
    "deep": brackets(300),
    "deeper than any parser": brackets(100_000),
    "a number of 400 digits": "9" * 400,
    "a number of 5,000 digits": "9" * 5000,
    "no number": "NaN",
    "an infinite number": "1e999",
    "half of a character": r'"\ud800"',
    "a name that is half of one": r'{"\udfff": 1}',
}
PLACES = {
    "turn": ("/v1/threads/t/turns", '{"turns": [{"role": "user", "content": "Hello", "metadata": {"a": %s}}]}'),
    "remember": ("/v1/memories", '{"content": "Likes tea", "metadata": {"a": %s}}'),
    "static": ("/v1/admin/static", '{"facts": [{"id": "a", "content": "Tea is hot", "metadata": {"a": %s}}]}'),
    "import": ("/v1/import", HEADER + '{"type": "thread", "thread_id": "t", "a": %s}'),
    "import of mem0": ("/v1/import", HEADER + '{"type": "memory", "metadata": {"a": %s}}'),
    "search": ("/v1/search", '{"query": %s}'),
    "context": ("/v1/context", '{"query": "tea", "history": %s}'),
    "a field that is none": ("/v1/memories", '{"content": "Likes tea", "nope": %s}'),
    "the whole body": ("/v1/memories", "%s"),
    "responses": ("/v1/memory/search", '{"input": "tea", "memory_context": {"user_id": %s}}'),
    "account": ("/api/memory/search", '{"query": "tea", "user_id": %s}'),
}


@pytest.mark.parametrize("value", UNKEEPABLE.values(), ids=UNKEEPABLE)
async def test_json_that_cannot_be_kept_is_the_callers_fault(memory: AsyncMemory, value: str):
    async with client_of(memory) as http:
        for name, (path, body) in PLACES.items():
            answer = await http.post(path, content=(body % value).encode(), headers=ALICE)
            # A user id that is no text differs from that of the credentials, whatever it is.
            assert answer.status_code in (400, 403), (name, answer.status_code, answer.text[:200])
            assert answer.json()["error"]["code"] in ("invalid_input", "forbidden"), name
        assert await memory.users() == []


@pytest.mark.parametrize("content", [r'"\ud800"', r'"a \udc00 b"'])
async def test_a_text_with_half_a_character_is_refused(memory: AsyncMemory, content: str):
    async with client_of(memory) as http:
        kept = (await http.post("/v1/memories", json={"content": "Likes tea"}, headers=ALICE)).json()["id"]
        for verb, path, body in (
            ("POST", "/v1/threads/t/turns", '{"turns": [{"role": "user", "content": %s}]}'),
            ("POST", "/v1/threads/t/turns", '{"turns": [{"role": "user", "content": "x", "name": %s}]}'),
            ("POST", "/v1/memories", '{"content": %s}'),
            ("POST", "/v1/memories", '{"content": "Likes milk", "tags": [%s]}'),
            ("PATCH", f"/v1/memories/{kept}", '{"content": %s}'),
            ("PATCH", f"/v1/memories/{kept}", '{"content": "Likes milk", "reason": %s}'),
            ("POST", "/v1/memory/forget", '{"query": %s}'),
            ("POST", "/v1/search", '{"query": %s}'),
            ("POST", "/v1/context", '{"query": %s}'),
            ("POST", "/v1/process/profile", '{"thread_id": %s}'),
        ):
            answer = await http.request(verb, path, content=(body % content).encode(), headers=ALICE)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input"), (path, answer.text)


async def test_what_is_as_deep_as_it_may_be_is_kept(memory: AsyncMemory):
    deepest = {"a": nested(MAX_LEVELS - 2)}  # in the metadata, in the document
    user = memory.user("alice")
    await user.thread("t").add("user", "Hello there", metadata=deepest)
    await user.remember("Likes tea", metadata=deepest)
    assert (await user.thread("t").turns())[0].metadata == deepest
    assert (await user.memories())[0].metadata == deepest
    deeper = {"a": nested(MAX_LEVELS - 1)}
    for levels in (deeper, {"a": nested(300)}, {"a": nested(5000)}):
        with pytest.raises(InvalidInput, match="nested deeper than 128"):
            await user.thread("t").add("user", "Hello again", metadata=levels)
        with pytest.raises(InvalidInput, match="nested deeper than 128"):
            await user.thread("t").add_many([TurnInput(role="user", content="Hello", metadata=levels)])
        with pytest.raises(InvalidInput, match="nested deeper than 128"):
            await user.remember("Likes milk", metadata=levels)


async def test_a_remote_caller_gets_the_same_errors(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        user = remote.user("alice")
        for levels in (MAX_LEVELS, 300, 5000):
            for work in (
                user.remember("Likes tea", metadata={"a": nested(levels)}),
                user.thread("t").add("user", "Hello", metadata={"a": nested(levels)}),
                user.import_lines([HEADER.strip(), '{"type": "turn", "a": %s}' % brackets(levels)]),  # noqa: UP031
            ):
                with pytest.raises(InvalidInput):
                    await work


def test_the_levels_are_counted_from_the_whole():
    for levels in (0, 1, MAX_LEVELS):
        check_json(nested(levels), "it")
        assert read_json(brackets(levels) if levels else "1", "it") is not None
    for levels in (MAX_LEVELS + 1, 100_000):
        with pytest.raises(InvalidInput, match="it is nested deeper than 128 levels"):
            check_json(nested(levels), "it")
        with pytest.raises(InvalidInput, match="it is nested deeper than 128 levels"):
            read_json(brackets(levels), "it")
    for value in (float("nan"), 10**309, -(10**309), b"x", {1, 2}, object(), "\ud800", {"\ud800": 1}, [["\ud800"]]):
        with pytest.raises(InvalidInput, match="it holds"):
            check_json(value, "it")
    check_json({"a": [1, 2.5, None, True, "é😀", 10**308, ("x",)]}, "it")


async def test_a_body_that_breaks_off_is_named(memory: AsyncMemory):
    async with client_of(memory) as http:
        headers = ALICE | {"content-type": "application/json"}
        answer = await http.post("/v1/search", content=b'{"query": "tea"', headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("the body is not valid JSON: Expecting")


OUTSIDE = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]


@pytest.mark.parametrize("time", OUTSIDE)
async def test_a_time_that_utc_does_not_have_is_the_callers_fault(memory: AsyncMemory, time: str):
    cursor = base64.urlsafe_b64encode(json.dumps({"before": time}).encode()).decode()
    requests = [
        ("POST", "/v1/threads/t/turns", {"turns": [{"role": "user", "content": "Hello", "created_at": time}]}),
        ("POST", "/v1/memories", {"content": "Likes tea", "expires_at": time}),
        ("POST", "/v1/memories", {"content": "Likes tea", "valid_from": time}),
        ("POST", "/v1/search", {"query": "tea", "filters": {"created_at": {"gt": time}}}),
        ("POST", "/v1/memory/forget", {"thread_id": "t", "since": time}),
        ("GET", f"/v1/memories?continuation={cursor}", None),
    ]
    async with client_of(memory) as http:
        for verb, path, body in requests:
            answer = await http.request(verb, path, json=body, headers=ALICE)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input"), (path, body)
    with pytest.raises(InvalidInput, match="years 1 to 9999"):
        await memory.user("alice").remember("Likes tea", expires_at=datetime.fromisoformat(time))
    with pytest.raises(InvalidInput, match="years 1 to 9999"):
        await memory.user("alice").forget(thread_id="t", since=datetime.fromisoformat(time))
