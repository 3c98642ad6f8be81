"""A context that streams: what needs no search comes first, and the whole is what `context` gives."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from api_world import client_of, serving
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence, Memory
from agent_memory.api.credentials import ApiKeys, new_key
from agent_memory.errors import StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.models import ContextSection
from agent_memory.settings import RecallSettings

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
QUESTION = "Which locker code do I have?"
VOLATILE = {"milliseconds"}


class Held(HashingEmbeddings):
    """An embedding model that answers when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()
        self.may.set()
        self.asked, self.dropped = asyncio.Event(), asyncio.Event()

    async def embed(self, texts: list[str]) -> Embedded:
        self.asked.set()
        try:
            await self.may.wait()
        except asyncio.CancelledError:
            self.dropped.set()
            raise
        return await super().embed(texts)


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
async def memory(held: Held) -> AsyncIterator[AsyncMemory]:
    recall = RecallSettings(context_timeout=30, cache_seconds=0)
    options: dict[str, Any] = {"chat_model": ScriptedChat(), "embedding_model": held, "recall": recall}
    async with AsyncMemory.local(cadence=NEVER, **options) as opened:
        await opened.static.seed([{"id": "rule", "content": "The gym closes at ten."}])
        chat = opened.user("ada").thread("t")
        await chat.add("user", "fact: my locker code=4711", id="one")
        await chat.add("assistant", "Noted.", id="two")
        for step in ("index", "extract", "summarize"):
            await chat.process(step)  # type: ignore[arg-type]
        yield opened


async def test_what_needs_no_search_comes_while_the_search_goes_on(memory: AsyncMemory, held: Held):
    chat = memory.user("ada").thread("t")
    await chat.context(QUESTION)  # so that static knowledge is known
    held.may.clear()
    early: list[ContextSection] = []
    async for section in chat.context_stream(QUESTION):
        if section.context is None:
            early.append(section)
            if {one.name for one in early} == {"state", "summary", "static", "turns"}:
                held.may.set()
        last = section
    assert held.may.is_set(), "the early sections came before the search could end"
    texts = {one.name: one.text for one in early}
    assert "The gym closes at ten." in texts["static"]
    assert "4711" in texts["summary"]
    [turns] = [one.messages for one in early if one.name == "turns"]
    assert turns == [
        {"role": "user", "content": "fact: my locker code=4711"},
        {"role": "assistant", "content": "Noted."},
    ]
    assert last.name == "context"
    assert last.context is not None
    whole = await chat.context(QUESTION)
    assert last.context.model_dump(exclude=VOLATILE) == whole.model_dump(exclude=VOLATILE)
    assert (last.text, last.messages) == (whole.text, whole.messages)
    assert "The gym closes at ten." in last.text


async def test_over_http_a_line_arrives_before_the_search_ends(memory: AsyncMemory, held: Held):
    await memory.user("ada").thread("t").context(QUESTION)
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        chat = remote.user("ada").thread("t")
        held.may.clear()
        names = []
        async for section in chat.context_stream(QUESTION, budget=500):
            names.append(section.name)
            held.may.set()
        assert names[0] != "context"
        assert names[-1] == "context"
        assert section.context is not None
        whole = await chat.context(QUESTION, budget=500)
        assert section.context.text == whole.text
        user = [one async for one in remote.user("ada").context_stream(QUESTION, filters={"type": "fact"})]
        assert "4711" in user[-1].text
        group = remote.group("team", member="ada")
        assert [one.text async for one in group.context_stream(QUESTION) if "4711" in one.text] == []


async def test_the_last_part_of_a_stream_reports_errors(memory: AsyncMemory, held: Held):
    ada = memory.user("ada")
    [only] = [one async for one in ada.context_stream(7)]  # type: ignore[arg-type]
    assert only.context is not None
    assert "a text" in only.context.degraded[0]
    await ada.update_settings(enabled=False)
    [off] = [one async for one in ada.thread("t").context_stream(QUESTION)]
    assert off.context is not None
    assert "switched off" in (off.context.skipped_reason or "")
    async with AsyncMemory.remote("http://127.0.0.1:9") as nowhere:
        [broken] = [one async for one in nowhere.user("ada").context_stream(QUESTION)]
        assert broken.context is not None
        assert "does not answer" in broken.context.degraded[0]


async def test_who_stops_reading_leaves_no_work_behind(memory: AsyncMemory, held: Held):
    held.may.clear()
    held.asked.clear()
    sections = memory.user("ada").thread("t").context_stream(QUESTION)
    async for _ in sections:
        break
    async with asyncio.timeout(10):
        await held.asked.wait()
        await sections.aclose()  # type: ignore[attr-defined]
        await held.dropped.wait()
    held.may.set()
    assert (await memory.user("ada").context(QUESTION)).text


async def test_a_stream_is_of_the_caller(memory: AsyncMemory):
    key, entry = new_key("bob", user="bob")
    async with client_of(memory, ApiKeys([entry])) as http:
        asked = {"query": QUESTION, "thread_id": "t"}
        told = await http.post("/v1/context/stream", json=asked, headers={"x-api-key": key})
        assert told.headers["content-type"].startswith("application/x-ndjson")
        assert "4711" not in told.text
        assert json.loads(told.text.splitlines()[-1])["name"] == "context"
        assert (await http.post("/v1/context/stream", json=asked)).status_code == 401
        of_group = asked | {"groups": ["team"]}
        assert (await http.post("/v1/context/stream", json=of_group, headers={"x-api-key": key})).status_code == 403
        wrong = await http.post("/v1/context/stream", json={"query": 7}, headers={"x-api-key": key})
        assert wrong.status_code == 400


def test_the_synchronous_face():
    with Memory.local(embedding_model=HashingEmbeddings(), cadence=NEVER) as memory:
        memory.user("ada").remember("The locker code is 4711")
        *_, last = memory.user("ada").context_stream(QUESTION)
        assert "4711" in last.text
        held = memory.user("ada")
    with pytest.raises(StoreUnavailable):
        list(held.context_stream(QUESTION))
