"""Providers: the services that offer models, their settings, and the adapter for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import SecretStr

from agent_memory.errors import ConfigurationError
from agent_memory.extras import how_to_install
from agent_memory.language.tasks import ChatModel, EmbeddingModel
from agent_memory.settings import Environment, ModelName, env_variable

if TYPE_CHECKING:
    from agent_memory.language.prompts import ModelParameters


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: the fields of `Environment` with its usual key and address, and its default address.

    `chats` and `embeds` say whether it offers these models.
    """

    key: str | None = None
    address_field: str | None = None
    address: str | None = None
    needs_key: bool = True
    chats: bool = True
    embeds: bool = True


PROVIDERS: dict[str, Provider] = {
    "openai": Provider("openai_api_key", "openai_base_url"),
    "azure": Provider("azure_openai_api_key", "azure_openai_endpoint", needs_key=False),
    "anthropic": Provider("anthropic_api_key", "anthropic_base_url", embeds=False),
    "google": Provider("google_api_key", embeds=False),
    # https://docs.mistral.ai/api and https://docs.ollama.com/api/openai-compatibility: both speak OpenAI's protocol.
    "mistral": Provider("mistral_api_key", address="https://api.mistral.ai/v1"),
    "ollama": Provider("ollama_api_key", address="http://localhost:11434/v1", needs_key=False),
    "litellm": Provider(needs_key=False),
    "local": Provider(needs_key=False),
    "fastembed": Provider(needs_key=False, chats=False),
    "sentence-transformers": Provider(needs_key=False, chats=False),
}

KNOWN_DIMENSIONS = {
    "mistral-embed": 1024,
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "all-minilm": 384,
    "bge-m3": 1024,
    "BAAI/bge-small-en-v1.5": 384,
    "BAAI/bge-base-en-v1.5": 768,
    "sentence-transformers/all-MiniLM-L6-v2": 384,
    "all-MiniLM-L6-v2": 384,
    "voyage/voyage-3.5": 1024,
    "cohere/embed-v4.0": 1536,
}
"""The default vector lengths of known models, from their makers' pages."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model is, and the key for it."""

    base_url: str | None
    api_key: str | None


def place_of(name: ModelName, env: Environment, base_url: str | None, api_key: SecretStr | None) -> Place:
    """A model's address and key: from its own variables, or else from the provider's usual ones.

    The provider's key is never sent to the model's own server.

    Args:
        name: The model.
        env: The environment, with the usual variables of the provider.
        base_url: The model's own address.
        api_key: The model's own key.

    Raises:
        ConfigurationError: naming the variable that is missing.
    """
    provider = PROVIDERS[name.provider]
    own = None if api_key is None else api_key.get_secret_value()
    if base_url is not None:
        return Place(base_url, own)
    usual: SecretStr | None = getattr(env, provider.key) if provider.key else None
    key = own or (usual.get_secret_value() if usual else None)
    address: str | None = getattr(env, provider.address_field) if provider.address_field else None
    if name.provider == "azure" and address is None:
        variable = env_variable("azure_openai_endpoint")
        raise ConfigurationError(f"{name.variable}={name} has no resource: set {name.variable}_BASE_URL or {variable}")
    if provider.needs_key and key is None and address is None and provider.key:
        variable = env_variable(provider.key)
        is_variable = name.variable.isupper()  # it may also be an option of a command
        where = f"{variable} or {name.variable}_API_KEY" if is_variable else variable
        raise ConfigurationError(f"{name.variable}{'=' if is_variable else ' '}{name} has no key: set {where}")
    return Place(address or provider.address, key)


def chat_model(
    name: ModelName,
    env: Environment,
    base_url: str | None,
    api_key: SecretStr | None,
    parameters: ModelParameters | None = None,
) -> ChatModel:
    """The chat model of a name, at its own address with its own key, if given.

    Raises:
        ConfigurationError: if the provider has none, or a package or a key is missing.
    """
    if not PROVIDERS[name.provider].chats:
        raise ConfigurationError(f"{name.variable}={name}: {name.provider} has only embedding models")
    if name.provider == "local":
        if name.model != "rules":
            raise ConfigurationError(f"{name.variable}={name}: without a service, the only chat model is local:rules")
        from agent_memory.language.offline import OfflineChat

        return OfflineChat()
    place = place_of(name, env, base_url, api_key)
    return _CHATS.get(name.provider, _openai_chat)(name.model, place, parameters)


