"""Parts of a turn: kept as they are given, their text indexed, their URLs never opened."""

import json
from typing import Any

import pytest
from api_world import client_of, serving
from store_requests import count_trips, trips_meanwhile

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import Conflict, InvalidInput
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Turn, TurnInput
from agent_memory.transfer.parts import read_parts

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "Here is the plan of the kitchen."},
    {"type": "image", "url": "https://img.example/k.png?sig=4711", "description": "a kitchen with a green stove"},
    {"type": "file", "file_id": "file-1", "name": "budget.pdf", "text": "The tiles cost 340 euros."},
    {"type": "tool_call", "id": "c1", "name": "price_of", "args": {"what": "stove"}},
    {"type": "tool_result", "tool_call_id": "c1", "content": "899 euros", "is_error": False},
]
TEXT = """Here is the plan of the kitchen.
[image: a kitchen with a green stove]
[file: budget.pdf]
The tiles cost 340 euros.
[calls price_of({"what": "stove"})]
899 euros"""


def given(turn: Turn) -> list[dict[str, Any]]:
    return [part.model_dump(exclude_none=True) for part in turn.parts or ()]


@pytest.fixture
async def memory():
    async with AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=NEVER) as opened:
        yield opened


async def test_parts_come_back_as_given_and_their_text_is_found(memory: AsyncMemory):
    ada = memory.user("ada")
    chat = ada.thread("t")
    for _ in range(2):  # the same again is the same turn
        await chat.add("user", parts=PARTS, id="one")
    [turn] = await chat.turns()
    assert turn.content == TEXT
    assert given(turn) == PARTS
    await chat.process("index")
    [hit, *_] = await ada.search("green stove")
    assert hit.memory.source_turn_ids == ["one"]
    assert "4711" not in hit.memory.content
    assert await memory.user("bob").search("green stove") == []
    with pytest.raises(Conflict):
        await chat.add("user", parts=PARTS[:2], id="one", content=TEXT)
    await chat.add("user", "A plain text", id="two")
    assert (await chat.turns(last=1))[0].parts is None
    assert (await chat.pop()) is not None

    lines: list[str] = []
    await ada.export(lines.append)
    await memory.user("eve").import_lines(lines)
    assert given((await memory.user("eve").thread("t").turns())[0]) == PARTS
    await ada.forget("one")
    assert await chat.turns() == []
    assert await ada.search("green stove") == []


async def test_parts_over_http_and_from_the_remote_client(memory: AsyncMemory):
    headers = {"x-user-id": "ada"}
    async with client_of(memory) as http:
        made = await http.post(
            "/v1/threads/t/turns", json={"turns": [{"role": "user", "parts": PARTS}]}, headers=headers
        )
        assert made.status_code in (200, 201), made.text
        [turn] = (await http.get("/v1/threads/t/turns", headers=headers)).json()["turns"]
        assert turn["content"] == TEXT
        bad = {"role": "user", "parts": [{"type": "image", "url": "file:///etc/passwd"}]}
        refused = await http.post("/v1/threads/t/turns", json={"turns": [bad]}, headers=headers)
        assert refused.status_code == 400
        assert (await http.get("/v1/threads/t/turns", headers={"x-user-id": "bob"})).json()["turns"] == []
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        await remote.user("ada").thread("far").add("user", parts=PARTS)
        [far] = await remote.user("ada").thread("far").turns()
        assert given(far) == PARTS


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([], "at least 1"),
        ([{"type": "text", "text": "x"}] * 101, "at most 100"),
        ([{"type": "video"}], "video"),
        ([{"type": "image", "url": "javascript:alert(1)"}], "begins with one of"),
        ([{"type": "image", "url": "https://a b"}], "no spaces"),
        ([{"type": "file", "url": "https://x/" + "y" * 4000}], "at most"),
        ([{"type": "image", "url": "data:image/png;base64," + "A" * 200_000}], "at most"),
        ([{"type": "tool_call", "args": {}}], "name"),
        ([{"type": "tool_call", "name": "x", "args": {"x": float("nan")}}], "not a JSON number"),
        ([{"type": "text", "text": "\ud800"}], "surrogate"),
        ([{"type": "text", "text": "x", "user_id": "bob"}], "user_id"),
        ([{"type": "text", "text": "x" * 1_800_000}], "larger than"),
        ([{"type": "text", "text": "  "}], "no content"),
    ],
)
async def test_parts_that_cannot_be_kept_are_refused(memory: AsyncMemory, parts: list[Any], why: str):
    with pytest.raises(InvalidInput, match=why):
        await memory.user("ada").thread("t").add("user", parts=parts)
    assert await memory.user("ada").thread("t").turns() == []


async def test_parts_count_in_the_size_of_a_turn(memory: AsyncMemory):
    with pytest.raises(InvalidInput, match="larger than"):
        await memory.user("ada").thread("t").add("user", "short", parts=[{"type": "text", "text": "x" * 1_800_000}])


