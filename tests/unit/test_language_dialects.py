"""Every service is asked as it wants to be asked, with the real client libraries, on servers that behave as it does.

`docs/reference/providers.md` has a table of these tests by service and behaviour.
"""

import asyncio
import json
import logging

import pytest
from dialect_servers import (
    QUICK,
    TALK,
    Service,
    anthropic_error,
    claude,
    completion,
    content,
    filtered,
    filtered_answer,
    gemini,
    good,
    google_error,
    litellm_proxy,
    llama_cpp,
    loading,
    message,
    mistral,
    ollama,
    plain,
    reasoning,
    refused,
    responses_only,
    text_only,
    tools_only,
    vllm,
)

from agent_memory.errors import ModelError
from agent_memory.language.anthropic_chat import AnthropicChat
from agent_memory.language.dialects import LARGEST_SIZE, REASONING_ROOM, Dialect, first_dialect
from agent_memory.language.endpoints import ModelRefused
from agent_memory.language.google_chat import GoogleChat
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.service_chat import ServiceChat
from agent_memory.language.tasks import EXTRACT, TaskResult

# google-genai derives a class from one of aiohttp's, which warns of that.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")


async def run(chat: ServiceChat) -> TaskResult:
    """One extraction, which finds the one fact."""
    result = await chat.run(EXTRACT, TALK)
    assert [memory.content for memory in result.output.memories] == ["User's budget for Hawaii is $10,000"]
    assert result.usage.input_tokens % 100 == 0
    return result


@pytest.fixture
async def openai_chat(httpserver):
    made: list[ServiceChat] = []

    def make(behaviour, model="some-deployment", **options) -> tuple[Service, OpenAIChat]:
        service = Service(httpserver, behaviour)
        chat = OpenAIChat(model, base_url=service.url, api_key="k", retries=QUICK, **options)
        made.append(chat)
        return service, chat

    yield make
    for chat in made:
        await chat.close()


@pytest.fixture
async def chat_at_root(httpserver):
    made: list[ServiceChat] = []

    def make(adapter: type[AnthropicChat] | type[GoogleChat], behaviour, model: str) -> tuple[Service, ServiceChat]:
        service = Service(httpserver, behaviour)
        made.append(adapter(model, base_url=service.root, api_key="k", retries=QUICK))
        return service, made[-1]

    yield make
    for chat in made:
        await chat.close()


@pytest.fixture
def anthropic_chat(chat_at_root):
    return lambda behaviour, model="claude-haiku-4-5": chat_at_root(AnthropicChat, behaviour, model)


@pytest.fixture
def google_chat(chat_at_root):
    return lambda behaviour, model="gemini-3-flash": chat_at_root(GoogleChat, behaviour, model)


# --- OpenAI and Azure OpenAI --------------------------------------------------------------------------------


async def test_gpt_4_1_mini_takes_a_strict_schema_temperature_and_max_tokens(openai_chat):
    """https://platform.openai.com/docs/guides/structured-outputs: every object closed, every field required."""
    service, chat = openai_chat(plain, "gpt-4.1-mini")
    await run(chat)
    [sent] = service.sent
    assert (sent["response_format"]["type"], sent["max_tokens"], sent["temperature"]) == ("json_schema", 2000, 0.1)
    assert "reasoning_effort" not in sent
    assert chat.quota["x-ratelimit-remaining-requests"] == "499"


@pytest.mark.parametrize("model", ["gpt-5-mini", "openai/gpt-5-mini", "gpt-5.1", "o4-mini", "o3"])
async def test_models_that_are_known_to_reason_are_asked_right_at_once(openai_chat, model):
    """https://learn.microsoft.com/azure/ai-services/openai/how-to/reasoning: no temperature, max_completion_tokens.

    Efforts are low, medium and high for o4-mini, and `minimal` besides for gpt-5-mini (the same page).
    """
    service, chat = openai_chat(reasoning(needed=3000, efforts=("low", "medium", "high")), model)
    await run(chat)
    [sent] = service.sent
    assert (sent["max_completion_tokens"], sent["reasoning_effort"]) == (2000 * REASONING_ROOM, "low")


