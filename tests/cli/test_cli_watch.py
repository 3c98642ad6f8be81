"""`agent-memory status --watch`: what it shows, its lines of JSON, and how it ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent_memory import AsyncMemory, Memory
from agent_memory.cli.watch import Sample, view, watch
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import EndpointHealth, Health, Usage, now
from tests.cli.test_cli_views import printed


def health(waiting: int = 0, **fields: object) -> Health:
    base = Health(ok=True, store="s", chat_model="c", embedding_model="e", unprocessed_turns=waiting, dead_letters=0)
    return base.model_copy(update=fields)


def test_the_view_says_what_waits_how_fast_and_which_model_is_left_alone():
    at = now()
    before = Sample(at, health(100, usage=Usage(input_tokens=50)))
    failing = EndpointHealth(
        answers=False, fault="quota", failing_since=at, next_attempt_at=at + timedelta(seconds=62), pauses=3
    )
    sample = Sample(
        at + timedelta(seconds=2),
        health(
            40,
            ok=False,
            oldest_unprocessed=at - timedelta(seconds=73),
            dead_letters=7,
            paused_users=2,
            usage=Usage(model_calls=3, input_tokens=1250, output_tokens=40, embedded_tokens=10),
            models={"chat": failing, "embeddings": EndpointHealth(answers=True)},
            warnings=["\x1b[2Jlook"],
        ),
    )
    shown = printed(view("memory.db", sample, before))
    for expected in (
        "40 turns, 30.0 a second fewer",
        "75 s",
        "dead letters   7",
        "1,300 in 3 calls, 1,250 since the last refresh",
        "fails (quota)",
        "pause 3, called again in 60 s",
        "embeddings     answers",
        "2 users, whose budget",
        "NOT OK",
    ):
        assert expected in shown
    assert "\x1b" not in shown
    assert sample.row()["lag_seconds"] == 75
    assert sample.row()["models"]["chat"]["pauses"] == 3


@pytest.mark.parametrize("as_json", [True, False])
def test_each_look_is_shown_and_ctrl_c_ends_it(as_json: bool, capsys: pytest.CaptureFixture[str]):
    looks: Iterator[Health] = iter([health(5), health(3)])

    def pause(seconds: float) -> None:
        assert seconds == 0.5
        paused.append(seconds)
        if len(paused) == 2:
            raise KeyboardInterrupt

    paused: list[float] = []
    watch(lambda: next(looks), "memory.db", 0.5, as_json=as_json, pause=pause)
    out = capsys.readouterr().out
    if as_json:
        assert [json.loads(line)["unprocessed_turns"] for line in out.splitlines()] == [5, 3]
    else:
        assert out.count("waiting") == 2


def test_the_command_prints_lines_until_it_is_interrupted_and_then_leaves_quietly(tmp_path: Path):
    store = tmp_path / "m.db"
    with Memory.local(store) as memory:
        memory.user("ann").thread("t").add("user", "I moved to Lisbon.")
    command = [sys.executable, "-m", "agent_memory.cli", "status", "--watch", "--json", "--interval", "0.2"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    # A shell that starts the tests in the background has Ctrl-C ignored, and so would the command.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [*command, "--store", str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as running:
        assert running.stdout is not None
        rows = [json.loads(running.stdout.readline()) for _ in range(2)]
        running.send_signal(signal.SIGINT)
        rest, errors = running.communicate(timeout=120)
    assert running.returncode == 0
    assert errors == ""
    assert all(json.loads(line) for line in rest.splitlines())
    assert {"at", "unprocessed_turns", "lag_seconds", "dead_letters", "tokens", "models"} <= rows[0].keys()
    assert rows[0]["at"] < rows[1]["at"]


async def test_what_background_work_costs_is_added_up_in_health():

    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        await memory.user("ann").thread("t").add("user", "I moved to Lisbon in March.")
        assert await memory.drain(timeout=300) == 0
        usage = (await memory.health()).usage
    assert usage.request_units > 0
    assert usage.embedded_texts > 0
