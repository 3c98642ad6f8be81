import asyncio
import gzip
import json
import logging
import math
from typing import Any

import pytest
from dialect_servers import QUICK
from werkzeug import Request, Response

from agent_memory.errors import ConfigurationError, ModelError
from agent_memory.language.openai_embeddings import OpenAIEmbeddings
from agent_memory.language.openai_protocol import LARGEST_BODY
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.text.tokens import ApproximateTokens, TiktokenCounter


def vector(text: str) -> list[float]:
    """Tells texts apart, and is not of length 1."""
    return [float(len(text)), 3.0, 4.0]


def embeddings(texts: list[str]) -> dict[str, Any]:
    """An answer of the protocol, with its items in reverse order."""
    items = [{"object": "embedding", "index": index, "embedding": vector(text)} for index, text in enumerate(texts)]
    usage = {"prompt_tokens": 10 * len(texts), "total_tokens": 10 * len(texts)}
    return {"object": "list", "data": items[::-1], "model": "scripted", "usage": usage}


class Script:
    """Embeds by the rule above; first gives the answers that it is told to give."""

    def __init__(self, httpserver) -> None:
        self.first: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        self.url = httpserver.url_for("/v1")
        httpserver.expect_request("/v1/embeddings", method="POST").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.requests.append(request.get_json())
        answer = self.first.pop(0) if self.first else embeddings(self.requests[-1]["input"])
        return answer if isinstance(answer, Response) else Response(json.dumps(answer), mimetype="application/json")


@pytest.fixture
def script(httpserver) -> Script:
    return Script(httpserver)


def adapter(script: Script, **options: Any) -> OpenAIEmbeddings:
    options = {"dimensions": 3, "tokens": ApproximateTokens(), "retries": QUICK} | options
    return OpenAIEmbeddings("scripted", base_url=script.url, **options)


def refusal(message: str, status: int = 400) -> Response:
    return Response(json.dumps({"error": {"message": message}}), status, mimetype="application/json")


@pytest.mark.req("S1-22")
async def test_vectors_come_in_order_and_with_length_1(script):
    model = adapter(script)
    texts = ["a", "bbb", "cc"]
    embedded = await model.embed(texts)
    assert isinstance(model, EmbeddingModel)
    for text, found in zip(texts, embedded.vectors, strict=True):
        length = math.hypot(*vector(text))
        assert found == pytest.approx([value / length for value in vector(text)])
    assert (embedded.usage.embedded_texts, embedded.usage.embedded_tokens) == (3, 30)
    [sent] = script.requests
    assert (sent["model"], sent["dimensions"], sent["input"]) == ("scripted", 3, texts)
    assert (model.model_id, model.dimensions) == ("scripted@3", 3)
    await model.close()
    await model.close()


async def test_nothing_costs_nothing(script):
    assert (await adapter(script).embed([])).vectors == []
    assert script.requests == []


async def test_batches_keep_to_both_bounds_and_to_the_order(script):
    model = adapter(script, batch_texts=3, batch_tokens=10)
    texts = ["aaaa"] * 4 + ["b" * 36, "cccccccc", "d" * 80]  # 1 token each, then 9, 2 and 20
    embedded = await model.embed(texts)
    assert [len(sent["input"]) for sent in script.requests] == [3, 2, 1, 1]
    assert [text for sent in script.requests for text in sent["input"]] == texts
    assert [found[0] / found[1] * 3 for found in embedded.vectors] == pytest.approx([len(text) for text in texts])
    assert embedded.usage.embedded_tokens == 70
    await model.close()


async def test_a_text_that_is_too_long_is_cut_by_tokens_and_said_to_be(script, caplog):
    tokens = TiktokenCounter("cl100k_base")
    model = adapter(script, tokens=tokens, text_tokens=50)
    long = "日本語のとても長い文章です。" * 30
    await model.embed([long, "short", ""])
    await model.close()
    cut, short, empty = script.requests[0]["input"]
    assert long.startswith(cut)
    assert 45 <= tokens.count(cut) <= 50
    assert (short, empty) == ("short", " ")  # the service refuses an empty text
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warnings == ["1 texts are longer than 50 tokens; their ends are not embedded."]


