"""Whole files of other systems, zips too: what they hold, what becomes of it, and what is refused.

The files of `samples/exports` are ours. `tests/transfer/test_other_systems.py` names the public schemas of most;
Hindsight's archive is described in `hindsight_api/engine/transfer/schema.py` of
https://github.com/vectorize-io/hindsight. OpenAI and Anthropic publish none of their data exports; the fields are those
that public readers of them agree on.
"""

import json
import random
import shutil
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from command import run
from langgraph.store.memory import InMemoryStore

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import InvalidInput
from agent_memory.models import iso, now
from agent_memory.transfer import hindsight
from agent_memory.transfer.moving import contents_of
from agent_memory.transfer.origins import Origin
from agent_memory.transfer.readers.transcripts import read_transcript

EXPORTS = Path(__file__).parents[2] / "samples" / "exports"


def zipped(path: Path, files: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return path


def files_in(name: str) -> dict[str, Any]:
    with zipfile.ZipFile(EXPORTS / name) as archive:
        return {entry: json.loads(archive.read(entry)) for entry in archive.namelist() if entry.endswith(".json")}


async def test_a_bank_of_hindsight_keeps_its_kinds_times_and_history(memory: AsyncMemory):
    ana = memory.user("ana")
    archive = contents_of(EXPORTS / "hindsight-bank.zip")
    assert (await ana.import_lines(archive.lines)).created == {"memory": 4}
    listed = contents_of(EXPORTS / "hindsight-memories.json", Origin.HINDSIGHT)
    assert (await ana.import_lines(listed.lines)).existing == {"memory": 2}  # the same, from the listing
    found = {one.type: one for one in await ana.memories()}
    moved, bakery, settling = (found[kind] for kind in ("fact", "episodic", "reflection"))
    assert moved.content == "Ana moved to Porto in March 2025"
    assert (moved.valid_from, moved.created_at.month) == (datetime(2025, 3, 1, tzinfo=UTC), 8)
    assert moved.metadata["entities"] == ["Ana", "Porto"]
    assert (moved.metadata["channel"], moved.tags) == ("app", ["user:ana"])
    assert (bakery.kind, settling.source_ids) == ("event", [moved.id])
    everything = {one.content: one for one in await ana.memories(include_superseded=True)}
    assert everything["Ana lives in Graz"].supersede_reason == "revoked"
    await ana.forget(id=moved.id)
    assert "reflection" not in {one.type for one in await ana.memories()}  # what rested on it goes with it


@pytest.mark.parametrize(
    "broken",
    [
        {"manifest.json": {"schema_version": 2, "source_bank_id": "ana"}},
        {"manifest.json": {"version": 1}},
        {"documents/000000.json": [1]},
        {"documents/000000.json": {"id": "d", "facts": {}}},
        {"documents/000000.json": {"id": "d", "facts": [{"fact_type": "world"}]}},
        {"documents/000000.json": {"id": "d", "facts": []}},  # the observation rests on nothing
        {"documents/000000.json": b"{"},
        {"observations.json": [{"text": "x", "sources": [3]}]},
        {"data/invalidated_memory_units.json": [{"id": "1", "text": "x", "metadata": "{"}]},
        {"data/invalidated_memory_units.json": [{"id": "1", "text": "x", "fact_type": "rumour"}]},
        {"data/invalidated_memory_units.json": [{"id": "1", "text": "x", "invalidated_at": "soon"}]},
    ],
)
def test_a_broken_archive_of_hindsight_is_refused(tmp_path: Path, broken: dict[str, Any]):
    archive = zipped(tmp_path / "bank.zip", files_in("hindsight-bank.zip") | broken)
    with pytest.raises(InvalidInput):
        contents_of(archive, Origin.HINDSIGHT)


def test_times_that_hindsight_does_not_know_are_not_taken_for_years():
    records = [{"id": "1", "text": "x", "fact_type": "world", "occurred_start": "0001-01-01T00:00:00Z", "tags": []}]
    (line,) = hindsight.read_hindsight(records, "2025-01-01T00:00:00Z")
    assert line["created_at"] == line["valid_from"] == "2025-01-01T00:00:00Z"


async def test_what_claude_remembers_and_what_was_said_come_from_one_archive(memory: AsyncMemory):
    contents = contents_of(EXPORTS / "claude.zip")
    assert contents.counts() == {"memory": 4, "thread": 1, "turn": 2}
    ana = memory.user("ana")
    await ana.import_lines(contents.lines)
    found = {one.content: one for one in await ana.memories()}
    assert "**Work context**" not in found
    dog = found["She has a dog named Bolt."]
    assert (dog.tags, dog.created_at) == (["Personal context"], datetime(2025, 9, 1, 12, tzinfo=UTC))
    letter = found["The newsletter goes out every first Monday of the month."]
    assert letter.metadata == {"project": "9a8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c01", "imported_from": "claude"}
    await ana.forget(id=dog.id)
    receipt = await ana.import_lines(contents.lines)  # it was said before it was forgotten
    assert (receipt.created, receipt.forgotten) == ({}, {"memory": 1})


def test_no_memory_of_an_archive_is_from_the_future(tmp_path: Path):
    """Archives name no zone, so the time in one may be ahead of ours."""
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as made:
        row = {"account_uuid": "a", "conversations_memory": "Lives in Graz."}
        made.writestr(zipfile.ZipInfo("memories.json", (2099, 1, 1, 0, 0, 0)), json.dumps([row]))
    (line,) = [json.loads(line) for line in contents_of(tmp_path / "c.zip").lines][1:]
    assert line["created_at"] <= iso(now())


def test_newer_archives_of_claude_keep_memories_in_files(tmp_path: Path):
    files = [{"path": "/areas/home.md", "content": "# Home\nLives in Porto.", "updated_at": "2026-01-01T00:00:00Z"}]
    row = {"account_uuid": "a", "conversations_memory": None, "project_memories": [], "memory_files": files}
    contents = contents_of(zipped(tmp_path / "c.zip", {"data/memories/m.json": row, "data/users.json": []}))
    (line,) = [json.loads(line) for line in contents.lines][1:]
    assert (line["content"], line["tags"], line["created_at"]) == ("Lives in Porto.", ["Home"], "2026-01-01T00:00:00Z")
    assert contents.utterances == []
    other = {"account_uuid": "b", "conversations_memory": "Lives in Graz."}
    both = zipped(tmp_path / "team.zip", {"memories.json": [row, other]})
    with pytest.raises(InvalidInput, match="memories of 2 owners: a, b"):
        contents_of(both)
    assert "Graz" in contents_of(both, only="b").lines[1]


def test_conversations_need_no_name_of_their_system():
    said = contents_of(EXPORTS / "chatgpt.zip")
    assert said.lines == []
    assert [one.turn.content for one in said.utterances] == [
        "I have a balcony to the south, and I grow tomatoes there.",  # the branch that is shown
        "Then give them a deep pot and water them every day.",
    ]
    assert contents_of(EXPORTS / "chatgpt.zip", Origin.CHATGPT) == said
    assert len(contents_of(EXPORTS / "zep-thread.json", Origin.ZEP).utterances) == 2
    assert contents_of(EXPORTS / "letta.af", Origin.LETTA).counts() == {"memory": 2, "thread": 1, "turn": 2}
    assert contents_of(EXPORTS / "letta-passages.json", Origin.LETTA).counts() == {"memory": 1}


def said_by(role: str, id: str, parent: str | None, text: object, **more: Any) -> dict[str, Any]:
    """A node of ChatGPT's tree."""
    message = {"id": id, "author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **more}
    return {"id": id, "parent": parent, "children": [], "message": message}


def talk_of(id: str, *nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    last = nodes[-1]["id"] if nodes else None
    tree = {"conversation_id": id, "current_node": last, "mapping": {one["id"]: one for one in nodes}}
    return {"create_time": 1756717200.0, **tree, **more}


BIO = (
    said_by("user", "u", None, "I moved to Porto", create_time=1756717210.0),
    said_by("assistant", "b", "u", "User lives in Porto.", recipient="bio", create_time=1756717211.0),
    said_by("tool", "t", "b", "Model set context updated.", recipient="assistant"),
    said_by("assistant", "f", "t", "Forget that the user lives in Graz.", recipient="bio"),
    said_by("assistant", "w", "f", 'search("Porto")', recipient="web.run"),
    said_by("tool", "r", "w", "results", recipient="all"),
    said_by("assistant", "a", "r", "Noted!", recipient="all", create_time=None),
)


def about(user: str, model: str, at: float) -> dict[str, Any]:
    given = {"about_user_message": user, "about_model_message": model}
    metadata = {"is_visually_hidden_from_conversation": True, "user_context_message_data": given}
    node = said_by("user", f"i{at}", None, "", metadata=metadata, create_time=at)
    node["message"]["content"] = {"content_type": "user_editable_context", "user_profile": f"You know:\n```{user}```"}
    return node


def test_what_chatgpt_was_asked_to_remember_becomes_memories(tmp_path: Path):
    older = talk_of("c0", about("Lives in Graz", "Answer at length.", 1756000000.0))
    newer = talk_of("c1", about("Is a nurse", "Answer briefly.", 1756717200.0))
    fenced = said_by("user", "i", None, "", create_time=1750000000.0)
    fenced["message"]["content"] = {"content_type": "user_editable_context", "user_profile": "You know:\n```Reads```"}
    for oldest in (older, talk_of("c3", fenced)):
        contents = contents_of(zipped(tmp_path / "c.zip", {"conversations.json": [newer, oldest, talk_of("c2", *BIO)]}))
        made = [json.loads(line) for line in contents.lines[1:]]
        assert [(one["content"], one["kind"], one["valid_from"]) for one in made] == [
            ("User lives in Porto.", "fact", "2025-09-01T09:00:11.000000Z"),
            ("Is a nurse", "fact", "2025-09-01T09:00:00.000000Z"),
            ("Answer briefly.", "preference", "2025-09-01T09:00:00.000000Z"),
        ]
    alone = contents_of(zipped(tmp_path / "c.zip", {"conversations.json": [talk_of("c3", fenced)]}))
    assert [json.loads(line)["content"] for line in alone.lines[1:]] == ["Reads"]
    assert alone.utterances == []


def test_a_conversation_of_chatgpt_is_read_without_calls_and_as_far_as_its_tree_goes(tmp_path: Path):
    lost = {**talk_of("c2", said_by("user", "x", None, "Old", create_time=1.0), said_by("user", "y", "x", "New"))}
    lost["mapping"]["x"]["children"], lost["current_node"] = ["y"], None
    private = talk_of("c5", said_by("user", "p", None, "My secret"), is_do_not_remember=True)
    talks = [talk_of("c1", *BIO), lost, talk_of("c3"), talk_of("c4", said_by("user", "z", "deleted", "Here")), private]
    split = {"conversations-000.json": talks[:2], "conversations-001.json": {"conversations": talks[2:]}}
    for files in ({"conversations.json": talks}, {"conversations.json": {"conversations": talks}}, split):
        contents = contents_of(zipped(tmp_path / "c.zip", files), Origin.CHATGPT)
        assert [(one.thread_id, one.turn.content) for one in contents.utterances] == [
            ("c1", "I moved to Porto"),
            ("c1", "Noted!"),
            ("c2", "Old"),
            ("c2", "New"),
            ("c4", "Here"),
        ]
    times = [one.turn.created_at for one in contents.utterances]
    assert all(times)
    assert times[0] < times[1]  # a message without a time keeps its place


ROOT = "00000000-0000-4000-8000-000000000000"


def written(id: str, parent: str | None, text: str, sender: str = "human", **more: Any) -> dict[str, Any]:
    return {"uuid": id, "sender": sender, "text": text, "parent_message_uuid": parent, **more}


def test_what_was_edited_away_in_claude_is_left_out_and_what_was_pasted_is_kept(tmp_path: Path):
    pasted = {"file_name": "", "file_type": "txt", "extracted_content": "The launch moved to 12 May."}
    messages = [
        written("a", ROOT, "I live in Graz."),
        written("b", "a", "Graz is nice.", "assistant"),
        written("c", ROOT, "I live in Linz.", created_at="2026-03-29T07:06:36Z"),
        written("d", "c", "Linz is nice.", "assistant", created_at=None),
        written("e", "d", "", attachments=[pasted], created_at=None),
    ]
    talk = {"uuid": "t", "created_at": "2026-03-29T07:06:35Z", "chat_messages": messages}

    def words(**more: Any) -> list[str]:
        file = zipped(tmp_path / "claude.zip", {"conversations.json": [talk | more]})
        return [one.turn.content for one in contents_of(file).utterances]

    shown = ["I live in Linz.", "Linz is nice.", "[file: pasted text]\nThe launch moved to 12 May."]
    assert words() == words(current_leaf_message_uuid="e") == shown
    assert words(current_leaf_message_uuid="b") == ["I live in Graz.", "Graz is nice."]
    unknown = [messages[0], {**messages[2], "parent_message_uuid": "elsewhere"}]
    assert words(chat_messages=unknown) == ["I live in Graz.", "I live in Linz."]  # no whole tree: nothing is left out
    [*_, last] = contents_of(zipped(tmp_path / "claude.zip", {"conversations.json": [talk]})).utterances
    assert last.turn.created_at == datetime(2026, 3, 29, 7, 6, 36, 2000, tzinfo=UTC)


def test_a_message_that_no_turn_can_hold_is_cut_and_half_a_character_replaced(tmp_path: Path):
    log = "a line of a log. " * 150_000
    talks = [talk_of("c1", said_by("user", "u", None, log)), talk_of("c2", said_by("user", "v", None, "half \ud83d!"))]
    file = zipped(tmp_path / "c.zip", {"conversations.json": json.dumps(talks).encode()})
    store = tmp_path / "m.db"
    for new in (2, 0):
        done = json.loads(run("import", file, "--user", "ana", "--store", store, "--no-process", "--json").output)
        assert done["conversations"]["created"] == new
    cut, half = (one.turn.content for one in contents_of(file).utterances)
    assert cut.endswith("more characters were not stored]")
    assert half == "half \ufffd!"


def test_an_answer_that_was_exported_before_it_was_finished_is_kept_beside_the_whole_one(tmp_path: Path):
    asked = said_by("user", "u", None, "Plan my trip.")
    early = [talk_of("c1", asked, said_by("assistant", "a", "u", "Sure, fir"))]
    late = [talk_of("c1", asked, said_by("assistant", "a", "u", "Sure, first book a flight.")), talk_of("c2", asked)]
    store, told = tmp_path / "m.db", []
    for talks in (early, late, late, early):
        file = zipped(tmp_path / "c.zip", {"conversations.json": talks})
        done = json.loads(run("import", file, "--user", "ana", "--store", store, "--no-process", "--json").output)
        told.append((done["conversations"]["created"], done["conversations"]["changed"]))
    assert told == [(2, 0), (2, 1), (0, 1), (0, 0)]
    with Memory.local(store) as memory:
        words = {turn.content for turn in memory.user("ana").thread("c1").turns()}
    assert words == {"Plan my trip.", "Sure, fir", "Sure, first book a flight."}


def test_the_error_of_a_broken_conversation_is_told_first(tmp_path: Path):
    file = zipped(tmp_path / "c.zip", {"conversations.json": [talk_of("c1", said_by("narrator", "u", None, "Hi"))]})
    told = run("import", file, "--user", "ana", "--store", tmp_path / "m.db", code=2).output
    assert told.startswith(f"error: {file}/conversations.json, item 1, message u: role 'narrator' is not known")


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("mem0.json", "zep"),
        ("mem0.json", "chatgpt"),
        ("zep-edges.json", "mem0"),
        ("chatgpt.zip", "hindsight"),
        ("hindsight-bank.zip", "chatgpt"),
        ("claude.zip", "letta"),
        ("openai-conversation.json", "langgraph"),
    ],
)
def test_a_file_of_another_system_than_named_is_refused(tmp_path: Path, name: str, origin: str):
    assert "error" in run("import", EXPORTS / name, "--from", origin, "--store", tmp_path / "m.db", code=2).output
    assert not (tmp_path / "m.db").exists()


def test_a_dry_run_reads_all_and_writes_nothing(tmp_path: Path):
    store = tmp_path / "m.db"
    told = json.loads(run("import", EXPORTS / "hindsight-bank.zip", "--dry-run", "--json", "--store", store).output)
    assert told == {"memory": 3, "replaced memory": 1}
    assert "turn" in run("ingest", EXPORTS / "chatgpt.zip", EXPORTS / "letta.af", "--dry-run", "--store", store).output
    late = json.loads((EXPORTS / "mem0.json").read_text())
    late["results"][2]["created_at"] = "yesterday"
    (tmp_path / "late.json").write_text(json.dumps(late))
    for dry in ([], ["--dry-run"]):  # nothing of a file with one broken memory is taken
        assert "memory 3 of the file" in run("import", tmp_path / "late.json", *dry, "--store", store, code=2).output
    assert not store.exists()


def test_one_command_takes_memories_and_conversations_and_can_be_repeated(tmp_path: Path):
    command = ["import", EXPORTS / "claude.zip", "--from", "claude", "--user", "ana", "--store", tmp_path / "m.db"]
    first, again = (json.loads(run(*command, "--no-process", "--json").output) for _ in range(2))
    assert (first["created"], first["conversations"]["created"]) == ({"memory": 4}, 2)
    assert (again["existing"], again["conversations"]["already_there"]) == ({"memory": 4}, 2)
    assert (again["created"], again["conversations"]["created"]) == ({}, 0)


def test_an_archive_writes_nothing_whatever_its_files_are_called(tmp_path: Path):
    files = files_in("claude.zip")
    names = {"../../../memories.json": files["memories.json"], "/conversations.json": files["conversations.json"]}
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    contents = contents_of(zipped(inside / "evil.zip", names | {"..\\x.json": [], "__MACOSX/._memories.json": b"\0"}))
    assert contents.counts() == {"memory": 4, "thread": 1, "turn": 2}
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "evil.zip"]


