"""Which embeddings a memory uses when it is told nothing."""

from __future__ import annotations

import logging
from importlib.util import find_spec

from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.minilm import PACKAGES, WEIGHTS_PACKAGE, MiniLMEmbeddings
from agent_memory.language.tasks import EmbeddingModel

_log = logging.getLogger(__name__)


def default_embeddings() -> EmbeddingModel:
    """MiniLM if its packages are installed; else hashing, with a warning."""
    missing = [name for name in (*PACKAGES, WEIGHTS_PACKAGE) if find_spec(name) is None]
    if not missing:
        return MiniLMEmbeddings()
    _log.warning(
        "Packages are missing (%s), so search finds shared words only, not shared meaning: "
        "in the repository, pip install '.[local]'.",
        ", ".join(missing),
    )
    return HashingEmbeddings()
