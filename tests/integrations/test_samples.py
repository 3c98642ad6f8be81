"""The chat service, the support agent and the notebook of the samples: without a model, and with a scripted one."""

import asyncio
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from agent_server import BUDGET, KNOWS, AgentServer, agent_server
from api_world import listening
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings

SAMPLES = Path(__file__).parents[2] / "samples"
MODELS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MEMORY_URL")
QUIET = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
TOLD, ASKED = f"My budget for Hawaii is {BUDGET}.", "What is my budget for Hawaii?"


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MODELS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def model(no_model: None, monkeypatch: pytest.MonkeyPatch):
    with agent_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.environment["OPENAI_BASE_URL"])
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        yield server


def sample(name: str) -> Any:
    """The program, with the settings of the environment as it is now."""
    spec = importlib.util.spec_from_file_location(f"samples_{name}", SAMPLES / f"{name}.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def in_ram(*_: Any, **__: Any) -> AsyncMemory:
    return AsyncMemory.local(chat_model=ScriptedChat(), embedding_model=HashingEmbeddings(), cadence=QUIET)


async def say(http: httpx2.AsyncClient, thread: str, message: str, key: str = "ann-key") -> httpx2.Response:
    headers = {"authorization": f"Bearer {key}"}
    return await http.post(f"/chat/{thread}", json={"message": message}, headers=headers)


async def test_the_chat_service_knows_each_user_by_their_key(no_model: None, monkeypatch: pytest.MonkeyPatch):
    service = sample("chat_api")
    monkeypatch.setattr(service, "open_memory", in_ram)
    async with (
        listening(uvicorn.Config(service.app, log_level="warning")) as url,
        httpx2.AsyncClient(base_url=url, timeout=60) as http,
    ):
        assert BUDGET not in (await say(http, "monday", TOLD)).text
        assert BUDGET in (await say(http, "friday", ASKED)).text
        assert BUDGET not in (await say(http, "friday", ASKED, "bob-key")).text
        assert (await say(http, "friday", ASKED, "guessed")).status_code == 401
        assert (await http.post("/chat/friday", json={"message": ASKED})).status_code == 401
        assert (await say(http, "__user__", ASKED)).status_code == 422
        kept = await service.app.state.memory.user("ann").thread("friday").turns()
        assert [turn.content for turn in kept] == [ASKED]  # not what the script repeated


async def test_the_chat_service_streams_a_model_and_keeps_its_answer(
    model: AgentServer, monkeypatch: pytest.MonkeyPatch
):
    service = sample("chat_api")
    monkeypatch.setattr(service, "open_memory", in_ram)
    async with (
        listening(uvicorn.Config(service.app, log_level="warning")) as url,
        httpx2.AsyncClient(base_url=url, timeout=60) as http,
    ):
        await say(http, "monday", TOLD)
        assert (await say(http, "friday", ASKED)).text == KNOWS
        assert all(request["stream"] for request in model.requests)
        friday = service.app.state.memory.user("ann").thread("friday")
        assert [turn.content for turn in await friday.turns()] == [ASKED, KNOWS]


async def test_the_chat_service_keeps_what_a_user_read_before_going_away(
    model: AgentServer, monkeypatch: pytest.MonkeyPatch
):
    service = sample("chat_api")
    monkeypatch.setattr(service, "open_memory", in_ram)

    async def endless(messages: Any):
        while True:
            yield "and so on "
            await asyncio.sleep(0.01)

    monkeypatch.setattr(service, "streamed", endless)
    headers = {"authorization": "Bearer ann-key"}
    async with (
        listening(uvicorn.Config(service.app, log_level="warning")) as url,
        httpx2.AsyncClient(base_url=url, timeout=60) as http,
    ):
        async with http.stream("POST", "/chat/monday", json={"message": "Go on."}, headers=headers) as answer:
            assert (await anext(answer.aiter_text())).startswith("and so on")
        monday = service.app.state.memory.user("ann").thread("monday")
        for _ in range(1000):
            if len(kept := await monday.turns()) == 2:
                break
            await asyncio.sleep(0.01)
    assert kept[1].role == "agent"
    assert kept[1].content.startswith("and so on")


async def support(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], customer: str, said: str) -> str:
    monkeypatch.setattr(sys, "argv", ["support_agent.py", "--customer", customer])
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{said}\n"))
    await sample("support_agent").main()
    return capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
async def test_the_support_agent_knows_its_customer_and_the_rules(
    no_model: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    pytest.importorskip("agent_framework_openai", reason="not installed: make integrations ARGS=samples")
    monkeypatch.chdir(tmp_path)
    wish = "I always need an invoice in English."
    first = await support(monkeypatch, capsys, "ann", f"Where is order A-100? {wish}")
    assert first.endswith("Order A-100 is on its way.\n")
    assert "Returns are free within 30 days" in first
    assert wish not in first
    later = await support(monkeypatch, capsys, "ann", "Where is order A-200? Which invoice do I need?")
    assert later.endswith("Order A-200 arrived yesterday.\n")
    assert wish in later
    other = await support(monkeypatch, capsys, "bob", "Where is order A-200? Which invoice do I need?")
    assert other.endswith("bob has no order A-200.\n")
    assert "invoice in English" not in other


@pytest.mark.filterwarnings("ignore")
async def test_a_model_of_the_support_agent_looks_up_orders(
    model: AgentServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    pytest.importorskip("agent_framework_openai", reason="not installed: make integrations ARGS=samples")
    monkeypatch.chdir(tmp_path)
    await support(monkeypatch, capsys, "ann", 'call order_status {"number": "A-100"}')
    answered = next(asked for asked in model.asked if asked.answered)
    assert "Order A-100 is on its way." in answered.told


@pytest.mark.acceptance
def test_the_notebook_shows_recall_change_and_forgetting(tmp_path: Path):
    pytest.importorskip("marimo", reason="not installed: pip install marimo matplotlib")
    page = tmp_path / "notebook.html"
    export = ["marimo", "export", "html", str(SAMPLES / "notebook.py"), "--no-include-code", "--output", str(page)]
    kept = {name: value for name, value in os.environ.items() if name not in MODELS}
    done = subprocess.run([sys.executable, "-m", *export], env=kept, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    shown = page.read_text()
    assert shown.count("data:image/png;base64,") == 3
    assert "81 turns in 5 conversations became" in shown
    budgets = re.findall(r"as of \d+ \w+ 2026: ([^\\]+)", shown)
    assert ["$10,000" in budgets[0], "$15,000" in budgets[1]] == [True, True]
    before, after = shown.partition("documents would be deleted")[2].partition("Before:")[2].split("After:")
    assert "allergic to peanuts" in before
    assert "peanut" not in after


def test_each_sample_is_short_and_listed():
    programs = sorted(SAMPLES.glob("*.py"))
    assert {path.name: count for path in programs if (count := len(path.read_text().splitlines())) > 120} == {}
    listed = (SAMPLES / "README.md").read_text()
    assert [path.name for path in programs if f"({path.name})" not in listed] == []
