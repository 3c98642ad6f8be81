"""Messages that are too large for a turn."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import StoreUnavailable
from agent_memory.integrations import bridge
from agent_memory.integrations.bridge import Bridge, complete
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.store.turns import fitted

LONG = "sunny " * 400_000
PHOTO = "A" * 2_000_000


def a_turn(content: str = "Look!", **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, "id": "one", **more}


@pytest.mark.parametrize(
    ("given", "content", "metadata"),
    [
        (a_turn(), "Look!", None),
        (a_turn(metadata={"m": {"output": "short"}}), "Look!", {"m": {"output": "short"}}),
        (a_turn(metadata={"m": {"type": "image", "data": PHOTO}}), "Look!", {}),
        (a_turn(metadata={"m": {"url": f"data:image/png;base64,{PHOTO}"}}), "Look!", {}),
        (a_turn(metadata={"m": {"type": "image_generation_call", "result": PHOTO}}), "Look!", {}),
        (a_turn(metadata={"m": {"x": ["a " * 900] * 1_000}, "k": 1}), "Look!", None),
        (a_turn(metadata={str(number): 1 for number in range(200_000)}), "Look!", {}),
    ],
)
def test_a_file_is_left_out_and_the_words_stay(given: dict[str, Any], content: str, metadata: Any):
    made = fitted(given)
    assert made["content"] == content
    assert made.get("metadata") == metadata or metadata is None


@pytest.mark.parametrize("item", [{"output": PHOTO}, {"type": "function_result", "result": PHOTO}, {"x": LONG}])
def test_what_a_tool_said_is_cut_even_if_it_looks_like_a_file(item: dict[str, Any]):
    made = fitted(a_turn(LONG, metadata={"item": {"call_id": "c", **item}}))
    text = made["metadata"]["item"][list(item)[-1]]
    assert len(text) < 101_000
    assert "more characters were not stored" in text
    assert made["metadata"]["item"]["call_id"] == "c"


async def test_a_store_that_does_not_answer_holds_up_no_run_and_gets_what_was_said_when_it_does(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    answers, store = asyncio.Event(), memory.runtime.store
    batch = store.batch

    async def slow(*given: Any) -> Any:
        await answers.wait()
        return await batch(*given)

    monkeypatch.setattr(store, "batch", slow)
    monkeypatch.setattr(bridge, "KEEP_SECONDS", 0.01)
    await Bridge(memory).keep("alice", "s", [a_turn("First."), a_turn("Last.") | {"id": "two"}])
    run = asyncio.create_task(Bridge(memory).keep("alice", "t", [a_turn("Cancelled.")]))
    await asyncio.sleep(0)
    run.cancel()
    await asyncio.wait([run])
    assert len(bridge._storing) == 2
    answers.set()
    await asyncio.wait(list(bridge._storing))
    said = [turn.content for thread in "st" for turn in await memory.user("alice").thread(thread).turns()]
    assert said == ["First.", "Last.", "Cancelled."]


def test_a_function_waits_no_longer_for_a_store_than_a_coroutine(monkeypatch: pytest.MonkeyPatch):
    answers, call = threading.Event(), Bridge._call

    async def slow(self: Bridge, *given: Any) -> Any:
        answers.wait()
        return await call(self, *given)

    with Memory.local(embedding_model=HashingEmbeddings()) as memory:
        monkeypatch.setattr(Bridge, "_call", slow)
        monkeypatch.setattr(bridge, "KEEP_SECONDS", 0.01)
        complete(Bridge(memory).now.keep("alice", "s", [a_turn("First.")]))
        (storing,) = (one for one in threading.enumerate() if one.name == "agent-memory-call" and one.is_alive())
        answers.set()
        storing.join()
        assert [turn.content for turn in memory.user("alice").thread("s").turns()] == ["First."]


@pytest.mark.parametrize("direct", [True, False])
async def test_an_answer_that_does_not_come_is_an_error_and_does_not_keep_the_process_alive(
    direct: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    answers = threading.Event()
    monkeypatch.setattr(bridge, "ANSWER_SECONDS", 0.01)
    monkeypatch.setattr(bridge, "KEEP_SECONDS", 0.01)
    with Memory.local(embedding_model=HashingEmbeddings()) as memory:
        used = Bridge(memory).now if direct else Bridge(memory)
        try:
            with pytest.raises(StoreUnavailable, match="did not answer within"):
                await used.ask(answers.wait)
            (hung,) = bridge._apart
            bridge._finish()
            assert "the process ends while 1 calls are unfinished" in caplog.text
            assert all(one.daemon for one in threading.enumerate() if one.name == "agent-memory-call")
        finally:
            answers.set()
        assert hung.result(60) is True


_ENDS_WHILE_IT_STORES = """
import sys, time
from agent_memory import Memory
from agent_memory.integrations import bridge
from agent_memory.language.hashing import HashingEmbeddings

call = bridge.Bridge._call
async def slow(self, *given):
    time.sleep(0.3)
    return await call(self, *given)

bridge.Bridge._call, bridge.KEEP_SECONDS = slow, 0.01
memory = Memory.local(sys.argv[1], embedding_model=HashingEmbeddings())
turn = {"role": "user", "content": "First.", "id": "one"}
bridge.complete(bridge.Bridge(memory).now.keep("alice", "s", [turn]))
bridge.KEEP_SECONDS = 60
"""


def test_what_is_being_stored_when_the_process_ends_is_stored(tmp_path: Path):
    file = str(tmp_path / "memory.db")
    subprocess.run([sys.executable, "-c", _ENDS_WHILE_IT_STORES, file], check=True, timeout=120)
    with Memory.local(file, embedding_model=HashingEmbeddings()) as memory:
        assert [turn.content for turn in memory.user("alice").thread("s").turns()] == ["First."]


async def test_a_coroutine_that_does_not_answer_is_an_error(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bridge, "ANSWER_SECONDS", 0.01)
    with pytest.raises(StoreUnavailable, match="did not answer within"):
        await Bridge(memory).ask(asyncio.Event().wait)


async def test_one_message_that_cannot_be_stored_takes_no_others_with_it(memory: AsyncMemory):
    odd = a_turn("Odd.", metadata={"most": float("nan")}) | {"id": "odd"}
    await Bridge(memory).keep("alice", "s", [a_turn("First."), odd, a_turn("Last.") | {"id": "two"}])
    turns = await memory.user("alice").thread("s").turns()
    assert [turn.content for turn in turns] == ["First.", "Last."]