async def test_gpt_5_mini_under_a_name_of_azure_is_learned_once_and_for_the_process(openai_chat, caplog):
    """https://github.com/openai/openai-python/issues/2046 and https://github.com/decolua/9router/issues/560 have the
    refusals word for word; https://platform.openai.com/docs/guides/reasoning says that reasoning counts as output."""
    caplog.set_level(logging.INFO, logger="agent_memory")
    service, chat = openai_chat(reasoning(needed=3000, efforts=("low",)))
    await run(chat)
    assert [sent.get("max_tokens") or sent["max_completion_tokens"] for sent in service.sent] == [
        2000,
        2000,
        2000,
        8000,
    ]
    other = OpenAIChat("some-deployment", base_url=service.url, api_key="k", retries=QUICK)
    await asyncio.gather(run(chat), run(other))
    assert len(service.sent) == 6
    assert all(sent["max_completion_tokens"] == 8000 and "temperature" not in sent for sent in service.sent[4:])
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert len([line for line in told if "from now on" in line]) == 2
    await other.close()


async def test_a_model_that_reasons_without_end_costs_a_bounded_number_of_tokens(openai_chat):
    service, chat = openai_chat(reasoning(needed=10**9, efforts=("low",)), "o4-mini")
    with pytest.raises(ModelError, match="there is no JSON in it") as caught:
        await chat.run(EXTRACT, TALK)
    assert not caught.value.retryable
    asked = [sent["max_completion_tokens"] for sent in service.sent]
    assert asked == [2000 * REASONING_ROOM, 2000 * LARGEST_SIZE, 2000 * LARGEST_SIZE]
    assert chat.deployment.sizes == {}  # a size that did not help is not kept


async def test_an_effort_that_a_model_does_not_know_is_left_out(openai_chat):
    """https://learn.microsoft.com/azure/ai-services/openai/how-to/reasoning: which model takes which effort."""
    service, chat = openai_chat(reasoning(needed=100, efforts=("high",)), "o3-mini")
    await run(chat)
    assert ["reasoning_effort" in sent for sent in service.sent] == [True, False]


@pytest.mark.parametrize(("model", "calls"), [("gpt-5-pro", 2), ("my-pro", 3)])
async def test_a_model_of_the_responses_api_is_asked_there(openai_chat, model, calls):
    """https://platform.openai.com/docs/models/gpt-5-pro: Responses API only, and the effort `high` only."""
    service, chat = openai_chat(responses_only, model)
    result = await run(chat)
    assert len(service.sent) == calls
    assert service.paths[-1] == "/v1/responses"
    last = service.sent[-1]
    assert (last["store"], last["text"]["format"]["strict"]) == (False, True)
    assert json.loads(last["input"])["turns"][0]["content"] == TALK.turns[0].content
    assert last["max_output_tokens"] >= 2000
    assert (result.usage.input_tokens, result.usage.output_tokens) == (100, 900)


async def test_codex_on_azure_is_asked_on_the_responses_api(openai_chat):
    """https://learn.microsoft.com/azure/ai-services/openai/how-to/responses; the words are Azure's."""

    def behave(path, sent):
        if path.endswith("/chat/completions"):
            words = "The chatCompletion operation does not work with the specified model, gpt-5-codex."
            return refused(words, code="OperationNotSupported")
        return responses_only(path, sent)

    service, chat = openai_chat(behave, "coder")
    await run(chat)
    assert service.paths[-1] == "/v1/responses"


async def test_a_content_filter_of_azure_that_refuses_the_prompt_is_final_and_asked_once(openai_chat):
    """https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter: 400 and `content_filter`."""
    service, chat = openai_chat(filtered)
    with pytest.raises(ModelError, match="content management policy") as caught:
        await chat.run(EXTRACT, TALK)
    assert not caught.value.retryable
    assert len(service.sent) == 1
    assert chat.health().answers


async def test_a_content_filter_of_azure_that_stops_the_answer_is_final(openai_chat):
    """https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter: finish_reason content_filter."""
    service, chat = openai_chat(filtered_answer)
    with pytest.raises(ModelError, match="a content filter stopped it") as caught:
        await chat.run(EXTRACT, TALK)
    assert not caught.value.retryable
    assert len(service.sent) == 3


