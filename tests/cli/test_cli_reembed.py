"""`agent-memory reembed`, and what names it: the error of a store with another model, and `doctor`."""

import json

import pytest
from typer.testing import CliRunner

from agent_memory import Memory
from agent_memory.cli.main import app
from agent_memory.language.hashing import HashingEmbeddings

HASHED = {"AGENT_MEMORY_CHAT": "local:rules", "AGENT_MEMORY_EMBEDDINGS": "local:hashing"}
MINILM = HASHED | {"AGENT_MEMORY_EMBEDDINGS": "local:minilm"}


@pytest.fixture
def store(tmp_path):
    path = str(tmp_path / "m.db")
    with Memory.local(path, embedding_model=HashingEmbeddings()) as memory:
        memory.user("ann").remember("Allergic to peanuts")
        memory.user("ann").remember("Lives in Lisbon")
    return path


def run(*arguments, env, **options):
    return CliRunner().invoke(app, list(arguments), env=env, **options)


def test_a_store_moves_after_a_dry_run_and_a_yes(store):
    mismatched = run("search", "peanuts", "--store", store, env=MINILM)
    assert mismatched.exit_code == 1
    assert "agent-memory reembed --to local:minilm" in mismatched.stderr
    doctor = run("doctor", "--store", store, "--json", env=MINILM)
    found = json.loads(doctor.stdout)
    assert (doctor.exit_code, found["ok"], found["store_model"]) == (1, False, "hashing-384")
    assert "reembed --to local:minilm" in found["findings"][-1]["advice"][-1]

    dry = run("reembed", "--to", "local:minilm", "--store", store, "--dry-run", "--price", "0.02", env=MINILM)
    assert dry.exit_code == 0
    assert "hashing-384 to all-MiniLM-L6-v2-int8 (384 dimensions). 2 memories" in dry.stdout
    assert "about $0.00" in dry.stdout
    declined = run("reembed", "--to", "local:minilm", "--store", store, env=MINILM, input="n\n")
    assert "removed" not in declined.stdout
    assert json.loads(run("doctor", "--store", store, "--json", env=HASHED).stdout)["ok"]

    done = run("reembed", "--to", "local:minilm", "--store", store, "--yes", env=MINILM)
    assert done.exit_code == 0
    assert "2 embedded, 2 old vectors removed" in done.stdout
    assert "set AGENT_MEMORY_EMBEDDINGS=local:minilm" in done.stdout
    assert "peanuts" in run("search", "any food to avoid?", "--store", store, env=MINILM).stdout
    assert json.loads(run("doctor", "--store", store, "--json", env=MINILM).stdout)["ok"]
    again = run("reembed", "--to", "local:minilm", "--store", store, "--yes", "--json", env=MINILM)
    assert json.loads(again.stdout)["plan"]["finished"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "nobody:x"], "names an unknown provider"),
        (["--to", "local:minilm", "--store", "http://127.0.0.1:1"], "through its server"),
        (["--to", "local:minilm", "--store", "/nowhere/at/all.db"], "there is no store at"),
    ],
)
def test_what_cannot_be_moved_is_said(arguments, said):
    done = run("reembed", *arguments, "--yes", env=HASHED)
    assert done.exit_code in (1, 2)
    assert said in done.stderr
