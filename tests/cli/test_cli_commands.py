"""The commands on a real store, in process."""

import json
from pathlib import Path

import pytest
from command import parsed, run

from agent_memory import Memory

TURNS = [
    ("t1", "2026-03-08T18:00:00Z", "user", "My budget for the Hawaii trip is $10,000."),
    ("t1", "2026-03-08T18:00:10Z", "assistant", "That is a comfortable budget."),
    ("t1", "2026-03-08T18:01:00Z", "user", "I love a good steak."),
    ("t1", "2026-03-08T18:01:10Z", "assistant", "There are fine steakhouses on Maui."),
    ("t2", "2026-05-17T19:00:00Z", "user", "My budget for the Hawaii trip is now $15,000."),
    ("t2", "2026-05-17T19:00:10Z", "assistant", "Lovely, that gives you room."),
    ("t2", "2026-05-17T19:01:00Z", "user", "I am allergic to peanuts."),
]


def transcript(folder: Path, **fields: str) -> Path:
    file = folder / "talk.jsonl"
    rows = [
        {"thread_id": thread, "created_at": time, "role": role, "content": content, **fields}
        for thread, time, role, content in TURNS
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    path = folder / "memory.db"
    result = parsed("ingest", transcript(folder), "--user", "maya", "--store", path)
    assert (result["turns"], result["created"], result["already_there"]) == (7, 7, 0)
    assert (result["users"], result["threads"], result["unprocessed_turns"]) == (["maya"], 2, 0)
    return path


def test_a_second_ingest_of_a_file_adds_nothing(store, tmp_path):
    before = parsed("show", "--store", store)
    result = run("ingest", transcript(tmp_path), "--user", "maya", "--store", store)
    assert "7 turns in 2 threads of maya: 0 new, 7 already there" in result.stdout
    after = parsed("show", "--store", store)
    assert [memory["id"] for memory in after["memories"]] == [memory["id"] for memory in before["memories"]]
    assert len(after["superseded"]) == len(before["superseded"])
    assert parsed("status", "--store", store)["users"]["maya"]["turns"] == 7


def test_a_malformed_line_is_named_and_nothing_is_written(tmp_path):
    file = transcript(tmp_path)
    lines = file.read_text().splitlines()
    lines[4] = '{"role": "user", "content": "half'
    file.write_text("\n".join(lines))
    result = run("ingest", file, "--store", tmp_path / "new.db", code=2)
    assert result.stderr.startswith(f"error: {file}, line 5: not valid JSON")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not (tmp_path / "new.db").exists()


def test_search_finds_the_current_value_and_the_past_one(store):
    hits = parsed("search", "budget for Hawaii", "--store", store)
    assert "$15,000" in hits[0]["memory"]["content"]
    derived = [hit["memory"]["content"] for hit in hits if hit["memory"]["kind"] != "chunk"]
    assert not any("$10,000" in content for content in derived)
    assert "(until" in run("search", "budget for Hawaii", "--store", store).stdout
    past = parsed("search", "budget for Hawaii", "--as-of", "2026-04-01", "--store", store)
    assert "$10,000" in past[0]["memory"]["content"]
    assert len(parsed("search", "budget", "--limit", "1", "--store", store)) == 1
    table = run("search", "what am I allergic to", "--store", store).stdout
    assert "peanuts" in table
    assert "17 May 2026" in table


def test_context_is_what_an_agent_would_get(store):
    found = parsed("context", "What's my budget for Hawaii?", "--store", store)
    assert "$15,000" in found["text"]
    assert 0 < found["tokens"] <= 650
    small = parsed("context", "What's my budget for Hawaii?", "--budget", "30", "--store", store)
    assert small["tokens"] <= 30
    past = parsed("context", "What's my budget for Hawaii?", "--as-of", "2026-04-01", "--store", store)
    assert "$10,000" in past["text"]
    assert "$15,000" not in past["text"]
    printed = run("context", "What's my budget for Hawaii?", "--thread", "t9", "--store", store).stdout
    assert "$15,000" in printed
    assert "tokens" in printed
    ask = ["context", "What's my budget for Hawaii?", "--thread", "t2", "--stream", "--store", store]
    streamed = run(*ask).stdout
    assert "─ turns ─" in streamed
    assert streamed.index("─ turns ─") < streamed.index("tokens")
    *early, last = (json.loads(line) for line in run(*ask, "--json").stdout.splitlines())
    assert "turns" in [section["name"] for section in early]
    assert all(section["context"] is None for section in early)
    assert (last["name"], "$15,000" in last["context"]["text"]) == ("context", True)


def test_reflect_answers_with_the_words_that_it_rests_on(store):
    found = parsed("reflect", "What is the budget for Hawaii?", "--store", store)
    sentence = next(one for one in found["sentences"] if "$15,000" in one["text"])
    assert "$15,000" in sentence["evidence"][0]["quote"]
    assert sentence["evidence"][0]["thread_id"] == "t2"
    printed = run("reflect", "What is the budget for Hawaii?", "--store", store).stdout
    assert sentence["evidence"][0]["memory_id"] in printed.replace("\n", "")
    assert "does not answer this" in run("reflect", "xylophone", "--store", store).stdout


def test_show_tells_what_was_replaced_by_what(store):
    view = parsed("show", "--store", store)
    ((old, new),) = [pair for pair in view["superseded"] if "budget" in pair[0]["content"]]
    assert "$10,000" in old["content"]
    assert "$15,000" in new["content"]
    assert old["superseded_by"] == new["id"]
    assert view["user_id"] == "maya"
    assert {summary["thread_id"] for summary in view["summaries"]} == {"t1", "t2"}
    printed = run("show", "--superseded", "--store", store).stdout
    for part in ("Profile of maya", "Threads", "Replaced", "$10,000", "peanuts"):
        assert part in printed


def test_show_narrows_to_a_thread_or_a_memory(store):
    view = parsed("show", "--thread", "t2", "--store", store)
    assert view["summary"]["thread_id"] == "t2"
    assert {memory["thread_id"] for memory in view["memories"]} == {"t2"}
    assert "peanuts" in run("show", "--thread", "t2", "--store", store).stdout
    memory = next(memory for memory in view["memories"] if "$15,000" in memory["content"])
    versions = parsed("show", memory["id"], "--store", store)
    assert memory["id"] in [version["id"] for version in versions]
    assert "from turns" in run("show", memory["id"], "--store", store).stdout
    assert "has no thread 't7'" in run("show", "--thread", "t7", "--store", store, code=1).stderr
    run("show", "no-such-memory", "--store", store, code=1)


def test_status_and_dead_letters(store):
    state = parsed("status", "--store", store)
    assert state["health"]["ok"] is True
    assert state["health"]["unprocessed_turns"] == 0
    assert state["users"]["maya"]["threads"] == 2
    assert "all turns are processed" in run("status", "--store", store).stdout
    assert parsed("dead-letters", "--store", store) == []
    assert "No dead letters." in run("dead-letters", "--store", store).stdout


def test_process_works_off_what_waits(tmp_path):
    path = tmp_path / "later.db"
    run("ingest", transcript(tmp_path, user_id="eve"), "--no-process", "--store", path)
    with Memory.local(path) as memory:
        [thread, *_] = memory.user("eve").threads()
        turns = memory.user("eve").thread(thread.thread_id).turns()
        assert {turn.backfill for turn in turns} == {True}, "a function app processes live talk first"
    assert "Everything is processed." in run("process", "--store", path).stdout
    assert parsed("process", "--store", path) == {"unprocessed_turns": 0}
    assert len(parsed("show", "--user", "eve", "--store", path)["memories"]) >= 2


def test_one_step_can_be_run_now(store):
    assert parsed("process", "extract", "--thread", "t1", "--store", store)["t1"]["created"] == 0
    assert set(parsed("process", "summarize", "--store", store)) == {"t1", "t2"}
    assert parsed("process", "reconcile", "--store", store)["maya"]["step"] == "reconcile"
    assert "maya" in run("process", "profile", "--store", store).stdout
    assert "--thread only works with" in run("process", "profile", "--thread", "t1", "--store", store, code=2).stderr
    assert "--user only works with a STEP" in run("process", "--user", "maya", "--store", store, code=2).stderr


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    path = tmp_path / "typo.db"
    for command in (["search", "x"], ["context", "x"], ["show"], ["status"], ["process"], ["dead-letters"]):
        result = run(*command, "--store", path, code=2)
        assert result.stderr.startswith(f"error: there is no store at {path}\nhint: ")
    assert not path.exists()


@pytest.mark.req("S0-003")
def test_the_user_must_be_named_when_there_are_several(tmp_path):
    path = tmp_path / "two.db"
    file = transcript(tmp_path)
    for user in ("ann", "ben"):
        run("ingest", file, "--user", user, "--store", path)
    assert "This store has ann, ben" in run("search", "budget", "--store", path, code=2).stderr
    result = run("show", "--user", "anna", "--store", path, code=1)
    assert result.stderr == "error: this store has no user 'anna'\nhint: its users: ann, ben\n"
    (of_ann,) = {hit["memory"]["user_id"] for hit in parsed("search", "budget", "--user", "ann", "--store", path)}
    assert of_ann == "ann"


def test_the_store_may_be_named_by_the_environment(store, monkeypatch):
    monkeypatch.setenv("AGENT_MEMORY_STORE", str(store))
    assert "maya" in run("status").stdout


@pytest.mark.parametrize("command", ["quickstart", "ingest", "search", "context", "show", "process", "status"])
def test_every_command_has_help(command):
    assert "--store" in run(command, "--help").stdout


def test_a_wrong_date_is_a_usage_error(store):
    assert "is not a date like" in run("search", "x", "--as-of", "soon", "--store", store, code=2).stderr


def test_why_tells_who_said_it_and_what_it_replaced(store):
    (budget,) = [m for m in parsed("show", "--store", store)["memories"] if "15,000" in m["content"]]
    found = parsed("why", budget["id"], "--store", store)
    assert [turn["content"] for turn in found["turns"]] == ["My budget for the Hawaii trip is now $15,000."]
    assert ["10,000" in old["content"] for old in found["replaced"]] == [True]
    text = run("why", budget["id"], "--store", store).stdout
    assert "My budget for the Hawaii trip is now $15,000." in text
    assert "offline-extractive" in text
    assert "Versions" in text
    assert "error: no memory nothing" in run("why", "nothing", "--store", store, code=1).stderr


def test_reprocess_says_that_there_is_nothing_to_do_when_nothing_has_changed(store):
    before = {m["id"] for m in parsed("show", "--store", store)["memories"]}
    assert "read again" in run("reprocess", "--store", store).stdout
    assert parsed("reprocess", "--store", store)["usage"]["model_calls"] == 0
    assert {m["id"] for m in parsed("show", "--store", store)["memories"]} == before


def test_a_pace_bounds_how_fast_turns_are_written(tmp_path, monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr("agent_memory.cli.ingest.sleep", slept.append)
    result = parsed(
        "ingest", transcript(tmp_path), "--user", "maya", "--store", tmp_path / "m.db", "--no-process", "--pace", 2
    )
    assert result["created"] == 7
    assert len(slept) >= 4
    assert max(slept) > 1.5


def test_days_and_times_are_those_where_the_user_is_and_json_has_utc(tmp_path):
    """The turn was said at 20:30 in UTC: the next day in Tokyo, and the same day in New York."""
    path = tmp_path / "m.db"
    said = {"role": "user", "content": "I am allergic to peanuts.", "created_at": "2026-05-17T20:30:00Z"}
    with Memory.local(path) as memory:
        maya = memory.user("maya")
        maya.thread("t1").add_many([said])
        maya.update_settings(time_zone="Asia/Tokyo")
        maya.thread("t1").update_settings(time_zone="America/New_York")
        memory.user("zoe").thread("t1").add_many([said])
        assert memory.drain(30) == 0
    (fact,) = parsed("show", "--user", "maya", "--type", "fact", "--store", path)["memories"]
    assert fact["created_at"].startswith("2026-05-17T20:30:00")
    assert "18 May 2026" in run("show", "--user", "maya", "--store", path).stdout
    assert "18 May 2026" in run("search", "peanuts", "--user", "maya", "--store", path).stdout
    assert "18 May 2026, 05:30 +09:00" in run("why", fact["id"], "--user", "maya", "--store", path).stdout
    assert "17 May 2026" in run("show", "--user", "maya", "--thread", "t1", "--store", path).stdout
    assert "17 May 2026" in run("show", "--user", "zoe", "--store", path).stdout, "another user's zone is not kept"
