"""Checks and screens the operator's custom extraction, because it becomes part of a prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import Extraction
from agent_memory.screening.secrets import find_secrets
from agent_memory.store.documents import check_json, validated
from agent_memory.text.folding import hides


def checked_extraction(given: Extraction | Mapping[str, Any]) -> Extraction:
    """A custom extraction that may be stored and shown to a model.

    Raises:
        InvalidInput: if a part of it is invalid, holds a secret, or holds invisible characters.
    """
    fields = given.model_dump() if isinstance(given, Extraction) else dict(given)
    check_json(fields, "the extraction")
    made = validated(Extraction, fields, "extraction: ")
    text = json.dumps(made.model_dump(), ensure_ascii=False)
    if found := find_secrets(text):
        raise InvalidInput(f"extraction: it holds a secret ({found[0].what}), which would go to the model each time")
    if hides(text):
        raise InvalidInput("extraction: it holds characters that nobody sees")
    return made
