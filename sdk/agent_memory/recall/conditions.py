"""Conditions: what an answer must respect although the question does not ask for it.

"Give me a recipe" has nothing in common with "I'm allergic to peanuts", neither words nor vectors. So if a question
resembles the example requests of one of the `SUBJECTS`, another query reads the facts nearest to the example conditions
of that subject. The answer must respect those facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.calibration import Calibration
from agent_memory.language.tasks import EmbeddingModel, Vector
from agent_memory.models import Hit, Memory
from agent_memory.recall.relevance import nearness
from agent_memory.text.likeness import cosine, middle

CONDITIONS_READ = 10
"""Memories that are read for a subject. A choice."""
CONDITIONS_SHOWN = 3
"""Maximum conditions in a context. A choice."""
ASKED = 1.0
"""Minimum nearness of a question to a request of a subject. Chosen with the next on the seen half of
`tests/data/labelled/conditions.json`. On the other half, 13 of 16 requests are found, and none of 14 other questions is
taken for one (all-MiniLM-L6-v2)."""
BINDS = 0.75
"""Minimum nearness of a fact to the conditions of a subject, chosen like `ASKED`. On the other half, 15 of 20
conditions of users and 13 of 20 of others are found, and 2 of 33 other facts are taken for one. It is lower than
`ASKED`, because a condition that is missed does harm."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What people ask for, and what they say of themselves and others that binds the answer; examples in any words."""

    requests: tuple[str, ...]
    conditions: tuple[str, ...]


SUBJECTS = (
    Subject(
        ("What should I eat?", "Suggest a restaurant for dinner.", "Give me a recipe to cook.", "Order some snacks."),
        (
            "I am allergic to nuts.",
            "My son is allergic to eggs.",
            "I don't eat meat.",
            "Tom is vegetarian.",
            "I follow a diet.",
            "She can't have dairy.",
        ),
    ),
    Subject(
        ("Suggest a workout.", "Which sport should I do?", "Plan a hike for us."),
        ("I have a bad knee.", "Tom has a bad back.", "I injured my back.", "She has asthma.", "I'm pregnant."),
    ),
)
"""Food and bodily activity: what forgetting does harm in. Examples are in English; a multilingual embedding model finds
the same in other languages."""


class SubjectVectors:
    """The vectors of the `SUBJECTS`, which a process embeds once."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[list[Vector], Vector]]] = {}

    async def of(self, model: EmbeddingModel) -> list[tuple[list[Vector], Vector]]:
        """For each subject, the vectors of its requests, and one for its conditions.

        Raises:
            AgentMemoryError: if the model fails.
        """
        if model.model_id not in self._known:
            texts = [text for subject in SUBJECTS for text in (*subject.requests, *subject.conditions)]
            vectors = iter((await model.embed(texts)).vectors)
            self._known[model.model_id] = [
                ([next(vectors) for _ in subject.requests], middle([next(vectors) for _ in subject.conditions]))
                for subject in SUBJECTS
            ]
        return self._known[model.model_id]


def conditions_asked_for(
    vector: Vector, subjects: Sequence[tuple[list[Vector], Vector]], calibration: Calibration
) -> list[Vector]:
    """The vectors of conditions that an answer to a question must respect; mostly none.

    Args:
        vector: That of the question.
        subjects: Those of the subjects.
        calibration: The calibration of the embedding model.
    """
    return [
        conditions
        for requests, conditions in subjects
        if max(nearness(cosine(vector, request), calibration) for request in requests) >= ASKED
    ]


def binding(found: Sequence[tuple[Memory, float]], calibration: Calibration) -> list[Hit]:
    """The memories that are near enough to the conditions by which they were found, the nearest first."""
    near = sorted((one for one in found if nearness(one[1], calibration) >= BINDS), key=lambda one: -one[1])
    best: dict[str, Hit] = {}  # two subjects may find one memory
    for memory, similarity in near:
        best.setdefault(memory.id, Hit(memory=memory, score=similarity))
    return [*best.values()][:CONDITIONS_SHOWN]
