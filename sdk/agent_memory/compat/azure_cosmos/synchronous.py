"""The synchronous client: each method runs the asynchronous one on the client's own loop."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Self

from agent_memory.compat.azure_cosmos.client import AsyncCosmosMemoryClient
from agent_memory.portal import Portal


class CosmosMemoryClient:
    """`AsyncCosmosMemoryClient` for code that does not await: the same arguments, methods and results."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._client = AsyncCosmosMemoryClient(*args, **kwargs)
        self._portal = Portal()

    @property
    def local_memory(self) -> list[dict[str, Any]]:
        """The list in the process."""
        return self._client.local_memory

    def close(self) -> None:
        """Stops background processing and disconnects. Harmless when it is closed."""
        if not self._portal.closed:
            self._portal.run(self._client.close())
            self._portal.close()

    def __enter__(self) -> Self:
        """Opens nothing: the first call does."""
        return self

    def __exit__(self, *error: object) -> None:
        """Closes it."""
        self.close()


def _run(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: CosmosMemoryClient, *args: Any, **kwargs: Any) -> Any:
        bound = getattr(self._client, name)
        if inspect.iscoroutinefunction(method):
            return self._portal.run(bound(*args, **kwargs))
        return bound(*args, **kwargs)

    return call


for _name, _method in inspect.getmembers(AsyncCosmosMemoryClient, inspect.isfunction):
    if (not _name.startswith("_") or _name == "_get_pipeline") and not hasattr(CosmosMemoryClient, _name):
        setattr(CosmosMemoryClient, _name, _run(_name, _method))