OURS_IMAGE = {"type": "image", "url": "https://x/y.png"}
INLINE = {"type": "image", "url": "data:image/png;base64,AAAA", "mime_type": "image/png"}
CALL = {"type": "tool_call", "name": "look", "id": "c1", "args": '{"at": 1}'}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x/y.png"}}, OURS_IMAGE),
        ({"type": "input_image", "image_url": "https://x/y.png"}, OURS_IMAGE),
        ({"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}, OURS_IMAGE),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}, INLINE),
        ({"type": "image", "base64": "AAAA", "mime_type": "image/png"}, INLINE),
        (
            {"type": "file", "file": {"file_id": "f", "filename": "a.pdf"}},
            {"type": "file", "file_id": "f", "name": "a.pdf"},
        ),
        ({"type": "input_file", "file_id": "f"}, {"type": "file", "file_id": "f"}),
        ({"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": 1}'}, CALL),
        ({"type": "function", "id": "c1", "function": {"name": "look", "arguments": '{"at": 1}'}}, CALL),
        ({"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}}, CALL | {"args": {"at": 1}}),
        ({"name": "look", "args": {"at": 1}, "id": "c1"}, CALL | {"args": {"at": 1}}),
        (
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "there"}]},
            {"type": "tool_result", "content": "there", "tool_call_id": "c1", "is_error": False},
        ),
        (
            {"type": "function_call_output", "call_id": "c1", "output": "there"},
            {"type": "tool_result", "content": "there", "tool_call_id": "c1", "is_error": False},
        ),
    ],
)
def test_the_shapes_of_others_are_read(block: dict[str, Any], part: dict[str, Any]):
    assert read_parts([{"type": "text", "text": "Look"}, block]) == [{"type": "text", "text": "Look"}, part]


def test_an_image_whose_url_cannot_be_kept_stays_without_it_and_other_parts_are_marks_in_the_text():
    huge = {"type": "image", "base64": "A" * 300_000, "mime_type": "image/png"}
    assert read_parts([{"type": "image_url", "image_url": {"url": "file:///x"}}]) == [{"type": "image"}]
    assert read_parts([OURS_IMAGE, huge, {"type": "audio"}, 7]) == [
        OURS_IMAGE,
        {"type": "image", "mime_type": "image/png"},
        {"type": "text", "text": "[audio]"},
    ]
    assert read_parts("words") is None
    assert read_parts(None) is None


def test_a_turn_needs_a_text_or_parts():
    assert TurnInput.model_validate({"role": "user", "parts": [OURS_IMAGE]}).content == "[image]"
    assert TurnInput(role="user", content="mine", parts=[OURS_IMAGE]).content == "mine"
    assert json.loads(TurnInput(role="user", content="x").model_dump_json(exclude_none=True)) == {
        "role": "user",
        "content": "x",
        "metadata": {},
    }


async def test_a_message_that_was_stored_as_text_alone_may_be_sent_again_with_its_parts(memory: AsyncMemory):
    chat = memory.user("ada").thread("t")
    await chat.add("assistant", "Let me see.", id="one")
    parts = [{"type": "text", "text": "Let me see."}, {"type": "tool_call", "name": "price_of", "args": {}}]
    again = {"role": "assistant", "content": "Let me see.", "parts": parts, "id": "one"}
    receipt = await chat.add_many([again, {"role": "user", "content": "Thanks.", "id": "two"}])
    assert receipt.created == 1
    assert [turn.id for turn in await chat.turns()] == ["one", "two"]
    with pytest.raises(Conflict):
        await chat.add("assistant", "Let me look.", id="one", parts=parts)


async def test_what_no_turn_can_hold_is_left_out_and_the_message_stays(memory: AsyncMemory):
    shot = {"type": "image", "url": f"data:image/png;base64,{'A' * 190_000}"}
    odd: dict[str, Any] = {"type": "tool_call", "name": "price_of", "args": {"most": float("nan")}}
    parts = read_parts([{"type": "text", "text": "Here they are."}, *[shot] * 10, odd])
    assert parts is not None
    chat = memory.user("ada").thread("t")
    await chat.add("user", "Here they are.", parts=parts)
    [turn] = await chat.turns()
    assert [part["type"] for part in given(turn)] == ["text", *["image"] * 10, "text"]
    assert ["url" in part for part in given(turn)[1:-1]] == [*[True] * 3, *[False] * 7]
    assert given(turn)[-1]["text"] == "[tool_call]"


async def test_what_only_a_part_says_is_forgotten(memory: AsyncMemory):
    ada = memory.user("ada")
    call = {"type": "tool_call", "name": "save_code", "args": {"locker": "code 4711"}}
    await ada.thread("t").add("assistant", "I keep it.", parts=[call], id="one")
    await ada.thread("t").add(
        "assistant", "I keep the other.", parts=[call | {"args": {"gate": "code 1234"}}], id="two"
    )
    receipt = await ada.forget(query="the locker code 4711", dry_run=True)
    assert receipt.deleted == {"turn": ["one"]}
    fact = await ada.remember("The locker code is 4711")
    await ada.forget(fact.id)
    assert [turn.id for turn in await ada.thread("t").turns()] == ["two"]


async def test_inline_images_are_not_read_where_only_the_text_is_needed(monkeypatch: pytest.MonkeyPatch):
    count_trips(monkeypatch)
    image = {"type": "image", "url": "data:image/png;base64," + "A" * 150_000, "description": "a green stove"}
    said = [{"role": "user", "parts": [{"type": "text", "text": f"Stove {n}"}, image]} for n in range(4)]
    async with AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=NEVER) as memory:
        chat = memory.user("ada").thread("t")
        await chat.add_many(said)
        with trips_meanwhile() as read:
            assert "Stove 3" in str((await chat.context("Which stove is green?")).messages)
            await chat.search("green stove")
            for step in ("index", "extract", "summarize"):
                await chat.process(step)
        assert read.requests > 10
        assert read.bytes < 100_000
        with trips_meanwhile() as whole:
            assert len(given((await chat.turns())[0])[1]["url"]) > 150_000
        assert whole.bytes > 4 * 150_000
