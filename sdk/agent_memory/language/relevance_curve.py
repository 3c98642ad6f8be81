"""Relevance: how likely an account answers a question, by their cosine, for any embedding model.

Cosines of different models cannot be compared: 0.7 is low for one and never reached by another. So each model embeds
sixteen questions, each with the account of a conversation that answers it. This shows how the cosines of matching pairs
and of other pairs are distributed. Two normal distributions of the same width (the root of the mean of both variances)
give a logistic curve.

Cosines of all-MiniLM-L6-v2, mean and standard deviation: 0.37 (0.15) for what answers, 0.04 (0.08) for what does not.
So a relevance of 0.7 corresponds to a cosine of 0.24, and 0.8 to 0.27.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, pvariance

from agent_memory.calibration import LEAST_APART
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.text.likeness import cosine

_ANSWERED = [
    ("the login of our web shop", "The user plans sign-in with one-time codes by mail; sessions end after 30 minutes."),
    (
        "where the family goes in August",
        "They chose a cabin by a lake in Finland for two weeks and want to rent a boat.",
    ),
    ("my mother's birthday present", "A ceramics course or a garden bench for the mother, for up to 200 euros."),
    (
        "the slow database query",
        "An index on the order date was missing; now the report takes two seconds, not ninety.",
    ),
    ("training for the half marathon", "Three runs a week, the long one on Sunday; the race is in October."),
    (
        "which laptop to buy",
        "They compared two models by weight and battery; the lighter one with 32 GB was preferred.",
    ),
    ("the bread that did not rise", "The yeast was old and the kitchen cold; next time the dough rests in the fridge."),
    ("the contract with the landlord", "Notice is three months, the deposit two rents; painting walls needs consent."),
    ("moving the service to Kubernetes", "Two replicas, health checks on port 8080, and secrets come from the vault."),
    ("Tom's school problems", "Tom fails in maths since the new teacher came; the parents will ask for a meeting."),
    ("the budget for marketing", "Half of the 40,000 goes to search ads, a quarter to the fair in May."),
    ("the plants on the balcony", "Tomatoes get too little light in the north corner; herbs and ferns replace them."),
    (
        "the side effects of the medicine",
        "Since the dose was doubled the user sleeps badly; now it is taken in the morning.",
    ),
    ("the talk at the conference", "Twenty minutes on testing, with one live demo; slides are due a week ahead."),
    ("the electric car", "Range matters more than speed; charging at home needs a stronger fuse in the garage."),
    ("learning Spanish", "Ten minutes of vocabulary a day and a tandem partner from Seville on Thursdays."),
]
_KNOWN: dict[str, RelevanceCurve | None] = {}


@dataclass(frozen=True, slots=True)
class RelevanceCurve:
    """The logistic curve of a model: at the cosine `middle` an account answers as often as not."""

    middle: float
    steepness: float

    def relevance(self, similarity: float) -> float:
        """How likely an account answers, from 0 to 1, by its cosine to the question."""
        return 1 / (1 + math.exp(-self.steepness * (similarity - self.middle)))

    def least_cosine(self, relevance: float) -> float:
        """The lowest cosine of an account that is at least so relevant: -1 for a relevance of 0, and 1 for 1."""
        if relevance <= 0:
            return -1.0
        if relevance >= 1:
            return 1.0
        return self.middle + math.log(relevance / (1 - relevance)) / self.steepness


async def relevance_curve(embeddings: EmbeddingModel) -> RelevanceCurve | None:
    """The curve of a model; None if its cosines do not separate answers from other texts (hashed words).

    Embeds 32 sentences on the first call for a model in a process.

    Raises:
        ModelError: if the model is unavailable.
    """
    if embeddings.model_id not in _KNOWN:
        _KNOWN[embeddings.model_id] = await _measured(embeddings)
    return _KNOWN[embeddings.model_id]


async def _measured(embeddings: EmbeddingModel) -> RelevanceCurve | None:
    number = len(_ANSWERED)
    texts = [question for question, _ in _ANSWERED] + [account for _, account in _ANSWERED]
    vectors = (await embeddings.embed(texts)).vectors
    near = [cosine(vectors[one], vectors[number + one]) for one in range(number)]
    far = [cosine(vectors[one], vectors[number + two]) for one in range(number) for two in range(number) if one != two]
    apart, variance = fmean(near) - fmean(far), (pvariance(near) + pvariance(far)) / 2
    if apart < LEAST_APART * math.sqrt(variance) or variance == 0:
        return None
    return RelevanceCurve((fmean(near) + fmean(far)) / 2, apart / variance)