def embedding_model(
    name: ModelName, env: Environment, base_url: str | None, api_key: SecretStr | None
) -> EmbeddingModel:
    """The embedding model of a name, at its own address with its own key, if given.

    Raises:
        ConfigurationError: if the provider has none, the length of its vectors is unknown, or a package or a key is
            missing.
    """
    if not PROVIDERS[name.provider].embeds:
        raise ConfigurationError(
            f"{name.variable}={name}: {name.provider} is used for chat alone; try local:minilm, or litellm:…"
        )
    if name.provider == "local":
        return _local_embeddings(name)
    known = env.embedding_dimensions if name.provider in ("openai", "azure") else KNOWN_DIMENSIONS.get(name.model)
    dimensions = name.dimensions or known
    if dimensions is None:
        raise ConfigurationError(f"{name.variable}={name}: add the length of its vectors, as in {name}@1024")
    if name.provider in ("fastembed", "sentence-transformers"):
        from agent_memory.language.local_embeddings import Library, LocalEmbeddings

        return LocalEmbeddings(cast(Library, name.provider), name.model, dimensions=dimensions)
    place = place_of(name, env, base_url, api_key)
    if name.provider == "litellm":
        from agent_memory.language.litellm_embeddings import LiteLLMEmbeddings

        return LiteLLMEmbeddings(name.model, dimensions=dimensions, base_url=place.base_url, api_key=place.api_key)
    from agent_memory.language.openai_embeddings import OpenAIEmbeddings

    return OpenAIEmbeddings(name.model, dimensions=dimensions, **_connection(name.provider, place))


def _local_embeddings(name: ModelName) -> EmbeddingModel:
    from agent_memory.language.hashing import HashingEmbeddings
    from agent_memory.language.minilm import MiniLMEmbeddings

    if name.model == "hashing":
        made: EmbeddingModel = HashingEmbeddings()
    elif name.model == "minilm":
        made = MiniLMEmbeddings()
    elif Path(name.model).is_dir():
        made = MiniLMEmbeddings(name.model)
    else:
        raise ConfigurationError(f"{name.variable}={name}: there are local:minilm, local:hashing, and a folder's path")
    if name.dimensions not in (None, made.dimensions):
        raise ConfigurationError(f"{name.variable}={name}: its vectors have {made.dimensions} dimensions")
    return made


def _openai_chat(model: str, place: Place, parameters: ModelParameters | None) -> ChatModel:
    from agent_memory.language.openai_chat import OpenAIChat

    return OpenAIChat(model, parameters=parameters, **_connection("openai", place))


def _azure_chat(model: str, place: Place, parameters: ModelParameters | None) -> ChatModel:
    from agent_memory.language.openai_chat import OpenAIChat

    return OpenAIChat(model, parameters=parameters, **_connection("azure", place))


def _anthropic_chat(model: str, place: Place, parameters: ModelParameters | None) -> ChatModel:
    from agent_memory.language.anthropic_chat import AnthropicChat

    return AnthropicChat(model, base_url=place.base_url, api_key=place.api_key or "none", parameters=parameters)


def _google_chat(model: str, place: Place, parameters: ModelParameters | None) -> ChatModel:
    from agent_memory.language.google_chat import GoogleChat

    return GoogleChat(model, base_url=place.base_url, api_key=place.api_key or "none", parameters=parameters)


def _litellm_chat(model: str, place: Place, parameters: ModelParameters | None) -> ChatModel:
    from agent_memory.language.litellm_chat import LiteLLMChat

    return LiteLLMChat(model, base_url=place.base_url, api_key=place.api_key, parameters=parameters)


_CHATS: dict[str, Callable[[str, Place, ModelParameters | None], ChatModel]] = {
    "azure": _azure_chat,
    "anthropic": _anthropic_chat,
    "google": _google_chat,
    "litellm": _litellm_chat,
}
"""The adapter of each provider that does not use OpenAI's protocol at its own address."""


def _connection(provider: str, place: Place) -> dict[str, Any]:
    """The arguments of a connection to a server of OpenAI's protocol."""
    if provider != "azure":
        return {"base_url": place.base_url, "api_key": place.api_key or "none"}
    way_in = {"api_key": place.api_key} if place.api_key else {"azure_ad_token_provider": token_provider()}
    return {"azure_endpoint": place.base_url} | way_in


def token_provider() -> Callable[[], str]:
    """Entra ID tokens for Azure's models. Raises ConfigurationError if azure-identity is not installed."""
    try:
        from azure.identity import DefaultAzureCredential, get_bearer_token_provider
    except ImportError as error:
        raise ConfigurationError(
            f"set AZURE_OPENAI_API_KEY, or have the extra 'azure': {how_to_install('azure')}"
        ) from error
    return get_bearer_token_provider(DefaultAzureCredential(), "https://cognitiveservices.azure.com/.default")
