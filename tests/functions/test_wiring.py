"""The one memory of a function app's worker process, as the environment says."""

from dataclasses import replace
from typing import Any

import pytest
from memories import opened

from agent_memory import AsyncMemory
from agent_memory.errors import ConfigurationError
from agent_memory.processing.due import due_work, ending_steps, user_steps
from agent_memory.settings import Cadence, RecallSettings
from azure_functions import wiring

EVERY = ("FACT_EXTRACTION_EVERY_N", "THREAD_SUMMARY_EVERY_N", "USER_SUMMARY_EVERY_N", "DEDUP_EVERY_N")
SERVER = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names an account; the store of that lies in this process."""

    def here(*_: Any, chat_model: Any, cadence: Cadence, recall: RecallSettings, **__: Any) -> AsyncMemory:
        return opened(chat_model, cadence=cadence, recall=recall)

    monkeypatch.setattr(AsyncMemory, "cosmos", here)
    monkeypatch.setattr(wiring, "_parts", None)
    monkeypatch.setenv("COSMOS_DB_ENDPOINT", "https://account.example")
    for name in EVERY:
        monkeypatch.setenv(name, "2")
    monkeypatch.setenv("ARCHIVE_IDLE_THREADS", "true")
    monkeypatch.setenv("ONE_CALL_FOR_FACTS_AND_SUMMARY", "true")
    for name, text in SERVER.items():
        monkeypatch.setenv(name, text)
    return monkeypatch


async def started(account: pytest.MonkeyPatch, **roles: str) -> tuple[list[str], list[str], list[str]]:
    """What an app with these models of roles starts: for a thread with two new turns, a quiet one, and a user."""
    for role, model in roles.items():
        account.setenv(f"AGENT_MEMORY_CHAT_{role.upper()}", model)
    parts = await wiring.open_parts()
    try:
        assert await wiring.open_parts() is parts
        counter = await parts.runtime.counters.get("alice", "t1")
        counter = replace(counter, cursor=replace(counter.cursor, count=2))
        due = [work.workflow for work in due_work([counter], parts.cadence)]
        return due, ending_steps(parts.cadence), user_steps(parts.cadence)
    finally:
        await parts.memory.close()


@pytest.mark.req("S0-076")
@pytest.mark.parametrize(
    ("roles", "due", "ending", "of_user"),
    [
        ({}, ["extract_and_summarize"], ["extract_and_summarize", "archive"], ["reconcile", "profile"]),
        ({"profile": "none"}, ["extract_and_summarize"], ["extract_and_summarize", "archive"], ["reconcile"]),
        ({"reconcile": "none"}, ["extract_and_summarize"], ["extract_and_summarize", "archive"], ["profile"]),
        ({"summary": "none"}, ["extract"], ["extract"], ["reconcile", "profile"]),
        (
            {"extraction": "qwen3"},
            ["extract", "summarize"],
            ["extract", "summarize", "archive"],
            ["reconcile", "profile"],
        ),
    ],
)
async def test_the_app_starts_nothing_whose_role_is_off(
    account: pytest.MonkeyPatch, roles: dict[str, str], due: list[str], ending: list[str], of_user: list[str]
):
    assert await started(account, **roles) == (due, ending, of_user)


async def test_without_an_account_the_app_does_not_open(account: pytest.MonkeyPatch):
    account.delenv("COSMOS_DB_ENDPOINT")
    with pytest.raises(ConfigurationError, match="COSMOS_DB_ENDPOINT"):
        await wiring.open_parts()
