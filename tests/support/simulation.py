"""A simulated world: one thread, a clock that jumps, requests that travel, machines that die.

Nothing waits in earnest and nothing is left to the operating system, so a schedule runs as fast as the processor
allows and a seed gives the same interleaving again, request by request.
"""

from __future__ import annotations

import asyncio
import json
import random
import selectors
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from azure.core.pipeline.transport import AsyncHttpResponse, HttpRequest
from azure.cosmos.aio import CosmosClient

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import ChatModel
from agent_memory.settings import Limits
from agent_memory.store.client import Store
from embedded_cosmos import AsyncTransport, Engine

T = TypeVar("T")


class _Jumping(selectors.SelectSelector):
    """Waits by moving the clock on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise AssertionError("everything waits for something that will never happen")
        self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop without waiting and without threads."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


simulated_time = pytest.mark.parametrize(
    "anyio_backend", [("asyncio", {"loop_factory": VirtualLoop})], ids=["simulated time"]
)
"""Runs a test on a `VirtualLoop`: a deadline passes when nothing else can happen, however busy the machine is.

For memories in the process, with models in the process: nobody waits for a socket or another thread there.
"""


@dataclass(frozen=True)
class Commit:
    """A request that moves the cursor of a step."""

    step: str
    cursor: dict[str, Any]


def commit_of(request: HttpRequest) -> Commit | None:
    """The commit that a request is, if it is one."""
    if request.headers.get("x-ms-cosmos-is-batch-request", "").lower() != "true":
        return None
    data: Any = request.data
    bodies = [operation.get("resourceBody", {}) for operation in json.loads(data)]
    return next((Commit(body["step"], body) for body in bodies if body.get("type") == "cursor"), None)


def counter_of(request: HttpRequest) -> dict[str, Any] | None:
    """The counter of a thread or a user that a request writes, if it writes one."""
    data: Any = request.data
    body = json.loads(data) if isinstance(data, str) and 'counter"' in data else None
    return body if isinstance(body, dict) and body.get("type") in ("counter", "user_counter") else None


@dataclass
class World:
    """An account, and what has been seen of the writes to it."""

    seed: int
    engine: Engine
    rng: random.Random
    requests: int = 0
    travel: float = 0.004
    commits: list[Commit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _covered: dict[tuple[str, ...], tuple[int, ...]] = field(default_factory=dict)

    def watch(self, request: HttpRequest, status: int) -> None:
        """Notes a request that was carried out, and whether a cursor or a counter went back."""
        commit = commit_of(request)
        if commit is not None and status == 200:
            self.commits.append(commit)
            body = commit.cursor
            self._only_forward((body["step"], body["user_id"], body["thread_id"]), body)
        elif status in (200, 201) and (counter := counter_of(request)) is not None:
            user = {"runs": 0, "count": counter.get("turns", 0), "ts": 0}
            self._only_forward(("counter", counter["user_id"], counter["thread_id"]), counter.get("cursor", user))

    def _only_forward(self, key: tuple[str, ...], cursor: dict[str, Any]) -> None:
        now = (cursor["runs"], cursor["count"], cursor["ts"])
        before = self._covered.get(key, (0, 0, 0))
        if any(new < old for new, old in zip(now, before, strict=True)):
            self.problems.append(f"{key} went back from {before} to {now}")
        self._covered[key] = now


class Machine(AsyncTransport):
    """The way of one process to the account. When it dies, no request leaves it and no answer arrives any more."""

    def __init__(self, world: World) -> None:
        super().__init__(world.engine)
        self.world = world
        self.dead = asyncio.Event()
        self.kill_at: Callable[[HttpRequest], str | None] = lambda request: None
        """Says of a request whether the machine dies `before` it is carried out or `after` that."""

    async def send(self, request: HttpRequest, **kwargs: Any) -> AsyncHttpResponse:
        world = self.world
        await self._travel()
        world.requests += 1
        moment = self.kill_at(request)
        if moment == "before":
            await self._die()
        response = await super().send(request, **kwargs)
        world.watch(request, response.status_code)
        if moment == "after":
            await self._die()
        await self._travel()
        return response

    async def _travel(self) -> None:
        await asyncio.sleep(self.world.rng.random() * self.world.travel)
        if self.dead.is_set():
            await self._die()

    async def _die(self) -> None:
        self.dead.set()
        await asyncio.Event().wait()


def open_on(
    machine: Machine, chat: ChatModel, cadence: Cadence, limits: Limits | None = None, *, provision: bool = False
) -> AsyncMemory:
    """A memory on a machine."""
    engine = machine.world.engine
    return AsyncMemory(
        Store(
            lambda: CosmosClient(engine.url, engine.credential, transport=machine, retry_total=1),
            "ai_memory",
            name="simulated",
        ),
        chat_model=chat,
        embedding_model=HashingEmbeddings(),
        cadence=cadence,
        process="inline",
        provision=provision,
        limits=limits,
    )


def simulate(seed: int, story: Callable[[World], Awaitable[T]], path: Path | None = None) -> T:
    """Runs a story to its end, in a world made from a seed; its account is kept at `path`, or nowhere."""
    began = int(time.time())  # whole, so that the seconds of `_ts` begin where they began before
    random.seed(seed)  # what libraries draw: the waits between retries
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        with Engine(path, clock=lambda: began + loop.time()) as engine:
            world = World(seed, engine, random.Random(seed))

            async def run() -> T:
                return await story(world)

            result = runner.run(run())
    assert world.problems == []
    return result
