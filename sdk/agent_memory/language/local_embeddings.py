"""Embedding models in this process, run by the libraries fastembed and sentence-transformers.

Both download a model's weights when it is first used, and keep them in a folder of theirs. A path to a folder in the
place of a name is loaded from there, without a network.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from agent_memory.errors import ConfigurationError, ModelError
from agent_memory.extras import require
from agent_memory.language.tasks import Embedded, Vector
from agent_memory.language.vectors import unit
from agent_memory.models import Usage
from agent_memory.text.tokens import ApproximateTokens

Library = Literal["fastembed", "sentence-transformers"]
PACKAGES: dict[Library, str] = {"fastembed": "fastembed", "sentence-transformers": "sentence_transformers"}

Encode = Callable[[list[str]], Iterable[Any]]
"""Takes texts and returns one array of numbers for each."""


class LocalEmbeddings:
    """Embeds texts with a model of one of the two libraries. Vectors come back in order and with length 1."""

    def __init__(self, library: Library, model: str, *, dimensions: int) -> None:
        """Loads nothing yet.

        Args:
            library: which of the two.
            model: a name that the library knows, or the path of a folder with a model.
            dimensions: the length of the model's vectors.

        Raises:
            ConfigurationError: the library is not installed.
        """
        require(PACKAGES[library], library)
        self._library = library
        self._model = model
        self._dimensions = dimensions
        self._loading = threading.Lock()

    @property
    def model_id(self) -> str:
        """The model's name; for a folder, its name with the names and sizes of its files."""
        folder = Path(self._model)
        if not folder.is_dir():
            return f"{self._model}@{self._dimensions}"
        files = sorted((str(one.relative_to(folder)), one.stat().st_size) for one in folder.rglob("*") if one.is_file())
        return f"{folder.name}-{hashlib.sha256(repr(files).encode()).hexdigest()[:8]}@{self._dimensions}"

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order, in a thread.

        Raises:
            ConfigurationError: the model cannot be loaded, or returns vectors of another length.
            ModelError: retryable, if the library failed on these texts.
        """
        return await asyncio.to_thread(self._embed, texts) if texts else Embedded([], Usage())

    async def close(self) -> None:
        """Nothing to free before the process ends."""

    @cached_property
    def _encode(self) -> Encode:
        load = {"fastembed": _fastembed, "sentence-transformers": _sentence_transformers}[self._library]
        try:
            return load(self._model)
        except Exception as error:  # neither library documents what it raises for an unknown model
            raise ConfigurationError(f"{self._library} cannot load {self._model}: {error}") from error

    def _embed(self, texts: list[str]) -> Embedded:
        with self._loading:  # two concurrent threads would load it twice
            encode = self._encode
        try:
            vectors: list[Vector] = [[float(number) for number in row] for row in encode(texts)]
        except Exception as error:
            raise ModelError(f"{self._library} failed: {error!r:.300}", retryable=True) from error
        if wrong := next((len(vector) for vector in vectors if len(vector) != self._dimensions), None):
            raise ConfigurationError(f"{self._model} returns vectors of {wrong} dimensions, not {self._dimensions}.")
        tokens = sum(map(ApproximateTokens().count, texts))
        return Embedded([unit(one) for one in vectors], Usage(embedded_texts=len(texts), embedded_tokens=tokens))


def _fastembed(model: str) -> Encode:
    from fastembed import TextEmbedding

    if not Path(model).is_dir():
        return TextEmbedding(model).embed
    # A folder holds an ONNX export of all-MiniLM-L6-v2 or of another model with its shape (mean pooling).
    loaded = TextEmbedding("sentence-transformers/all-MiniLM-L6-v2", specific_model_path=model, local_files_only=True)
    return loaded.embed


def _sentence_transformers(model: str) -> Encode:
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(model)
    return lambda texts: loaded.encode(texts, show_progress_bar=False)