async def test_the_most_that_a_model_of_openai_gives_is_kept(openai_chat):
    """The words of OpenAI's 400 for max_tokens beyond a model's own limit."""

    def behave(path, sent):
        if sent["max_tokens"] > 1500:
            return refused(
                f"max_tokens is too large: {sent['max_tokens']}. This model supports at most 1500 completion tokens.",
                "max_tokens",
            )
        return good()

    service, chat = openai_chat(behave)
    await run(chat)
    await run(chat)
    assert [sent["max_tokens"] for sent in service.sent] == [2000, 1500, 1500]


# --- servers that speak OpenAI's protocol -------------------------------------------------------------------


@pytest.mark.parametrize("model", ["mistral-small-latest", "magistral-medium-latest"])
async def test_mistral_is_sent_no_field_that_it_does_not_know(openai_chat, model):
    """https://github.com/editor-code-assistant/eca/issues/231: 422 `extra_forbidden` for max_completion_tokens.

    https://docs.mistral.ai/capabilities/reasoning: the content of Magistral is a list of chunks.
    """
    service, chat = openai_chat(mistral, model)
    await run(chat)
    assert len(service.sent) == 1


async def test_mistral_gets_max_tokens_back_where_something_else_was_learned(openai_chat):
    """A gateway that moves an alias from a model that reasons to Mistral."""
    service, chat = openai_chat(reasoning(needed=100, efforts=()))
    await run(chat)
    service.behaviour = mistral
    await run(chat)
    assert [("max_tokens" in sent) for sent in service.sent[-2:]] == [False, True]


async def test_ollama_with_a_model_that_heeds_no_schema_is_shown_it(openai_chat):
    """https://docs.ollama.com/api/openai-compatibility: response_format and max_tokens; what else comes is ignored."""
    service, chat = openai_chat(ollama, "qwen3:8b")
    await run(chat)
    await run(chat)
    shown = ['"additionalProperties"' in sent["messages"][0]["content"] for sent in service.sent]
    assert shown == [False, True, True]
    assert chat.deployment.dialect.spelled


async def test_vllm_with_a_short_context_gets_the_usual_length(openai_chat):
    """https://github.com/vllm-project/vllm/issues/42474: what does not fit is refused, not shortened."""
    service, chat = openai_chat(vllm(4096), "deepseek-r1-distill")
    await run(chat)
    await run(chat)
    assert [sent["max_tokens"] for sent in service.sent] == [2000 * REASONING_ROOM, 2000, 2000]


async def test_what_is_too_long_for_vllm_at_its_usual_length_is_about_the_input(openai_chat):
    """The same page: the caller has to ask about less, so it must not look like a fault that passes."""
    service, chat = openai_chat(vllm(1000), "qwen3")
    with pytest.raises(ModelError, match="maximum context length") as caught:
        await chat.run(EXTRACT, TALK)
    assert not caught.value.retryable
    assert len(service.sent) == 1


async def test_llama_cpp_without_schemas_gets_an_object_and_the_schema_in_the_prompt(openai_chat):
    """https://github.com/ggml-org/llama.cpp/issues/11847 has the refusal word for word."""
    service, chat = openai_chat(llama_cpp)
    await run(chat)
    await run(chat)
    assert [sent["response_format"]["type"] for sent in service.sent] == ["json_schema", "json_object", "json_object"]
    assert '"additionalProperties"' in service.sent[-1]["messages"][0]["content"]


async def test_llama_cpp_that_loads_its_model_is_waited_for(openai_chat):
    """https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md: 503 `Loading model`."""
    service, chat = openai_chat(loading)
    with pytest.raises(ModelError, match="Loading model") as caught:
        await chat.run(EXTRACT, TALK)
    assert (caught.value.retryable, caught.value.fault, len(service.sent)) == (True, "server_error", 3)


async def test_litellms_proxy_names_what_its_model_does_not_take(openai_chat):
    """https://github.com/gethnet/litellm-connector-copilot/issues/39 has the refusal word for word."""
    service, chat = openai_chat(litellm_proxy, "gpt-5-mini-alias", answer_retries=0)
    chat.deployment.dialect = Dialect()  # as for an alias that says nothing
    await run(chat)
    assert ["temperature" in sent for sent in service.sent] == [True, False]


