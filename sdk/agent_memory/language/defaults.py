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
from agent_memory.language.tasks import ChatModel, EmbeddingModel
from agent_memory.settings import Environment

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
    """The models that the environment names; None, None if it names none.

    Raises:
        ConfigurationError: if what it names cannot be reached so: no key, and no azure-identity to sign in with.
    """
    azure = env.azure_openai_endpoint
    if azure is None and env.openai_api_key is None and env.openai_base_url is None:
        return None, None
    from agent_memory.language.openai_chat import OpenAIChat
    from agent_memory.language.openai_embeddings import OpenAIEmbeddings

    secret = env.openai_api_key if azure is None else env.azure_openai_api_key
    connection: dict[str, Any] = {"api_key": secret.get_secret_value() if secret else None}
    connection |= {"base_url": env.openai_base_url} if azure is None else {"azure_endpoint": azure}
    if azure is not None and secret is None:
        connection["azure_ad_token_provider"] = _token_provider()
    return (
        OpenAIChat(env.chat_model, **connection),
        OpenAIEmbeddings(env.embedding_model, dimensions=env.embedding_dimensions, **connection),
    )


def _token_provider() -> Callable[[], str]:
    try:
        from azure.identity import DefaultAzureCredential, get_bearer_token_provider
    except ImportError as error:
        raise ConfigurationError(
            f"set AZURE_OPENAI_API_KEY, or have the extra 'azure': {how_to_install('azure')}"
        ) from error
    return get_bearer_token_provider(DefaultAzureCredential(), "https://cognitiveservices.azure.com/.default")
