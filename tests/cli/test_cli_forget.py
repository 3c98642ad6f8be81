"""`forget`, `export` and `import` on a real store."""

import json
from pathlib import Path

import pytest
from command import run

from agent_memory import Memory


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Memory.local(path) as memory:
        chat = memory.user("maya").thread("t1")
        chat.add("user", "My gym locker code is 94711.", id="turn-code")
        chat.add("user", "I live in Lisbon with two cats.", id="turn-city")
        assert memory.drain(timeout=300) == 0
    return path


def facts(store: Path) -> list[str]:
    with Memory.local(store) as memory:
        return sorted(fact.content for fact in memory.user("maya").memories(types=["fact"]))


@pytest.mark.req("S0-064")
def test_it_shows_what_would_go_and_asks(store: Path):
    before = facts(store)
    shown = run("forget", "my locker code", "--store", store, given="n\n").stdout
    assert "94711" in shown
    assert "Forget this?" in shown
    assert facts(store) == before
    assert "94711" in run("forget", "my locker code", "--store", store, "--dry-run", "--yes").stdout
    assert facts(store) == before
    assert "forgotten" in run("forget", "my locker code", "--store", store, given="y\n").stdout
    assert not any("94711" in fact for fact in facts(store))
    assert len(facts(store)) == len(before) - 1
    assert "Nothing found" in run("forget", "my locker code", "--store", store).stdout


def test_a_program_says_yes_itself(store: Path):
    planned = json.loads(run("forget", "--id", "turn-code", "--store", store, "--json").stdout)
    assert planned["dry_run"]
    done = json.loads(run("forget", "--id", "turn-code", "--store", store, "--json", "--yes").stdout)
    assert done["deleted"]["turn"] == ["turn-code"]
    assert done["items"][0]["content"] is None
    again = json.loads(run("forget", "--id", "turn-code", "--store", store, "--json", "--yes").stdout)
    assert again["deleted"] == {"turn": ["turn-code"]}, "its answer may have been lost"
    assert "error" in run("forget", "--id", "turn-none", "--store", store, "--yes", code=1).output
    assert "error" in run("forget", "--store", store, code=2).output


@pytest.mark.req("S3-46")
def test_everything_goes(store: Path):
    assert "turn" in run("forget", "--everything", "--store", store, given="y\n").stdout
    with Memory.local(store) as memory:
        assert memory.users() == []


def test_out_of_one_store_and_into_another(store: Path, tmp_path: Path):
    file, other = tmp_path / "maya.jsonl", tmp_path / "other.db"
    run("export", file, "--store", store)
    assert file.read_text().startswith('{"type": "header"')
    assert not list(tmp_path.glob("*.part"))
    receipt = json.loads(run("import", file, "--user", "maya", "--store", other, "--json").stdout)
    assert receipt["created"]["turn"] == 2
    assert facts(other) == facts(store)
    again = " ".join(run("import", file, "--user", "maya", "--store", other).stdout.split())
    assert "already" in again  # the heading takes two lines where the terminal is narrow
    assert run("export", "-", "--store", other).stdout.count("\n") == len(file.read_text().splitlines())
    assert "error" in run("import", tmp_path / "missing", "--store", other, code=2).output


@pytest.mark.parametrize("name", ["memory.db", "memory.db-wal", "memory.db-host", "link", "other.db", "other.db-lock"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_export_never_takes_the_place_of_a_store(store: Path, name: str, force: list[str]):
    for other in (store.with_name("other.db"), store):
        Memory.local(other).close()
    store.with_name("link").symlink_to(store)
    before = {path: path.read_bytes() for path in sorted(store.parent.iterdir())}
    refused = run("export", store.with_name(name), "--store", store, *force, code=2)
    assert "store" in refused.stderr
    assert "hint: FILE is the export to write; --store names what to read" in refused.stderr
    assert {path: path.read_bytes() for path in sorted(store.parent.iterdir())} == before


def test_an_export_replaces_a_file_only_when_told(store: Path, tmp_path: Path):
    file = tmp_path / "maya.jsonl"
    file.write_text("mine")
    assert f"error: {file} already exists" in run("export", file, "--store", store, code=2).stderr
    assert file.read_text() == "mine"
    run("export", file, "--store", store, "--force")
    assert file.read_text().startswith('{"type": "header"')
    assert file.stat().st_mode & 0o077 == 0, "others can read it"
    assert "it is not a file" in run("export", tmp_path, "--store", store, "--force", code=2).stderr
    assert "error: cannot write" in run("export", tmp_path / "none" / "x", "--store", store, code=2).stderr
