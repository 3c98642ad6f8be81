"""Operations for the operator of a memory: on all users and groups, and on its health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_memory.backend import StoreBackend
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.models import DeadLetter, Extraction, Health, ProcessResult, ReembedPlan, ReembedResult
from agent_memory.processing.reembed import Progress as ReembedProgress
from agent_memory.screening.screen import checked_extraction
from agent_memory.store.ids import STORE_USER, check_id, group_owner

if TYPE_CHECKING:
    from agent_memory.remote import RemoteBackend


class MemoryOperator:
    """Methods of a memory that belong to no user. No scope offers them."""

    _backend: StoreBackend | RemoteBackend

    async def assign_tier(self, user_id: str, tier: str | None) -> None:
        """For the operator: assigns a tier to a user; None resets it to the default tier.

        Raises:
            InvalidInput: if the id is invalid.
            ConfigurationError: if the tier does not exist.
        """
        await self._backend.assign_tier(check_id(user_id, "user_id"), tier)

    async def extraction(self, *, group_id: str | None = None) -> Extraction | None:
        """For the operator: the custom extraction of the store or of a group; None if none is set.

        Args:
            group_id: The group. A group without one of its own uses the store's.

        Raises:
            InvalidInput: if the id is invalid.
        """
        return await self._backend.extraction(_owner(group_id))

    async def set_extraction(
        self, extraction: Extraction | Mapping[str, Any] | None, *, group_id: str | None = None
    ) -> Extraction | None:
        """For the operator: sets what a model extracts in addition to the usual; None removes the setting.

        It applies to turns that are processed from now on; other processes apply it within 30 seconds. Memories record
        its version in `prompt_version`, and `reprocess` derives older ones again. The rules that work without a model
        ignore it.

        Args:
            extraction: Instructions, custom kinds with a schema of their data, categories.
            group_id: Sets it only for this group, in place of the store's.

        Raises:
            InvalidInput: if a part of it is invalid, such as a schema that is too large or refers to another document,
                or if it holds a secret.
        """
        if extraction is not None:
            extraction = checked_extraction(extraction)
        return await self._backend.set_extraction(extraction, _owner(group_id))

    async def plan_reembed(self, to: str | EmbeddingModel) -> ReembedPlan:
        """For the operator: what it would cost to move the store to another embedding model. Changes nothing.

        Args:
            to: `provider:model[@dimensions]` as in `AGENT_MEMORY_EMBEDDINGS`, or a model.

        Raises:
            ConfigurationError: if the name is not a known model, or the memory is on a server.
        """
        return await self._backend.plan_reembed(to)

    async def reembed(
        self, to: str | EmbeddingModel, *, rate: float | None = None, progress: ReembedProgress | None = None
    ) -> ReembedResult:
        """For the operator: moves the store to another embedding model while it is used.

        Each memory gets a new vector next to the old one, and memories written meanwhile get both. Then the store
        switches to the new model, and so does this memory; then the old vectors are removed. An interrupted run
        continues where it stopped. From then on, open the store with the new model.

        Args:
            to: `provider:model[@dimensions]` as in `AGENT_MEMORY_EMBEDDINGS`, or a model, which is closed with the
                memory.
            rate: Maximum memories per second, to leave capacity of the model and the store for others.
            progress: Called with the number of memories that have their vector, and the total.

        Raises:
            ConfigurationError: if the name is not a known model, another move is in progress, the store accepts no
                second vector path, or the memory is on a server.
            ModelError: if the new model is unavailable; the call may be repeated.
            StoreUnavailable: if the store is unavailable; the call may be repeated.
        """
        return await self._backend.reembed(to, rate, progress)

    async def groups(self, contributor: str | None = None) -> list[str]:
        """For the operator: every group with stored data, sorted.

        Args:
            contributor: Only groups to which this user has contributed.

        Raises:
            InvalidInput: if the id is invalid.
        """
        return await self._backend.groups(None if contributor is None else check_id(contributor, "contributor"))

    async def users(self) -> list[str]:
        """For the operator: every user with stored data, sorted."""
        return await self._backend.users()

    async def health(self) -> Health:
        """Whether the parts respond, and which they are. Never raises."""
        return await self._backend.health()

    async def dead_letters(self) -> list[DeadLetter]:
        """For the operator: the ranges of turns that processing gave up on, oldest first."""
        return await self._backend.dead_letters()

    async def replay(self, dead_letter_id: str) -> ProcessResult:
        """Processes the range of a dead letter again. The letter is deleted if that succeeds.

        Raises:
            NotFound: if there is no such dead letter.
            InvalidInput: if it is for a turn that could not be counted. Its writer must write it again.
            ModelError: if the model still returns no usable answer. The dead letter stays.
        """
        return await self._backend.replay(check_id(dead_letter_id, "dead_letter_id"))


def _owner(group_id: str | None) -> str:
    return STORE_USER if group_id is None else group_owner(group_id)
