"""How search and context choose."""

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
from agent_memory.settings.variables import read_variables

QueryStrategy = Literal["as_is", "prepend", "rewrite", "hyde"]
"""What is done about a question that is not self-contained: nothing; add key terms of the talk; have a model rewrite
it; as prepend, and where that finds little, search by a hypothetical answer too."""
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
"""Says of a question what the application knows of it, where no signals are given with the call."""


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How search and context choose. Each field says below what it does.

    Weights are shares of a score, in which the best match by words and by vector is about 1. LoCoMo is what
    `agent_memory.calibration` describes: evidence among the first ten turns, in 100.
    """

    # What a search looks at.
    limit: int = 5
    """Memories that a search gives when it names no limit, 1 to 100."""
    candidates: int = 50
    """Memories that vectors (two in five) and words find, before they are ranked; a search for more hits reads more."""
    thresholds: dict[str, float] = field(default_factory=lambda: {name: one.search for name, one in MEASURED.items()})
    """By the beginning of an embedding model's name: the cosine above which a memory without a word of the question
    counts as related to it. The defaults are those of `agent_memory.calibration`."""
    default_threshold: float = OTHERS.search
    """The same for other models."""
    spots: int = 20
    """How many of the best candidates have the talk around them fetched too."""
    neighbour_reach: int = 2
    """Turns to each side that are fetched, and that gain from a hit."""
    fresh_seconds: float = 60.0
    """What was said within the last seconds is found by its words before it is indexed. 0 switches that off."""
    embedding_timeout: float = 10.0
    """Seconds that a search waits for the vector of its query. Then it goes by the words alone and says so (a warning
    in the log, `degraded` of a context, `health`). It is longer than a model of this machine takes to be loaded. A
    context waits for 60 in 100 of its own time at most."""
    cache_seconds: float = 0.0
    """Seconds for which the process keeps what a search found, as long as the user's memories stay the same; 0: not at
    all. Every process that writes to the store must then have it on: each write of memories or turns is followed by a
    small one that says so, and each search begins with a point read."""

    # How candidates are ranked.
    text_weight: float = 0.5
    """Share of the match by words; the rest is that of the cosine."""
    speaker_weight: float = 0.2
    """Added to what was said by the one whom the question names."""
    date_weight: float = 0.1
    """Added to what was said, or happened, at a time that the question names."""
    neighbour_lift: float = 0.5
    """Share of the better neighbour's score that is added, halved with every turn between them. LoCoMo: 81 with it and
    with what stands beside the best brought in, 69 without."""
    answer_lift: float = 0.3
    """A further share if the turn before is a question and the user answers it."""
    thread_lift: float = 0.2
    """Share of the mean of a conversation's best scores that is added to all of it."""
    chunk_weight: float = 0.9
    """Puts raw talk a little behind what was derived from it."""
    overtaken_weight: float = 0.3
    """Puts talk far behind that says what was replaced since."""
    question_weight: float = 0.8
    """Puts talk that only asks behind talk that tells."""
    agent_weight: float = 0.5
    """Puts what an agent said behind what users said, unless the question is about the agent's words ("What did you
    recommend?"): an agent's answers are long and general, and people ask for what they told. BEAM, among the first ten:
    50.3 with 1.0, 59.0 with 0.7, 60.6 with 0.5 and 0.4, before `agent_memory.calibration.SIGNS`."""
    repeat_overlap: float = 0.9
    """What a better hit says with this share of all their words, and the same figures, is left out."""
    recency_weight: float = 0.0
    """Counts how recent a memory is. LoCoMo: 81.7 without, 81.0 with 0.1, 80.5 with 0.2."""
    importance_weight: float = 0.0
    """Counts how important it is. LoCoMo: 81.7 with 0.1, 81.2 with 0.2."""
    trust_weight: float = 0.0
    """Counts how far its source is believed. LoCoMo: 81.8 with 0.1 and with 0.2."""
    use_weight: float = 0.0
    """Counts how often it was recalled; that is known if `count_uses` is on."""
    count_uses: bool = False
    """Whether recalls are counted, for `use_weight`, fading and eviction. Costs a query and a small write for each user
    who searches, every half minute."""
    rerank: int = 0
    """How many of the best hits a language model puts into order, and whether it orders the conversations found in the
    archive; 0: no model is asked."""
    rerank_timeout: float = 3.0
    """Seconds within which it must answer."""

    # What a context tells.
    context_timeout: float = 5.0
    """Seconds within which a context is there."""
    context_least: float = 0.01
    """How likely a memory of usual length answers the question, 0 to 1, for a context to tell it; a longer one must be
    likelier. With 0 nothing is cut, so all evidence that fits is included. Higher values include less irrelevant
    material."""
    query_strategy: QueryStrategy = "prepend"
    """What is done about a question that is not self-contained."""
    classifier: Classifier | None = None
    """Tells the gate of general facts and of tools; None: it goes by the words."""
    archive_triggers: tuple[str, ...] = ARCHIVE_TRIGGERS
    """Phrases in a question for which a context shows other conversations too. Empty: never."""
    archive_limit: int = 3
    """How many other conversations a context shows at most."""
    archive_thresholds: dict[str, float] = field(
        default_factory=lambda: {name: one.archive for name, one in MEASURED.items()}
    )
    """By the beginning of an embedding model's name: the cosine from which on a context shows another conversation."""
    default_archive_threshold: float = OTHERS.archive
    """The same for other models."""
    hints: int = 0
    """Procedures and insights that a context offers unasked, 0 to 20, if the question or one of the user's last
    messages is nearer to them than `threshold`. Costs one more query and one more call of the embedding model."""

    # What is counted.
    missed_sample: float = 0.0
    """Share of searches, 0 to 1, of which the process counts, behind the answer, what is nearer than the threshold and
    was not given. Each costs one more query, and one runs at a time."""

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
        """How many of the candidates vectors find. 20 beside 30 by words found as much as 30 and 30 (three sets)."""
        return -(-2 * self.candidates // 5)

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
