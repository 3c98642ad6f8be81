"""A function app that is cold or meets a fault: it answers in time or says why, and one fault stops nothing else."""

from __future__ import annotations

import asyncio
import json
import logging
from types import SimpleNamespace
from typing import Any

import azure.functions as func
import pytest
from pydantic import ValidationError

from agent_memory import AsyncMemory, backend
from agent_memory.errors import StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Memory
from agent_memory.settings import Cadence, Environment, RecallSettings
from azure_functions import http, triggers, wiring
from azure_functions.wiring import Parts

TEXT = "The patient takes lithium."


class Stuck(HashingEmbeddings):
    """A model that is still being loaded: it answers nobody."""

    async def embed(self, texts: Any) -> Any:
        await asyncio.Event().wait()


def opened(monkeypatch: pytest.MonkeyPatch, memory: AsyncMemory) -> None:
    monkeypatch.setattr(wiring, "_parts", Parts(memory, Environment(), Cadence()))
    monkeypatch.setattr(http, "_apps", {})


async def asked(method: str, path: str, body: Any = None) -> tuple[int, Any]:
    request = func.HttpRequest(
        method=method,
        url=f"https://app.example{path}",
        headers={"x-user-id": "alice", "content-type": "application/json"},
        body=json.dumps(body).encode() if body is not None else b"",
    )
    handle = http.api._function.get_user_function().client_function
    context = SimpleNamespace(invocation_id="i", thread_local_storage=None, function_name="api", function_directory="")
    answer = await handle(request, None, context)
    return answer.status_code, json.loads(answer.get_body())


async def test_a_context_on_a_cold_instance_answers_within_its_deadline_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
):
    """The embedding model never gets ready: `warm` gives up, and the context does not wait for it, either."""
    monkeypatch.setenv("ALLOW_HEADER_IDENTITY", "true")
    monkeypatch.setattr(backend, "WARMING_SECONDS", 0.01)
    recall = RecallSettings(context_timeout=0.5)
    async with AsyncMemory.local(embedding_model=Stuck(), cadence=Cadence(), recall=recall) as memory:
        await memory.user("alice").thread("t").add("user", "My locker code is 4711.")
        opened(monkeypatch, memory)
        status, context = await asked("POST", "/v1/context", {"query": "What is my locker code?"})
    assert status == 200
    assert context["degraded"], "which parts are missing depends on how busy the machine is; something always is"


async def test_a_memory_that_cannot_be_opened_is_an_answer_and_the_next_request_tries_again(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    async def refuses() -> Parts:
        raise StoreUnavailable("the account does not answer")

    monkeypatch.setattr(http, "_apps", {})
    with monkeypatch.context() as patch:
        patch.setattr(http, "open_parts", refuses)
        status, answer = await asked("GET", "/health")
    assert (status, answer["error"]) == (
        503,
        {"code": StoreUnavailable.code, "message": "the account does not answer"},
    )
    opened(monkeypatch, memory)
    assert (await asked("GET", "/health"))[0] == 200


async def test_a_sweep_that_cannot_be_started_does_not_stop_the_others(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    opened(monkeypatch, memory)
    caplog.set_level(logging.INFO, "agent_memory")
    started: list[str] = []
    broken = {"sweep-intents"}

    class Client:
        async def get_status(self, instance: str) -> Any:
            if instance in broken:
                raise TimeoutError("its history cannot be read")
            return SimpleNamespace(runtime_status=None)

        async def start_new(self, name: str, instance: str, given: Any) -> None:
            started.append(instance)

    with pytest.raises(TimeoutError):
        await triggers.maintain._function.get_user_function().client_function(None, Client())
    assert set(started) == {
        "sweep-intents-of-summaries",
        "sweep-forgettings",
        "sweep-erasures",
        "sweep-recount",
        "sweep-extracted",
        "sweep-untold",
        "sweep-purge",
    }
    line = "maintenance has started its sweeps"
    assert line not in caplog.messages, "the alert on silence misses it"
    broken.clear()
    await triggers.maintain._function.get_user_function().client_function(None, Client())
    assert line in caplog.messages


def test_the_error_of_a_damaged_document_has_none_of_its_text():
    """The platform and `logger.exception` write errors to telemetry."""
    with pytest.raises(ValidationError) as raised:
        Memory.model_validate({"id": "f", "content": TEXT, "confidence": TEXT, "notes": TEXT})
    assert "confidence" in str(raised.value)
    assert "lithium" not in str(raised.value)
