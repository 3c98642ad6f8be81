"""The clients of `azure-cosmos-agent-memory`, with its method names and documents, on this memory."""

from agent_memory.compat.azure_cosmos.client import AsyncCosmosMemoryClient, CosmosMemoryClient, migrate
from agent_memory.compat.azure_cosmos.documents import ProcessThreadResult

__all__ = ["AsyncCosmosMemoryClient", "CosmosMemoryClient", "ProcessThreadResult", "migrate"]
