"""Embeddings of a service: what the adapters of all services have in common."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import Any, TypedDict, Unpack

from pydantic import FiniteFloat, ValidationError

from agent_memory.errors import ModelError
from agent_memory.language.clients import RequestRejected, no_api_answer, unusable
from agent_memory.language.endpoints import QUESTION, Gate, ModelRefused, at_once, shared_endpoint
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.tasks import Data, Embedded, Vector
from agent_memory.language.vectors import unit
from agent_memory.models import EndpointHealth, Usage
from agent_memory.text.tokens import TiktokenCounter, TokenCounter

_log = logging.getLogger(__name__)


class EmbeddingOptions(TypedDict, total=False):
    """The keyword options of every adapter for embeddings. Each has a default."""

    tokens: TokenCounter | None
    """Counts tokens as the model does; default: OpenAI's encoding for embeddings."""
    text_tokens: int
    """The maximum length of one text; the rest is cut off. Default: 8,000; OpenAI's models take 8,191."""
    batch_texts: int
    """The maximum number of texts in one call; default: 256."""
    batch_tokens: int
    """The maximum number of tokens in one call; default: 100,000."""
    timeout: float
    """Seconds for one call; default: 60."""
    retries: RetryPolicy | None
    """How to handle throttling, timeouts and faults of the service."""


class ServiceEmbeddings(ABC):
    """Embeds texts in batches. Vectors are returned in order and with length 1. A subclass makes the calls."""

    def __init__(
        self, model: str, *, dimensions: int, address: str, key: str | None = None, **options: Unpack[EmbeddingOptions]
    ) -> None:
        """Does not connect yet.

        Args:
            model: the model's name, as the service knows it.
            dimensions: the length of the vectors. A model without this option must return this length by itself.
            address: the service's address.
            key: the key, if one was given: adapters with the same key pause together when the service fails.
            options: see `EmbeddingOptions`.
        """
        self._model = model
        self._dimensions = dimensions
        self._tokens = options.get("tokens") or TiktokenCounter("cl100k_base")
        self._text_tokens = options.get("text_tokens", 8000)
        self._batch_texts = options.get("batch_texts", 256)
        self._batch_tokens = options.get("batch_tokens", 100_000)
        self._timeout = options.get("timeout", 60.0)
        self._endpoint = shared_endpoint(address, model, key, options.get("retries"))
        self._asks_for_dimensions = True

    @property
    def model_id(self) -> str:
        """The model's name with the dimensions: vectors shortened to another length do not compare."""
        return f"{self._model}@{self._dimensions}"

    def health(self) -> EndpointHealth:
        """What is known of the service."""
        return self._endpoint.health()

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order.

        Raises:
            ModelError: retryable if the server throttled, failed or did not respond until the last retry; not
                retryable if it refused the request or its answer cannot be used.
        """
        vectors: list[Vector] = []
        tokens = 0
        for batch in await asyncio.to_thread(self._batches, texts):
            response = await self._endpoint.judge(partial(self._create, batch), self._control)
            vectors += (unit(item.embedding) for item in response.data)
            tokens += (response.usage and response.usage.prompt_tokens) or 0
        return Embedded(vectors, Usage(embedded_texts=len(texts), embedded_tokens=tokens))

    @abstractmethod
    async def close(self) -> None:
        """Closes the connection. Harmless when called twice."""

    @abstractmethod
    async def _ask(self, batch: list[str], parameters: dict[str, Any]) -> str:
        """The service's response as the JSON of OpenAI's protocol.

        Args:
            batch: the texts.
            parameters: `dimensions`, if the request sets a length.

        Raises:
            RequestRejected: if it did not accept the form of the request.
            ModelError: if it failed.
        """

    def _batches(self, texts: list[str]) -> list[list[str]]:
        """The texts in calls that keep to the bounds, cut to what the model reads."""
        fitting = [self._tokens.truncate(text, self._text_tokens) or " " for text in texts]  # an empty one is refused
        cut = sum(len(short) < len(text) for short, text in zip(fitting, texts, strict=True))
        if cut:
            _log.warning("%d texts are longer than %d tokens; their ends are not embedded.", cut, self._text_tokens)
        return list(_bounded(fitting, self._tokens, self._batch_texts, self._batch_tokens))

    async def _control(self) -> None:
        """Embeds a plain statement.

        Raises:
            ModelError: retryable, if the service gives no usable vector for that either.
        """
        try:
            await self._create([QUESTION], at_once)
        except ModelError as error:
            if error.retryable:
                raise
            raise unusable(self._model, error) from error

    async def _create(self, batch: list[str], ask: Gate) -> _Response:
        async def call(parameters: dict[str, Any]) -> _Response:
            return self._read(await self._ask(batch, parameters), len(batch))

        parameters = {"dimensions": self._dimensions} if self._asks_for_dimensions else {}
        try:
            return await ask(lambda: call(parameters))
        except RequestRejected as error:
            if not (parameters and "dimensions" in error.detail):
                raise
            self._asks_for_dimensions = False  # a model of one length; `_read` checks that it is the right one
            return await ask(lambda: call({}))

    def _read(self, body: str, count: int) -> _Response:
        try:
            response = _Response.model_validate_json(body)
        except ValidationError as error:
            if _is_envelope(body):  # these texts never get vectors, however often they are requested
                raise ModelError(f"{self._model} gave a vector that holds more than numbers.") from error
            raise no_api_answer(self._model, "it is not a list of embeddings") from error
        response.data.sort(key=lambda item: item.index)
        if [item.index for item in response.data] != list(range(count)):
            problem = f"there are {len(response.data)} vectors for {count} texts"
            if len(response.data) == count:
                problem = "the indexes of its vectors are not those of the texts"
            raise no_api_answer(self._model, problem)
        for item in response.data:
            if len(item.embedding) != self._dimensions:
                # So are the vectors of every text; no text is given up for it.
                raise ModelRefused(
                    f"{self._model} gives vectors of {len(item.embedding)} dimensions, not {self._dimensions}.",
                    fault="dimensions",
                )
            if not any(item.embedding):
                raise ModelError(f"{self._model} gave a vector of zeros.")
        return response


class _Tokens(Data):
    prompt_tokens: int | None = None


class _Item(Data):
    index: int
    embedding: list[FiniteFloat]


class _AnyItem(Data):
    index: int
    embedding: list[Any]


class _Envelope(Data):
    data: list[_AnyItem]


def _is_envelope(body: str) -> bool:
    try:
        return bool(_Envelope.model_validate_json(body).data)
    except ValidationError:
        return False


class _Response(Data):
    """The fields of a response that are used here. The client itself checks no answer."""

    data: list[_Item]
    usage: _Tokens | None = None


def _bounded(texts: list[str], tokens: TokenCounter, most_texts: int, most_tokens: int) -> Iterator[list[str]]:
    batch: list[str] = []
    room = most_tokens
    for text in texts:
        size = tokens.count(text)
        if batch and (len(batch) == most_texts or size > room):
            yield batch
            batch, room = [], most_tokens
        batch.append(text)
        room -= size
    if batch:
        yield batch
