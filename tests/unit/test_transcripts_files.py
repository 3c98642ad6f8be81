"""What people have at hand: archives, tables, exports of other systems, and files that are no transcripts."""

import json
import zipfile
from pathlib import Path

import pytest

from agent_memory.errors import InvalidInput
from agent_memory.transfer.readers.transcripts import read_transcript

CLAUDE = {
    "uuid": "c-1",
    "name": "Moving",
    "chat_messages": [
        {
            "uuid": "m-1",
            "sender": "human",
            "text": "I moved to Porto.",
            "content": [{"type": "text", "text": "I moved to Porto."}],
            "created_at": "2026-03-02T09:00:00.123456Z",
            "attachments": [{"file_name": "lease.pdf", "extracted_content": "The rent is 900."}],
        },
        {
            "uuid": "m-2",
            "sender": "assistant",
            "text": "Lovely!",
            "content": [{"type": "thinking", "thinking": "A city."}, {"type": "text", "text": "Lovely!"}],
            "created_at": "2026-03-02T09:00:05Z",
        },
        {"uuid": "m-3", "sender": "human", "text": "", "content": []},
    ],
}
CHATGPT = {
    "conversation_id": "g-1",
    "current_node": "a",
    "mapping": {
        "a": {
            "parent": None,
            "message": {
                "id": "a",
                "author": {"role": "user"},
                "content": {"content_type": "text", "parts": ["I keep bees."]},
            },
        }
    },
}


def said(path: Path) -> list[tuple[str, str, str | None]]:
    return [(one.turn.role, one.turn.content, one.turn.name) for one in read_transcript(path)]


def archive(path: Path, **files: object) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name.replace("__", "."), content if isinstance(content, str | bytes) else json.dumps(content))
    return path


def refused(path: Path) -> tuple[str, str]:
    """What is said of a file that cannot be read, and the hint."""
    with pytest.raises(InvalidInput) as caught:
        list(read_transcript(path))
    (hint,) = caught.value.__notes__
    assert str(caught.value).startswith(str(path))
    return str(caught.value), hint


def test_a_claude_export_is_read_plain_and_zipped(tmp_path):
    plain = tmp_path / "conversations.json"
    plain.write_text(json.dumps([CLAUDE]))
    zipped = archive(tmp_path / "claude.zip", users__json=[], conversations__json=[CLAUDE])
    expected = [("user", "I moved to Porto.\n[file: lease.pdf]\nThe rent is 900.", None), ("agent", "Lovely!", None)]
    assert said(plain) == said(zipped) == expected
    first = next(read_transcript(zipped))
    assert (first.thread_id, first.turn.id, first.turn.created_at.day) == ("c-1", "m-1", 2)


def test_the_zip_of_a_chatgpt_export_is_read(tmp_path):
    zipped = archive(tmp_path / "export.zip", chat__html="<html>", conversations__json=[CHATGPT], user__json={})
    assert said(zipped) == [("user", "I keep bees.", None)]


