import asyncio
import logging
import math

import pytest

from agent_memory.language import defaults
from agent_memory.language.defaults import default_embeddings
from agent_memory.language.hashing import HashingEmbeddings, embed_text
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.tasks import EmbeddingModel


def likeness(first: str, second: str) -> float:
    return sum(a * b for a, b in zip(embed_text(first), embed_text(second), strict=True))


def test_shared_words_bring_texts_together_whatever_their_endings():
    related = likeness("How do we deploy the services?", "Deploying a service takes an hour")
    assert related > 0.25
    assert related > likeness("How do we deploy the services?", "Leo is allergic to peanuts") + 0.2
    assert likeness("the budget is mine", "the goat is here") < 0.1  # common words count for little


def test_it_is_lexical_only_and_documents_that(caplog):
    assert abs(likeness("what may I eat", "she became vegetarian")) < 0.2
    with caplog.at_level(logging.INFO):
        HashingEmbeddings()
    assert "shared words, not shared meaning" in caplog.text
    assert "Lexical only" in (HashingEmbeddings.__doc__ or "")


@pytest.mark.parametrize("text", ["hello", "", "  ", "!?", "日本語", "a" * 10_000, "\ud800"])
def test_every_text_has_a_vector_of_length_1(text):
    vector = embed_text(text)
    assert len(vector) == 384
    assert math.hypot(*vector) == pytest.approx(1.0)


def test_a_vector_is_the_same_on_every_machine():
    places = {index: round(value, 3) for index, value in enumerate(embed_text("goats")) if value}
    assert places == {71: -0.183, 141: -0.183, 186: 0.183, 202: 0.183, 301: -0.913, 347: -0.183}


async def test_many_at_once_are_the_same_as_one_by_one():
    model = HashingEmbeddings()
    texts = [f"Deploying number {n} takes {n} hours" for n in range(40)]
    results = await asyncio.gather(*(model.embed([text]) for text in texts))
    assert isinstance(model, EmbeddingModel)
    assert [result.vectors[0] for result in results] == (await model.embed(texts)).vectors
    assert (model.model_id, model.dimensions) == ("hashing-384", 384)
    assert (await model.embed(texts)).usage.embedded_texts == 40


def test_the_default_is_minilm_where_it_can_be(caplog):
    assert isinstance(default_embeddings(), MiniLMEmbeddings)
    assert caplog.records == []


def test_the_default_is_hashing_with_one_warning_elsewhere(monkeypatch, caplog):
    monkeypatch.setattr(defaults, "find_spec", lambda name: None if name == "onnxruntime" else object())
    assert isinstance(default_embeddings(), HashingEmbeddings)
    [warning] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "Packages are missing (onnxruntime)" in warning.getMessage()
