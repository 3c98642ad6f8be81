"""Opening a store: the embedded engine in this process, or an account of Cosmos DB."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from azure.cosmos.aio import CosmosClient

from agent_memory.errors import ConfigurationError
from agent_memory.extras import how_to_install
from agent_memory.store.client import Store
from agent_memory.telemetry import STORE_REQUESTS

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

LOCAL_DATABASE = "ai_memory"


@dataclass(frozen=True, slots=True)
class LocalStore:
    """A store on the embedded engine; how to upgrade its file after it was checked, and how to close the engine."""

    store: Store
    upgrade: Callable[[], None]
    close: Callable[[], None]


def local_store(path: str | os.PathLike[str] | None, *, marks_changes: bool) -> LocalStore:
    """A store in this process, in the file at `path`, or in RAM without a path (or with `:memory:`).

    Raises:
        ConfigurationError: if the file cannot be opened as a store, or a package of the extra `local` is missing.
    """
    try:
        from embedded_cosmos import AsyncTransport, CosmosError, Engine, EngineFileInUse
    except ImportError as error:
        raise ConfigurationError(
            f"the embedded engine needs the extra 'local' ({error}): {how_to_install('local')}"
        ) from error
    file = None if path is None or os.fspath(path) == ":memory:" else os.fspath(path)
    try:
        engine = Engine(file, upgrade_later=True)
    except CosmosError as error:
        refused = ConfigurationError(f"cannot open {path}: {error.message}")
        if isinstance(error, EngineFileInUse):
            refused.add_note(
                f"to use it from several programs, start: agent-memory serve --store {path}; then open the URL that"
                " it prints, with Memory.remote(URL), instead of the file"
            )
        raise refused from error

    def upgrade() -> None:
        try:
            engine.upgrade()
        except CosmosError as error:
            raise ConfigurationError(f"cannot open {path}: {error.message}") from error

    def connect() -> CosmosClient:
        # The engine has one copy of the data, so no request needs to say what the session has seen.
        return CosmosClient(
            engine.url,
            engine.credential,
            consistency_level="Eventual",
            transport=AsyncTransport(engine),
            logger=STORE_REQUESTS,
        )

    store = Store(
        connect,
        LOCAL_DATABASE,
        name=file or "embedded",
        marks_changes=marks_changes,
        file=None if file is None else engine,
        alone=True,
    )
    return LocalStore(store, upgrade, engine.close)


def cosmos_store(
    endpoint: str,
    credential: str | AsyncTokenCredential | None,
    database: str,
    *,
    connection_verify: bool,
    marks_changes: bool,
) -> Store:
    """A store in an account of Cosmos DB, or in its emulator.

    Raises:
        ConfigurationError: if the URL or the key is invalid.
    """
    _check_account(endpoint, credential)
    actual: Any = credential if credential is not None else default_credential()

    def connect() -> CosmosClient:
        return CosmosClient(endpoint, actual, connection_verify=connection_verify, logger=STORE_REQUESTS)

    return Store(connect, database, name=database, marks_changes=marks_changes)


def default_credential() -> AsyncTokenCredential:
    """The identity of this process for Azure: a managed identity, a developer's login, and so on.

    Raises:
        ConfigurationError: if azure-identity is not installed.
    """
    try:
        from azure.identity.aio import DefaultAzureCredential
    except ImportError as error:
        raise ConfigurationError(
            f"pass a credential, or install the extra 'azure' for azure-identity: {how_to_install('azure')}"
        ) from error
    return DefaultAzureCredential()


def _check_account(endpoint: str, credential: object) -> None:
    """Checks the URL of an account, and its key if that is the credential. The error repeats neither.

    Raises:
        ConfigurationError: if one of them cannot be right.
    """
    try:
        parts = urlsplit(endpoint)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_url = False
    if not is_url:
        # A connection string holds the key.
        raise ConfigurationError(
            "the Cosmos DB endpoint is not a URL like https://NAME.documents.azure.com:443/; of a connection string,"
            " pass the value of AccountEndpoint= as the endpoint, and that of AccountKey= as the key"
        )
    if isinstance(credential, str):
        try:
            valid = bool(base64.b64decode(credential, validate=True))
        except ValueError:
            valid = False
        if not valid:
            raise ConfigurationError("the Cosmos DB key is not base64: copy the whole key and nothing around it")
