"""LiteLLM against servers on loopback. It holds `openai` below 3, so it has an environment of its own:
`make clients-check` runs these tests there, and those of the other clients with older versions."""

import json

import pytest
from dialect_servers import GOOD, QUICK, TALK, Service, claude, good, reasoning, refused

litellm_package = pytest.importorskip("litellm", reason="litellm needs an older openai: make clients-check")

from agent_memory.errors import ConfigurationError, ModelError  # noqa: E402
from agent_memory.language.endpoints import ModelRefused  # noqa: E402
from agent_memory.language.litellm_chat import LiteLLMChat  # noqa: E402
from agent_memory.language.litellm_embeddings import LiteLLMEmbeddings  # noqa: E402
from agent_memory.language.tasks import EXTRACT, TaskResult  # noqa: E402

# litellm's own models, and the sessions that it leaves open, warn.
pytestmark = pytest.mark.filterwarnings("ignore")


async def run(chat: LiteLLMChat) -> TaskResult:
    return await chat.run(EXTRACT, TALK)


def chat(service: Service, model: str = "openai/some-model", url: str | None = None) -> LiteLLMChat:
    return LiteLLMChat(model, base_url=url or service.url, api_key="k", retries=QUICK)


async def test_a_task_runs_on_a_service_of_litellm(httpserver):
    service = Service(httpserver, lambda path, sent: good())
    result = await run(chat(service))
    assert [memory.content for memory in result.output.memories] == [GOOD["memories"][0]["content"]]
    assert (result.usage.input_tokens, service.keys) == (100, ["Bearer k"])
    [sent] = service.sent
    assert (sent["model"], sent["response_format"]["type"], sent["max_tokens"]) == ("some-model", "json_schema", 2000)


async def test_a_service_with_a_protocol_of_its_own_is_asked_in_it(httpserver):
    """https://docs.litellm.ai/docs/providers/anthropic: litellm puts the request into Anthropic's protocol."""
    service = Service(httpserver, claude())
    await run(chat(service, "anthropic/claude-haiku-4-5", service.root))
    assert service.paths == ["/v1/messages"]


async def test_what_a_model_refuses_is_learned(httpserver):
    service = Service(httpserver, reasoning(needed=100, efforts=()))
    model = chat(service)
    await run(model)
    await run(model)
    assert len(service.sent) == 4
    assert "temperature" not in service.sent[-1]


@pytest.mark.parametrize(
    ("status", "fault", "calls"), [(401, "credentials", 1), (404, "not_found", 1), (500, "server_error", 3)]
)
async def test_a_status_means_what_it_means_elsewhere(httpserver, status, fault, calls):
    service = Service(httpserver, lambda path, sent: refused("no", status=status))
    with pytest.raises((ModelError, ModelRefused)) as caught:
        await run(chat(service))
    assert (caught.value.fault, len(service.sent)) == (fault, calls)


async def test_an_unreachable_server_is_a_temporary_fault():
    model = LiteLLMChat("openai/m", base_url="http://127.0.0.1:9/v1", api_key="k", retries=QUICK)
    with pytest.raises(ModelError) as caught:
        await run(model)
    assert caught.value.retryable


@pytest.mark.parametrize("model", ["cohere/embed-v4.0", "voyage/voyage-3.5", "openai/any"])
async def test_embeddings_of_cohere_voyage_and_others(httpserver, model):
    """https://docs.cohere.com/reference/embed and https://docs.voyageai.com/reference/embeddings-api."""

    def behave(path, sent):
        texts = sent.get("texts") or sent["input"]
        vectors = [[3.0, 4.0] for _ in texts]
        if model.startswith("cohere"):
            tokens = {"billed_units": {"input_tokens": 7}}
            return 200, {"id": "1", "embeddings": {"float": vectors}, "texts": texts, "meta": tokens}
        data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
        return 200, {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 7, "total_tokens": 7}}

    service = Service(httpserver, behave)
    url = service.url if model.startswith("openai") else f"{service.root}/v1/embeddings"
    embeddings = LiteLLMEmbeddings(model, dimensions=2, base_url=url, api_key="k", retries=QUICK)
    embedded = await embeddings.embed(["one", "two"])
    assert embedded.vectors == [[0.6, 0.8], [0.6, 0.8]]
    assert embeddings.model_id == f"{model}@2"
    assert json.dumps(service.sent[0]).count("one") == 1
    await embeddings.close()


async def test_vectors_of_another_length_are_a_matter_of_settings(httpserver):
    data = [{"object": "embedding", "index": 0, "embedding": [1.0, 0.0, 0.0]}]
    service = Service(httpserver, lambda path, sent: (200, {"object": "list", "data": data, "model": "m"}))
    model = LiteLLMEmbeddings("openai/any", dimensions=2, base_url=service.url, api_key="k", retries=QUICK)
    with pytest.raises(ConfigurationError, match="vectors of 3 dimensions, not 2"):
        await model.embed(["one"])
