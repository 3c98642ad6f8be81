"""What callers give, checked: the fields of a model, and JSON that Cosmos DB can keep."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agent_memory.errors import InvalidInput

M = TypeVar("M", bound=BaseModel)

MAX_LEVELS = 128
"""Objects and lists within each other, the document among them (Azure Cosmos DB service quotas, 2025)."""
LARGEST = 10**308
"""Of a whole number: what is larger is no number to readers of JSON that know 64-bit floats alone (RFC 8259, 6)."""


def check_json(value: object, what: str, levels: int = MAX_LEVELS) -> None:
    """Refuses what cannot be kept, without a recursion that a value could exhaust.

    Args:
        value: What is to be kept.
        what: Names it in the error.
        levels: How many objects and lists may stand within each other.

    Raises:
        InvalidInput: if it is nested deeper, holds something that is no JSON, a number without a value, a whole number
            beyond `LARGEST`, or half of a surrogate pair.
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
    """Parses JSON that can be kept.

    Raises:
        InvalidInput: if it is none, or could not be kept.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise InvalidInput(f"{what} is nested deeper than {MAX_LEVELS} levels") from None
    except ValueError as error:
        raise InvalidInput(f"{what}: no JSON: {error}") from error
    check_json(value, what)
    return value


def validated(model: type[M], fields: Mapping[str, Any], where: str = "") -> M:
    """Makes a model of what a caller gave.

    Raises:
        InvalidInput: naming the field that is wrong.
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
            raise InvalidInput(f"{what} holds half of a surrogate pair, which is no character") from None
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{what} holds {value}, which is no number of JSON")
    elif isinstance(value, int):
        if abs(value) > LARGEST:
            raise InvalidInput(f"{what} holds a number of more than 308 digits")
    elif value is not None:
        raise InvalidInput(f"{what} holds {type(value).__name__}, which is no JSON")
