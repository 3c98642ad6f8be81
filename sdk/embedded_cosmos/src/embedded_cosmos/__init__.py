"""A Cosmos DB engine in one process, on SQLite, for the azure-cosmos clients.

from azure.cosmos import CosmosClient
from embedded_cosmos import Engine, SyncTransport

with Engine("memory.db") as engine:
    client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
"""

from embedded_cosmos.engine import Engine
from embedded_cosmos.errors import CosmosError, EngineFileInUse, EngineForked
from embedded_cosmos.faults import FaultPlan, FaultRule
from embedded_cosmos.transport import AsyncTransport, SyncTransport

__all__ = [
    "AsyncTransport",
    "CosmosError",
    "Engine",
    "EngineFileInUse",
    "EngineForked",
    "FaultPlan",
    "FaultRule",
    "SyncTransport",
]
