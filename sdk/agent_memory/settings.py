"""What can be set, with its default, its unit and the environment name that sets it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Annotated, Any, Literal, Self, get_args, get_type_hints
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, create_model, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from agent_memory.errors import ConfigurationError
from agent_memory.models import Signals

QueryStrategy = Literal["as_is", "prepend", "rewrite", "hyde"]
"""What is done about a question that is not self-contained: nothing; add key terms of the talk; have a model rewrite
it; as prepend, and where that finds little, search by a hypothetical answer too (row S0-036)."""
ARCHIVE_TRIGGERS = (
    "what did we discuss",
    "previous conversation",
    "last time",
    "remind me",
    "we mentioned",
    "earlier you said",
)
"""Phrases by which a user refers to other conversations (row S2-09)."""
Classifier = Callable[[str], Awaitable[Signals]]
"""Says of a question what the application knows of it, where no signals are given with the call (row S0-028)."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """How often background work runs. 0 disables a step.

    `extract` and `summarize` count turns of a thread, `profile` turns of a user, `reconcile` and `deepen` (merging,
    procedures, reflection, pruning) extractions of a user. A thread that has been quiet for `idle_seconds` is
    processed whatever its count (0 disables that), and with `archive` also archived, as one that was ended is. With
    `deepen`, a user is deepened after `deepen_hours` too, however little was said, if at all (0 disables that).

    A thread in which the user turns to another topic is extracted and summarised ahead of its count if `drift` is
    above 0: what they say now is then further from what they have said of the topic than this cosine distance (0 to
    2). It is a figure of the embedding model, and none is right for all talk (`docs/architecture.md` has a table), so
    it is off by default.

    With `one_call`, where extraction and summary are due over the same turns, a language model is asked once for both
    (the prompt `extract_and_summarize`). That saves a call and the second reading of the turns. It is off by default,
    because no measurement shows that a model does both as well at once.
    """

    extract: int = 10
    summarize: int = 10
    profile: int = 20
    reconcile: int = 5
    deepen: int = 0
    idle_seconds: float = 120.0
    archive: bool = False
    drift: float = 0.0
    deepen_hours: float = 24.0
    one_call: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one run of a step, so that a backlog of any length is worked off in pieces.

    A turn with more than `turn_sentences` sentences and lines is not read for memories, but becomes a dead letter: the
    longest turn that a store takes, 1.7 million characters, has some 20,000 if it is talk, and each costs a
    millisecond or two of rules. It is indexed all the same, up to what one commit holds.

    Facts about one thing are merged from `merge_from` of them on; merging, procedures and reflection look at the
    `deepen_memories` newest. A commit is one transactional batch: at most 100 operations and 2 MB (Azure Cosmos DB
    service limits).
    """

    batch_turns: int = 20
    turn_sentences: int = 50_000
    batch_tokens: int = 4000
    turns_before: int = 4
    batch_memories: int = 50
    reconcile_candidates: int = 50
    profile_facts: int = 100
    merge_from: int = 5
    deepen_memories: int = 200
    state_ttl_seconds: int = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How search and context choose.

    A search that names no limit gives `limit` memories (1 to 100; row S0-075).

    `threshold` is the least cosine at which a memory found by its vector alone counts as related. Cosines of
    different embedding models do not compare, so it is kept per model; `default_threshold` is S0's figure
    (row S0-037). Vectors and words find `candidates` together; the talk up to `neighbour_reach` turns around the
    `spots` best of them is fetched too. A score is `text_weight` of the text match and the rest of the cosine, plus
    `speaker_weight` for what was said by the one whom the question names, plus `date_weight` for what was said or
    happened at a time that it names, plus `neighbour_lift` of the better neighbour in the talk (half of that two turns
    away), with `answer_lift` more if that is the question that the user answers, plus `thread_lift` of the best of the
    conversation. `recency_weight`, `importance_weight`, `use_weight` and `trust_weight` count what a memory is worth
    whatever the question (`recall.worth`). How often a memory was recalled is known, also to what fades or is given up
    for others, if `count_uses` is on; that costs a query and a small write for each user who searches, every half
    minute. What a better hit says with `repeat_overlap` of all their words and the same figures is left out. A language
    model puts the best `rerank` of the hits into order, and the conversations found in the archive (0: none is asked),
    if it does so within `rerank_timeout` seconds.
    `chunk_weight` puts raw talk a little behind what was derived from it, `overtaken_weight` talk that says what was
    replaced since far behind, and `question_weight` what only asks behind what tells.

    A search waits `embedding_timeout` seconds for the vector of its query, then goes by the words alone and says so
    (a warning in the log, `degraded` of a context, `health`). That is longer than a model of this machine takes to be
    loaded, and shorter than anybody waits. A context waits for 60 in 100 of its own time at most.

    What was said in the last `fresh_seconds` is found by its words before it is indexed (0: not until it is).

    What a search found is kept in the process for `cache_seconds` (0: not at all) as long as the user's memories stay
    the same. Every process that writes to the store must then have it on: each write of memories or turns is followed
    by a small one that says so, and each search begins with a point read.

    A context tells no memory with less than `context_cut` of the best one's score: of what follows, hardly anything
    answers (LoCoMo: half the score costs 0.3 of 100 questions, and saves 13 of 100 tokens). It answers within
    `context_timeout` seconds. `classifier` tells its gate of general facts and tools. For a
    message with one of `archive_triggers` (none: never), other conversations are told too, `archive_limit` of them at
    most, if their cosine is at least the archive's threshold (rows S2-08, S2-09). It offers up to `hints` procedures
    and insights that nobody asked for (0: none), if the question or one of the user's last messages is nearer to them
    than `threshold`; that costs one more query and one more call of the embedding model, beside the search.

    Of this share of searches (`missed_sample`, 0 to 1) the process counts, behind the answer, what is nearer than the
    threshold and was not given; each costs one more query, and one runs at a time.
    """

    limit: int = 5
    candidates: int = 40
    text_weight: float = 0.5
    speaker_weight: float = 0.2
    date_weight: float = 0.1
    neighbour_lift: float = 0.5
    neighbour_reach: int = 2
    answer_lift: float = 0.3
    thread_lift: float = 0.2
    spots: int = 20
    recency_weight: float = 0.0
    importance_weight: float = 0.0
    use_weight: float = 0.0
    count_uses: bool = False
    trust_weight: float = 0.0
    repeat_overlap: float = 0.9
    rerank: int = 0
    rerank_timeout: float = 3.0
    chunk_weight: float = 0.9
    overtaken_weight: float = 0.3
    question_weight: float = 0.8
    embedding_timeout: float = 10.0
    default_threshold: float = 0.6
    thresholds: dict[str, float] = field(default_factory=lambda: {"all-MiniLM-L6-v2": 0.3, "hashing-384": 0.2})
    context_cut: float = 0.5
    fresh_seconds: float = 60.0
    cache_seconds: float = 0.0
    context_timeout: float = 5.0
    query_strategy: QueryStrategy = "prepend"
    classifier: Classifier | None = None
    archive_triggers: tuple[str, ...] = ARCHIVE_TRIGGERS
    archive_limit: int = 3
    default_archive_threshold: float = 0.7
    archive_thresholds: dict[str, float] = field(default_factory=lambda: {"all-MiniLM-L6-v2": 0.3, "hashing-384": 0.15})
    hints: int = 0
    missed_sample: float = 0.0

    def __post_init__(self) -> None:
        """Refuses what no search takes.

        Raises:
            ConfigurationError: if a limit is none from 1 to 100, the hints none from 0 to 20, or a share none from 0
                to 1.
        """
        if not 1 <= self.limit <= 100:
            raise ConfigurationError(f"{RECALL_PREFIX}LIMIT: a limit is a number from 1 to 100, not {self.limit}")
        if not 0 <= self.hints <= 20:
            raise ConfigurationError(f"{RECALL_PREFIX}HINTS: hints are a number from 0 to 20, not {self.hints}")
        if not 0 <= self.missed_sample <= 1:
            raise ConfigurationError(
                f"{RECALL_PREFIX}MISSED_SAMPLE: a share is a number from 0 to 1, not {self.missed_sample}"
            )

    @property
    def caches(self) -> bool:
        """Whether searches are kept at all."""
        return self.cache_seconds > 0

    def threshold(self, embedding_model: str) -> float:
        """The least cosine that counts for this embedding model (matched by the beginning of its name)."""
        return _of_model(embedding_model, self.thresholds, self.default_threshold)

    def archive_threshold(self, embedding_model: str) -> float:
        """The least cosine of a question to the account of another conversation."""
        return _of_model(embedding_model, self.archive_thresholds, self.default_archive_threshold)


def _of_model(embedding_model: str, values: Mapping[str, float], default: float) -> float:
    return next((value for name, value in values.items() if embedding_model.startswith(name)), default)


@dataclass(frozen=True, slots=True)
class Tier:
    """What a plan includes: how many memories are kept (None: any number) and how many one search gives.

    A plan with 0 of either has no memory at all.
    """

    max_memories: int | None
    retrieval_limit: int

    @property
    def enabled(self) -> bool:
        """Whether the plan includes memory."""
        return self.max_memories != 0 and self.retrieval_limit > 0


TIERS: dict[str, Tier] = {
    "free": Tier(0, 0),
    "basic": Tier(100, 5),
    "pro": Tier(500, 10),
    "enterprise": Tier(None, 20),
}
"""The plans of rows S3-18 to S3-21."""

SecretsAction = Literal["redact", "quarantine", "allow"]
InstructionsAction = Literal["quarantine", "redact", "allow"]

TierResolver = Callable[[str], str | Awaitable[str | None] | None]
"""Tells the tier of a user by their id; None for the one that the store knows, or the default."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What the operator allows.

    `enabled` is the global switch. Without `auto_store` nothing is derived from what is said, while what is remembered
    by hand is kept and recalled.

    A user's tier is what `tier_of` says, else what was assigned to them, else `default_tier`. Secrets in what is
    remembered are taken out (`redact`), or the memory waits for review (`quarantine`); likewise what reads as an order
    to a model. The audit is kept for `audit_days`; 0 for none. What the processing of one user may cost in a day (UTC)
    is bounded by `daily_model_calls` and `daily_tokens`; None for no bound.
    """

    enabled: bool = True
    auto_store: bool = True
    tiers: Mapping[str, Tier] = field(default_factory=lambda: dict(TIERS))
    default_tier: str = "enterprise"
    tier_of: TierResolver | None = None
    secrets: SecretsAction = "redact"
    instructions: InstructionsAction = "quarantine"
    audit_days: int = 0
    daily_model_calls: int | None = None
    daily_tokens: int | None = None

    @property
    def has_budgets(self) -> bool:
        """Whether processing is bounded."""
        return self.daily_model_calls is not None or self.daily_tokens is not None

    def tier(self, name: str) -> Tier:
        """The tier of this name.

        Raises:
            ConfigurationError: if there is none.
        """
        if name not in self.tiers:
            raise ConfigurationError(f"no tier {name!r}; there are {', '.join(self.tiers)}")
        return self.tiers[name]


def read_tiers(text: str) -> dict[str, Tier]:
    """The tiers of a JSON object: `{"basic": {"max_memories": 100, "retrieval_limit": 5}}`, null for any number.

    Raises:
        ConfigurationError: if the text is something else.
    """
    try:
        given = json.loads(text)
        tiers = {name: Tier(plan["max_memories"], plan["retrieval_limit"]) for name, plan in given.items()}
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise ConfigurationError(f"MEMORY_TIERS: not a JSON object of tiers: {error!r}") from error
    for name, tier in tiers.items():
        for number in (tier.max_memories or 0, tier.retrieval_limit):
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise ConfigurationError(f"MEMORY_TIERS: {name}: {number!r} is not a number from 0")
    return tiers


RECALL_PREFIX = "AGENT_MEMORY_RECALL_"
"""How the environment names a field of `RecallSettings`: AGENT_MEMORY_RECALL_CACHE_SECONDS is `cache_seconds`."""


def read_recall(**defaults: Any) -> RecallSettings:
    """The settings of recall that the environment says; where it says nothing, these defaults, else the usual ones.

    Lists and tables are JSON. `classifier` is code and has no name.

    Raises:
        ConfigurationError: naming the variable whose value cannot be read.
    """
    return RecallSettings(**(defaults | _read(_recall_environment(), RECALL_PREFIX)))


def _read(environment: type[BaseSettings], prefix: str) -> dict[str, Any]:
    """What variables with a prefix say, by the names of the fields."""
    try:
        given = environment()
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigurationError(f"{prefix}{str(problem['loc'][0]).upper()}: {problem['msg']}") from error
    except SettingsError as error:
        raise ConfigurationError(f"a variable {prefix}… is not the JSON that it must be: {error}") from error
    return {name: getattr(given, name) for name in given.model_fields_set}


@cache
def _recall_environment() -> type[BaseSettings]:
    hints, default = get_type_hints(RecallSettings), RecallSettings()
    named: dict[str, Any] = {
        one.name: (hints[one.name], getattr(default, one.name))
        for one in fields(RecallSettings)
        if one.name != "classifier"
    }
    return create_model("RecallEnvironment", __base__=_Prefixed, **named)


class _Prefixed(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=RECALL_PREFIX, env_file=None, extra="ignore", allow_inf_nan=False)


ChatRole = Literal["extraction", "summary", "profile", "reconcile", "reflection", "rewrite", "selection", "reply"]
"""What a chat model is asked to do; `language.roles` has the tasks of each."""
CHAT_PREFIX = "AGENT_MEMORY_CHAT_"
"""How the environment names what is set for a role: AGENT_MEMORY_CHAT_EXTRACTION is the model of `extraction`."""
NO_MODEL = "none"
"""The name of a model that switches its role off."""


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """What is set for one role. None: as for the other roles, or as the head of a task's prompt says.

    `model` is a model or, on Azure, a deployment; `none` switches the role off. `base_url` is the address of a server
    of the role's own that speaks OpenAI's protocol, and `api_key` the key for it. `timeout` is in seconds for one call,
    `max_tokens` the length of an answer, `temperature` from 0 to 2.
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
        """Whether the role has a model or a server of its own."""
        return not self.is_off and bool(self.model or self.base_url)


