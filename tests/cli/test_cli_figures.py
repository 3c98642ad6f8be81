"""Figures that the command line prints, and calls that wait for a cold model."""

import asyncio
from pathlib import Path

import pytest
from command import parsed, run

from agent_memory import AsyncMemory
from agent_memory.cli.ingest import Ingested, summary
from agent_memory.language import defaults
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded


class Cold(HashingEmbeddings):
    """Embeddings whose first call takes a while. `early` are the calls that did not wait for it."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.asked: list[list[str]] = []
        self.early: list[list[str]] = []
        self.warm = False

    async def embed(self, texts: list[str]) -> Embedded:
        self.asked.append(texts)
        if len(self.asked) == 1:
            await asyncio.sleep(self.seconds)
            self.warm = True
        elif not self.warm:
            self.early.append(texts)
        return await super().embed(texts)


def ingested(created: int = 20, left: int = 0) -> Ingested:
    return Ingested(20, created, 20 - created, ["me"], 1, 0.2, 1.3, 13.3 if created else None, left)


def test_what_was_there_already_has_no_times_and_no_rate():
    assert summary(ingested()).splitlines()[1] == "written in 0.2 s, processed in 1.3 s"
    nothing_new = summary(ingested(created=0))
    assert nothing_new == "20 turns in 1 thread of me: 0 new, 20 already there"
    assert "processed" not in summary(ingested(left=20))


def test_the_rate_of_turns_is_of_the_new_ones(tmp_path: Path):
    file, store = tmp_path / "a.jsonl", tmp_path / "a.db"
    file.write_text('{"role": "user", "content": "I keep bees on the roof."}\n')
    rates = []
    for _ in range(2):
        rates.append(parsed("ingest", file, "--store", store)["turns_per_second"])
    assert rates[0] > 0
    assert rates[1] is None


def test_the_command_line_waits_for_a_cold_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = tmp_path / "cold.db"
    with monkeypatch.context() as patched:
        patched.setattr(defaults, "default_embeddings", lambda: Cold(0))
        run("remember", "Allergic to peanuts", "--store", store)
    cold = Cold(0.5)
    monkeypatch.setattr(defaults, "default_embeddings", lambda: cold)
    found = parsed("context", "What may I not eat? peanuts", "--store", store)
    assert "peanuts" in found["text"]
    assert found["degraded"] == []
    assert len(cold.asked) > 1
    assert cold.early == [], "what the first call takes is no part of the context's time"
    assert not any("peanuts" in text for text in cold.asked[0])


async def test_a_model_that_does_not_answer_does_not_stop_a_server_from_opening(caplog: pytest.LogCaptureFixture):
    class Broken(HashingEmbeddings):
        async def embed(self, texts: list[str]) -> Embedded:
            raise OSError("no route to host")

    async with AsyncMemory.local(embedding_model=Broken()) as memory:
        await memory.warm()
    assert "no route to host" in caplog.text
