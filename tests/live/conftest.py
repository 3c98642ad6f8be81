"""A store on a real account: whatever COSMOS_ENDPOINT points to, in a database of its own that goes at the end."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from azure.cosmos import CosmosClient

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