async def test_a_name_that_litellms_proxy_does_not_know_costs_no_turn(openai_chat):
    """https://docs.litellm.ai/docs/proxy/model_access: 400 `Invalid model name passed in`."""
    _, chat = openai_chat(litellm_proxy, "unknown")
    with pytest.raises(ModelRefused) as caught:
        await chat.run(EXTRACT, TALK)
    assert caught.value.fault == "not_found"


async def test_a_server_with_tools_alone_is_given_one(openai_chat):
    """https://platform.openai.com/docs/guides/function-calling: the arguments of a function are JSON."""
    service, chat = openai_chat(tools_only)
    await run(chat)
    await run(chat)
    assert ["tools" in sent for sent in service.sent] == [False, False, True, True]


async def test_a_server_with_text_alone_is_shown_the_schema_and_read(openai_chat):
    service, chat = openai_chat(text_only)
    await run(chat)
    await run(chat)
    assert len(service.sent) == 5
    assert not service.sent[-1].keys() & {"tools", "response_format"}


async def test_a_server_that_wants_no_limit_of_length_under_any_name_gets_none(openai_chat):
    def behave(path, sent):
        named = [name for name in ("max_tokens", "max_completion_tokens") if name in sent]
        return refused(f"Unsupported parameter: {named[0]}") if named else good()

    service, chat = openai_chat(behave)
    await run(chat)
    assert len(service.sent) == 3


# --- Anthropic ----------------------------------------------------------------------------------------------


async def test_claude_takes_a_schema(anthropic_chat):
    """https://platform.claude.com/docs/en/build-with-claude/structured-outputs: output_config.format."""
    service, chat = anthropic_chat(claude())
    result = await run(chat)
    [sent] = service.sent
    assert service.paths == ["/v1/messages"]
    assert service.keys[0] in ("k", "Bearer k")  # before version 2 of the client, and since
    assert sent["output_config"]["format"]["type"] == "json_schema"
    assert is_message_of_data(sent)
    assert (result.usage.input_tokens, result.usage.output_tokens) == (100, 20)  # what was read from a cache counts
    assert result.usage.cached_tokens == 60
    assert chat.quota


def is_message_of_data(sent) -> bool:
    return json.loads(sent["messages"][0]["content"])["turns"][0]["content"] == TALK.turns[0].content


async def test_a_claude_without_schemas_is_given_a_tool(anthropic_chat):
    """https://platform.claude.com/docs/en/agents-and-tools/tool-use: `tool_choice` makes it use one."""
    service, chat = anthropic_chat(claude(schemas=False), "claude-3-haiku")
    await run(chat)
    await run(chat)
    assert ["tool_choice" in sent for sent in service.sent] == [False, True, True]


async def test_a_claude_without_temperature_is_asked_without(anthropic_chat):
    """https://github.com/The-PR-Agent/pr-agent/issues/2456 has the refusal word for word."""
    service, chat = anthropic_chat(claude(temperature=False), "claude-opus-4-8")
    await run(chat)
    assert ["temperature" in sent for sent in service.sent] == [True, False]


async def test_the_most_that_a_claude_gives_is_kept(anthropic_chat):
    """https://platform.claude.com/docs/en/api/errors: max_tokens beyond the model's is a bad request."""
    service, chat = anthropic_chat(claude(most=1000), "claude-3-haiku")
    await run(chat)
    await run(chat)
    assert [sent["max_tokens"] for sent in service.sent] == [2000, 1000, 1000]


async def test_a_claude_that_is_cut_off_gets_more_room(anthropic_chat):
    """https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons: max_tokens."""

    def behave(path, sent):
        return claude(stop="end_turn" if sent["max_tokens"] > 2000 else "max_tokens")(path, sent)

    service, chat = anthropic_chat(behave)
    await run(chat)
    assert [sent["max_tokens"] for sent in service.sent] == [2000, 4000]


async def test_a_claude_that_refuses_is_final(anthropic_chat):
    """https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons: refusal."""
    _, chat = anthropic_chat(lambda path, sent: message(stop="refusal"))
    with pytest.raises(ModelError, match="the model refused") as caught:
        await chat.run(EXTRACT, TALK)
    assert not caught.value.retryable