def test_archives_in_archives_and_archives_that_would_grow_are_refused(tmp_path: Path):
    nested = zipped(tmp_path / "nested.zip", {"conversations.json": (EXPORTS / "chatgpt.zip").read_bytes()})
    with pytest.raises(InvalidInput, match="this is a binary file"):
        contents_of(nested)
    for name in ("memories.json", "conversations.json", "documents/000000.json"):
        bomb = zipped(tmp_path / "bomb.zip", {"manifest.json": {}, name: b"[" + b" " * 80_000_000 + b"]"})
        with pytest.raises(InvalidInput, match="80 MB unpacked"):
            contents_of(bomb)


def damaged(data: bytes, seed: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(seed.randrange(1, 6)):
        changed[seed.randrange(len(changed))] = seed.randrange(256)
    return bytes(changed[: seed.randrange(len(changed))] if seed.random() < 0.3 else changed)


@pytest.mark.parametrize("name", ["claude.zip", "chatgpt.zip", "hindsight-bank.zip"])
def test_a_damaged_archive_is_refused_or_read_never_a_crash(tmp_path: Path, name: str):
    whole, seed, refused = (EXPORTS / name).read_bytes(), random.Random(7), 0
    for _ in range(40):
        (tmp_path / name).write_bytes(damaged(whole, seed))
        try:
            contents_of(tmp_path / name)
        except InvalidInput:
            refused += 1
    assert refused > 10


def with_wrong_parts(value: Any) -> Iterator[Any]:
    """A value with something else in the place of each of its parts."""
    yield from (None, 3, [1])
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, part in list(items):
        for other in with_wrong_parts(part):
            changed = value.copy()
            changed[place] = other
            yield changed


@pytest.mark.parametrize("name", ["chatgpt.zip", "claude.zip", "hindsight-memories.json", "letta.af", "mem0.json"])
def test_a_part_of_the_wrong_type_is_refused_or_left_out_never_a_crash(tmp_path: Path, name: str):
    whole = files_in(name)["conversations.json"] if name.endswith(".zip") else json.loads((EXPORTS / name).read_text())
    file, refused = tmp_path / Path(name).with_suffix(".af" if name.endswith(".af") else ".json"), 0
    for value in with_wrong_parts(whole):
        file.write_text(json.dumps(value))
        try:
            contents_of(file)
        except InvalidInput:
            refused += 1
    assert refused > 10


async def test_the_items_of_a_real_store_of_langgraph_come_over(memory: AsyncMemory, tmp_path: Path):
    store = InMemoryStore()
    store.put(("memories", "ana"), "tea", {"text": "Drinks green tea."})
    store.put(("memories", "ana"), "bike", {"kind": "Memory", "content": {"content": "Cycles to work."}})
    file = tmp_path / "items.json"
    file.write_text(json.dumps([item.dict() for item in store.search(("memories", "ana"))]))
    await memory.user("ana").import_lines(contents_of(file, Origin.LANGGRAPH).lines)
    assert {one.content for one in await memory.user("ana").memories()} == {"Drinks green tea.", "Cycles to work."}


def test_pages_of_zep_hold_messages_or_facts_under_items(tmp_path: Path):
    file = tmp_path / "page.json"
    message = {"uuid": "m1", "thread_uuid": "t1", "role": "user", "content": "I live in Porto.", "processed": True}
    file.write_text(json.dumps({"items": [message], "next_cursor": None}))
    (one,) = read_transcript(file)
    assert (one.thread_id, one.turn.id, one.turn.content) == ("t1", "m1", "I live in Porto.")
    file.write_text(json.dumps({"items": [{"uuid": "e1", "fact": "Lives in Porto", "user_uuid": "u"}, {"fact": None}]}))
    assert contents_of(file, Origin.ZEP).counts() == {"memory": 1}
    with pytest.raises(InvalidInput, match="facts of Zep"):
        list(read_transcript(file))


def test_a_file_that_cannot_be_read_gets_an_error(tmp_path: Path):
    with pytest.raises(InvalidInput, match="No such file"):
        contents_of(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match="Is a directory"):
        contents_of(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'[{"memory": "caf\xe9"}]')
    with pytest.raises(InvalidInput, match="not UTF-8"):
        contents_of(tmp_path / "latin.json", Origin.MEM0)
    (tmp_path / "store").write_bytes(b"\x1f\x8b\x08\0\xff")
    with pytest.raises(InvalidInput) as packed:
        contents_of(tmp_path / "store")
    assert "gzip" in " ".join(packed.value.__notes__)
    (tmp_path / "chat.csv").write_text("role,content\nuser,I live in Porto.\n", encoding="utf-16")  # Excel's
    assert [one.turn.content for one in contents_of(tmp_path / "chat.csv").utterances] == ["I live in Porto."]
    shutil.copy(EXPORTS / "mem0.json", tmp_path / "no-suffix")
    assert contents_of(tmp_path / "no-suffix").counts() == {"memory": 3}
