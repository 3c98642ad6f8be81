"""The two foreign formats: ChatGPT's export and LoCoMo."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_memory.errors import InvalidInput
from agent_memory.transfer.readers.transcripts import read_transcript
from agent_memory.transfer.readers.utterances import Utterance


def read(tmp_path: Path, document: object) -> list[Utterance]:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(document))
    return list(read_transcript(file))


def message(id: str, role: str, *parts: object, kind: str = "text", time: object = None, **metadata: object) -> dict:
    return {
        "id": id,
        "author": {"role": role},
        "create_time": time,
        "content": {"content_type": kind, "parts": list(parts)},
        "metadata": metadata,
    }


def node(id: str, parent: str | None, said: dict | None) -> tuple[str, dict]:
    return id, {"id": id, "parent": parent, "children": [], "message": said}


def conversation(current: str | None, *nodes: tuple[str, dict], id: str = "c1") -> dict:
    return {"title": "A talk", "conversation_id": id, "current_node": current, "mapping": dict(nodes)}


def test_only_the_current_branch_of_a_chatgpt_conversation_is_read(tmp_path):
    talk = conversation(
        "d",
        node("root", None, None),
        node("a", "root", message("a", "user", "First try", time=1772442000.5)),
        node("b", "root", message("b", "user", "I moved to Porto", time=1772442060.0)),
        node("c", "b", message("c", "assistant", "Lovely!", time=1772442061.0)),
        node("d", "c", message("d", "user", "Isn't it", time=1772442120.0)),
        node("e", "a", message("e", "assistant", "Answer to the first try")),
    )
    utterances = read(tmp_path, [talk])
    assert [(utterance.turn.id, utterance.turn.role) for utterance in utterances] == [
        ("b", "user"),
        ("c", "agent"),
        ("d", "user"),
    ]
    assert utterances[0].turn.created_at == datetime(2026, 3, 2, 9, 1, tzinfo=UTC)
    assert {utterance.thread_id for utterance in utterances} == {"c1"}


def test_what_chatgpt_does_not_show_is_no_part_of_the_talk(tmp_path):
    profile = {"id": "p", "author": {"role": "user"}, "content": {"content_type": "user_editable_context"}}
    code = {"id": "k", "author": {"role": "assistant"}, "content": {"content_type": "code", "text": "print(1)"}}
    talk = conversation(
        "6",
        node("0", None, message("0", "system", "You are ChatGPT")),
        node("1", "0", profile),
        node("2", "1", message("2", "user", "Hidden", is_visually_hidden_from_conversation=True)),
        node("3", "2", message("3", "assistant", "")),
        node("4", "3", message("4", "assistant", "I wonder", kind="thoughts")),
        node("5", "4", code),
        node("6", "5", message("6", "user", {"content_type": "image_asset_pointer"}, "My cat", kind="multimodal_text")),
    )
    utterances = read(tmp_path, [talk])
    assert [utterance.turn.content for utterance in utterances] == ["print(1)", "[image]\nMy cat"]


@pytest.mark.parametrize(
    ("talk", "reason"),
    [
        (conversation("a", node("a", None, message("a", "user", "Hi", time="noon"))), "message a: create_time is no"),
        (conversation("a", node("a", None, message("a", "narrator", "Hi"))), "message a: role 'narrator' is not known"),
        ({"mapping": {}, "current_node": "a"}, 'no "conversation_id"'),
    ],
)
def test_a_broken_chatgpt_conversation_is_named(tmp_path, talk, reason):
    with pytest.raises(InvalidInput, match=rf"export\.json.*{reason}"):
        read(tmp_path, [talk])


def test_a_branch_that_runs_in_a_circle_ends(tmp_path):
    said = message("b", "user", "Hi", time=1772442060.0)
    assert [one.turn.content for one in read(tmp_path, [conversation("a", node("a", "b", None), node("b", "a", said))])]


def sample(**sessions: object) -> dict:
    return {"sample_id": "conv-1", "conversation": {"speaker_a": "Ann", "speaker_b": "Ben", **sessions}, "qa": []}


def turn(speaker: str, dia_id: str, text: str, **more: object) -> dict:
    return {"speaker": speaker, "dia_id": dia_id, "text": text, **more}


def test_locomo_sessions_become_dated_threads_of_named_users(tmp_path):
    turns = [turn("Ann", f"D2:{number}", f"Line {number}") for number in range(1, 13)]
    shared = turn("Ben", "D1:1", "Look!", img_url=["u"], blip_caption="a dog in the snow")
    utterances = read(
        tmp_path,
        [
            sample(
                session_2=turns,
                session_2_date_time="12:05 am on 1 January, 2024",
                session_1=[shared],
                session_1_date_time="1:56 pm on 8 May, 2023",
            )
        ],
    )
    first, second = utterances[0], utterances[1]
    assert (first.user_id, first.thread_id, first.turn.id) == ("conv-1", "session_1", "conv-1:D1:1")
    assert (first.turn.role, first.turn.name) == ("user", "Ben")
    assert first.turn.content == "Look! [shows a picture: a dog in the snow]"
    assert first.turn.created_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert second.turn.created_at == datetime(2024, 1, 1, 0, 5, tzinfo=UTC)
    by_time = sorted(utterances[1:], key=lambda utterance: utterance.turn.created_at)
    assert [utterance.turn.content for utterance in by_time] == [f"Line {number}" for number in range(1, 13)]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (sample(session_1=[]), "session_1: date_time must read like"),
        (sample(session_1=[], session_1_date_time="May 2023"), "session_1: date_time must read like"),
        (sample(session_1="x", session_1_date_time="1:56 pm on 8 May, 2023"), "the session is not a list"),
        (
            sample(session_1=[{"text": "Hi"}], session_1_date_time="1:56 pm on 8 May, 2023"),
            'session_1, turn 1: a turn needs "speaker" and "dia_id"',
        ),
        (
            sample(session_1=[turn("Ann", "D1:1", "")], session_1_date_time="1:56 pm on 8 May, 2023"),
            "session_1, turn 1: content is empty",
        ),
        ({"conversation": {"session_1": []}}, 'no "sample_id"'),
    ],
)
def test_a_broken_locomo_sample_is_named(tmp_path, document, reason):
    with pytest.raises(InvalidInput, match=rf"export\.json, item 1.*{reason}"):
        read(tmp_path, [document])
