"""One grammar names models in the environment; what cannot be meant is said at once, with the variable's name."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from dialect_servers import GOOD, Service, good
from pytest_httpserver import HTTPServer

from agent_memory import AsyncMemory, Cadence, ConfigurationError
from agent_memory.language import providers
from agent_memory.language.anthropic_chat import AnthropicChat
from agent_memory.language.defaults import models_named_by
from agent_memory.language.google_chat import GoogleChat
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.local_embeddings import LocalEmbeddings
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.openai_embeddings import OpenAIEmbeddings
from agent_memory.language.roles import RoleChat
from agent_memory.settings import Environment, ModelName, read_model_name
from agent_memory.settings.models import PROVIDERS

SILENT = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
Set = Callable[..., Environment]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Set:
    for field in Environment.model_fields.values():
        alias = field.validation_alias
        for name in [alias] if isinstance(alias, str) else getattr(alias, "choices", []):
            monkeypatch.delenv(name, raising=False)

    def put(**variables: str) -> Environment:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return Environment()

    return put


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai:gpt-4.1-mini", ("openai", "gpt-4.1-mini", None)),
        ("ollama:qwen3:8b", ("ollama", "qwen3:8b", None)),
        ("litellm:cohere/embed-v4.0@1024", ("litellm", "cohere/embed-v4.0", 1024)),
        ("openai:@cf/baai/bge-m3@1024", ("openai", "@cf/baai/bge-m3", 1024)),
        ("openai:embed@v2", ("openai", "embed@v2", None)),
        (" local : minilm ", ("local", "minilm", None)),
        ("local:/models/my model", ("local", "/models/my model", None)),
    ],
)
def test_a_name_is_a_provider_a_model_and_perhaps_dimensions(text, expected):
    named = read_model_name(text, "X")
    assert (named.provider, named.model, named.dimensions) == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gpt-4.1-mini", "X=gpt-4.1-mini is not in the form provider:model"),
        ("openai:", "X=openai: is not in the form"),
        ("opnai:gpt", "X=opnai:gpt names an unknown provider; known are openai, azure"),
        ("openai:m@0", "1 to 4096 dimensions"),
        (f"openai:m@{10**30}", "1 to 4096 dimensions"),
    ],
)
def test_an_unreadable_name_gets_an_error_that_names_its_variable(text, complaint):
    with pytest.raises(ConfigurationError) as caught:
        read_model_name(text, "X")
    assert complaint in str(caught.value)


def test_every_provider_that_can_be_named_is_one():
    assert set(PROVIDERS) == set(providers.PROVIDERS)


@pytest.mark.parametrize(
    ("name", "keys", "kind"),
    [
        ("openai:gpt-4.1-mini", {"OPENAI_API_KEY": "k"}, OpenAIChat),
        ("openai:m", {"AGENT_MEMORY_CHAT_API_KEY": "k"}, OpenAIChat),
        ("openai:m", {"OPENAI_BASE_URL": "http://localhost:8000/v1"}, OpenAIChat),
        ("azure:d", {"AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com", "AZURE_OPENAI_API_KEY": "k"}, OpenAIChat),
        ("azure:d", {"AGENT_MEMORY_CHAT_BASE_URL": "https://r.openai.azure.com"}, OpenAIChat),
        ("anthropic:claude-haiku-4-5", {"ANTHROPIC_API_KEY": "k"}, AnthropicChat),
        ("google:gemini-3-flash", {"GOOGLE_API_KEY": "k"}, GoogleChat),
        ("mistral:mistral-small-latest", {"MISTRAL_API_KEY": "k"}, OpenAIChat),
        ("ollama:qwen3:8b", {}, OpenAIChat),
        ("local:rules", {}, OfflineChat),
    ],
)
def test_each_provider_has_its_adapter_for_chat(environment: Set, name: str, keys: dict[str, str], kind: type):
    chat, embeddings = models_named_by(environment(AGENT_MEMORY_CHAT=name, **keys))
    assert type(chat) is kind
    assert name == "local:rules" or chat.model_id == name.partition(":")[2]
    assert (embeddings is None) is not (
        {"OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"} & keys.keys() != set()
    )


@pytest.mark.parametrize(
    ("name", "keys", "kind", "model_id"),
    [
        ("local:minilm", {}, MiniLMEmbeddings, "all-MiniLM-L6-v2-int8"),
        ("local:hashing", {}, HashingEmbeddings, "hashing-384"),
        ("openai:text-embedding-3-small@512", {"OPENAI_API_KEY": "k"}, OpenAIEmbeddings, "text-embedding-3-small@512"),
        ("openai:text-embedding-3-small", {"OPENAI_API_KEY": "k"}, OpenAIEmbeddings, "text-embedding-3-small@1536"),
        ("ollama:nomic-embed-text", {}, OpenAIEmbeddings, "nomic-embed-text@768"),
        ("mistral:mistral-embed", {"MISTRAL_API_KEY": "k"}, OpenAIEmbeddings, "mistral-embed@1024"),
        ("fastembed:BAAI/bge-small-en-v1.5", {}, LocalEmbeddings, "BAAI/bge-small-en-v1.5@384"),
    ],
)
def test_each_provider_has_its_adapter_for_embeddings(
    environment: Set, name: str, keys: dict[str, str], kind: type, model_id: str
):
    _, embeddings = models_named_by(environment(AGENT_MEMORY_EMBEDDINGS=name, **keys))
    assert (type(embeddings), embeddings.model_id) == (kind, model_id)


@pytest.mark.parametrize(
    ("variables", "complaint"),
    [
        ({"AGENT_MEMORY_CHAT": "openai:m"}, "AGENT_MEMORY_CHAT=openai:m has no key: set OPENAI_API_KEY or"),
        ({"AGENT_MEMORY_CHAT": "anthropic:m"}, "set ANTHROPIC_API_KEY or AGENT_MEMORY_CHAT_API_KEY"),
        ({"AGENT_MEMORY_CHAT": "google:m"}, "set GEMINI_API_KEY or AGENT_MEMORY_CHAT_API_KEY"),
        ({"AGENT_MEMORY_CHAT": "azure:m"}, "set AGENT_MEMORY_CHAT_BASE_URL or AZURE_OPENAI_ENDPOINT"),
        (
            {"AGENT_MEMORY_CHAT": "local:llama"},
            "AGENT_MEMORY_CHAT=local:llama: without a service, the only chat model is",
        ),
        ({"AGENT_MEMORY_CHAT": "fastembed:x"}, "fastembed has only embedding models"),
        ({"AGENT_MEMORY_CHAT_BASE_URL": "http://x"}, "AGENT_MEMORY_CHAT_BASE_URL is set without a model: set"),
        ({"AGENT_MEMORY_EMBEDDINGS_API_KEY": "k"}, "AGENT_MEMORY_EMBEDDINGS_API_KEY is set without a model: set"),
        ({"AGENT_MEMORY_EMBEDDINGS": "anthropic:m"}, "AGENT_MEMORY_EMBEDDINGS=anthropic:m: anthropic is used for chat"),
        ({"AGENT_MEMORY_EMBEDDINGS": "ollama:mine"}, "add the length of its vectors, as in ollama:mine@1024"),
        ({"AGENT_MEMORY_EMBEDDINGS": "local:minilm@512"}, "its vectors have 384 dimensions"),
        ({"AGENT_MEMORY_EMBEDDINGS": "local:/nowhere"}, "there are local:minilm, local:hashing, and a folder's path"),
        ({"AGENT_MEMORY_EMBEDDING_DIMENSIONS": "many"}, "AGENT_MEMORY_EMBEDDING_DIMENSIONS: Input should be a valid"),
        ({"FACT_EXTRACTION_EVERY_N": "-1"}, "FACT_EXTRACTION_EVERY_N: Input should be greater"),
        (
            {"AGENT_MEMORY_CHAT_PROFILE": "anthropic:m"},
            "AGENT_MEMORY_CHAT_PROFILE=anthropic:m has no key: set ANTHROPIC",
        ),
    ],
)
def test_impossible_settings_are_refused_when_a_memory_is_made(
    environment: Set, variables: dict[str, str], complaint: str
):
    with pytest.raises(ConfigurationError) as caught:
        AsyncMemory.from_env(environment(**variables))
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("anthropic:m", "anthropic", "anthropic"),
        ("google:m", "google.genai", "google"),
        ("litellm:groq/m", "litellm", "litellm"),
        ("openai:m", "openai", "openai"),
    ],
)
def test_a_package_that_is_missing_is_named_with_its_extra(
    environment: Set, monkeypatch: pytest.MonkeyPatch, name: str, package: str, extra: str
):
    monkeypatch.setattr("agent_memory.extras.find_spec", lambda name: None)
    env = environment(AGENT_MEMORY_CHAT=name, AGENT_MEMORY_CHAT_API_KEY="k")
    with pytest.raises(ConfigurationError, match=rf"The package {package} is missing: .*\[{extra}\]"):
        models_named_by(env)


async def test_a_chat_only_server_works_with_local_embeddings(environment: Set, httpserver: HTTPServer):
    """Before, a base URL made the embeddings OpenAI's too, and nothing was ever stored."""
    service = Service(httpserver, lambda path, sent: good() if path.endswith("/chat/completions") else (404, {}))
    env = environment(
        AGENT_MEMORY_CHAT="openai:anything",
        AGENT_MEMORY_CHAT_BASE_URL=service.url,
        AGENT_MEMORY_EMBEDDINGS="local:minilm",
        OPENAI_API_KEY="of-openai",
    )
    chat, embeddings = models_named_by(env)
    async with AsyncMemory.local(chat_model=chat, embedding_model=embeddings, cadence=SILENT) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add("user", "My budget for Hawaii is $10,000.")
        result = await thread.process("extract")
        assert result.turns == 1
        assert [fact.content for fact in await memory.user("alice").memories(types=["fact"])] == [
            GOOD["memories"][0]["content"]
        ]
    assert service.keys == ["Bearer none"], "a server of one's own is not sent the key of OpenAI"


