"""The models of a memory whose caller passes none: those of the environment, or else those that need no key."""

from __future__ import annotations

import logging
from dataclasses import replace
from importlib.util import find_spec

from agent_memory.errors import ConfigurationError
from agent_memory.extras import how_to_install
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.minilm import PACKAGES, WEIGHTS_PACKAGE, MiniLMEmbeddings
from agent_memory.language.providers import chat_model, embedding_model
from agent_memory.language.roles import RoleChat
from agent_memory.language.tasks import ChatModel, EmbeddingModel
from agent_memory.settings import (
    CHAT_VARIABLE,
    EMBEDDINGS_VARIABLE,
    NO_MODEL,
    ChatRole,
    Environment,
    ModelName,
    RoleSettings,
    names_provider,
    read_model_name,
    role_variable,
)

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
    """The models set in the environment; None for one that is not set.

    Raises:
        ConfigurationError: naming the variable, if its model cannot be used: invalid form, no key, or a missing
            package.
    """
    chat, embeddings = _chat(env), _embeddings(env)
    if env.roles:
        by_role = {role: _model_of_role(role, settings, env) for role, settings in env.roles.items()}
        chat = RoleChat(chat or default_chat(), by_role)
    return chat, embeddings


def embeddings_named(name: str, env: Environment, variable: str) -> EmbeddingModel:
    """The embedding model of a name. Address and key are those of `AGENT_MEMORY_EMBEDDINGS` if it has this provider.

    Raises:
        ConfigurationError: naming the variable, if the name is invalid or unknown.
    """
    named = read_model_name(name, variable)
    usual = _usual(env, env.embeddings_name, env.embedding_model, EMBEDDINGS_VARIABLE)
    if usual is None or usual.provider != named.provider:
        return embedding_model(named, env, None, None)
    return embedding_model(named, env, env.embeddings_base_url, env.embeddings_api_key)


def next_embeddings(env: Environment) -> EmbeddingModel | None:
    """The embedding model to which the store should move, if the environment sets one."""
    return None if env.reembed is None else embeddings_named(env.reembed, env, "AGENT_MEMORY_REEMBED")


def _chat(env: Environment) -> ChatModel | None:
    named = _usual(env, env.chat_name, env.chat_model, CHAT_VARIABLE)
    return None if named is None else chat_model(named, env, env.chat_base_url, env.chat_api_key)


def _embeddings(env: Environment) -> EmbeddingModel | None:
    named = _usual(env, env.embeddings_name, env.embedding_model, EMBEDDINGS_VARIABLE)
    return None if named is None else embedding_model(named, env, env.embeddings_base_url, env.embeddings_api_key)


def _usual(env: Environment, named: ModelName | None, model: str, variable: str) -> ModelName | None:
    """The model that is set; else the one of Azure or OpenAI, if the environment configures one of them."""
    if named is not None:
        return named
    if env.azure_openai_endpoint is not None:
        return ModelName("azure", model, variable)
    leads = env.openai_api_key is not None or env.openai_base_url is not None
    return ModelName("openai", model, variable) if leads else None


def _model_of_role(role: ChatRole, settings: RoleSettings, env: Environment) -> ChatModel | None:
    """The model in a role's settings; None if they switch the role off."""
    if settings.is_off:
        return None
    variable = role_variable(role, "model")
    usual = _usual(env, env.chat_name, env.chat_model, CHAT_VARIABLE)
    own = settings.model is not None and names_provider(settings.model)
    base_url, api_key = settings.base_url, settings.api_key
    if own:
        named = read_model_name(settings.model or "", variable)
    elif base_url is not None:
        named = ModelName("openai", settings.model or env.chat_model, variable)
    elif api_key is not None:
        raise ConfigurationError(
            f"{role_variable(role, 'api_key')} is for a server of the role's own: set {role_variable(role, 'base_url')}"
        )
    elif usual is not None:  # another model of the same provider
        named = replace(usual, model=settings.model or usual.model)
        base_url, api_key = env.chat_base_url, env.chat_api_key
    else:
        raise ConfigurationError(
            f"the role {role!r} has settings and no server: set {CHAT_VARIABLE}, {role_variable(role, 'base_url')},"
            f" OPENAI_API_KEY or another server for all roles, or {variable}={NO_MODEL}"
        )
    from agent_memory.language.prompts import ModelParameters

    limits = ModelParameters(timeout=settings.timeout, max_tokens=settings.max_tokens, temperature=settings.temperature)
    return chat_model(named, env, base_url, api_key, limits)
