"""`agent-memory doctor` asks each model of the environment one small question, and says what to change."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from command import run
from dialect_servers import Service, completion, reasoning, text_only
from pytest_httpserver import HTTPServer

from agent_memory.language.examination import ADVICE
from agent_memory.models import EndpointHealth

Doctor = Callable[..., tuple[int, Any]]
MOVED = {"type": "fact", "content": "User moved to Lisbon in May", "quote": "I moved to Lisbon in May", "turns": ["t1"]}


def embedded(count: int, length: int) -> tuple[int, Any]:
    return 200, {"data": [{"index": n, "embedding": [1.0] * length} for n in range(count)]}


@pytest.fixture
def service(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("AGENT_MEMORY_CHAT", "openai:my-model")
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "openai:my-embeddings@3")
    made = Service(httpserver, lambda path, sent: (500, {}))
    for kind in ("CHAT", "EMBEDDINGS"):
        monkeypatch.setenv(f"AGENT_MEMORY_{kind}_BASE_URL", made.url)
    return made


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    from agent_memory.language.retries import RetryPolicy

    monkeypatch.setattr("agent_memory.language.service_chat.RetryPolicy", lambda: RetryPolicy(attempts=1))
    monkeypatch.setattr("agent_memory.language.service_embeddings.RetryPolicy", lambda: RetryPolicy(attempts=1))


def told(code: int) -> dict[str, Any]:
    return {one["part"]: one for one in json.loads(run("doctor", "--json", code=code).stdout)["findings"]}


def both(chat: Any, embeddings: Any) -> Callable[[str, Any], Any]:
    return lambda path, sent: embeddings(path, sent) if path.endswith("/embeddings") else chat(path, sent)


def good_chat(path: str, sent: Any) -> Any:
    return completion(json.dumps({"worth_extracting": True, "memories": [MOVED]}))


def good_embeddings(path: str, sent: Any) -> Any:
    return embedded(len(sent["input"]), 3)


def test_it_says_how_each_model_is_asked_and_what_its_service_says(service: Service):
    service.behaviour = both(good_chat, good_embeddings)
    found = told(0)
    chat, embeddings = found["chat"], found["embeddings"]
    assert (chat["answers"], chat["model"], chat["advice"]) == (True, "my-model", [])
    assert chat["dialect"] == "chat: JSON by schema, max_tokens, temperature"
    assert chat["quota"]["x-ratelimit-remaining-requests"] == "499"
    assert chat["usage"]["input_tokens"] == 100
    assert (embeddings["answers"], embeddings["dimensions"]) == (True, 3)
    assert len(service.sent) == 2
    shown = run("doctor").output
    assert "chat: JSON by schema" in shown
    assert "3 dimensions" in shown


def test_it_shows_what_it_learned_of_a_model_that_reasons(service: Service):
    service.behaviour = both(reasoning(needed=3000, efforts=("low",)), good_embeddings)
    assert told(0)["chat"]["dialect"] == "chat: JSON by schema, max_completion_tokens, no temperature"


def test_it_warns_of_a_server_that_knows_text_alone(service: Service):
    service.behaviour = both(text_only, good_embeddings)
    assert any("does not enforce schemas" in advice for advice in told(0)["chat"]["advice"])


@pytest.mark.parametrize(
    ("status", "fault"), [(401, "credentials"), (404, "not_found"), (500, "server_error"), (429, "throttled")]
)
def test_it_says_what_is_wrong_with_a_service_and_what_to_change(service: Service, status: int, fault: str):
    refused = lambda path, sent: (status, {"error": {"message": "no"}})  # noqa: E731
    service.behaviour = both(refused, good_embeddings)
    found = told(1)
    assert (found["chat"]["answers"], found["chat"]["fault"]) == (False, fault)
    assert found["chat"]["advice"] == [ADVICE[fault]]
    assert found["embeddings"]["answers"]


def test_it_masks_a_key_that_a_service_repeats(service: Service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_MEMORY_CHAT_API_KEY", "sk-chat-4711")
    refused = lambda path, sent: (401, {"error": {"message": "Incorrect key: sk-chat-4711."}})  # noqa: E731
    service.behaviour = both(refused, good_embeddings)
    assert "Incorrect key: …." in told(1)["chat"]["problem"]


def test_it_shows_what_of_an_answer_was_left_out(service: Service):
    invented = json.dumps({"memories": [MOVED | {"quote": "My bike is green"}]})
    service.behaviour = both(lambda path, sent: completion(invented), good_embeddings)
    found = told(0)["chat"]
    assert "its quote is not in the turns that it cites" in found["problem"]
    assert "It found no memory" in found["advice"][0]


def test_it_says_that_a_model_names_turns_that_do_not_exist(service: Service):
    """The quote of the second memory is too short to show its turn by itself."""
    ferry = {"type": "fact", "content": "User gets to work by ferry", "quote": "By ferry", "turns": ["t9"]}
    invented = json.dumps({"worth_extracting": True, "memories": [MOVED, ferry]})
    service.behaviour = both(lambda path, sent: completion(invented), good_embeddings)
    found = told(0)["chat"]
    assert "memory 2: it cites no turn that may be a source" in found["problem"]
    assert found["advice"] == [
        "It cites turns or quotes words that do not exist: what it finds is dropped. Try another model."
    ]


def test_it_says_which_length_vectors_have(service: Service):
    service.behaviour = both(good_chat, lambda path, sent: embedded(len(sent["input"]), 5))
    found = told(1)["embeddings"]
    assert (found["fault"], found["advice"]) == ("dimensions", [ADVICE["dimensions"]])
    assert "vectors of 5 dimensions, not 3" in found["problem"]


def test_slow_embeddings_are_blamed_on_a_service_alone(service: Service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_memory.language.examination.SLOW_EMBEDDINGS", -1.0)
    service.behaviour = both(good_chat, good_embeddings)
    assert "try a model nearer by" in told(0)["embeddings"]["advice"][0]
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")  # what takes time here is loading a model, once
    monkeypatch.delenv("AGENT_MEMORY_EMBEDDINGS_BASE_URL")
    assert told(0)["embeddings"]["advice"] == []


def test_without_settings_it_examines_what_needs_none(monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AGENT_MEMORY_CHAT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")
    monkeypatch.setenv("AGENT_MEMORY_CHAT_PROFILE", "none")
    done = run("doctor").output
    assert "384 dimensions" in done
    assert "profile is switched off" in done


def test_a_setting_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_MEMORY_CHAT", "gpt-4.1-mini")
    assert "AGENT_MEMORY_CHAT=gpt-4.1-mini is not in the form" in run("doctor", "--json", code=1).output


def test_there_is_advice_for_every_fault():
    described = EndpointHealth.model_fields["fault"].description or ""
    faults = set(re.findall(r"\b[a-z_]+\b(?=,| or|\.)", described.partition(":")[2])) - {"unknown"}
    assert faults == set(ADVICE)
