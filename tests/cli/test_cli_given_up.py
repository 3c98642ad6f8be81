"""Turns that a model has no usable answer to are named by the commands that process, and can be replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import run
from model_server import DIMENSIONS, ModelServer, model_server_aside


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with model_server_aside() as made:
        for kind, name in (("CHAT", "openai:m"), ("EMBEDDINGS", f"openai:e@{DIMENSIONS}")):
            monkeypatch.setenv(f"AGENT_MEMORY_{kind}", name)
            monkeypatch.setenv(f"AGENT_MEMORY_{kind}_BASE_URL", made.url)
            monkeypatch.setenv(f"AGENT_MEMORY_{kind}_API_KEY", "k")
        for role in ("SUMMARY", "PROFILE", "RECONCILE"):
            monkeypatch.setenv(f"AGENT_MEMORY_CHAT_{role}", "none")
        yield made


def test_turns_that_were_given_up_are_named_and_replayed(server: ModelServer, tmp_path: Path):
    server.mode["chat"], server.only = "content filter", ("Ana",)
    told, store = tmp_path / "talk.jsonl", tmp_path / "memory.db"
    facts = ("fact: city=Lisbon by the river", "fact: sister=Ana", "fact: pet=a cat and a dog")
    told.write_text("".join(json.dumps({"role": "user", "content": fact}) + "\n" for fact in facts))

    shown = run("ingest", told, "--user", "ann", "--store", store, code=1).stdout
    assert "1 turn could not be processed: " in shown
    assert "dead-letters --store" in shown
    # Nothing is new in the second run, so nothing is reported.
    assert "Everything is processed." in run("process", "--store", store, code=0).stdout
    letters = json.loads(run("dead-letters", "--replay", "--store", store, "--json", code=1).stdout)
    assert [(letter["step"], len(letter["turn_ids"])) for letter in letters] == [("extract", 1)]

    server.mode["chat"] = "good"
    assert "No dead letters." in run("dead-letters", "--replay", "--store", store, code=0).stdout
    assert "sister=Ana" in run("show", "--user", "ann", "--store", store, code=0).stdout


def test_json_counts_them(server: ModelServer, tmp_path: Path):
    server.mode["chat"], server.only = "content filter", ("Ana",)
    told, store = tmp_path / "talk.jsonl", tmp_path / "memory.db"
    told.write_text(json.dumps({"role": "user", "content": "fact: sister=Ana, who lives here"}))
    ingest = ("ingest", told, "--user", "ann", "--store", store, "--json")
    assert json.loads(run(*ingest, "--no-process", code=0).stdout)["given_up_turns"] == 0
    assert json.loads(run("process", "--store", store, "--json", code=1).stdout) == {
        "unprocessed_turns": 0,
        "given_up_turns": 1,
    }
