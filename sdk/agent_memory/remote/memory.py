"""The backend of a remote memory: it sends each call to a server."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from agent_memory.contract.schemas import CustomExtraction, DeadLetters, Drained, Groups, Users
from agent_memory.errors import AgentMemoryError, ConfigurationError
from agent_memory.models import DeadLetter, Extraction, Health, ProcessResult, ReembedPlan, ReembedResult
from agent_memory.processing.worker import Progress
from agent_memory.remote.http import Http, read
from agent_memory.remote.scopes import PROCESS_TIMEOUT, RemoteGroupScope, RemoteStaticScope, RemoteUserScope
from agent_memory.rules.switches import Asked
from agent_memory.runtime import Runtime
from agent_memory.scopes import AsyncGroupScope, AsyncStaticScope, AsyncUserScope
from agent_memory.store.ids import group_of

if TYPE_CHECKING:
    pass

DRAIN_SLICE = 20.0
"""How long one long-poll request waits, in seconds. Proxies close longer ones."""


class RemoteBackend:
    """Does the work of `AsyncMemory` over HTTP. Its methods have the same names, results and errors."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def open(self) -> None:
        """Opens the connection; nothing is sent yet."""
        await self._http.__aenter__()

    async def close(self) -> None:
        """Closes the connection. Harmless when closed."""
        await self._http.__aexit__(None, None, None)

    async def warm(self) -> None:
        """Does nothing: the server has the models."""

    @property
    def runtime(self) -> Runtime:
        """Always raises: there is no store in this process."""
        return self._http.runtime

    @property
    def enabled(self) -> bool:
        """Whether it is open."""
        return self._http.is_open

    async def create_memory_store(self) -> None:
        """Always raises: the operator creates the store on the server."""
        raise ConfigurationError("the store cannot be created over HTTP: create it where the server runs")

    async def plan_reembed(self, to: object) -> ReembedPlan:
        """Always raises: the operator moves the store on the server."""
        raise ConfigurationError(
            "the store cannot move to another model over HTTP: run `agent-memory reembed` where the server runs"
        )

    async def reembed(self, to: object, rate: object, progress: object) -> ReembedResult:
        """Always raises: the operator moves the store on the server."""
        raise ConfigurationError(
            "the store cannot move to another model over HTTP: run `agent-memory reembed` where the server runs"
        )

    def user(self, user_id: str, asked: Asked | None) -> AsyncUserScope:
        """The scope of one user."""
        return RemoteUserScope(self._http, user_id, asked)

    def group(self, group_id: str, asked: Asked | None, member: str | None) -> AsyncGroupScope:
        """The scope of a group."""
        return RemoteGroupScope(self._http, group_id, asked, member)

    @property
    def static(self) -> AsyncStaticScope:
        """Knowledge that all users share; for the operator."""
        return RemoteStaticScope(self._http)

    async def drain(self, timeout: float | None, progress: Progress | None) -> int:
        """Waits until the server has processed everything written so far; returns how many turns are left."""
        end = None if timeout is None else time.monotonic() + timeout
        left: int | None = None
        while True:
            slice_ = DRAIN_SLICE if end is None else max(0.0, min(DRAIN_SLICE, end - time.monotonic()))
            answer = await self._http.send(
                "POST", "/v1/admin/drain", query={"timeout": slice_}, timeout=PROCESS_TIMEOUT
            )
            now = read(Drained, answer).left
            if progress is not None and now != left:
                progress(now)
            left = now
            if left == 0 or (end is not None and time.monotonic() >= end):
                return left
            await asyncio.sleep(0.1)

    async def users(self) -> list[str]:
        """For the operator: every user with stored data."""
        return read(Users, await self._http.send("GET", "/v1/admin/users")).users

    async def groups(self, contributor: str | None) -> list[str]:
        """For the operator: every group with stored data."""
        query = {} if contributor is None else {"contributor": contributor}
        return read(Groups, await self._http.send("GET", "/v1/admin/groups", query=query)).groups

    async def health(self) -> Health:
        """Whether the server and its parts answer. Never raises."""
        try:
            return read(Health, await self._http.send("GET", "/v1/admin/health"))
        except AgentMemoryError as error:
            return Health(
                ok=False,
                store=self._http.base_url,
                chat_model="",
                embedding_model="",
                unprocessed_turns=0,
                dead_letters=0,
                warnings=[str(error)],
                store_answers=False,
            )

    async def dead_letters(self) -> list[DeadLetter]:
        """The ranges of turns that processing gave up on; for the operator."""
        return read(DeadLetters, await self._http.send("GET", "/v1/admin/dead-letters")).dead_letters

    async def replay(self, dead_letter_id: str) -> ProcessResult:
        """Processes the range of a dead letter again; for the operator."""
        path = f"/v1/admin/dead-letters/{quote(dead_letter_id, safe='')}/replay"
        return read(ProcessResult, await self._http.send("POST", path, timeout=PROCESS_TIMEOUT))

    async def extraction(self, owner: str) -> Extraction | None:
        """The custom extraction of the store or of a group; for the operator."""
        answer = await self._http.send("GET", "/v1/admin/extraction", query=_of_group(owner))
        return read(CustomExtraction, answer).extraction

    async def set_extraction(self, extraction: Extraction | None, owner: str) -> Extraction | None:
        """Sets the custom extraction of the store or of a group; for the operator."""
        body = {"extraction": None if extraction is None else extraction.model_dump(mode="json")}
        answer = await self._http.send("PUT", "/v1/admin/extraction", query=_of_group(owner), body=body)
        return read(CustomExtraction, answer).extraction

    async def assign_tier(self, user_id: str, tier: str | None) -> None:
        """Puts a user into a tier; for the operator."""
        path = f"/v1/admin/users/{quote(user_id, safe='')}/tier"
        await self._http.send("PUT", path, body={"tier": tier})


def _of_group(owner: str) -> dict[str, str]:
    group = group_of(owner)
    return {} if group is None else {"group": group}
