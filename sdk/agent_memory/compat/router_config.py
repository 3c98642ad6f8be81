"""Translates vLLM Semantic Router's `config.yaml` into this library's environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.settings import NO_MODEL, RECALL_PREFIX, ChatRole, role_variable

ROLES: Mapping[str, ChatRole] = {"memory_rewrite": "rewrite", "memory_extraction": "extraction"}
"""The router's model roles for memory, and ours."""
PACKAGED = "all-MiniLM-L6-v2"
"""The embedding model that needs no server."""


class _Embedding(BaseModel):
    model: str = PACKAGED
    dimension: int = Field(default=384, gt=0)


class _Store(BaseModel):
    dimension: int | None = None


class _Memory(BaseModel):
    enabled: bool = True
    auto_store: bool = True
    milvus: _Store = Field(default_factory=_Store)
    embedding: _Embedding = Field(default_factory=_Embedding)
    default_retrieval_limit: int | None = None
    default_similarity_threshold: float | None = None
    extraction_batch_size: int | None = None


class _Endpoint(BaseModel):
    address: str
    port: int


class _Model(BaseModel):
    model_role: str
    llm_endpoint: _Endpoint
    llm_model_name: str
    llm_timeout_seconds: float | None = None
    max_tokens: int | None = None
    temperature: float | None = None


def _for_memory(models: Any) -> Any:
    """The models with a role of memory; the others may have any form."""
    if not isinstance(models, list):
        return models
    return [one for one in models if isinstance(one, Mapping) and one.get("model_role") in ROLES]


class _Config(BaseModel):
    memory: _Memory = Field(default_factory=_Memory)
    external_models: Annotated[list[_Model], BeforeValidator(_for_memory)] = Field(default_factory=list)


def read_router_config(given: Mapping[str, Any] | str | Path) -> dict[str, str]:
    """The environment variables for a router's configuration: a mapping, YAML text, or the path of a file.

    A role that is missing in the configuration is off; its variable is `none`. Models of other roles and the location
    of the router's vectors are ignored.

    Raises:
        InvalidInput: if it cannot be read, or if store and embedding model have different dimensions.
    """
    try:
        text = given.read_text(encoding="utf-8") if isinstance(given, Path) else given
        config = _Config.model_validate(yaml.safe_load(text) if isinstance(text, str) else dict(text))
    except (OSError, ValidationError, ValueError, TypeError, yaml.YAMLError) as error:
        raise InvalidInput(f"not a router configuration: {error}") from error
    memory = config.memory
    if memory.milvus.dimension not in (None, memory.embedding.dimension):
        raise InvalidInput(
            f"milvus.dimension is {memory.milvus.dimension} and embedding.dimension is {memory.embedding.dimension}:"
            " they must be the same"
        )
    own = memory.embedding.model != PACKAGED
    settings: dict[str, object] = {
        "ENABLE_MEMORY": str(memory.enabled).lower(),
        "MEMORY_AUTO_STORE": str(memory.auto_store).lower(),
        "AGENT_MEMORY_EMBEDDING_MODEL": memory.embedding.model if own else None,
        "AGENT_MEMORY_EMBEDDING_DIMENSIONS": memory.embedding.dimension if own else None,
        f"{RECALL_PREFIX}LIMIT": memory.default_retrieval_limit,
        f"{RECALL_PREFIX}DEFAULT_THRESHOLD": memory.default_similarity_threshold,
        "FACT_EXTRACTION_EVERY_N": memory.extraction_batch_size,
    }
    models = {ROLES[one.model_role]: one for one in config.external_models}
    for role in ROLES.values():
        settings |= _of_role(role, models.get(role))
    return {name: str(value) for name, value in settings.items() if value is not None}


def _of_role(role: ChatRole, model: _Model | None) -> dict[str, object]:
    if model is None:
        return {role_variable(role, "model"): NO_MODEL}
    return {
        role_variable(role, "model"): model.llm_model_name,
        role_variable(role, "base_url"): f"http://{model.llm_endpoint.address}:{model.llm_endpoint.port}/v1",
        role_variable(role, "timeout"): model.llm_timeout_seconds,
        role_variable(role, "max_tokens"): model.max_tokens,
        role_variable(role, "temperature"): model.temperature,
    }
