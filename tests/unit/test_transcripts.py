import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_memory.errors import InvalidInput
from agent_memory.transfer.readers import Format
from agent_memory.transfer.readers.transcripts import read_transcript
from agent_memory.transfer.readers.utterances import Utterance

SAMPLES = Path(__file__).parents[2] / "samples" / "conversations"


def read(path: Path, format: Format | None = None) -> list[Utterance]:
    return list(read_transcript(path, format))


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def contents(utterances: list[Utterance]) -> list[str]:
    return [utterance.turn.content for utterance in utterances]


def test_a_line_of_turns_keeps_every_field(tmp_path):
    file = write(
        tmp_path / "talk.jsonl",
        {
            "thread_id": "t1",
            "user_id": "ann",
            "id": "m:1",
            "role": "assistant",
            "name": "Bot",
            "content": "Hello",
            "created_at": "2026-03-02T09:00:00+02:00",
            "language": "en",
            "metadata": {"mood": "fine"},
        },
    )
    (only,) = read(file)
    assert (only.thread_id, only.user_id) == ("t1", "ann")
    assert (only.turn.id, only.turn.role, only.turn.name) == ("m:1", "agent", "Bot")
    assert only.turn.created_at == datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
    assert only.turn.metadata == {"language": "en", "mood": "fine"}


def test_turns_without_id_and_thread_get_stable_ones(tmp_path):
    rows = [{"role": "user", "content": "Again"}, {"role": "user", "content": "Again"}]
    first = read(write(tmp_path / "my notes #1.jsonl", *rows))
    second = read(write(tmp_path / "my notes #1.jsonl", *rows, {"role": "user", "content": "More"}))
    assert [utterance.thread_id for utterance in first] == ["my notes -1"] * 2
    assert first[0].turn.id != first[1].turn.id
    assert [utterance.turn.id for utterance in second][:2] == [utterance.turn.id for utterance in first]
    assert first[0].turn.created_at is None


def test_positions_count_within_a_thread(tmp_path):
    mixed = read(
        write(
            tmp_path / "a.jsonl",
            {"thread_id": "x", "role": "user", "content": "1"},
            {"thread_id": "y", "role": "user", "content": "2"},
            {"thread_id": "x", "role": "user", "content": "3"},
        )
    )
    alone = read(
        write(
            tmp_path / "b.jsonl",
            {"thread_id": "x", "role": "user", "content": "1"},
            {"thread_id": "x", "role": "user", "content": "3"},
        )
    )
    assert mixed[2].turn.id == alone[1].turn.id


def test_numbers_are_usable_ids(tmp_path):
    (only,) = read(write(tmp_path / "a.jsonl", {"thread_id": 7, "id": 0, "role": "user", "content": "Hi"}))
    assert (only.thread_id, only.turn.id) == ("7", "0")


def test_empty_lines_and_a_byte_order_mark_are_fine(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf\r\n{"role": "user", "content": "One"}\r\n\r\n  \n{"role": "user", "content": "Two"}'
    )
    assert contents(read(file)) == ["One", "Two"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"role": "user", "content": "x"\n', "not valid JSON"),
        ('{"role": "user"}\n', "content is missing"),
        ('{"content": "x"}\n', "role is missing"),
        ('{"role": "robot", "content": "x"}\n', "role 'robot' is not known"),
        ('{"role": "user", "content": 5}\n', "content must be a text or a list of parts, not a number"),
        (
            '{"role": "user", "content": "x", "created_at": "yesterday"}\n',
            "created_at: 'yesterday' is not a time",
        ),
        ('{"role": "user", "content": "x", "id": "a/b"}\n', "id must not contain"),
        ('{"role": "user", "content": "x", "thread_id": "__mine"}\n', "thread_id must not begin with __"),
        ('{"role": "user", "content": "x", "thread_id": ""}\n', "thread_id must be a text of 1 to 255"),
        ('{"role": "user", "content": "x", "user_id": "a?"}\n', "user_id must not contain"),
        ('{"role": "user", "content": "x", "metadata": "y", "z": 1}\n', "metadata must be an object, not a text"),
        ('"just text"\n', "expected an object, found a text"),
        ("[" * 200_000 + "\n", "JSON that cannot be read"),
    ],
)
def test_a_bad_line_is_named_with_its_file_number_and_reason(tmp_path, bad, reason):
    good = {"role": "user", "content": "fine"}
    file = write(tmp_path / "talk.jsonl", good, "\n", bad, good)
    with pytest.raises(InvalidInput, match=re.escape(f"talk.jsonl, line 3: {reason}")):
        read(file)