async def test_an_overloaded_claude_is_asked_again(anthropic_chat):
    """https://platform.claude.com/docs/en/api/errors: 529 overloaded_error."""
    service, chat = anthropic_chat(lambda path, sent: anthropic_error(529, "overloaded_error", "Overloaded"))
    with pytest.raises(ModelError, match="Overloaded") as caught:
        await chat.run(EXTRACT, TALK)
    assert (caught.value.retryable, caught.value.fault, len(service.sent)) == (True, "server_error", 3)


async def test_an_empty_account_at_anthropic_costs_no_turn(anthropic_chat):
    """Anthropic says 400 of an account without credit: https://github.com/anthropics/claude-code/issues/3125."""
    words = "Your credit balance is too low to access the Anthropic API."
    _, chat = anthropic_chat(lambda path, sent: anthropic_error(400, "invalid_request_error", words))
    with pytest.raises(ModelRefused, match="balance") as caught:
        await chat.run(EXTRACT, TALK)
    assert caught.value.fault == "quota"


# --- Google -------------------------------------------------------------------------------------------------


async def test_gemini_takes_a_schema_and_a_level_of_thinking(google_chat):
    """https://ai.google.dev/gemini-api/docs/structured-output and https://ai.google.dev/gemini-api/docs/thinking."""
    service, chat = google_chat(gemini(needed=3000))
    result = await run(chat)
    [sent] = service.sent
    assert service.paths[0].endswith("/models/gemini-3-flash:generateContent")
    assert service.keys == ["k"]
    config = sent["generationConfig"]
    assert (config["responseMimeType"], config["maxOutputTokens"]) == ("application/json", 2000 * REASONING_ROOM)
    assert config["responseJsonSchema"]["additionalProperties"] is False
    assert [level.lower() for level in config["thinkingConfig"].values()] == ["low"]
    assert json.loads(sent["contents"][0]["parts"][0]["text"])["turns"][0]["content"] == TALK.turns[0].content
    assert (result.usage.input_tokens, result.usage.output_tokens) == (100, 3020)


async def test_a_gemini_without_levels_of_thinking_is_asked_without(google_chat):
    """https://ai.google.dev/gemini-api/docs/thinking: levels came with Gemini 3."""
    service, chat = google_chat(gemini(levels=False))
    await run(chat)
    assert ["thinkingConfig" in sent["generationConfig"] for sent in service.sent] == [True, False]


async def test_a_gemini_whose_thoughts_take_all_the_room_gets_more(google_chat):
    """https://ai.google.dev/gemini-api/docs/thinking: thoughts count towards maxOutputTokens, finish MAX_TOKENS."""
    service, chat = google_chat(gemini(needed=9000), "gemini-2.5-flash")
    await run(chat)
    await run(chat)
    assert [sent["generationConfig"]["maxOutputTokens"] for sent in service.sent] == [8000, 32_000, 32_000]


@pytest.mark.parametrize(
    "said",
    [content("", reason="SAFETY"), (200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})],
)
async def test_a_gemini_that_is_stopped_by_its_filter_is_final(google_chat, said):
    """https://ai.google.dev/gemini-api/docs/safety-settings: finishReason SAFETY, promptFeedback.blockReason."""
    _, chat = google_chat(lambda path, sent: said)
    with pytest.raises(ModelError, match="a content filter stopped it") as caught:
        await chat.run(EXTRACT, TALK)
    assert not caught.value.retryable


async def test_a_wrong_key_at_google_costs_no_turn(google_chat):
    """https://ai.google.dev/gemini-api/docs/troubleshooting: a wrong key is a 400."""
    words = "API key not valid. Please pass a valid API key."
    _, chat = google_chat(lambda path, sent: google_error(400, "INVALID_ARGUMENT", words))
    with pytest.raises(ModelRefused) as caught:
        await chat.run(EXTRACT, TALK)
    assert caught.value.fault == "credentials"


