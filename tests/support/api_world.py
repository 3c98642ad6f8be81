"""The API in this process, and the credentials that callers bring to it."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any

import httpx2 as httpx
import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.api import HeaderIdentity, Identity, InlineProcessing, create_app
from agent_memory.api.processing import Processing
from agent_memory.api.server import server_config
from agent_memory.language.hashing import HashingEmbeddings


def client_of(
    memory: AsyncMemory, identity: Identity | None = None, *, client: str = "127.0.0.1", **options: Any
) -> httpx.AsyncClient:
    """A client of the app itself; without an identity the header of development is believed."""
    identity = identity or HeaderIdentity(allowed=True)
    app = create_app(memory, InlineProcessing(memory.runtime), identity, **options)
    transport = httpx.ASGITransport(app=app, client=(client, 1234), raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


def stop_rates(monkeypatch: pytest.MonkeyPatch, period: int) -> None:
    """Stops the clock of rate limits in a window of so many seconds. Beside a window's end one request more passes."""
    clock = SimpleNamespace(time=lambda: at)
    at = time.time() // period * period + period / 2
    monkeypatch.setattr("limits.storage.memory.time", clock)
    monkeypatch.setattr("limits.strategies.time", clock)


class _Quiet(uvicorn.Server):
    """A server that leaves signals to the tests, and says when it answers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answers = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.answers.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(
    memory: AsyncMemory, identity: Identity | None = None, processing: Processing | None = None, **options: Any
) -> AsyncIterator[str]:
    """The app on a port of its own, in this event loop; its URL."""
    runs = processing or InlineProcessing(memory.runtime)
    app = create_app(memory, runs, identity or HeaderIdentity(allowed=True), **options)
    async with listening(server_config(app)) as url:
        yield url


@asynccontextmanager
async def listening(config: uvicorn.Config) -> AsyncIterator[str]:
    """An application on a port of its own, in this event loop; its URL."""
    server = _Quiet(config)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        await server.answers.wait()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await task


@contextmanager
def served_in_thread(cadence: Cadence) -> Iterator[tuple[str, dict[str, Any]]]:
    """A server over a memory in RAM, for callers that have no event loop; its URL, and its OpenAPI document."""
    told: list[tuple[str, dict[str, Any]]] = []
    started, stop = threading.Event(), threading.Event()

    async def run() -> None:
        memory = AsyncMemory.local(chat_model=ScriptedChat(), embedding_model=HashingEmbeddings(), cadence=cadence)
        async with memory, serving(memory) as url:
            app = create_app(memory, InlineProcessing(memory.runtime), HeaderIdentity(allowed=True))
            told.append((url, app.openapi()))
            started.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert started.wait(120)
    try:
        yield told[0]
    finally:
        stop.set()
        thread.join(30)


class Issuer:
    """An issuer of tokens, with one key."""

    def __init__(self, url: str, key_id: str = "k1") -> None:
        self.url = url
        self._key_id = key_id
        self._private = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def configuration(self) -> dict[str, str]:
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._private.public_key()))
        return {"keys": [{**public, "kid": self._key_id, "use": "sig", "alg": "RS256"}]}

    def token(self, *, algorithm: str = "RS256", key: Any = None, headers: Any = None, **claims: Any) -> str:
        plain = {"iss": self.url, "aud": "api://memory", "exp": int(time.time()) + 600, "oid": "alice"} | claims
        plain = {name: value for name, value in plain.items() if value is not None}
        return jwt.encode(
            plain,
            self._private if key is None else key,
            algorithm=algorithm,
            headers={"kid": self._key_id} | (headers or {}),
        )


def platform_header(*claims: tuple[str, str], role_typ: str = "roles") -> dict[str, str]:
    """The header that App Service authentication sets."""
    principal = {
        "auth_typ": "aad",
        "claims": [{"typ": name, "val": value} for name, value in claims],
        "name_typ": "name",
        "role_typ": role_typ,
    }
    return {"x-ms-client-principal": base64.b64encode(json.dumps(principal).encode()).decode()}