def test_an_archive_without_conversations_or_with_too_much_is_named(tmp_path):
    assert "holds no conversations.json" in refused(archive(tmp_path / "a.zip", notes__txt="x"))[0]
    bomb = archive(tmp_path / "bomb.zip", conversations__json=b"[" + b" " * 80_000_000 + b"]")
    assert bomb.stat().st_size < 100_000
    reason, hint = refused(bomb)
    assert "would take 80 MB unpacked" in reason
    assert "unpack the archive" in hint
    (tmp_path / "cut.zip").write_bytes(bomb.read_bytes()[:-30])
    with pytest.raises(InvalidInput, match="the archive cannot be read"):
        list(read_transcript(tmp_path / "cut.zip"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_with_a_role_and_a_text_is_read(tmp_path, delimiter):
    rows = [
        ("Conversation_ID", "Timestamp", "Role", "Message"),
        ("t1", "2026-03-02T09:00:00Z", "User", '"I live in Porto, in an old house.\nIt leaks."'),
        ("t1", "2026-03-02 09:00:05", "Assistant", "Noted."),
    ]
    file = tmp_path / "chat.csv"
    file.write_text("\n".join(delimiter.join(row) for row in rows) + "\n")
    assert said(file) == [("user", "I live in Porto, in an old house.\nIt leaks.", None), ("agent", "Noted.", None)]
    first = next(read_transcript(file))
    assert (first.thread_id, first.turn.created_at.hour) == ("t1", 9)
    (tmp_path / "chat.txt").write_text(file.read_text())
    assert len(said(tmp_path / "chat.txt")) == 2


def test_speakers_of_a_table_who_have_no_role_are_named_users(tmp_path):
    file = tmp_path / "talk.csv"
    file.write_bytes("speaker,text\nAnna,Grüß dich!\nBen,Servus\n".encode("utf-16"))
    assert said(file) == [("user", "Grüß dich!", "Anna"), ("user", "Servus", "Ben")]


def test_a_table_that_says_too_little_is_named_with_its_columns(tmp_path):
    file = tmp_path / "sales.csv"
    file.write_text("region,amount\nNorth,3\n")
    reason, hint = refused(file)
    assert "line 1: no column says who speaks: they are region, amount" in reason
    assert "role (user or assistant)" in hint
    file.write_text("role,text,time\nuser,Hello,3/8/26 6 PM\n")
    with pytest.raises(InvalidInput, match="line 2: created_at"):
        list(read_transcript(file))
    file.write_text("role,text\nrobot,Hello\n")
    assert "role 'robot' is not known" in refused(file)[0]


def test_sessions_of_zep_are_read(tmp_path):
    file = tmp_path / "zep.json"
    messages = [{"uuid": "z1", "role": "Ann", "role_type": "user", "content": "I moved to Porto."}]
    file.write_text(json.dumps({"session_id": "s1", "messages": messages}))
    (only,) = read_transcript(file)
    assert (only.thread_id, only.turn.id, only.turn.role, only.turn.name) == ("s1", "z1", "user", "Ann")


@pytest.mark.parametrize(
    ("document", "what", "hint"),
    [
        ({"results": [{"id": "1", "memory": "Likes tea"}]}, "memories of mem0", "agent-memory import"),
        ([{"id": "1", "memory": "Likes tea"}], "memories of mem0", "agent-memory import"),
        (
            {"type": "header", "format": "agent-memory", "version": 1},
            "an export of this toolkit",
            "agent-memory import",
        ),
        ({"edges": [{"fact": "Ann likes tea"}]}, "facts of Zep", "agent-memory import"),
        ([{"id": "passage-1", "text": "Likes tea", "archive_id": "a"}], "passages of Letta", "agent-memory import"),
        ([{"namespace": ["a"], "key": "k", "value": {}}], "items of a LangGraph store", "agent-memory import"),
    ],
)
def test_what_holds_no_conversations_is_named_with_what_to_do(tmp_path, document, what, hint):
    file = tmp_path / "export.json"
    file.write_text(json.dumps(document))
    reason, note = refused(file)
    assert f"this holds {what}" in reason
    assert hint in note


@pytest.mark.parametrize(
    ("name", "data", "reason", "hint"),
    [
        ("notes.txt", b"Anna: hello\nBen: hi\n", "plain text, which does not say who speaks", '"role"'),
        ("chat.html", b"<!DOCTYPE html><html>", "plain text", "conversations.json"),
        ("photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a binary file", '"role"'),
        ("memory.db", b"SQLite format 3\0\x10", "a SQLite database", "--store"),
        ("chat.json.gz", b"\x1f\x8b\x08\0", "compressed with gzip", "gunzip"),
        ("latin.csv", b"role,text\nuser,caf\xe9\n", "line 2: not UTF-8 text", "UTF-8"),
    ],
)
def test_what_is_no_transcript_is_named_with_what_to_do(tmp_path, name, data, reason, hint):
    file = tmp_path / name
    file.write_bytes(data)
    found, note = refused(file)
    assert reason in found
    assert hint in note


def test_an_unknown_role_is_named_with_those_that_are_known(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"role": "robot", "content": "x"}')
    reason, hint = refused(file)
    assert reason.endswith("line 1: role 'robot' is not known")
    assert hint == "roles are user, assistant (or agent), tool, system"
    file.write_text('{"role": "Assistant", "content": "x"}')
    assert said(file) == [("agent", "x", None)]
