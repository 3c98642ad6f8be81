"""How relevant an account is does not depend on which embedding model measured it."""

import itertools

import pytest

from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.relevance_curve import RelevanceCurve, relevance_curve
from agent_memory.language.tasks import Embedded
from agent_memory.models import Usage


class Shifted:
    """The vectors of another model with a component that all texts share: all cosines lie between 0.5 and 1."""

    def __init__(self) -> None:
        self._inner = MiniLMEmbeddings()
        self.model_id = "shifted"
        self.dimensions = self._inner.dimensions + 1

    async def embed(self, texts: list[str]) -> Embedded:
        inner = await self._inner.embed(texts)
        half = 0.5**0.5
        return Embedded([[*(half * one for one in vector), half] for vector in inner.vectors], Usage())

    async def close(self) -> None:
        await self._inner.close()


@pytest.mark.req("S2-08")
async def test_what_answers_is_relevant_and_what_does_not_is_not_whatever_the_model():
    plain, shifted = await relevance_curve(MiniLMEmbeddings()), await relevance_curve(Shifted())
    assert plain is not None
    assert shifted is not None
    assert plain.least_cosine(0.7) == pytest.approx(0.25, abs=0.02)
    for cosine in (0.1, 0.2, 0.25, 0.3, 0.41):
        assert shifted.relevance(0.5 + cosine / 2) == pytest.approx(plain.relevance(cosine), abs=0.001)
    assert plain.relevance(0.41) > 0.95
    assert plain.relevance(0.1) < 0.1


async def test_a_model_without_meaning_is_not_calibrated():
    assert await relevance_curve(HashingEmbeddings()) is None


def test_a_threshold_and_its_cosine_belong_together():
    curve = RelevanceCurve(0.2, 25)
    thresholds = [0.01, 0.3, 0.5, 0.7, 0.8, 0.99]
    cosines = [curve.least_cosine(one) for one in thresholds]
    assert all(one < other for one, other in itertools.pairwise(cosines))
    assert [curve.relevance(one) for one in cosines] == pytest.approx(thresholds)
    assert (curve.least_cosine(0), curve.least_cosine(1)) == (-1, 1)
