"""The quickstart, and the command line as a process of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_memory.cli.main import app

pytestmark = pytest.mark.acceptance

SAMPLES = Path(__file__).parents[2] / "samples" / "conversations"


def command(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    return subprocess.run(
        [sys.executable, "-m", "agent_memory.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        **options,
    )


def here(*arguments: object) -> str:
    """What the command prints, run in this process."""
    nothing_set = {"COLUMNS": None, "FORCE_COLOR": None}  # a library that another test imports may have set them
    done = CliRunner(env=nothing_set).invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.req("S0-001", "S0-002")
def test_the_quickstart_remembers_and_answers_from_a_new_session(tmp_path):
    store = tmp_path / "new" / "memory.db"
    first = command("quickstart", "--full", "--store", store)
    assert first.returncode == 0, first.stderr
    assert "226 new, 0 already there" in first.stdout
    assert not any(ord(character) < 32 and character != "\n" for character in first.stdout)
    told, _, commands = first.stdout.partition("Try next\n")
    assert max(len(line) for line in told.splitlines()) <= 100
    commands, _, page = commands.partition("See it in a browser\n")
    assert commands.strip().count("\n") == 3
    assert page.strip() == str(store.with_suffix(".html"))
    assert "We've raised the Hawaii budget" in store.with_suffix(".html").read_text()
    for part in ("Remembered", "No longer true", "Threads", "Profile", "Asked from a new session", "Try next"):
        assert part in first.stdout

    short = here("quickstart", "--store", store)
    assert len(short.splitlines()) <= 70
    assert max(len(line) for line in short.partition("Try next\n")[0].splitlines()[1:]) <= 100
    assert short.startswith(f"Found {store} from an earlier run; continuing with it.\n226 turns")
    for part in ("We've raised the Hawaii budget to $15,000. (said 17 May 2026)", "peanuts", "npm run build", "--full"):
        assert part in short

    shown = re.findall(r"^(?:maya: |  - ).*$", (SAMPLES.parents[1] / "README.md").read_text(), re.MULTILINE)
    assert len(shown) == 4
    for line in shown:
        assert line in short.splitlines(), short

    tour = json.loads(here("quickstart", "--store", store, "--json"))
    assert tour["resumed"] is True
    assert (tour["ingested"]["created"], tour["ingested"]["already_there"]) == (0, 226)
    answers = {(answer["question"]["text"], bool(answer["question"]["as_of"])): answer for answer in tour["answers"]}
    budget = answers["What's my budget for Hawaii?", False]["context"]["text"]
    assert "$15,000" in budget
    assert "budget for the Hawaii trip is $10,000" not in budget
    before = answers["What's my budget for Hawaii?", True]["context"]["text"]
    assert "$10,000" in before
    assert "$15,000" not in before
    food = answers["What food should I avoid?", False]["context"]["text"]
    assert "allergic to peanuts" in food
    assert "I love a good steak" not in food
    deploy = answers["How do I deploy payment-service?", False]["context"]["text"]
    assert all(step in deploy for step in ("npm run build", "docker push", "helm upgrade"))
    assert "three days a week" in answers["How many days may I work from home?", False]["context"]["text"]

    (maya,) = (user for user in tour["users"] if user["user_id"] == "maya")
    replaced = [(old["content"], new["content"]) for old, new in maya["superseded"]]
    assert any("$10,000" in old and "$15,000" in new for old, new in replaced)
    assert any("steak" in old and "vegetarian" in new for old, new in replaced)
    assert not any("steak" in old and "$" in new for old, new in replaced)


def test_the_quickstart_takes_a_file_and_questions_of_ones_own(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"role": "user", "content": "I live in Porto and I play the cello."}) + "\n")
    store = tmp_path / "mine.db"
    asked = here("quickstart", file, "--user", "joao", "--ask", "Where do I live?", "--store", store, "--json")
    (answer,) = json.loads(asked)["answers"]
    assert answer["question"] == {"user_id": "joao", "text": "Where do I live?", "as_of": None}
    assert "Porto" in answer["context"]["text"]


def test_a_reader_that_leaves_early_ends_the_command_quietly(tmp_path):
    store = tmp_path / "m.db"
    here("ingest", SAMPLES / "hr.jsonl", "--no-process", "--store", store)
    line = f'"{sys.executable}" -m agent_memory.cli show --json --store "{store}" | head -c 1'
    piped = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
    assert piped.stdout == "{"
    assert piped.stderr == ""


def test_no_traceback_for_a_mistake(tmp_path):
    failed = command("status", "--store", tmp_path / "none.db")
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert failed.stderr.startswith("error: there is no store at ")
    assert "Traceback" not in failed.stderr
