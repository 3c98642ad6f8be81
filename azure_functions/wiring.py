"""Wiring: the one memory of a worker process, opened on first use, and how the app starts orchestrations."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

import azure.durable_functions as df

from agent_memory import AsyncMemory
from agent_memory.errors import ConfigurationError
from agent_memory.processing.starts import Start, Starter
from agent_memory.runtime import Runtime
from agent_memory.settings import Cadence, Environment
from azure_functions.orchestrators import orchestrator_name

_Status = df.OrchestrationRuntimeStatus
ACTIVE = {_Status.Pending, _Status.Running, _Status.ContinuedAsNew, _Status.Suspended}


async def start(client: df.DurableOrchestrationClient, run: Start) -> bool:
    """Starts an orchestration. Returns False if the same one is running."""
    if await is_active(client, run.instance_id):
        return False
    try:
        await client.start_new(orchestrator_name(run.workflow), run.instance_id, run.input)
    except Exception:
        if await is_active(client, run.instance_id):  # Another caller was faster.
            return False
        raise
    return True


async def is_active(client: df.DurableOrchestrationClient, instance: str) -> bool:
    """Whether an orchestration is under way."""
    return (await client.get_status(instance)).runtime_status in ACTIVE


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

    def starter(self, client: df.DurableOrchestrationClient) -> Starter:
        """What starts the work that is due, through the Durable client of a function."""
        tools, counters, at_once = self.runtime.tools, self.runtime.counters, self.environment.feed_concurrency
        return Starter(tools, counters, self.cadence, at_once, partial(start, client), partial(is_active, client))


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
            _parts = Parts(memory, environment, memory.runtime.cadence)
        return _parts