async def test_a_model_of_one_length_is_not_asked_for_another(script):
    model = adapter(script)
    script.first = [refusal("This model does not support specifying dimensions.")]
    assert len((await model.embed(["a"])).vectors) == 1
    await model.embed(["b"])
    assert ["dimensions" in sent for sent in script.requests] == [True, False, False]
    await model.close()


async def test_calls_at_the_same_time_all_learn_it(httpserver):
    def answer(request: Request) -> Response:
        if "dimensions" in request.get_json():
            return refusal("This model does not support specifying dimensions.")
        return Response(json.dumps(embeddings(request.get_json()["input"])), mimetype="application/json")

    httpserver.expect_request("/v1/embeddings").respond_with_handler(answer)
    model = OpenAIEmbeddings("m", dimensions=3, base_url=httpserver.url_for("/v1"), tokens=ApproximateTokens())
    results = await asyncio.gather(*(model.embed([text]) for text in "abcd"))
    assert [len(result.vectors) for result in results] == [1, 1, 1, 1]
    await model.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"data": [{"index": n, "embedding": [0, 0, 0]} for n in (0, 1)]}, "a vector of zeros"),
        ({"data": [{"index": n, "embedding": [1, 0, None]} for n in (0, 1)]}, "more than numbers"),
        (refusal("bad input"), "400 - bad input"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_an_error(script, answer, message):
    script.first = [answer]
    model = adapter(script)
    with pytest.raises(ModelError, match=message) as caught:
        await model.embed(["one", "two"])
    assert not caught.value.retryable
    assert len(script.requests) == 1
    await model.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (embeddings(["one"]), "1 vectors for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1, 0, 0]}] * 2}, "the indexes of its vectors are not those"),
        (Response("<html>", mimetype="text/html"), "not a list of embeddings"),
        ({"error": {"message": "upstream is down"}}, "not a list of embeddings"),
        ({"data": []}, "0 vectors for 2 texts"),
    ],
)
async def test_a_success_that_is_no_answer_of_the_protocol_is_a_fault_that_may_pass(script, answer, message):
    script.first = [answer] * 3
    model = adapter(script)
    with pytest.raises(ModelError, match=message) as caught:
        await model.embed(["one", "two"])
    assert (caught.value.retryable, model.health().fault) == (True, "no_api_answer")
    assert len((await model.embed(["one", "two"])).vectors) == 2
    assert model.health().answers
    await model.close()


async def test_vectors_of_another_length_are_a_matter_of_settings(script):
    script.first = [{"data": [{"index": n, "embedding": [1, 0]} for n in (0, 1)]}]
    model = adapter(script)
    with pytest.raises(ConfigurationError, match="vectors of 2 dimensions, not 3"):
        await model.embed(["one", "two"])
    assert model.health().fault == "dimensions"
    await model.close()


async def test_faults_are_retried_as_for_chat(script):
    model = adapter(script)
    script.first = [refusal("busy", 503), Response("{}", 429, headers={"retry-after-ms": "20"})]
    assert len((await model.embed(["a"])).vectors) == 1
    assert len(script.requests) == 3
    script.first = [refusal("busy", 503) for _ in range(3)]
    with pytest.raises(ModelError, match="503 - busy") as caught:
        await model.embed(["a"])
    assert caught.value.retryable
    await model.close()


@pytest.mark.parametrize("packed", [False, True])
async def test_a_huge_body_is_not_read_to_its_end(script, packed):
    body = b" " * (6 * LARGEST_BODY)
    headers = {"content-encoding": "gzip"} if packed else {}
    script.first = [Response(gzip.compress(body) if packed else body, 200, headers)]
    model = adapter(script, retries=RetryPolicy(attempts=1))
    with pytest.raises(ModelError, match="more than 8 MB") as caught:
        await model.embed(["a"])
    assert (caught.value.retryable, caught.value.fault) == (True, "no_api_answer")
    await model.close()


async def test_a_full_batch_of_long_vectors_is_no_huge_body(script):
    """With all of their decimals and an indented line for each number, as some services write them."""
    model = adapter(script, dimensions=3072, retries=RetryPolicy(attempts=1))
    long = [-1.2345678901234567e-05] * 3072
    items = [{"index": index, "embedding": long} for index in range(256)]
    script.first = [Response(json.dumps({"data": items}, indent=6), mimetype="application/json")]
    assert len((await model.embed(["a"] * 256)).vectors) == 256
    await model.close()
