"""Embeddings that need no model: texts are near each other when they share words, not when they mean the same."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from agent_memory.language.tasks import Embedded, Vector
from agent_memory.language.vectors import unit
from agent_memory.models import Usage
from agent_memory.text.patterns import WORD
from agent_memory.text.stems import stem
from agent_memory.text.tokens import ApproximateTokens

_log = logging.getLogger(__name__)

_DIMENSIONS = 384
_WORD_WEIGHT, _PAIR_WEIGHT, _TRIGRAM_WEIGHT = 1.0, 0.5, 0.2
_COMMON_WORD_WEIGHT = 0.1
_COMMON_WORDS = frozenset(
    "a an and are as at be but by do does for from had has have he her his how i in is it its me my of on or our she "
    "so that the their them they this to was we were what when where which who will with you your".split()
)


class HashingEmbeddings:
    """Lexical only: stemmed words, pairs of words and character trigrams, hashed into 384 dimensions.

    The same text has the same vector on every machine. It finds "deploying the services" by "service deployment",
    never "what may I eat" by "vegetarian". The stemmer is for English; other languages rely on the trigrams.
    """

    def __init__(self) -> None:
        """Logs what it is."""
        _log.info("Embeddings are made by feature hashing: search by vector finds shared words, not shared meaning.")

    @property
    def model_id(self) -> str:
        """Names the method and its dimensions."""
        return "hashing-384"

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return _DIMENSIONS

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order."""
        vectors = await asyncio.to_thread(lambda: [embed_text(text) for text in texts])
        tokens = sum(map(ApproximateTokens().count, texts))
        return Embedded(vectors, Usage(embedded_texts=len(texts), embedded_tokens=tokens))

    async def close(self) -> None:
        """Does nothing: there is nothing to free."""


def embed_text(text: str) -> Vector:
    """The vector of one text. A text without words is placed by its characters alone."""
    sums = [0.0] * _DIMENSIONS
    for (feature, weight), count in Counter(_features(text)).items():
        index, sign = _place(feature)
        sums[index] += sign * weight * math.sqrt(count)
    if not any(sums):
        index, sign = _place(f"text {text}")
        sums[index] = sign
    return unit(sums)


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = WORD.findall(text.casefold())
    stems = [stem(word) for word in words]
    for word, root in zip(words, stems, strict=True):
        yield f"word {root}", _COMMON_WORD_WEIGHT if word in _COMMON_WORDS else _WORD_WEIGHT
    for first, second in pairwise(stems):
        yield f"pair {first} {second}", _PAIR_WEIGHT
    for word in words:
        if word not in _COMMON_WORDS:
            padded = f" {word} "
            for start in range(len(padded) - 2):
                yield f"trigram {padded[start : start + 3]}", _TRIGRAM_WEIGHT


@lru_cache(maxsize=65536)
def _place(feature: str) -> tuple[int, float]:
    """Where a feature goes, and its sign: features that share a place cancel out on average."""
    digest = hashlib.blake2b(feature.encode(errors="surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest)
    return number // 2 % _DIMENSIONS, 1.0 if number % 2 else -1.0
