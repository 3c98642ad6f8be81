"""The backend of a memory whose store this process opens. `remote.RemoteBackend` is the one for a server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from agent_memory.errors import StoreUnavailable
from agent_memory.health import look_at
from agent_memory.language.current import CurrentEmbeddings
from agent_memory.language.defaults import embeddings_named
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.models import DeadLetter, Extraction, Health, ProcessResult, ReembedPlan, ReembedResult
from agent_memory.processing.reembed import Progress as ReembedProgress, catch_up, plan, reembed, watch
from agent_memory.processing.worker import Progress
from agent_memory.recall.search import search
from agent_memory.rules.switches import Asked
from agent_memory.runtime import Runtime
from agent_memory.scopes import AsyncGroupScope, AsyncStaticScope, AsyncUserScope
from agent_memory.settings import Environment
from agent_memory.steps.dead_letters import list_dead_letters
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import from_document
from agent_memory.store.embedding_model import check_embedding_model
from agent_memory.store.ids import STORE_USER, group_of, is_reserved
from agent_memory.store.scope_documents import EXTRACTION, TIER, change_settings, read_document

logger = logging.getLogger("agent_memory")

WARMING_SECONDS = 10.0
"""How long `warm` waits, in seconds. After that, the calls that need a model or the store wait for it."""
_A_WORD = "warm"


class StoreBackend:
    """Carries out the methods of `AsyncMemory` on a store, with the same names, results and errors."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        provision: bool,
        autoscale_max_ru: int | None,
        on_checked: Callable[[], None] | None,
        on_close: Callable[[], None] | None,
    ) -> None:
        """Opens nothing yet.

        Args:
            runtime: The parts of the memory.
            provision: Whether opening creates the missing parts of the store.
            autoscale_max_ru: Throughput cap for containers that are created here.
            on_checked: Called once it is known that the embedding model is the store's, before anything is written.
            on_close: Called after everything is closed.
        """
        self.runtime = runtime
        self._provision = provision
        self._autoscale_max_ru = autoscale_max_ru
        self._on_checked = on_checked
        self._on_close = on_close
        self._open = False
        self._watching: asyncio.Task[None] | None = None

    @property
    def enabled(self) -> bool:
        """Whether it is open and not switched off as a whole."""
        return self._open and self.runtime.tools.policy.enabled

    @property
    def static(self) -> AsyncStaticScope:
        """Static knowledge."""
        return AsyncStaticScope(self.runtime)

    def user(self, user_id: str, asked: Asked | None) -> AsyncUserScope:
        """The scope of one user."""
        return AsyncUserScope(self.runtime, user_id, asked)

    def group(self, group_id: str, asked: Asked | None, member: str | None) -> AsyncGroupScope:
        """The scope of a group."""
        return AsyncGroupScope(self.runtime, group_id, asked, member)

    async def open(self) -> None:
        """Connects, and starts background processing if it happens here."""
        if self._open:
            self.runtime.store.check_process()
            return
        try:
            await self.runtime.store.open()
        except StoreUnavailable:
            logger.error("Memory store unavailable, memory disabled")
            raise
        self._open = True
        if self._provision:
            await self.create_memory_store()
        elif await self.runtime.store.exists():
            await self._begin()

    async def _begin(self) -> None:
        store, embeddings = self.runtime.store, self.runtime.tools.embeddings
        if isinstance(embeddings, CurrentEmbeddings) and embeddings.next is not None:
            await catch_up(store, embeddings)
        await check_embedding_model(store, embeddings.model_id, embeddings.dimensions)
        if self._on_checked is not None:
            await asyncio.to_thread(self._on_checked)
        if isinstance(embeddings, CurrentEmbeddings) and not store.in_process and self._watching is None:
            self._watching = asyncio.create_task(watch(store, embeddings))
        if self.runtime.worker is not None:
            self.runtime.worker.start()
        if self.runtime.notifier is not None:
            self.runtime.notifier.start()

    async def close(self) -> None:
        """Stops background processing and disconnects."""
        self.runtime.store.check_process()
        self._open = False
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
            self._watching = None
        await self.runtime.close()
        if self._on_close is not None:
            self._on_close()

    async def create_memory_store(self) -> None:
        """Creates the database and its containers if they are missing."""
        store = self.runtime.store
        await store.open()
        dimensions = self.runtime.tools.embeddings.dimensions
        await store.provision(dimensions=dimensions, autoscale_max_ru=self._autoscale_max_ru)
        if self._open:
            await self._begin()

    async def assign_tier(self, user_id: str, tier: str | None) -> None:
        """Assigns a tier to a user."""
        if tier is not None:
            self.runtime.tools.policy.tier(tier)
        await change_settings(self.runtime.store, user_id, None, {TIER: tier})

    async def extraction(self, owner: str) -> Extraction | None:
        """The custom extraction of the store or of a group."""
        given = (await read_document(self.runtime.store, owner)).get(EXTRACTION)
        return None if given is None else from_document(Extraction, given)

    async def set_extraction(self, extraction: Extraction | None, owner: str) -> Extraction | None:
        """Sets the custom extraction of the store or of a group."""
        given = None if extraction is None else extraction.model_dump(mode="json")
        await change_settings(self.runtime.store, owner, None, {EXTRACTION: given})
        return extraction

    async def drain(self, timeout: float | None, progress: Progress | None) -> int:
        """Waits until all turns are processed. Returns how many are left."""
        worker = self.runtime.worker
        if worker is None:
            raise StoreUnavailable("the function app processes this store; see its counters for the progress")
        self.runtime.store.check_process()
        return await worker.drain(timeout, progress)

    async def warm(self) -> None:
        """Loads the embedding model, the token counter and the search."""
        try:
            async with asyncio.timeout(WARMING_SECONDS):
                await asyncio.to_thread(self.runtime.tokens.count, _A_WORD)
                await self.runtime.tools.embeddings.embed([_A_WORD])
                await search(self.runtime.searcher, (STORE_USER,), _A_WORD, standing=True, conditions=True)
        except Exception as error:
            logger.warning("Not all could be loaded in advance: %s", str(error) or type(error).__name__)

    async def plan_reembed(self, to: str | EmbeddingModel) -> ReembedPlan:
        """What it would cost to move the store to another embedding model."""
        target = _named(to)
        try:
            return await plan(self.runtime.store, target)
        finally:
            if target is not to:
                await target.close()

    async def reembed(
        self, to: str | EmbeddingModel, rate: float | None, progress: ReembedProgress | None
    ) -> ReembedResult:
        """Moves the store to another embedding model."""
        current = self.runtime.tools.embeddings
        assert isinstance(current, CurrentEmbeddings)
        target = _named(to)
        current.owns(target)
        return await reembed(self.runtime.store, target, current, rate=rate, progress=progress)

    async def users(self) -> list[str]:
        """Every user with stored data, sorted."""
        store = self.runtime.store
        found = {user for name in (TURNS, MEMORIES) for user in await store.query(name, queries.USERS)}
        return sorted(user for user in found if not is_reserved(user))

    async def groups(self, contributor: str | None) -> list[str]:
        """Every group with stored data, or to which this user has contributed, sorted."""
        store, found = self.runtime.store, set[str]()
        for name in (TURNS, MEMORIES):
            if contributor is None:
                found |= set(await store.query(name, queries.USERS))
            else:
                found |= set(await store.query(name, queries.OWNERS_WITH, contributor=contributor))
        return sorted(group for owner in found if (group := group_of(owner)) is not None)

    async def health(self) -> Health:
        """Whether the parts respond, and which they are."""
        return await look_at(self.runtime)

    async def dead_letters(self) -> list[DeadLetter]:
        """The dead letters, oldest first."""
        return await list_dead_letters(self.runtime.store)

    async def replay(self, dead_letter_id: str) -> ProcessResult:
        """Processes the range of a dead letter again."""
        return await self.runtime.replay(dead_letter_id)


def _named(to: str | EmbeddingModel) -> EmbeddingModel:
    return embeddings_named(to, Environment(), "reembed to") if isinstance(to, str) else to