@pytest.mark.parametrize(("quota", "fault"), [("PerMinute", "throttled"), ("PerDay", "quota")])
async def test_gemini_says_how_long_to_wait(google_chat, quota, fault):
    """https://ai.google.dev/gemini-api/docs/rate-limits: 429 with RetryInfo and QuotaFailure in its details."""
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"}
    spent = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": f"Requests{quota}"}]}
    words = "You exceeded your current quota, please check your plan and billing details."
    service, chat = google_chat(lambda path, sent: google_error(429, "RESOURCE_EXHAUSTED", words, spent, wait))
    with pytest.raises(ModelError) as caught:
        await chat.run(EXTRACT, TALK)
    assert (caught.value.retryable, caught.value.retry_after, caught.value.fault) == (True, 22.0, fault)
    assert len(service.sent) == 1


async def test_an_overloaded_gemini_is_asked_again(google_chat):
    """https://ai.google.dev/gemini-api/docs/troubleshooting: 503 UNAVAILABLE."""
    service, chat = google_chat(lambda path, sent: google_error(503, "UNAVAILABLE", "The model is overloaded."))
    with pytest.raises(ModelError) as caught:
        await chat.run(EXTRACT, TALK)
    assert (caught.value.fault, len(service.sent)) == ("server_error", 3)


# --- all of them --------------------------------------------------------------------------------------------


def made(kind: str, url: str) -> ServiceChat:
    if kind == "openai":
        return OpenAIChat("m", base_url=url, api_key="k", retries=QUICK)
    adapter = {"anthropic": AnthropicChat, "google": GoogleChat}[kind]
    return adapter("m", base_url=url, api_key="k", retries=QUICK)


@pytest.mark.parametrize("kind", ["openai", "anthropic", "google"])
async def test_a_service_that_is_not_there_is_a_fault_that_may_pass(kind):
    chat = made(kind, "http://127.0.0.1:9")
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        await chat.run(EXTRACT, TALK)
    assert (caught.value.retryable, caught.value.fault) == (True, "unreachable")
    await chat.close()
    await chat.close()


@pytest.mark.parametrize("kind", ["openai", "anthropic", "google"])
@pytest.mark.parametrize(("status", "fault"), [(401, "credentials"), (404, "not_found"), (500, "server_error")])
async def test_a_status_means_the_same_of_every_service(httpserver, kind, status, fault):
    said = {"error": {"message": "no", "type": "x", "code": status, "status": "NO"}, "type": "error"}
    service = Service(httpserver, lambda path, sent: (status, said))
    chat = made(kind, service.root)
    with pytest.raises((ModelError, ModelRefused)) as caught:
        await chat.run(EXTRACT, TALK)
    assert caught.value.fault == fault
    assert len(service.sent) == (3 if status == 500 else 1)
    await chat.close()


@pytest.mark.parametrize("kind", ["openai", "anthropic", "google"])
async def test_a_page_in_the_place_of_an_answer_is_a_fault_that_may_pass(httpserver, kind):
    httpserver.expect_request("/", method="POST").respond_with_data("<html>", content_type="text/html")
    service = Service(httpserver, lambda path, sent: (200, {"detail": "log in"}))
    chat = made(kind, service.root)
    with pytest.raises(ModelError) as caught:
        await chat.run(EXTRACT, TALK)
    # An empty answer of Gemini has no candidates, so that of a stranger is taken for one.
    assert caught.value.fault == ("no_api_answer" if kind != "google" else None)
    await chat.close()


def test_every_known_dialect_is_one_of_its_protocol():
    for model in ("gpt-5-pro", "gpt-5-chat-latest", "o4-mini", "gemini-2.5-flash", "gemini-3-pro", "magistral-small"):
        assert first_dialect("chat", model).length in ("max_tokens", "max_completion_tokens", "max_output_tokens")
    assert first_dialect("messages", "claude-opus-4-8") == Dialect("messages")
    assert first_dialect("chat", "gpt-4.1-mini") == Dialect()
    assert first_dialect("chat", "gpt-5-chat-latest") == Dialect(length="max_completion_tokens")
    assert first_dialect("chat", "gpt-4o") == first_dialect("chat", "llama3") == Dialect()


def test_what_a_refusal_quotes_of_the_talk_teaches_nothing_but_what_it_names():
    assert Dialect().without("content_filter: 'what is the temperature in Oslo?'") is None
    assert Dialect().without("the weather is fine") is None
    assert completion("x")[0] == 200
