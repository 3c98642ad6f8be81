"""How a setting names a model: `provider:model`, for embeddings `provider:model@dimensions`."""

from __future__ import annotations

from dataclasses import dataclass

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


def read_model_name(text: str, variable: str) -> ModelName:
    """Reads `provider:model[@dimensions]`.

    Raises:
        ConfigurationError: naming the variable, if the form is wrong or the provider is unknown.
    """
    provider, colon, model = (part.strip() for part in text.partition(":"))
    if not colon or not model:
        raise ConfigurationError(f"{variable}={text} is not in the form provider:model, like openai:gpt-4.1-mini")
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
