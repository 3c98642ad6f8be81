"""Wiring: the one memory of a worker process. It is opened on first use, on the worker's event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent_memory import AsyncMemory
from agent_memory.errors import ConfigurationError
from agent_memory.processing.due import possible
from agent_memory.runtime import Runtime
from agent_memory.settings import Cadence, Environment


@dataclass(frozen=True, slots=True)
class Parts:
    """What the functions work with."""

    memory: AsyncMemory
    environment: Environment
    cadence: Cadence

    @property
    def runtime(self) -> Runtime:
        """The parts of the memory."""
        return self.memory.runtime


_lock = asyncio.Lock()
_parts: Parts | None = None


async def open_parts() -> Parts:
    """The parts of this worker process.

    Raises:
        ConfigurationError: if the environment does not set a store.
        StoreUnavailable: if the store does not answer; the next call tries again.
    """
    global _parts
    async with _lock:
        if _parts is None:
            environment = Environment()
            if environment.cosmos_endpoint is None:
                raise ConfigurationError("the function app needs COSMOS_DB_ENDPOINT")
            memory = AsyncMemory.from_env(environment)
            await memory.__aenter__()
            _parts = Parts(memory, environment, possible(environment.cadence, memory.runtime.tools.chat))
        return _parts