def test_messages_that_say_nothing_are_left_out_and_calls_are_told(tmp_path):
    call = {"function": {"name": "seats", "arguments": "{}"}}
    talk = [
        {"role": "user", "content": "Book it", "timestamp": "2026-03-02T09:00:00Z"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": ""},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": []},
        {"role": "assistant", "content": None, "function_call": call["function"]},
        {"role": "assistant", "content": None, "refusal": "I can't."},
        {"role": "user", "content": "Half \ud83d a character", "timestamp": ""},
    ]
    told = ["Book it", "[calls seats({})]", "[calls seats({})]", "I can't.", "Half \ufffd a character"]
    for file in (write(tmp_path / "a.jsonl", {"messages": talk}, {"messages": []}), write(tmp_path / "b.jsonl", *talk)):
        read_again = read(file)
        assert contents(read_again) == told
        times = [one.turn.created_at for one in read_again]
        assert all(times)
        assert times == sorted(times)


def test_a_bad_byte_is_named_with_its_line(tmp_path):
    file = tmp_path / "latin.jsonl"
    file.write_bytes(b'{"role": "user", "content": "ok"}\n{"role": "user", "content": "caf\xe9"}\n')
    with pytest.raises(InvalidInput, match=r"latin\.jsonl, line 2: not UTF-8"):
        read(file)


def test_a_missing_file_and_an_empty_one_are_errors(tmp_path):
    with pytest.raises(InvalidInput, match="No such file"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(InvalidInput, match="holds no turns"):
        read(write(tmp_path / "empty.json", "\n"))
    with pytest.raises(InvalidInput, match="holds no turns"):
        read(write(tmp_path / "list.json", "[]"))


def test_a_list_of_chat_messages(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    messages = [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "See:"}, {"type": "image_url", "image_url": {"url": "u"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3 degrees"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    ]
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(messages, indent=2))
    utterances = read(file)
    assert [utterance.turn.role for utterance in utterances] == ["system", "user", "agent", "tool", "agent"]
    assert contents(utterances)[1:3] == ["See:\n[image]", '[calls weather({"city": "Oslo"})]']
    assert contents(utterances)[4] == "No."
    assert utterances[3].turn.metadata == {"tool_call_id": "c1"}
    assert {utterance.thread_id for utterance in utterances} == {"chat"}


def test_conversations_a_line(tmp_path):
    file = write(
        tmp_path / "train.jsonl",
        {"messages": [{"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}]},
        {"messages": [{"role": "user", "content": "C"}], "thread_id": "named", "user_id": "eve"},
    )
    utterances = read(file)
    assert [(utterance.thread_id, utterance.user_id) for utterance in utterances] == [
        ("train-1", None),
        ("train-1", None),
        ("named", "eve"),
    ]
    assert len({utterance.turn.id for utterance in utterances}) == 3


def test_a_bad_message_is_named_with_its_number(tmp_path):
    file = write(tmp_path / "chat.jsonl", {"messages": [{"role": "user", "content": "A"}, {"role": "user"}]})
    with pytest.raises(InvalidInput, match=r"chat\.jsonl, line 1, message 2: content is missing"):
        read(file)
    file = write(tmp_path / "chat.json", json.dumps([{"role": "user", "content": "A"}, 4], indent=1))
    with pytest.raises(InvalidInput, match=r"chat\.json, item 2: expected an object, found a number"):
        read(file)
    file = write(tmp_path / "broken.json", '[\n{"role": "user"},\n{"role" "user"}\n]')
    with pytest.raises(InvalidInput, match=r"broken\.json, line 3: not valid JSON: .*column 9"):
        read(file)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [7]},
        {"role": "assistant", "tool_calls": [{"id": "x"}]},
        {"role": "user", "content": [{"nothing": 1}]},
    ],
)
def test_what_says_nothing_readable_is_an_error(tmp_path, message):
    with pytest.raises(InvalidInput, match="line 1"):
        read(write(tmp_path / "a.jsonl", message))


def test_the_given_format_wins_over_what_the_content_looks_like(tmp_path):
    file = write(tmp_path / "talk.jsonl", {"role": "user", "content": "A"})
    with pytest.raises(InvalidInput, match='line 1: not a LoCoMo sample: it has no "conversation"'):
        read(file, Format.LOCOMO)
    with pytest.raises(InvalidInput, match='line 1: not a conversation of a ChatGPT export: it has no "mapping"'):
        read(file, Format.CHATGPT)


@pytest.mark.parametrize(("name", "user"), [("hr", "sarah"), ("trip", "maya"), ("deploy", "dev")])
def test_the_samples_are_dated_sessions_in_order(name, user):
    utterances = read(SAMPLES / f"{name}.jsonl")
    times = [utterance.turn.created_at for utterance in utterances]
    assert len(utterances) >= 50
    assert {utterance.user_id for utterance in utterances} == {user}
    assert len({utterance.thread_id for utterance in utterances}) >= 4
    assert times == sorted(times)
    assert len({utterance.turn.id for utterance in utterances}) == len(utterances)
