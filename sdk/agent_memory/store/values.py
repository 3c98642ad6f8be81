"""Checks on callers' input: the fields of a model, and JSON that Cosmos DB can store."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agent_memory.errors import InvalidInput

M = TypeVar("M", bound=BaseModel)

MAX_LEVELS = 128
"""How deep objects and lists may nest, the document included (Azure Cosmos DB service quotas, 2025)."""
LARGEST = 10**308
"""The largest whole number. JSON readers that only know 64-bit floats cannot read a larger one (RFC 8259, 6)."""


def check_json(value: object, what: str, levels: int = MAX_LEVELS) -> None:
    """Refuses a value that cannot be stored. It does not recurse, so a deeply nested value cannot exhaust the stack.

    `what` names the value in the error. `levels` is how deep objects and lists may nest.

    Raises:
        InvalidInput: if the value is nested deeper, or holds something that is not JSON, a float that is not finite, a
            whole number beyond `LARGEST`, or half of a surrogate pair.
    """
    layer: list[object] = [value]
    for depth in range(levels + 1):
        inner: list[object] = []
        for one in layer:
            if isinstance(one, Mapping):
                for name in one:
                    _check_leaf(name if isinstance(name, str) else None, what)
                inner.extend(one.values())
            elif isinstance(one, list | tuple):
                inner.extend(one)
            else:
                _check_leaf(one, what)
                continue
            if depth == levels:
                raise InvalidInput(f"{what} is nested deeper than {levels} levels")
        layer = inner


def read_json(text: str, what: str) -> Any:
    """Parses JSON that can be stored.

    Raises:
        InvalidInput: if the text is not JSON, or its value could not be stored.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise InvalidInput(f"{what} is nested deeper than {MAX_LEVELS} levels") from None
    except ValueError as error:
        raise InvalidInput(f"{what} is not JSON: {error}") from error
    check_json(value, what)
    return value


def validated(model: type[M], fields: Mapping[str, Any], where: str = "") -> M:
    """Makes a model from what a caller gave.

    Raises:
        InvalidInput: if a field is wrong; it names the field.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise InvalidInput(f"{where}{place}: {problem['msg']}") from error


def _check_leaf(value: object, what: str) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{what} holds half of a surrogate pair, which is not a character") from None
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{what} holds {value}, which is not a JSON number")
    elif isinstance(value, int):
        if abs(value) > LARGEST:
            raise InvalidInput(f"{what} holds a number of more than 308 digits")
    elif value is not None:
        raise InvalidInput(f"{what} holds {type(value).__name__}, which is not JSON")
