"""`remember`, `update` and `threads`: memories by hand, and the conversations of a user."""

import json
from pathlib import Path

import pytest
from command import parsed, run

from agent_memory import Memory


def failed(*arguments: str | Path, code: int) -> str:
    return run(*arguments, code=code).stderr


def test_a_memory_written_by_hand_is_found_and_corrected(tmp_path: Path):
    store = tmp_path / "new.db"
    made = parsed("remember", "Allergic to peanuts", "--tag", "food", "--user", "ann", "--store", store)
    assert (made["content"], made["kind"], made["tags"]) == ("Allergic to peanuts", "fact", ["food"])
    assert "peanuts" in run("remember", "Allergic to peanuts", "--store", store).stdout
    assert len(parsed("show", "--store", store)["memories"]) == 1

    new = parsed("update", made["id"][-8:], "--content", "Allergic to cashews", "--reason", "a test", "--store", store)
    assert new["content"] == "Allergic to cashews"
    assert new["id"] != made["id"]
    (old, by), *_ = parsed("show", "--store", store)["superseded"]
    assert (old["content"], by["content"]) == ("Allergic to peanuts", "Allergic to cashews")
    assert parsed("update", new["id"], "--pin", "--store", store)["pinned"] is True
    assert "cashews" in parsed("search", "what am I allergic to", "--store", store)[0]["memory"]["content"]


def test_whose_memory_it_becomes(tmp_path: Path):
    store = tmp_path / "who.db"
    assert parsed("remember", "Plays the cello", "--store", store)["user_id"] == "me"
    assert parsed("remember", "Plays the harp", "--user", "ben", "--store", store)["user_id"] == "ben"
    assert "which user?" in failed("remember", "Plays chess", "--store", store, code=2)
    how = parsed("remember", "To tune it, start with A", "--type", "procedural", "--user", "ben", "--store", store)
    assert how["type"] == "procedural"


def test_mistakes_are_named(tmp_path: Path):
    store = tmp_path / "mistakes.db"
    assert failed("update", "x", "--pin", "--store", store, code=2).startswith("error: there is no store")
    assert failed("threads", "--store", store, code=2).startswith("error: there is no store")
    assert "there is nothing to remember" in failed("remember", " ", "--user", "ann", "--store", store, code=2)
    made = parsed("remember", "Plays the cello", "--user", "ann", "--store", store)
    assert "nothing to change" in failed("update", made["id"], "--store", store, code=2)
    failed("update", "fact_nothing", "--pin", "--store", store, code=1)
    assert "is a folder, not a file" in failed("show", "--store", tmp_path, code=1)
    problem = json.loads(failed("update", "fact_nothing", "--pin", "--store", store, "--json", code=1))
    assert problem["error"]["code"] == "not_found"


def test_the_threads_of_a_user_are_listed_newest_first(tmp_path: Path):
    store = tmp_path / "threads.db"
    with Memory.local(store) as memory:
        ann = memory.user("ann")
        ann.thread("monday").add("user", "Hello", created_at="2026-03-02T09:00:00Z")
        ann.thread("friday").add_many([{"role": "user", "content": text} for text in ("Hi", "Bye")])
        memory.drain(timeout=60)
    found = parsed("threads", "--store", store)
    assert [(one["thread_id"], one["turns"]) for one in found] == [("friday", 2), ("monday", 1)]
    assert len(parsed("threads", "--limit", "1", "--store", store)) == 1
    printed = run("threads", "--store", store).stdout
    assert "monday" in printed
    assert "2 Mar 2026" in printed


@pytest.mark.parametrize("command", ["remember", "update", "threads"])
def test_help_shows_examples(command: str):
    assert f"agent-memory {command}" in run(command, "--help").stdout


def test_a_group_is_read_when_it_is_named_and_a_memory_can_expire(tmp_path: Path):
    store = tmp_path / "shared.db"
    assert parsed("remember", "My office chair is blue", "--ttl", "60", "--user", "ann", "--store", store)["expires_at"]
    with Memory.local(store) as memory:
        memory.group("team").remember("The office chair budget is 300 euros")
    assert [hit["group"] for hit in parsed("search", "office chair", "--store", store)] == [None]
    hits = parsed("search", "office chair", "--group", "team", "--store", store)
    assert {hit["group"] for hit in hits} == {None, "team"}
    assert "shared in team" in parsed("context", "office chair", "--group", "team", "--store", store)["text"]