def role_variable(role: ChatRole, part: str) -> str:
    """The variable that sets a part of a role: its name alone for the model."""
    return CHAT_PREFIX + _role_field(role, part).upper()


def read_roles() -> dict[ChatRole, RoleSettings]:
    """What the environment sets for roles: those for which it sets something.

    Raises:
        ConfigurationError: naming the variable whose value cannot be read.
    """
    given = _read(_role_environment(), CHAT_PREFIX)
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


_CADENCE = {
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
}
"""Of each part of a cadence, the setting that says it."""


_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


class Environment(BaseSettings):
    """The environment variables that `from_env` and the function app read. Several systems' names are accepted."""

    model_config = SettingsConfigDict(env_file=None, extra="ignore", populate_by_name=True)

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
    archive_idle: bool = Field(default=False, validation_alias="ARCHIVE_IDLE_THREADS")
    idle_seconds: float = Field(default=300.0, ge=0, validation_alias="AGENT_MEMORY_IDLE_SECONDS")
    query_strategy: QueryStrategy | None = Field(default=None, validation_alias="QUERY_STRATEGY")
    allow_header_identity: bool = Field(default=False, validation_alias="ALLOW_HEADER_IDENTITY")
    memory_enabled: bool = Field(default=True, validation_alias="ENABLE_MEMORY")
    auto_store: bool = Field(default=True, validation_alias="MEMORY_AUTO_STORE")
    tiers: str | None = Field(default=None, validation_alias="MEMORY_TIERS")
    default_tier: str = Field(default="enterprise", validation_alias="MEMORY_DEFAULT_TIER")
    secrets: SecretsAction = Field(default="redact", validation_alias="MEMORY_SECRETS")
    instructions: InstructionsAction = Field(default="quarantine", validation_alias="MEMORY_INSTRUCTIONS")
    audit_days: int = Field(default=0, ge=0, le=3650, validation_alias="MEMORY_AUDIT_DAYS")
    daily_model_calls: int | None = Field(default=None, ge=0, validation_alias="MEMORY_DAILY_MODEL_CALLS")
    daily_tokens: int | None = Field(default=None, ge=0, validation_alias="MEMORY_DAILY_TOKENS")

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
        """How often the function app works: only what is set (rows S1-46 to S1-49)."""
        return Cadence(**{name: getattr(self, field) for name, field in _CADENCE.items()})

    @property
    def local_cadence(self) -> Cadence:
        """How often a process works that keeps its store itself: as usual, but for what is set."""
        given = {name: field for name, field in _CADENCE.items() if field in self.model_fields_set}
        return replace(Cadence(), **{name: getattr(self, field) for name, field in given.items()})

    @property
    def recall(self) -> RecallSettings:
        """How search and context choose.

        Raises:
            ConfigurationError: naming the variable whose value cannot be read.
        """
        rewrite = self.roles.get("rewrite", RoleSettings())
        # A model for rewriting is what switches rewriting on.
        recall = read_recall(**({"query_strategy": "rewrite"} if rewrite.has_model else {}))
        return recall if self.query_strategy is None else replace(recall, query_strategy=self.query_strategy)

    @property
    def roles(self) -> dict[ChatRole, RoleSettings]:
        """What is set for single roles of chat models.

        Raises:
            ConfigurationError: naming the variable whose value cannot be read.
        """
        return read_roles()

    @property
    def policy(self) -> PolicySettings:
        """What the operator allows.

        Raises:
            ConfigurationError: if the tiers cannot be read, or the default is none of them.
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
            daily_model_calls=self.daily_model_calls,
            daily_tokens=self.daily_tokens,
        )
        policy.tier(policy.default_tier)
        return policy
