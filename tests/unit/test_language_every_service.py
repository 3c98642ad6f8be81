"""What may happen with any service is handled alike: an answer cut off, a refusal, a fault, a spent quota.

Each server takes and refuses what `dialect_servers` says of it; what disturbs it comes after it has taken the request.
`docs/reference/providers.md` has a table of these tests by service and behaviour.
"""

import asyncio
import json
from collections.abc import Callable

import pytest
from dialect_servers import (
    GOOD,
    TALK,
    Behaviour,
    Json,
    Said,
    Service,
    completion,
    litellm_proxy,
    llama_cpp,
    mistral,
    ollama,
    plain,
    reasoning,
    responses_only,
    text_only,
    tools_only,
    vllm,
)

from agent_memory.errors import ModelError
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.tasks import EXTRACT

QUICK = RetryPolicy(attempts=3, total=5, first_wait=0.001, longest_wait=0.01)
SERVICES: dict[str, tuple[str, Behaviour]] = {
    "gpt-4.1-mini": ("gpt-4.1-mini", plain),
    "gpt-5-mini": ("gpt-5-mini", reasoning(1000, ("minimal", "low", "medium", "high"))),
    "o4-mini": ("o4-mini", reasoning(1000, ("low", "medium", "high"))),
    "azure": ("our-deployment", reasoning(1000, ("low",))),
    "mistral": ("mistral-small-latest", mistral),
    "magistral": ("magistral-small-latest", mistral),
    "ollama": ("qwen3:8b", ollama),
    "vllm": ("qwen3", vllm(32_000)),
    "llama.cpp": ("local", llama_cpp),
    "litellm proxy": ("gpt-5-mini-alias", litellm_proxy),
    "tools alone": ("some", tools_only),
    "text alone": ("some", text_only),
    "gpt-5-pro": ("gpt-5-pro", responses_only),
}
"""The services that speak OpenAI's protocols."""
every_service = pytest.mark.parametrize("name", SERVICES)


class Disturbed:
    """A service of which `instead` replaces the answers that it would have given to the first `times` good requests."""

    def __init__(self, behaviour: Behaviour, instead: Callable[[Json], Said], times: int) -> None:
        self._behaviour, self._instead, self._left = behaviour, instead, times
        self.taken: list[Json] = []

    def __call__(self, path: str, sent: Json) -> Said:
        status, body = self._behaviour(path, sent)
        if status != 200:
            return status, body
        self.taken.append(sent)
        if len(self.taken) > self._left:
            return status, body
        return self._instead(sent)


@pytest.fixture
async def disturbed(httpserver):
    made: list[OpenAIChat] = []

    def make(name: str, instead: Callable[[Json], Said], times: int) -> tuple[Disturbed, OpenAIChat]:
        model, behaviour = SERVICES[name]
        service = Disturbed(behaviour, instead, times)
        made.append(OpenAIChat(model, base_url=Service(httpserver, service).url, api_key="k", retries=QUICK))
        return service, made[-1]

    yield make
    for chat in made:
        await chat.close()


def room(sent: Json) -> int:
    return next(
        int(sent[name]) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens") if name in sent
    )


def text_of(sent: Json, text: str, *, cut: bool = False) -> Said:
    """An answer in the protocol of the request."""
    if "messages" in sent:
        return completion(text, finish="length" if cut else "stop")
    said = {"type": "message", "content": [{"type": "output_text", "text": text, "annotations": []}]}
    tokens = {"input_tokens": 100, "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 0}}
    state = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}} if cut else {}
    return 200, {"object": "response", "status": "completed", "output": [said], "usage": tokens} | state


FORMS = {"mistral": "json_schema", "llama.cpp": "json_object", "tools alone": "tools", "text alone": "text"}
"""In which form each is asked in the end, if it is not by a schema."""


@every_service
async def test_every_service_is_asked_in_the_strictest_form_that_it_takes(disturbed, name):
    service, chat = disturbed(name, lambda sent: text_of(sent, ""), 0)
    assert len((await chat.run(EXTRACT, TALK)).output.memories) == 1
    sent = service.taken[-1]
    form = (sent.get("response_format") or sent.get("text", {}).get("format") or {}).get("type")
    assert (form or ("tools" if "tools" in sent else "text")) == FORMS.get(name, "json_schema")


@every_service
async def test_every_service_that_is_cut_off_is_asked_again_with_more_room(disturbed, name):
    text = json.dumps(GOOD)
    service, chat = disturbed(name, lambda sent: text_of(sent, text[: len(text) // 2], cut=True), 1)
    answer = await chat.run(EXTRACT, TALK)
    assert len(answer.output.memories) == 1
    cut, whole = service.taken[0], service.taken[1]
    assert room(whole) > room(cut)
    await chat.run(EXTRACT, TALK)
    assert room(service.taken[-1]) == room(whole), "the size that was needed is remembered"


@every_service
async def test_every_service_that_refuses_to_answer_is_given_up_after_a_few_tries(disturbed, name):
    service, chat = disturbed(name, lambda sent: text_of(sent, "I'm sorry, but I can't help with that."), 99)
    with pytest.raises(ModelError) as caught:
        await chat.run(EXTRACT, TALK)
    assert not caught.value.retryable
    assert len(service.taken) <= 3
    assert caught.value.cost["model_calls"] >= 1


@every_service
@pytest.mark.parametrize("status", [500, 503, 429])
async def test_every_service_that_fails_once_is_asked_again(disturbed, name, status):
    wrong = {"error": {"message": "try again", "type": "server_error", "param": None, "code": None}}
    service, chat = disturbed(name, lambda sent: (status, wrong), 1)
    answer = await chat.run(EXTRACT, TALK)
    assert len(answer.output.memories) == 1
    assert chat.health().answers
    assert service.taken[0] == service.taken[1], "the same request"


@every_service
async def test_every_service_whose_quota_is_spent_is_asked_once_and_left_alone(disturbed, name):
    spent = {"error": {"message": "You exceeded your current quota", "type": "q", "code": "insufficient_quota"}}
    service, chat = disturbed(name, lambda sent: (429, spent), 99)
    for _ in range(10):
        with pytest.raises(ModelError) as caught:
            await chat.run(EXTRACT, TALK)
        assert caught.value.retryable
        await asyncio.sleep(0)
    assert len(service.taken) == 1
    assert (chat.health().fault, chat.health().pauses) == ("quota", 1)
