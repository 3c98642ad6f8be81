"""A store on a real account: whatever COSMOS_ENDPOINT points to, in a database of its own that goes at the end."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError

from agent_memory import Cadence, Memory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat

EMULATOR_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Account:
    """Where the tests write. Emulators here have certificates that nobody signed, and a key that everybody knows."""

    endpoint: str
    key: str
    database: str

    @property
    def verify(self) -> bool:
        return urlsplit(self.endpoint).hostname not in LOOPBACK

    def client(self) -> CosmosClient:
        return CosmosClient(self.endpoint, self.key, connection_verify=self.verify)

    def memory(self) -> Memory:
        """The store, processed by rules in this process, so that no model is called; nothing happens unasked."""
        return Memory.cosmos(
            self.endpoint,
            self.key,
            self.database,
            chat_model=OfflineChat(),
            embedding_model=HashingEmbeddings(),
            process="inline",
            cadence=Cadence(idle_seconds=0),
            connection_verify=self.verify,
        )


PROBES = {
    "vectors": "SELECT TOP 1 c.id FROM c WHERE c.user_id = 'probe' ORDER BY VectorDistance(c.embedding, @vector)",
    "words": "SELECT TOP 1 c.id FROM c WHERE c.user_id = 'probe' AND FullTextContains(c.content, 'word')",
}
"""Queries that an emulator may refuse (Azure/azure-cosmos-db-emulator-docker, issue 162)."""


def refused(account: Account) -> dict[str, str]:
    """What an emulator on this machine refuses, and how; nothing of an account elsewhere, which must do all of it."""
    if account.verify:
        return {}
    memories = account.client().get_database_client(account.database).get_container_client("memories")
    vector = [{"name": "@vector", "value": [1.0] + [0.0] * (HashingEmbeddings().dimensions - 1)}]
    found = {}
    for name, query in PROBES.items():
        try:
            list(memories.query_items(query, parameters=vector, partition_key=["probe", "probe"]))
        except CosmosHttpResponseError as error:
            found[name] = " ".join(str(error.message).removeprefix("Status code: 400").split())[:120]
    return found


@pytest.fixture(scope="session")
def gaps(account: Account) -> dict[str, str]:
    """What this account refuses."""
    return refused(account)


@pytest.fixture(autouse=True)
def _leave_out(request: pytest.FixtureRequest) -> None:
    """Leaves a test out if it needs what the emulator refuses, and says so."""
    needs = request.node.get_closest_marker("needs")
    if needs is None or "COSMOS_ENDPOINT" not in os.environ:
        return
    found = request.getfixturevalue("gaps")
    reasons = [f"this emulator refuses {name}: {found[name]}" for name in needs.args if name in found]
    if reasons:
        pytest.skip("; ".join(reasons))


@pytest.fixture(scope="session")
def account() -> Iterator[Account]:
    endpoint = os.environ["COSMOS_ENDPOINT"]
    key = os.environ.get("COSMOS_KEY") or (EMULATOR_KEY if urlsplit(endpoint).hostname in LOOPBACK else None)
    if key is None:
        pytest.skip("COSMOS_KEY is not set, and an identity may not make the database that these tests work in")
    account = Account(endpoint, key, f"agent_memory_live_{uuid.uuid4().hex[:12]}")
    try:
        with account.memory() as memory:
            memory.create_memory_store()
        yield account
    finally:
        client = account.client()
        if any(found["id"] == account.database for found in client.list_databases()):
            client.delete_database(account.database)


@pytest.fixture
def open_memory(account: Account) -> Callable[[], Memory]:
    return account.memory


@pytest.fixture
def user_id() -> str:
    """A user of the test's own, so that tests do not see each other's memories."""
    return f"user-{uuid.uuid4().hex[:8]}"
