"""What OpenAI's API lists of a conversation, a thread of an assistant, or a stored chat completion."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openai.types.conversations import ConversationItemList

from agent_memory.errors import InvalidInput
from agent_memory.transfer.readers.transcripts import read_transcript
from agent_memory.transfer.readers.utterances import Utterance

SAMPLE = Path(__file__).parents[2] / "samples" / "exports" / "openai-conversation.json"


def read(tmp_path: Path, value: object) -> list[Utterance]:
    file = tmp_path / "list.json"
    file.write_text(json.dumps(value))
    return list(read_transcript(file))


def words(said: list[Utterance]) -> list[tuple[str, str]]:
    return [(one.turn.role, one.turn.content) for one in said]


def page(*items: object) -> dict[str, Any]:
    return {"object": "list", "data": list(items), "has_more": False}


def item(role: str, text: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "id": f"msg_{text}", "role": role, "content": [{"type": kind, "text": text}], **more}


def in_thread(role: str, text: str, at: int) -> dict[str, Any]:
    content = [{"type": "text", "text": {"value": text, "annotations": []}}]
    return {"object": "thread.message", "id": text, "thread_id": "t1", "created_at": at, "role": role} | {
        "content": content
    }


def test_the_sample_is_a_page_of_the_api_and_is_read_oldest_first():
    assert len(ConversationItemList.model_validate_json(SAMPLE.read_text()).data) == 4
    assert words(list(read_transcript(SAMPLE))) == [
        ("user", "I always sit at the window on trains."),
        ("agent", "A window seat it is."),
    ]


def test_pages_and_bare_items_of_either_order_are_one_thread(tmp_path: Path):
    said = [item("user", "a"), {"type": "reasoning", "summary": []}, item("assistant", "b"), item("user", "c")]
    expected = [("user", "a"), ("agent", "b"), ("user", "c")]
    assert words(read(tmp_path, page(*said))) == words(read(tmp_path, said)) == expected
    assert words(read(tmp_path, [page(*said[:2]), page(*said[2:])])) == expected
    answered = [*said, item("assistant", "d")]
    assert words(read(tmp_path, page(*answered[::-1]))) == [*expected, ("agent", "d")]
    assert {one.thread_id for one in read(tmp_path, page(*said))} == {"list"}


def test_a_conversation_names_its_thread_and_its_time(tmp_path: Path):
    talk = {"object": "conversation", "id": "conv_1", "created_at": 1772442000, "metadata": {}}
    said = read(tmp_path, talk | {"items": page(item("user", "a"), item("assistant", "b"))})
    assert {one.thread_id for one in said} == {"conv_1"}
    assert said[0].turn.created_at == datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    assert said[0].turn.created_at < said[1].turn.created_at  # type: ignore[operator]
    assert [one.turn.id for one in said] == ["msg_a", "msg_b"]


def test_messages_of_a_thread_are_put_in_order_by_their_times(tmp_path: Path):
    said = read(
        tmp_path, page(in_thread("user", "Bye", 30), in_thread("assistant", "Hi", 20), in_thread("user", "Hello", 10))
    )
    assert words(said) == [("user", "Hello"), ("agent", "Hi"), ("user", "Bye")]
    assert {one.thread_id for one in said} == {"t1"}
    assert words(read(tmp_path, [in_thread("user", "Hello", 10)])) == [("user", "Hello")]


def test_parts_are_words_or_markers_and_thoughts_are_left_out(tmp_path: Path):
    parts = [
        {"type": "reasoning_text", "text": "Hm."},
        {"type": "output_text", "text": "Look:"},
        {"type": "input_image", "image_url": "https://example.com/x.png"},
        {"type": "input_file", "filename": "lease.pdf"},
        {"type": "refusal", "refusal": "I cannot say more."},
    ]
    silent = item("critic", "x")
    (one,) = read(tmp_path, page(silent, {"type": "message", "id": "m", "role": "assistant", "content": parts}))
    assert one.turn.content == "Look:\n[image]\n[file: lease.pdf]\nI cannot say more."
    stored = {"id": "chatcmpl-1-0", "role": "user", "content": "Hello", "name": None, "content_parts": None}
    assert words(read(tmp_path, page(stored))) == [("user", "Hello")]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (page(), "no message of a person or an assistant"),
        (page({"type": "reasoning", "summary": []}), "no message of a person"),
        (page(3), "item 1, item 1: expected an object"),
        (page(item("user", "a"), item("narrator", "b")), "role 'narrator' is not known"),
        (page({"type": "message", "role": "user", "content": 3}), "content must be a text or a list"),
        (page(item("user", "a", created_at="noon")), "created_at is not a time: 'noon'"),
        (page(item("user", "a", id="x/y")), "id must not contain"),
    ],
)
def test_a_broken_list_is_named(tmp_path: Path, value: object, reason: str):
    with pytest.raises(InvalidInput, match=rf"list\.json.*{reason}"):
        read(tmp_path, value)
