"""A chat model for each role: which tasks it runs, what the environment sets, and what `none` switches off."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any, get_args

import pytest
from api_world import serving
from memories import NEVER, opened
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from scripted_model import ScriptedChat
from typer.testing import CliRunner
from werkzeug import Request as WebRequest, Response

from agent_memory import AsyncMemory, Cadence, ConfigurationError
from agent_memory.cli.main import app
from agent_memory.language import tasks
from agent_memory.language.defaults import models_named_by
from agent_memory.language.offline import OfflineChat
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.prompts import ModelParameters, PromptFolder
from agent_memory.language.requests import Request
from agent_memory.language.roles import ROLE_OF, RoleChat, model_of, models_of, roles_off
from agent_memory.language.tasks import ChatModel
from agent_memory.processing.due import enabled_steps, possible
from agent_memory.settings import ROLES, ChatRole, Environment, RoleSettings, role_variable

ALL = [one for one in vars(tasks).values() if isinstance(one, tasks.Task)]
FACTS = ["fact: city=Lisbon, since 2019", "fact: job=baker, since 2020"]


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AI_FOUNDRY_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def test_every_task_has_one_role_and_every_role_a_task():
    assert ROLE_OF.keys() == {task.name for task in ALL}
    assert set(ROLE_OF.values()) == set(ROLES) == set(get_args(ChatRole))
    prompts = {path.name.removesuffix(".prompt.md") for path in PromptFolder().path.iterdir()}
    assert prompts == ROLE_OF.keys()


@pytest.mark.req("S0-076")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("part", "text", "value"),
    [
        ("model", "qwen3:8b", "qwen3:8b"),
        ("base_url", "http://qwen:8000/v1", "http://qwen:8000/v1"),
        ("api_key", "secret", SecretStr("secret")),
        ("timeout", "30", 30.0),
        ("max_tokens", "500", 500),
        ("temperature", "0.1", 0.1),
    ],
)
def test_each_part_of_each_role_has_a_variable(
    monkeypatch: pytest.MonkeyPatch, role: ChatRole, part: str, text: str, value: object
):
    assert Environment().roles == {}
    monkeypatch.setenv(role_variable(role, part), text)
    assert Environment().roles == {role: RoleSettings(**{part: value})}  # type: ignore[arg-type]
    monkeypatch.setenv(role_variable(role, part), "")  # what a template leaves empty is not set
    assert Environment().roles == {}


@pytest.mark.parametrize(
    ("part", "text"), [("timeout", "0"), ("max_tokens", "many"), ("temperature", "3"), ("timeout", "nan")]
)
def test_a_limit_that_cannot_be_read_names_its_variable(monkeypatch: pytest.MonkeyPatch, part: str, text: str):
    monkeypatch.setenv(role_variable("extraction", part), text)
    with pytest.raises(ConfigurationError, match=role_variable("extraction", part)):
        AsyncMemory.from_env()


@pytest.mark.req("S0-076")
async def test_the_environment_gives_each_role_its_model_its_server_and_its_limits(
    monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer
):
    asked: list[tuple[str, dict[str, Any], str]] = []

    def answer(request: WebRequest) -> Response:
        sent = json.loads(request.get_data())
        task = sent["response_format"]["json_schema"]["name"]
        asked.append((request.path, sent, request.headers["authorization"]))
        content = {"topic": "move", "key_points": [], "decisions": [], "open_issues": [], "next_steps": []}
        said = json.dumps(content | {"state": {}} if task == "summarize" else {"memories": []})
        return Response(json.dumps({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}))

    for path in ("/all/chat/completions", "/qwen/chat/completions"):
        httpserver.expect_request(path).respond_with_handler(answer)
    for name, text in {
        "OPENAI_API_KEY": "the-key-of-all",
        "OPENAI_BASE_URL": httpserver.url_for("/all"),
        "AGENT_MEMORY_CHAT_MODEL": "large",
        "AGENT_MEMORY_CHAT_SUMMARY": "small",
        "AGENT_MEMORY_CHAT_EXTRACTION": "qwen3",
        "AGENT_MEMORY_CHAT_EXTRACTION_BASE_URL": httpserver.url_for("/qwen"),
        "AGENT_MEMORY_CHAT_EXTRACTION_MAX_TOKENS": "123",
        "AGENT_MEMORY_CHAT_EXTRACTION_TEMPERATURE": "0.9",
    }.items():
        monkeypatch.setenv(name, text)
    chat, _ = models_named_by(Environment())
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add("user", "I moved to Lisbon in May and work as a baker there.")
        await thread.process("extract")
        await thread.process("summarize")
        summary = await thread.summary()
        assert summary is not None
        assert summary.model == "small"
    (path, extract, key), (other_path, summarize, other_key) = asked
    assert (path, extract["model"], extract["max_tokens"], extract["temperature"]) == (
        "/qwen/chat/completions", "qwen3", 123, 0.9
    )  # fmt: skip
    head = PromptFolder().load("summarize").parameters
    assert (other_path, summarize["model"]) == ("/all/chat/completions", "small")
    assert summarize["max_tokens"] == head.max_tokens
    assert other_key == "Bearer the-key-of-all"
    assert "the-key-of-all" not in key, "the key of one server is not sent to another"


@pytest.mark.req("S0-076")
def test_the_limits_of_a_role_overrule_the_head_of_the_prompt():
    prompt = PromptFolder().load("extract")
    data = tasks.ExtractInput(turns=[])
    head = Request.make(tasks.EXTRACT, data, prompt, "m")
    assert head.timeout == prompt.parameters.timeout
    limits = ModelParameters(timeout=7, max_tokens=11, temperature=0.0)
    role = Request.make(tasks.EXTRACT, data, prompt, "m", limits)
    assert (role.timeout, role.max_tokens, role.temperature) == (7, 11, 0.0)
    part = Request.make(tasks.EXTRACT, data, prompt, "m", ModelParameters(timeout=7))
    assert (part.timeout, part.max_tokens, part.temperature) == (7, head.max_tokens, head.temperature)


@pytest.mark.parametrize(
    ("variables", "complaint"),
    [
        ({"AGENT_MEMORY_CHAT_PROFILE": "small"}, "AGENT_MEMORY_CHAT_PROFILE_BASE_URL, OPENAI_API_KEY"),
        ({"AGENT_MEMORY_CHAT_PROFILE_TIMEOUT": "3"}, "'profile' has settings and no server"),
        ({"AGENT_MEMORY_CHAT_PROFILE_API_KEY": "k", "OPENAI_API_KEY": "k"}, "set AGENT_MEMORY_CHAT_PROFILE_BASE_URL"),
    ],
)
def test_a_role_that_cannot_be_reached_is_refused(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], complaint: str
):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(ConfigurationError, match=complaint):
        AsyncMemory.from_env()


def test_a_model_for_rewriting_switches_rewriting_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for text, strategy in (("none", "prepend"), ("qwen3", "rewrite")):
        monkeypatch.setenv("AGENT_MEMORY_CHAT_REWRITE", text)
        assert Environment().recall.query_strategy == strategy
    for name in ("AGENT_MEMORY_RECALL_QUERY_STRATEGY", "QUERY_STRATEGY"):
        with monkeypatch.context() as patch:  # who names a strategy gets it
            patch.setenv(name, "as_is")
            assert Environment().recall.query_strategy == "as_is"


@pytest.mark.req("S0-076")
async def test_none_in_the_environment_switches_every_role_off(monkeypatch: pytest.MonkeyPatch):
    for role in ROLES:
        monkeypatch.setenv(role_variable(role, "model"), "None")
    async with AsyncMemory.from_env() as memory:
        assert roles_off(memory.runtime.tools.chat) == list(ROLES)
        user = memory.user("alice")
        await user.thread("t").add_many([{"role": "user", "content": line} for line in FACTS])
        assert await memory.drain(timeout=300) == 0
        assert [one.type for one in await user.memories()] == []
        assert [hit.memory.content for hit in await user.search("Lisbon")], "the talk itself is found"
        health = await memory.health()
    assert health.ok
    assert health.dead_letters == 0
    assert health.roles_off == list(ROLES)
    assert "extraction is switched off: AGENT_MEMORY_CHAT_EXTRACTION is none" in health.warnings


STEPS_OF: dict[ChatRole, tuple[str, ...]] = {
    "extraction": ("extract",),
    "summary": ("summarize", "archive"),
    "profile": ("profile",),
    "reconcile": ("reconcile",),
    "reflection": ("consolidate", "synthesize", "reflect"),
}


@pytest.mark.req("S0-076")
@pytest.mark.parametrize("role", STEPS_OF)
async def test_the_steps_of_a_role_that_is_off_are_not_run_and_the_others_are(
    role: ChatRole, caplog: pytest.LogCaptureFixture
):
    scripted = ScriptedChat()
    chat = RoleChat(scripted, {role: None})
    cadence = Cadence(extract=1, summarize=1, profile=1, reconcile=1, idle_seconds=0)
    async with AsyncMemory.local(chat_model=chat, cadence=cadence) as memory:
        user = memory.user("alice")
        for said in ("I am a baker.", "I live in Porto."):
            await user.remember(said)
        thread = user.thread("t")
        await thread.add_many([{"role": "user", "content": line} for line in FACTS])
        assert await memory.drain(timeout=300) == 0
        with caplog.at_level(logging.INFO, "agent_memory"):
            await thread.end()
            for step in STEPS_OF[role]:
                where: Any = thread if step in ("extract", "summarize", "archive") else user
                done = await where.process(step)
                assert done.skipped_reason == f"the role {role!r} is switched off"
            await user.process("reflect")
            await user.reprocess()
        health = await memory.health()
    ran = {ROLE_OF[name] for name in scripted.calls}
    assert role not in ran
    assert {"extraction", "summary", "profile", "reconcile"} - {role} <= ran
    assert f"{STEPS_OF[role][0]} is not run: the role {role!r} is switched off" in caplog.messages
    assert health.dead_letters == 0
    assert health.unprocessed_turns == 0


def test_the_steps_of_a_role_that_is_off_are_not_due():
    cadence = Cadence(archive=True)
    off = possible(cadence, RoleChat(OfflineChat(), {"summary": None, "profile": None, "reconcile": None}))
    assert (off.summarize, off.profile, off.reconcile, off.archive) == (0, 0, 0, False)
    assert enabled_steps(off) == ("extract",)
    assert possible(cadence, RoleChat(OfflineChat(), {"extraction": None})) == cadence, "the talk is indexed"
    assert possible(cadence, OfflineChat()) == cadence


def test_one_call_is_for_where_one_model_does_both():
    both, other = ScriptedChat(), ScriptedChat()
    cadence = Cadence(one_call=True)
    shared: list[dict[ChatRole, ChatModel | None]] = [{}, {"extraction": other, "summary": other}, {"profile": None}]
    for by_role in shared:
        assert possible(cadence, RoleChat(both, by_role)).one_call
        assert not possible(Cadence(), RoleChat(both, by_role)).one_call
    apart: list[dict[ChatRole, ChatModel | None]] = [
        {"extraction": other},
        {"summary": other},
        {"summary": None},
        {"extraction": None},
        {"extraction": None, "summary": None},
    ]
    for by_role in apart:
        assert not possible(cadence, RoleChat(both, by_role)).one_call


@pytest.mark.parametrize(
    ("default", "own", "calls"),
    [
        (ScriptedChat, None, ["extract_and_summarize"]),
        (ScriptedChat, ScriptedChat, ["extract"]),  # the other does the summary
        (OfflineChat, ScriptedChat, ["extract"]),
    ],
)
async def test_models_that_share_the_turns_are_asked_one_by_one(default: Any, own: Any, calls: list[str]):
    chat = default()
    reader = own() if own else chat
    cadence = Cadence(extract=1, summarize=1, profile=0, reconcile=0, idle_seconds=0, one_call=True)
    async with opened(RoleChat(chat, {"extraction": reader}), cadence=cadence) as memory:
        await memory.user("alice").thread("t").add("user", FACTS[0])
        assert await memory.drain(timeout=300) == 0
    assert list(reader.calls) == calls


async def test_where_rules_are_the_default_one_model_for_both_is_asked_once():
    own = ScriptedChat()
    chat = RoleChat(OfflineChat(), {"extraction": own, "summary": own})
    cadence = Cadence(extract=1, summarize=1, profile=0, reconcile=0, idle_seconds=0, one_call=True)
    async with opened(chat, cadence=cadence) as memory:
        await memory.user("alice").thread("t").add("user", FACTS[0])
        assert await memory.drain(timeout=300) == 0
    assert list(own.calls) == ["extract_and_summarize"]


async def test_the_command_line_names_the_roles_that_a_server_has_off():
    chat = RoleChat(ScriptedChat(), {"profile": None, "summary": None})
    async with (
        opened(chat) as memory,
        serving(memory) as url,
    ):
        told = await asyncio.to_thread(CliRunner().invoke, app, ["status", "--store", url])
    assert told.exit_code == 0, told.output
    said = " ".join(told.stdout.split())
    assert "profile is switched off: AGENT_MEMORY_CHAT_PROFILE is none" in said
    assert "summary is switched off: AGENT_MEMORY_CHAT_SUMMARY is none" in said


@pytest.mark.parametrize("strategy", ["rewrite", "hyde"])
async def test_without_a_model_for_it_nothing_is_rewritten_or_ranked(strategy: str):
    scripted = ScriptedChat()
    chat = RoleChat(scripted, {"rewrite": None, "selection": None})
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        user = memory.user("alice")
        for number in range(3):
            await user.remember(f"The budget for Hawaii is ${number},000.")
        history = [{"role": "user", "content": "Planning the Hawaii vacation"}]
        told = await user.context("How much?", history=history, strategy=strategy)  # type: ignore[arg-type]
        assert told.decisions["query"] == "prepend"
        assert told.degraded == []
        assert memory.runtime.searcher.chat is None
    assert not scripted.calls


async def test_a_task_whose_role_is_off_says_which_variable_to_set():
    chat = RoleChat(ScriptedChat(), {"reply": None})
    with pytest.raises(ConfigurationError, match="AGENT_MEMORY_CHAT_REPLY is none"):
        await chat.run(tasks.REPLY, tasks.ReplyInput(messages=[]))


async def test_what_is_derived_names_the_model_that_made_it_and_is_not_stale_for_it():
    own = ScriptedChat()
    chat = RoleChat(OfflineChat(), {"extraction": own})
    assert model_of(chat, tasks.EXTRACT) is own
    assert list(models_of(chat)) == ["chat", "chat_extraction"]
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        user = memory.user("alice")
        await user.thread("t").add("user", FACTS[0])
        await user.thread("t").process("extract")
        (fact,) = await user.memories(types=["fact"])
        assert fact.model == "scripted"
        before = own.calls["extract"]
        await user.reprocess()
        assert own.calls["extract"] == before, "nothing is derived again with the same model"


def test_the_operators_page_names_the_variables_of_roles():
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    for role in ROLES:
        assert f"`{role_variable(role, 'model')}`" in page
    for part in ("base_url", "api_key", "timeout", "max_tokens", "temperature"):
        assert f"`…_{part.upper()}`" in page


async def test_the_health_of_each_model_is_reported_separately():
    server = {"base_url": "http://127.0.0.1:9/v1", "api_key": "k"}
    chat = RoleChat(OpenAIChat("large", **server), {"profile": OpenAIChat("small", **server)})  # type: ignore[arg-type]
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        assert list((await memory.health()).models) == ["chat", "chat_profile", "embeddings"]
