"""How search and context choose."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, get_type_hints

from pydantic import create_model
from pydantic_settings import BaseSettings, SettingsConfigDict

from agent_memory.errors import ConfigurationError
from agent_memory.models import Signals
from agent_memory.settings.variables import read_variables

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


RECALL_PREFIX = "AGENT_MEMORY_RECALL_"
"""How the environment names a field of `RecallSettings`: AGENT_MEMORY_RECALL_CACHE_SECONDS is `cache_seconds`."""


def read_recall(**defaults: Any) -> RecallSettings:
    """The settings of recall that the environment says; where it says nothing, these defaults, else the usual ones.

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
