"""The environment variables that `from_env` and the function app read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from agent_memory.errors import ConfigurationError
from agent_memory.settings.models import (
    CHAT_VARIABLE,
    EMBEDDINGS_VARIABLE,
    ChatRole,
    ModelName,
    RoleSettings,
    read_model_name,
    read_roles,
)
from agent_memory.settings.policy import (
    NO_TIER,
    TIERS,
    InstructionsAction,
    PolicySettings,
    SecretsAction,
    read_tiers,
)
from agent_memory.settings.recall import QueryStrategy, RecallSettings, read_recall
from agent_memory.settings.work import DEFAULT_CADENCE, Cadence, Webhook

CADENCE_FIELDS = {
    "extract": "extract_every",
    "summarize": "summarize_every",
    "profile": "profile_every",
    "reconcile": "reconcile_every",
    "deepen": "deepen_every",
    "idle_seconds": "idle_seconds",
    "archive": "archive_idle",
    "drift": "drift_threshold",
    "deepen_hours": "deepen_hours",
    "one_call": "one_call",
    "stretch": "stretch",
}
"""The environment setting for each field of a cadence."""


_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


class Environment(BaseSettings):
    """The environment variables that `from_env` and the function app read. Several systems' names are accepted."""

    model_config = SettingsConfigDict(env_file=None, extra="ignore", populate_by_name=True, env_ignore_empty=True)

    store: str | None = Field(default=None, validation_alias=AliasChoices("AGENT_MEMORY_STORE"))
    memory_url: str | None = Field(default=None, validation_alias="MEMORY_URL")
    memory_key: SecretStr | None = Field(default=None, validation_alias="MEMORY_KEY")
    memory_function_key: SecretStr | None = Field(default=None, validation_alias="MEMORY_FUNCTION_KEY")
    cosmos_endpoint: str | None = Field(
        default=None, validation_alias=AliasChoices("COSMOS_DB_ENDPOINT", "COSMOS_ENDPOINT")
    )
    cosmos_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("COSMOS_DB_KEY", "COSMOS_KEY"))
    cosmos_database: str = Field(
        default="ai_memory", validation_alias=AliasChoices("COSMOS_DB_DATABASE", "COSMOS_DATABASE")
    )
    cosmos_autoscale_max_ru: int | None = Field(default=None, validation_alias="COSMOS_DB_AUTOSCALE_MAX_RU")
    cosmos_connection_verify: bool = Field(default=True, validation_alias="COSMOS_DB_CONNECTION_VERIFY")
    azure_openai_endpoint: str | None = Field(
        default=None, validation_alias=AliasChoices("AZURE_OPENAI_ENDPOINT", "AI_FOUNDRY_ENDPOINT")
    )
    azure_openai_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("AZURE_OPENAI_API_KEY", "AI_FOUNDRY_API_KEY")
    )
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    anthropic_base_url: str | None = Field(default=None, validation_alias="ANTHROPIC_BASE_URL")
    google_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("GEMINI_API_KEY", "GOOGLE_API_KEY")
    )
    mistral_api_key: SecretStr | None = Field(default=None, validation_alias="MISTRAL_API_KEY")
    ollama_api_key: SecretStr | None = Field(default=None, validation_alias="OLLAMA_API_KEY")
    chat: str | None = Field(default=None, validation_alias="AGENT_MEMORY_CHAT")
    chat_base_url: str | None = Field(default=None, validation_alias="AGENT_MEMORY_CHAT_BASE_URL")
    chat_api_key: SecretStr | None = Field(default=None, validation_alias="AGENT_MEMORY_CHAT_API_KEY")
    embeddings: str | None = Field(default=None, validation_alias="AGENT_MEMORY_EMBEDDINGS")
    reembed: str | None = Field(default=None, validation_alias="AGENT_MEMORY_REEMBED")
    """The embedding model to which the store is to move, as in `AGENT_MEMORY_EMBEDDINGS`. For Cosmos DB: the function
    app moves the store, and every process switches to the new model when the store does."""
    embeddings_base_url: str | None = Field(default=None, validation_alias="AGENT_MEMORY_EMBEDDINGS_BASE_URL")
    embeddings_api_key: SecretStr | None = Field(default=None, validation_alias="AGENT_MEMORY_EMBEDDINGS_API_KEY")
    chat_model: str = Field(
        default="gpt-4.1-mini",
        validation_alias=AliasChoices(
            "AGENT_MEMORY_CHAT_MODEL", "AZURE_OPENAI_CHAT_DEPLOYMENT", "AI_FOUNDRY_CHAT_DEPLOYMENT_NAME"
        ),
    )
    embedding_model: str = Field(
        default="text-embedding-3-large",
        validation_alias=AliasChoices(
            "AGENT_MEMORY_EMBEDDING_MODEL",
            "AZURE_OPENAI_EMBEDDING_DEPLOYMENT",
            "AI_FOUNDRY_EMBEDDING_DEPLOYMENT_NAME",
        ),
    )
    embedding_dimensions: int = Field(
        default=1536,
        gt=0,
        validation_alias=AliasChoices("AGENT_MEMORY_EMBEDDING_DIMENSIONS", "AI_FOUNDRY_EMBEDDING_DIMENSIONS"),
    )
    extract_every: int = Field(default=0, ge=0, validation_alias="FACT_EXTRACTION_EVERY_N")
    summarize_every: int = Field(default=0, ge=0, validation_alias="THREAD_SUMMARY_EVERY_N")
    profile_every: int = Field(default=0, ge=0, validation_alias="USER_SUMMARY_EVERY_N")
    reconcile_every: int = Field(default=5, ge=0, validation_alias="DEDUP_EVERY_N")
    deepen_every: int = Field(default=0, ge=0, validation_alias="DEEPEN_EVERY_N")
    deepen_hours: float = Field(default=24.0, ge=0, validation_alias="DEEPEN_HOURS")
    drift_threshold: float = Field(default=0.0, ge=0, le=2, validation_alias="DRIFT_THRESHOLD")
    one_call: bool = Field(default=False, validation_alias="ONE_CALL_FOR_FACTS_AND_SUMMARY")
    stretch: int = Field(default=1, ge=1, le=10, validation_alias="STRETCH_LATER_BATCHES")
    archive_idle: bool = Field(default=False, validation_alias="ARCHIVE_IDLE_THREADS")
    feed_concurrency: int = Field(default=16, ge=1, le=256, validation_alias="AGENT_MEMORY_FEED_CONCURRENCY")
    backfill_at_once: int = Field(default=20, ge=1, le=1000, validation_alias="AGENT_MEMORY_BACKFILL_AT_ONCE")
    idle_seconds: float = Field(default=300.0, ge=0, validation_alias="AGENT_MEMORY_IDLE_SECONDS")
    query_strategy: QueryStrategy | None = Field(default=None, validation_alias="QUERY_STRATEGY")
    allow_header_identity: bool = Field(default=False, validation_alias="ALLOW_HEADER_IDENTITY")
    memory_enabled: bool = Field(default=True, validation_alias="ENABLE_MEMORY")
    auto_store: bool = Field(default=True, validation_alias="MEMORY_AUTO_STORE")
    tiers: str | None = Field(default=None, validation_alias="MEMORY_TIERS")
    default_tier: str = Field(default=NO_TIER, validation_alias="MEMORY_DEFAULT_TIER")
    secrets: SecretsAction = Field(default="redact", validation_alias="MEMORY_SECRETS")
    instructions: InstructionsAction = Field(default="quarantine", validation_alias="MEMORY_INSTRUCTIONS")
    audit_days: int = Field(default=0, ge=0, le=3650, validation_alias="MEMORY_AUDIT_DAYS")
    talk_days: int | None = Field(default=None, ge=1, le=36_500, validation_alias="MEMORY_TALK_DAYS")
    daily_model_calls: int | None = Field(default=None, ge=0, validation_alias="MEMORY_DAILY_MODEL_CALLS")
    daily_tokens: int | None = Field(default=None, ge=0, validation_alias="MEMORY_DAILY_TOKENS")
    store_daily_tokens: int | None = Field(default=None, ge=0, validation_alias="MEMORY_STORE_DAILY_TOKENS")

    webhook_url: str | None = Field(default=None, validation_alias="AGENT_MEMORY_WEBHOOK_URL")
    webhook_secret: SecretStr | None = Field(default=None, validation_alias="AGENT_MEMORY_WEBHOOK_SECRET")
    webhook_private: bool = Field(default=False, validation_alias="AGENT_MEMORY_WEBHOOK_PRIVATE")

    def __init__(self, **given: Any) -> None:
        """Reads the environment; arguments override it.

        Raises:
            ConfigurationError: naming the variable whose value cannot be read.
        """
        try:
            super().__init__(**given)
        except ValidationError as error:
            problem = error.errors()[0]
            raise ConfigurationError(f"{problem['loc'][0]}: {problem['msg']}") from error

    @property
    def chat_name(self) -> ModelName | None:
        """The chat model set by `AGENT_MEMORY_CHAT`.

        Raises:
            ConfigurationError: if it cannot be read, or an address or a key is set without a model.
        """
        return _name(CHAT_VARIABLE, self.chat, self.chat_base_url, self.chat_api_key)

    @property
    def embeddings_name(self) -> ModelName | None:
        """The embedding model set by `AGENT_MEMORY_EMBEDDINGS`. Raises ConfigurationError as `chat_name`."""
        return _name(EMBEDDINGS_VARIABLE, self.embeddings, self.embeddings_base_url, self.embeddings_api_key)

    @model_validator(mode="after")
    def _certificates_of_others_are_checked(self) -> Self:
        if not self.cosmos_connection_verify and urlsplit(self.cosmos_endpoint or "").hostname not in _THIS_MACHINE:
            raise ConfigurationError(
                "COSMOS_DB_CONNECTION_VERIFY=false is for an emulator on this machine, with an endpoint like"
                f" https://localhost:8081/, not {self.cosmos_endpoint}: leave it out"
            )
        return self

    @property
    def cadence(self) -> Cadence:
        """The cadence of the function app: only the steps that are set."""
        return Cadence(**{name: getattr(self, field) for name, field in CADENCE_FIELDS.items()})

    @property
    def local_cadence(self) -> Cadence:
        """The cadence of a process that opens the store itself: the defaults, except where set.

        A number of turns that is set for a step applies exactly, unless a stretch is set too.
        """
        given = {name: getattr(self, field) for name, field in CADENCE_FIELDS.items() if field in self.model_fields_set}
        exact = {"stretch": 1} if {"extract", "summarize"} & given.keys() else {}
        return replace(DEFAULT_CADENCE, **(exact | given))

    @property
    def recall(self) -> RecallSettings:
        """How search and context choose. Raises ConfigurationError naming the variable whose value cannot be read."""
        rewrite = self.roles.get("rewrite", RoleSettings())
        # Setting a model for rewriting switches rewriting on.
        recall = read_recall(**({"query_strategy": "rewrite"} if rewrite.has_model else {}))
        return recall if self.query_strategy is None else replace(recall, query_strategy=self.query_strategy)

    @property
    def roles(self) -> dict[ChatRole, RoleSettings]:
        """The settings of single roles of chat models.

        Raises:
            ConfigurationError: naming the variable whose value cannot be read.
        """
        return read_roles()

    @property
    def webhook(self) -> Webhook | None:
        """The address that receives changes of memories; None if none is set.

        Raises:
            ConfigurationError: if the address or the secret cannot be used.
        """
        if self.webhook_url is None:
            return None
        secret = "" if self.webhook_secret is None else self.webhook_secret.get_secret_value()
        return Webhook(self.webhook_url, secret, allow_private=self.webhook_private)

    @property
    def policy(self) -> PolicySettings:
        """What the operator allows.

        Raises:
            ConfigurationError: if the tiers cannot be read, or the default is not one of them.
        """
        tiers = dict(TIERS) if self.tiers is None else read_tiers(self.tiers)
        policy = PolicySettings(
            enabled=self.memory_enabled,
            auto_store=self.auto_store,
            tiers=tiers,
            default_tier=self.default_tier,
            secrets=self.secrets,
            instructions=self.instructions,
            audit_days=self.audit_days,
            talk_days=self.talk_days,
            daily_model_calls=self.daily_model_calls,
            daily_tokens=self.daily_tokens,
            store_daily_tokens=self.store_daily_tokens,
        )
        policy.tier(policy.default_tier)
        return policy


def _name(variable: str, text: str | None, base_url: str | None, api_key: SecretStr | None) -> ModelName | None:
    if text:
        return read_model_name(text, variable)
    if base_url or api_key:
        part = "BASE_URL" if base_url else "API_KEY"
        raise ConfigurationError(f"{variable}_{part} is set without a model: set {variable}=provider:model")
    return None


def env_variable(field: str) -> str:
    """The variable that sets a field of `Environment`; of several names the first."""
    alias = Environment.model_fields[field].validation_alias
    return str(alias.choices[0] if isinstance(alias, AliasChoices) else alias)
