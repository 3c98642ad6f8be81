import asyncio
import hashlib
import json
import os
import socket

import numpy as np
import pytest

from agent_memory.errors import ConfigurationError
from agent_memory.language import minilm
from agent_memory.language.minilm import MODEL_SHA256, MiniLMEmbeddings, token_batches
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.language.vectors import unit

BUDGET = "Maya's budget for the Hawaii vacation is $15,000"
TEXTS = [
    BUDGET,
    "To deploy payment-service, run npm build, then docker push",
    "Sarah works in the Marketing department",
    "ok",
    "The cat sat on the mat. " * 60,
    "Leo is allergic to peanuts and avoids anything that may have touched them",
]


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a local model opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


async def test_meaning_decides_what_is_near():
    model = MiniLMEmbeddings()
    question, *facts = (await model.embed(["How much money can I spend on the trip?", *TEXTS])).vectors
    similarities = np.array(facts) @ np.array(question)
    assert int(similarities.argmax()) == 0
    assert similarities[0] > 0.4 > 0.2 > max(similarities[1], similarities[2])


async def test_vectors_do_not_depend_on_the_batch_and_have_length_1():
    model = MiniLMEmbeddings()
    together = np.array((await model.embed(TEXTS)).vectors)
    alone = np.array([(await model.embed([text])).vectors[0] for text in TEXTS])
    assert isinstance(model, EmbeddingModel)
    assert together.shape == (len(TEXTS), model.dimensions)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0)
    assert (together * alone).sum(axis=1).min() > 0.999
    assert (await model.embed(TEXTS)).vectors == together.tolist()
    assert len(json.dumps(together[0].tolist())) < 12 * model.dimensions, "a number has seven decimals"


async def test_texts_are_read_up_to_256_tokens_and_counted():
    model = MiniLMEmbeddings()
    long = "goat " * 254
    first, second, third = (await model.embed([long, long + "tax return " * 50, "goat " * 253])).vectors
    assert np.dot(first, second) > 0.99999
    assert np.dot(first, third) < 0.99999
    usage = (await model.embed(["hello world", long * 9])).usage
    assert (usage.embedded_texts, usage.embedded_tokens) == (2, 4 + 256)


async def test_odd_texts_have_vectors_too():
    embedded = await MiniLMEmbeddings().embed(["", "\ud800", "日本語", "x" * 1_000_000])
    assert np.linalg.norm(np.array(embedded.vectors), axis=1) == pytest.approx(1.0)
    assert (await MiniLMEmbeddings().embed([])).vectors == []


async def test_threads_share_one_session(monkeypatch):
    minilm._load.cache_clear()
    loads = []
    real = minilm._Encoder
    monkeypatch.setattr(minilm, "_Encoder", lambda *parts: loads.append(1) or real(*parts))
    await asyncio.gather(*(MiniLMEmbeddings().embed([text]) for text in TEXTS))
    assert loads == [1]


def test_the_model_is_named_by_its_weights_wherever_they_lie(tmp_path):
    assert MiniLMEmbeddings().model_id == "all-MiniLM-L6-v2-int8"
    (tmp_path / "model.onnx").symlink_to(minilm._packaged_weights())
    assert MiniLMEmbeddings(tmp_path).model_id == "all-MiniLM-L6-v2-int8"
    other = tmp_path / "my-export"
    other.mkdir()
    (other / "model.onnx").write_bytes(b"weights")
    assert MiniLMEmbeddings(other).model_id == f"my-export-{hashlib.sha256(b'weights').hexdigest()[:8]}"


async def test_a_folder_of_ones_own_gives_the_same_vectors(tmp_path):
    (tmp_path / "model.onnx").symlink_to(minilm._packaged_weights())
    model = MiniLMEmbeddings(tmp_path, sha256=MODEL_SHA256)
    assert (await model.embed([BUDGET])).vectors == (await MiniLMEmbeddings().embed([BUDGET])).vectors
    minilm._load.cache_clear()


async def test_changed_weights_are_refused(tmp_path):
    weights = bytearray(minilm._packaged_weights().read_bytes())
    weights[1_000_000] ^= 1
    (tmp_path / "model.onnx").write_bytes(weights)
    with pytest.raises(ConfigurationError, match=f"not {MODEL_SHA256}: it was changed, or is another model"):
        await MiniLMEmbeddings(tmp_path, sha256=MODEL_SHA256).embed([BUDGET])


async def test_the_packaged_files_are_checked_as_well(monkeypatch):
    for name in ("MODEL_SHA256", "TOKENIZER_SHA256"):
        with monkeypatch.context() as changed:
            changed.setattr(minilm, name, "0" * 64)
            minilm._load.cache_clear()
            with pytest.raises(ConfigurationError, match="it was changed"):
                await MiniLMEmbeddings().embed([BUDGET])


async def test_a_file_that_is_no_model_gets_an_error(tmp_path):
    with pytest.raises(ConfigurationError, match=r"no model at .*model\.onnx"):
        MiniLMEmbeddings(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        await MiniLMEmbeddings(tmp_path).embed([BUDGET])


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda name: None if name == "onnxruntime" else object())
    with pytest.raises(ConfigurationError, match=r"onnxruntime.*\.\[local\]"):
        MiniLMEmbeddings()


def test_batches_hold_like_lengths_within_the_limit():
    lengths = [5, 300, 7, 6, 100, 90, 300, 1]
    batches = list(token_batches(lengths, limit=300))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) * max(lengths[index] for index in batch) <= 300
    assert len(batches) == 4
    assert list(token_batches([500], limit=300)) == [[0]]


async def test_the_runtime_sends_no_telemetry():
    await MiniLMEmbeddings().embed(["hello"])
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_the_vectors_of_a_service_are_rounded_too():
    vector = unit(1 / (number + 1) for number in range(1536))
    assert max(len(repr(number)) for number in vector) <= 10
    assert np.linalg.norm(vector) == pytest.approx(1.0)
