"""How search and context choose what they return."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, get_type_hints

from pydantic import create_model
from pydantic_settings import BaseSettings, SettingsConfigDict

from agent_memory.calibration import MEASURED, OTHERS
from agent_memory.errors import ConfigurationError
from agent_memory.models import Signals
from agent_memory.settings.models import read_variables

QueryStrategy = Literal["as_is", "prepend", "rewrite", "hyde"]
"""How to handle a question that is not self-contained: not at all; add key terms of the conversation; let a model
rewrite it; like prepend, and if that finds little, also search with a hypothetical answer."""
ARCHIVE_TRIGGERS = (
    "what did we discuss",
    "previous conversation",
    "last time",
    "remind me",
    "we mentioned",
    "earlier you said",
)
"""Phrases by which a user refers to other conversations."""
Classifier = Callable[[str], Awaitable[Signals]]
"""Returns what the application knows about a question, if a call passes no signals."""


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How search and context choose what they return. The docstring below each field describes it.

    Weights are shares of a score, in which the best match by words and by vector is about 1. `agent_memory.calibration`
    describes the LoCoMo figures: evidence among the first ten turns, in percent.
    """

    # What a search looks at.
    limit: int = 5
    """Memories that a search returns by default, 1 to 100."""
    candidates: int = 50
    """Memories that vectors (two in five) and words find, before they are ranked; a search for more hits reads more."""
    thresholds: dict[str, float] = field(default_factory=lambda: {name: one.search for name, one in MEASURED.items()})
    """By the start of an embedding model's name: the cosine above which a memory counts as related to the question
    without sharing a word with it. The defaults are those of `agent_memory.calibration`."""
    default_threshold: float = OTHERS.search
    """The same for other models."""
    spots: int = 20
    """For how many of the best candidates the turns around them are fetched too."""
    neighbour_reach: int = 2
    """Turns on each side of a hit that are fetched, and whose score the hit raises."""
    fresh_seconds: float = 1200.0
    """Seconds for which a turn that is not indexed yet is found by its words. 0 switches this off. A conversation is
    indexed after 10 turns, or when it is quiet for 120 seconds (`Cadence`), so a turn waits for 20 minutes at most.
    A search costs two more parallel requests for a user who wrote in that time."""
    embedding_timeout: float = 10.0
    """Seconds that a search waits for the vector of its query. After that it uses words only and reports it (a warning
    in the log, `degraded` of a context, `health`). It is longer than a local model takes to load. A context waits for
    at most 60 % of its own time limit."""
    read_timeout: float = 30.0
    """Time limit of a search and of every other read but a context, in seconds; 0: none. After it, `StoreUnavailable`
    is raised: a busy store may ask for waits that add up to minutes. Writes and background work wait."""
    cache_seconds: float = 0.0
    """Seconds for which the process caches the results of a search, while the user's memories stay the same; 0: no
    cache. Every process that writes to the store must then set it too: each write of memories or turns adds a small
    write that invalidates the cache, and each search starts with a point read."""

    # How candidates are ranked.
    text_weight: float = 0.5
    """Share of the match by words in a score; the cosine has the rest."""
    speaker_weight: float = 0.2
    """Added to the score of what a person said whom the question names."""
    date_weight: float = 0.1
    """Added to the score of what was said, or happened, at a time that the question names."""
    neighbour_lift: float = 0.5
    """Share of the better neighbour's score that is added, halved with every turn between them. LoCoMo: 81 with it and
    with the neighbours of the best hits fetched, 69 without."""
    answer_lift: float = 0.3
    """A further share if the turn before is a question that the user answers; or the agent, if it is asked for what it
    said."""
    thread_lift: float = 0.2
    """Share of the mean of a conversation's best scores that is added to all of it."""
    chunk_weight: float = 0.9
    """Ranks raw turns a little below what was derived from them."""
    overtaken_weight: float = 0.3
    """Ranks a turn far lower if its fact was replaced later."""
    question_weight: float = 0.8
    """Ranks turns that only ask below turns that state something."""
    agent_weight: float = 0.5
    """Ranks what an agent said below what users said, unless the question is about the agent's words ("What did you
    recommend?"): an agent's answers are long and general, and people ask for what they said themselves. BEAM, among the
    first ten: 50.3 with 1.0, 59.0 with 0.7, 60.6 with 0.5 and 0.4, before `agent_memory.calibration.SIGNS`."""
    repeat_overlap: float = 0.9
    """A hit is left out if a better hit has its figures and at least this share of its words."""
    recency_weight: float = 0.0
    """Weight of how recent a memory is. LoCoMo: 81.7 without, 81.0 with 0.1, 80.5 with 0.2."""
    importance_weight: float = 0.0
    """Weight of how important it is. LoCoMo: 81.7 with 0.1, 81.2 with 0.2."""
    trust_weight: float = 0.0
    """Weight of how far its source is trusted. LoCoMo: 81.8 with 0.1 and with 0.2."""
    use_weight: float = 0.0
    """Weight of how often it was recalled; this needs `count_uses`."""
    count_uses: bool = False
    """Whether recalls are counted, for `use_weight`, fading and eviction. Costs a query and a small write for each user
    who searches, every half minute."""
    rerank: int = 0
    """How many of the best hits a language model reorders, and whether it also reorders the conversations found in the
    archive; 0: no model is called."""
    rerank_timeout: float = 3.0
    """Time limit of that call, in seconds."""

    # What a context shows.
    context_timeout: float = 5.0
    """Time limit of a context, in seconds."""
    context_least: float = 0.01
    """Minimum probability, 0 to 1, that a memory of usual length answers the question, for a context to show it; a
    longer one needs more. With 0 nothing is left out, so all evidence that fits is included. Higher values include less
    irrelevant material."""
    query_strategy: QueryStrategy = "prepend"
    """How to handle a question that is not self-contained."""
    classifier: Classifier | None = None
    """Tells the gate whether a question is about general facts or for a tool. None: the gate uses the words."""
    archive_triggers: tuple[str, ...] = ARCHIVE_TRIGGERS
    """Phrases in a question for which a context shows other conversations too. Empty: never."""
    archive_limit: int = 3
    """Maximum number of other conversations that a context shows."""
    archive_thresholds: dict[str, float] = field(
        default_factory=lambda: {name: one.archive for name, one in MEASURED.items()}
    )
    """By the start of an embedding model's name: the minimum cosine for a context to show another conversation."""
    default_archive_threshold: float = OTHERS.archive
    """The same for other models."""
    hints: int = 0
    """Procedures and insights that a context adds unasked, 0 to 20, if their cosine to the question or to one of the
    user's last messages exceeds `threshold`. Costs one more query and one more call of the embedding model."""

    # What is counted.
    missed_sample: float = 0.0
    """Share of searches, 0 to 1, for which the process counts the memories above the threshold that were not returned,
    after it has answered. Each costs one more query, and one runs at a time."""

    def __post_init__(self) -> None:
        """Refuses invalid values.

        Raises:
            ConfigurationError: if the limit is not from 1 to 100, the hints not from 0 to 20, or a share not from 0 to
            1.
        """
        if not 1 <= self.limit <= 100:
            raise ConfigurationError(f"{RECALL_PREFIX}LIMIT: a limit is a number from 1 to 100, not {self.limit}")
        if not 0 <= self.hints <= 20:
            raise ConfigurationError(f"{RECALL_PREFIX}HINTS: hints are a number from 0 to 20, not {self.hints}")
        if not 0 <= self.context_least <= 1:
            raise ConfigurationError(
                f"{RECALL_PREFIX}CONTEXT_LEAST: a share is a number from 0 to 1, not {self.context_least}"
            )
        if not 0 <= self.missed_sample <= 1:
            raise ConfigurationError(
                f"{RECALL_PREFIX}MISSED_SAMPLE: a share is a number from 0 to 1, not {self.missed_sample}"
            )

    @property
    def nearest(self) -> int:
        """How many candidates come from vectors. 20, with 30 by words, found as much as 30 (three sets)."""
        return -(-2 * self.candidates // 5)

    @property
    def caches(self) -> bool:
        """Whether searches are cached at all."""
        return self.cache_seconds > 0

    def threshold(self, embedding_model: str) -> float:
        """The threshold of this embedding model (matched by the start of its name)."""
        return _of_model(embedding_model, self.thresholds, self.default_threshold)

    def archive_threshold(self, embedding_model: str) -> float:
        """The minimum cosine of a question to the account of another conversation."""
        return _of_model(embedding_model, self.archive_thresholds, self.default_archive_threshold)


def _of_model(embedding_model: str, values: Mapping[str, float], default: float) -> float:
    return next((value for name, value in values.items() if embedding_model.startswith(name)), default)


RECALL_PREFIX = "AGENT_MEMORY_RECALL_"
"""The prefix of variables for `RecallSettings`: AGENT_MEMORY_RECALL_CACHE_SECONDS sets `cache_seconds`."""


def read_recall(**defaults: Any) -> RecallSettings:
    """The recall settings in the environment; if not set there, the given defaults, else the usual ones.

    Lists and tables are JSON. `classifier` is code and has no name.

    Raises:
        ConfigurationError: naming the variable whose value cannot be read.
    """
    return RecallSettings(**(defaults | read_variables(_recall_environment(), RECALL_PREFIX)))


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
