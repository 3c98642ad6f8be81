"""The package litellm, which speaks to more than a hundred services: imported once, and quiet."""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from types import ModuleType

from agent_memory.extras import require
from agent_memory.language.openai_client import model_errors


def require_litellm() -> None:
    """Checks that the package is installed.

    Raises:
        ConfigurationError: if it is missing.
    """
    require("litellm", "litellm")


async def load_litellm() -> ModuleType:
    """The package. Importing it takes seconds, so a thread does it."""
    return await asyncio.to_thread(_load)


def _load() -> ModuleType:
    # Without this it fetches a list of prices from the network when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    module: ModuleType = litellm
    litellm.suppress_debug_info = True  # it prints advice on stdout with every error
    litellm.telemetry = False
    return module


def litellm_errors(model: str, timeout: float) -> AbstractAsyncContextManager[None]:
    """Bounds one call; `timeout` in seconds. The errors of litellm are subclasses of those of openai."""
    return model_errors(model, timeout)


def reached(base_url: str | None, api_key: str | None) -> dict[str, str]:
    """The given address and key; litellm finds the others in the environment."""
    return {name: value for name, value in (("api_base", base_url), ("api_key", api_key)) if value}
