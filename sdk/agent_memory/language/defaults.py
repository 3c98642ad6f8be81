"""Which models a memory uses when its caller names none: those of the environment, else those that need no key."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from agent_memory.errors import ConfigurationError
from agent_memory.extras import how_to_install
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.minilm import PACKAGES, WEIGHTS_PACKAGE, MiniLMEmbeddings
from agent_memory.language.roles import RoleChat
from agent_memory.language.tasks import ChatModel, EmbeddingModel
from agent_memory.settings import NO_MODEL, ChatRole, Environment, RoleSettings, role_variable

_log = logging.getLogger(__name__)


def default_embeddings() -> EmbeddingModel:
    """MiniLM if its packages are installed; else hashing, with a warning."""
    missing = [name for name in (*PACKAGES, WEIGHTS_PACKAGE) if find_spec(name) is None]
    if not missing:
        return MiniLMEmbeddings()
    _log.warning(
        "Packages are missing (%s), so search finds shared words only, not shared meaning: %s.",
        ", ".join(missing),
        how_to_install("local"),
    )
    return HashingEmbeddings()


def default_chat() -> ChatModel:
    """Rules, which need no model."""
    from agent_memory.language.offline import OfflineChat

    return OfflineChat()


def models_named_by(env: Environment) -> tuple[ChatModel | None, EmbeddingModel | None]:
    """The models that the environment names; None in the place of one that it does not name.

    Raises:
        ConfigurationError: if what it names cannot be reached so: no key, and no azure-identity to sign in with.
    """
    roles = env.roles
    connection = _connection(env)
    chat: ChatModel | None = None
    embeddings: EmbeddingModel | None = None
    if connection is not None:
        from agent_memory.language.openai_chat import OpenAIChat
        from agent_memory.language.openai_embeddings import OpenAIEmbeddings

        chat = OpenAIChat(env.chat_model, **connection)
        embeddings = OpenAIEmbeddings(env.embedding_model, dimensions=env.embedding_dimensions, **connection)
    if roles:
        by_role = {role: _model_of_role(role, settings, env, connection) for role, settings in roles.items()}
        chat = RoleChat(chat or default_chat(), by_role)
    return chat, embeddings


def _model_of_role(
    role: ChatRole, settings: RoleSettings, env: Environment, shared: dict[str, Any] | None
) -> ChatModel | None:
    """The model for which a role's settings ask; None if they switch the role off."""
    if settings.is_off:
        return None
    connection = shared
    if settings.base_url is not None:  # its own server is never sent the key of another
        key = settings.api_key.get_secret_value() if settings.api_key else "none"
        connection = {"base_url": settings.base_url, "api_key": key}
    elif settings.api_key is not None:
        raise ConfigurationError(
            f"{role_variable(role, 'api_key')} is for a server of the role's own: set {role_variable(role, 'base_url')}"
        )
    if connection is None:
        raise ConfigurationError(
            f"the role {role!r} has settings and no server: set {role_variable(role, 'base_url')}, OPENAI_API_KEY or"
            f" another server for all roles, or {role_variable(role, 'model')}={NO_MODEL}"
        )
    from agent_memory.language.openai_chat import OpenAIChat
    from agent_memory.language.prompts import ModelParameters

    limits = ModelParameters(timeout=settings.timeout, max_tokens=settings.max_tokens, temperature=settings.temperature)
    return OpenAIChat(settings.model or env.chat_model, parameters=limits, **connection)


def _connection(env: Environment) -> dict[str, Any] | None:
    """The server of all models; None if the environment names none."""
    azure = env.azure_openai_endpoint
    if azure is None and env.openai_api_key is None and env.openai_base_url is None:
        return None
    secret = env.openai_api_key if azure is None else env.azure_openai_api_key
    connection: dict[str, Any] = {"api_key": secret.get_secret_value() if secret else None}
    connection |= {"base_url": env.openai_base_url} if azure is None else {"azure_endpoint": azure}
    if azure is not None and secret is None:
        connection["azure_ad_token_provider"] = _token_provider()
    return connection


def _token_provider() -> Callable[[], str]:
    try:
        from azure.identity import DefaultAzureCredential, get_bearer_token_provider
    except ImportError as error:
        raise ConfigurationError(
            f"set AZURE_OPENAI_API_KEY, or have the extra 'azure': {how_to_install('azure')}"
        ) from error
    return get_bearer_token_provider(DefaultAzureCredential(), "https://cognitiveservices.azure.com/.default")
