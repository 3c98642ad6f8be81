"""Reads groups of environment variables that share a prefix."""

from __future__ import annotations

import os
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsError

from agent_memory.errors import ConfigurationError


def read_variables(environment: type[BaseSettings], prefix: str) -> dict[str, Any]:
    """The values of variables with a prefix, by field name.

    Raises:
        ConfigurationError: naming the variable whose value cannot be read.
    """
    if not any(name.upper().startswith(prefix) for name in os.environ):
        return {}  # reading sixty variables takes milliseconds
    try:
        given = environment()
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigurationError(f"{prefix}{str(problem['loc'][0]).upper()}: {problem['msg']}") from error
    except SettingsError as error:
        raise ConfigurationError(f"a variable {prefix}… has invalid JSON: {error}") from error
    return {name: getattr(given, name) for name in given.model_fields_set}
