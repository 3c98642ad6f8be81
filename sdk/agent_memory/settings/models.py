"""How settings name the models: `provider:model`, for embeddings `provider:model@dimensions`, and one for each role."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_type_hints

from pydantic import Field, SecretStr, ValidationError, create_model
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from agent_memory.errors import ConfigurationError

CHAT_VARIABLE = "AGENT_MEMORY_CHAT"
EMBEDDINGS_VARIABLE = "AGENT_MEMORY_EMBEDDINGS"
"""The variables that set the two models. The suffixes `_BASE_URL` and `_API_KEY` go with each."""

PROVIDERS = (
    "openai",
    "azure",
    "anthropic",
    "google",
    "mistral",
    "ollama",
    "litellm",
    "local",
    "fastembed",
    "sentence-transformers",
)
"""The providers that can come before the colon; `language.providers` has what each offers."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model as a setting names it. `variable` is the setting, for messages."""

    provider: str
    model: str
    variable: str
    dimensions: int | None = None

    def __str__(self) -> str:
        """As it is written in a setting."""
        return f"{self.provider}:{self.model}" + (f"@{self.dimensions}" if self.dimensions else "")


_LIKE = "openai:gpt-4.1-mini for chat, local:minilm for embeddings"
"""Examples, for messages."""


def read_model_name(text: str, variable: str) -> ModelName:
    """Reads `provider:model[@dimensions]`.

    Raises:
        ConfigurationError: naming the variable, if the form is wrong or the provider is unknown.
    """
    provider, colon, model = (part.strip() for part in text.partition(":"))
    if not colon or not model:
        raise ConfigurationError(f"{variable}={text} is not in the form provider:model, like {_LIKE}")
    if provider not in PROVIDERS:
        raise ConfigurationError(f"{variable}={text} names an unknown provider; known are {', '.join(PROVIDERS)}")
    name, at, dimensions = model.rpartition("@")
    if not at or not name or not dimensions.isdecimal():
        return ModelName(provider, model, variable)
    if not 0 < int(dimensions[:6]) <= MOST_DIMENSIONS:
        raise ConfigurationError(f"{variable}={text}: vectors have 1 to {MOST_DIMENSIONS} dimensions")
    return ModelName(provider, name, variable, int(dimensions))


def names_provider(text: str) -> bool:
    """Whether a text starts with a provider. A colon alone is not enough: `qwen3:8b` is a model."""
    return text.partition(":")[0].strip() in PROVIDERS and ":" in text


MOST_DIMENSIONS = 4096
"""More than any vector index of Cosmos DB allows."""


ChatRole = Literal[
    "extraction",
    "summary",
    "profile",
    "reconcile",
    "reflection",
    "rewrite",
    "selection",
    "reply",
    "answer",
    "judge",
]
"""The roles of chat models; `language.roles` has the tasks of each."""
CHAT_PREFIX = "AGENT_MEMORY_CHAT_"
"""The prefix of variables for roles: AGENT_MEMORY_CHAT_EXTRACTION sets the model of `extraction`."""
NO_MODEL = "none"
"""The model name that switches a role off."""


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """The settings of one role. None: as for the other roles, or as in the head of a task's prompt.

    `model` is a model or, on Azure, a deployment; `none` switches the role off. `base_url` is the address of the role's
    own server, which speaks OpenAI's protocol, and `api_key` its key. `timeout` is in seconds for one call,
    `max_tokens` the maximum length of an answer, `temperature` from 0 to 2.
    """

    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    timeout: Annotated[float, Field(gt=0)] | None = None
    max_tokens: Annotated[int, Field(gt=0)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None

    @property
    def is_off(self) -> bool:
        """Whether the role is switched off."""
        return (self.model or "").strip().lower() == NO_MODEL

    @property
    def has_model(self) -> bool:
        """Whether the role has its own model or server."""
        return not self.is_off and bool(self.model or self.base_url)


def role_variable(role: ChatRole, part: str) -> str:
    """The variable that sets a field of a role; for the model, without a suffix."""
    return CHAT_PREFIX + _role_field(role, part).upper()


def read_roles() -> dict[ChatRole, RoleSettings]:
    """The roles for which the environment sets something, with their settings.

    Raises:
        ConfigurationError: naming the variable whose value cannot be read.
    """
    given = read_variables(_role_environment(), CHAT_PREFIX)
    parts = [one.name for one in fields(RoleSettings)]
    named = {
        role: {part: given[field] for part in parts if (field := _role_field(role, part)) in given} for role in ROLES
    }
    return {role: RoleSettings(**values) for role, values in named.items() if values}


ROLES: tuple[ChatRole, ...] = get_args(ChatRole)


def _role_field(role: ChatRole, part: str) -> str:
    return role if part == "model" else f"{role}_{part}"


@cache
def _role_environment() -> type[BaseSettings]:
    hints = get_type_hints(RoleSettings, include_extras=True)
    named: dict[str, Any] = {_role_field(role, part): (hint, None) for role in ROLES for part, hint in hints.items()}
    return create_model("RoleEnvironment", __base__=_OfRoles, **named)


class _OfRoles(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=CHAT_PREFIX, env_file=None, extra="ignore", allow_inf_nan=False, env_ignore_empty=True
    )


def read_variables(environment: type[BaseSettings], prefix: str) -> dict[str, Any]:
    """The values of variables with a prefix, by field name.

    Raises:
        ConfigurationError: naming the variable whose value cannot be read.
    """
    if not any(name.upper().startswith(prefix) for name in os.environ):
        return {}  # reading sixty variables takes milliseconds
    try:
        given = environment()
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigurationError(f"{prefix}{str(problem['loc'][0]).upper()}: {problem['msg']}") from error
    except SettingsError as error:
        raise ConfigurationError(f"a variable {prefix}… has invalid JSON: {error}") from error
    return {name: getattr(given, name) for name in given.model_fields_set}