async def test_embeddings_have_an_address_and_a_key_of_their_own(environment: Set, httpserver: HTTPServer):
    """The server of the chat model knows no embeddings: any request to it fails."""
    given = httpserver.expect_request("/vectors/v1/embeddings", headers={"Authorization": "Bearer of-vectors"})
    given.respond_with_json({"data": [{"index": 0, "embedding": [1.0, 0.0, 0.0]}], "usage": {"prompt_tokens": 1}})
    env = environment(
        AGENT_MEMORY_CHAT="openai:anything",
        AGENT_MEMORY_CHAT_BASE_URL=httpserver.url_for("/chats/v1"),
        AGENT_MEMORY_CHAT_API_KEY="of-chats",
        AGENT_MEMORY_EMBEDDINGS="openai:vectors@3",
        AGENT_MEMORY_EMBEDDINGS_BASE_URL=httpserver.url_for("/vectors/v1"),
        AGENT_MEMORY_EMBEDDINGS_API_KEY="of-vectors",
    )
    _, embeddings = models_named_by(env)
    assert embeddings is not None
    assert len((await embeddings.embed(["Lisbon"])).vectors) == 1
    await embeddings.close()


def test_the_earlier_variables_still_name_both(environment: Set):
    chat, embeddings = models_named_by(
        environment(OPENAI_API_KEY="k", AGENT_MEMORY_CHAT_MODEL="gpt-x", AGENT_MEMORY_EMBEDDING_DIMENSIONS="256")
    )
    assert (type(chat), chat.model_id) == (OpenAIChat, "gpt-x")
    assert (type(embeddings), embeddings.model_id) == (OpenAIEmbeddings, "text-embedding-3-large@256")
    assert models_named_by(environment(OPENAI_API_KEY="")) == (None, None)


def test_a_role_names_a_model_of_the_one_provider_or_of_another(environment: Set):
    chat, _ = models_named_by(
        environment(
            AGENT_MEMORY_CHAT="anthropic:claude-haiku-4-5",
            ANTHROPIC_API_KEY="k",
            AGENT_MEMORY_CHAT_SUMMARY="claude-opus-4-8",
            AGENT_MEMORY_CHAT_EXTRACTION="ollama:qwen3:8b",
            AGENT_MEMORY_CHAT_REWRITE="local:rules",
            AGENT_MEMORY_CHAT_PROFILE="none",
        )
    )
    assert isinstance(chat, RoleChat)
    kinds: dict[str, Any] = {role: (type(model), model and model.model_id) for role, model in chat.by_role.items()}
    assert kinds["summary"] == (AnthropicChat, "claude-opus-4-8")
    assert kinds["extraction"] == (OpenAIChat, "qwen3:8b")
    assert kinds["rewrite"][0] is OfflineChat
    assert chat.by_role["profile"] is None


def test_a_name_is_written_as_it_is_read():
    assert str(ModelName("openai", "m", "X", 5)) == "openai:m@5"
    assert json.dumps(str(ModelName("local", "minilm", "X"))) == '"local:minilm"'
