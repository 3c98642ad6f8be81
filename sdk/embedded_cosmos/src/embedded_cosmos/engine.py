"""The engine: one store, one lock, one entry point."""

from __future__ import annotations

import base64
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Self

import orjson

from embedded_cosmos.catalog import Catalog, Container
from embedded_cosmos.control_plane import ControlPlane
from embedded_cosmos.data_plane import DataPlane
from embedded_cosmos.documents import Documents
from embedded_cosmos.errors import CosmosError, EngineFileError, EngineForked, TakesLong, unavailable
from embedded_cosmos.faults import FaultPlan
from embedded_cosmos.messages import Request, Response
from embedded_cosmos.offers import Offers
from embedded_cosmos.operations import operation_of, segments_of
from embedded_cosmos.partition_map import Partitioning
from embedded_cosmos.queries import Queries
from embedded_cosmos.rest import RestService, error_response
from embedded_cosmos.shards import ShardCache
from embedded_cosmos.storage import Storage, Synchronous
from embedded_cosmos.upgrade import upgrade

DEFAULT_CACHE_BYTES = 512 * 1024 * 1024
STRICT_PARTITIONS = 3
STRICT_VARIABLE = "EMBEDDED_COSMOS_STRICT"


class Engine:
    """A Cosmos DB account in one SQLite file, or in RAM.

    Requests are answered one at a time, from any thread. Use it through the transports:

        with Engine("memory.db") as engine:
            client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))

    Attributes:
        faults: The faults to inject from now on, or None.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        synchronous: Synchronous = "NORMAL",
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        clock: Callable[[], float] = time.time,
        faults: FaultPlan | None = None,
        strict: bool | None = None,
        partitions: int = STRICT_PARTITIONS,
        upgrade_later: bool = False,
    ) -> None:
        """Open or create a store.

        Args:
            path: The SQLite file; None keeps everything in RAM, until `close`.
            synchronous: What an acknowledged write survives: with NORMAL, the death of the process; with FULL, also a
                power failure, but each commit waits for the disk.
            cache_bytes: About how much memory the documents for queries may take, the largest user (the first level of
                the key) apart.
            clock: Returns the time in seconds since 1970, for `_ts` and TTL.
            faults: The faults to inject.
            strict: Whether to behave like an account with several physical partitions, where clients must ask for
                query plans and merge results. None: as the environment variable EMBEDDED_COSMOS_STRICT says.
            partitions: How many partitions a container has if the engine is strict; with provisioned throughput, one
                for each 10,000 RU/s, as in Azure. If the engine is not strict, it has one.
            upgrade_later: Whether a file of an earlier version is only read until you call `upgrade`, which must come
                before the first write.
        """
        if partitions < 1:
            raise ValueError("A container has at least one partition.")
        # Clients cache by URL as long as the process lives, so every engine needs its own URL.
        self.url = f"https://embedded-{secrets.token_hex(8)}.localhost:443/"
        self.credential = base64.b64encode(b"the embedded engine has no secrets").decode()
        self.synchronous = synchronous
        self.faults = faults
        self._partitioning = Partitioning(partitions, follows_throughput=True) if _is_strict(strict) else Partitioning()
        self._cache_bytes = cache_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._storage = Storage(None if path is None else Path(path), synchronous)
        try:
            self._rest = self._load()
            if not upgrade_later:
                upgrade(self._storage, self._containers())
        except orjson.JSONDecodeError as error:
            self._storage.close()
            raise EngineFileError(f"{path} is damaged: the definition of a container is no JSON.") from error
        except BaseException:
            self._storage.close()
            raise
        self._is_open = True

    def upgrade(self) -> None:
        """Bring a file of an earlier version up to date, if there is anything to do.

        Raises:
            EngineFileError: if another program writes to the file, or the disk is full. Nothing has changed then.
            EngineForked: in a fork of the process that opened the engine.
        """
        self._check_process()
        with self._lock:
            if self._is_open:
                upgrade(self._storage, self._containers())

    def handle(self, request: Request) -> Response:
        """Answer a request after the earlier ones. Raises ConnectionDropped if the fault plan says so."""
        if os.getpid() != self._owner:
            return error_response(request, EngineForked(self._owner))
        faults = self.faults
        if faults is None:
            return self._in_turn(request)
        return faults.carry_out(request, operation_of(request), self._container_of(request), self._in_turn)

    def try_handle(self, request: Request) -> Response | None:
        """Answer a request immediately. None if it may take long, another one is running, or faults are planned."""
        if os.getpid() != self._owner or self.faults is not None or not self._lock.acquire(blocking=False):
            return None
        try:
            return self._answer(replace(request, at_once=True))
        except TakesLong:
            return None
        finally:
            self._lock.release()

    def scrub(self) -> bool:
        """Remove the bytes of deleted and replaced data from the file and its log.

        Call it after a deletion that must be final. Ordinary deletes are overwritten in the file at the next
        checkpoint of its log, and in the log when it is next reused. A scrub reads the whole file (about a millisecond
        for each megabyte) while other requests wait, and waits for the disk three times.

        Returns:
            False if another program reads the file, or the disk fails. The scrub then stays due, and `tidy` tries it.

        Raises:
            EngineForked: in a fork of the process that opened the engine.
        """
        self._check_process()
        with self._lock:
            return not self._is_open or self._storage.scrub()

    @property
    def is_in_place(self) -> bool:
        """Whether the file was neither deleted nor replaced since it was opened; always true in RAM."""
        return self._storage.is_in_place

    def scrub_later(self) -> None:
        """Make the next `tidy`, or `close`, scrub the file."""
        self._storage.scrub_due = True

    def tidy(self) -> bool:
        """Delete expired items in all containers. Scrub if there were any, or if a scrub is due.

        Call it from time to time, because the engine has no timer. It costs next to nothing if there is nothing to do.

        Returns:
            Whether no scrub is due any more.

        Raises:
            EngineForked: in a fork of the process that opened the engine.
        """
        self._check_process()
        with self._lock:
            if not self._is_open:
                return True
            self._expire()
            return not self._storage.scrub_due or self._storage.scrub()

    def close(self) -> None:
        """Close the file. Later requests are answered with 503.

        Raises:
            EngineForked: in a fork of the process that opened the engine, which keeps it.
        """
        self._check_process()
        with self._lock:
            if self._is_open:
                self._is_open = False
                self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _check_process(self) -> None:
        if os.getpid() != self._owner:
            raise EngineForked(self._owner)

    def _expire(self) -> None:
        for container in self._containers():
            self._documents.expire(container)

    def _containers(self) -> Iterator[Container]:
        for database in self._catalog.databases():
            yield from self._catalog.containers(database)

    def _load(self) -> RestService:
        storage, clock = self._storage, self._clock
        offers, shards = Offers(storage), ShardCache(storage, self._cache_bytes)
        catalog = self._catalog = Catalog(storage, offers, clock, self._partitioning)
        control = ControlPlane(catalog, offers, shards, clock)
        self._documents = Documents(storage, shards, clock)
        data = DataPlane(catalog, storage, self._documents, Queries(storage, shards))
        return RestService(control, data)

    def _container_of(self, request: Request) -> str | None:
        """The id of the container of a request, also if the path has its rid."""
        match segments_of(request.path):
            case ["dbs", database, "colls", ref, *_]:
                with self._lock:
                    try:
                        return self._catalog.container(database, ref).id
                    except CosmosError:
                        return ref
        return None

    def _in_turn(self, request: Request) -> Response:
        with self._lock:
            return self._answer(request)

    def _answer(self, request: Request) -> Response:
        # Clients read the account in their own thread from time to time. A closed engine must still answer that.
        if not self._is_open and request.path != "/":
            return error_response(request, unavailable("The engine is closed."))
        try:
            return self._rest.respond(request)
        except sqlite3.Error as error:
            return error_response(request, CosmosError(500, "InternalServerError", _why(error)))
        except TakesLong:
            raise
        except BaseException:
            # An interrupt may come between a commit and the update of memory, so memory is loaded again.
            self._storage.abandon()
            self._rest = self._load()
            raise


def _is_strict(strict: bool | None) -> bool:
    return os.environ.get(STRICT_VARIABLE) == "1" if strict is None else strict


def _why(error: sqlite3.Error) -> str:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return "The disk of the store file is full. What was written before is kept; free some space."
    return f"The store file failed: {error}."
