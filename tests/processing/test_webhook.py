"""The webhook gets each change at least once, signed; no address of a private network is called."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
import tenacity
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ConfigurationError, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import iso, now
from agent_memory.processing import webhook as module
from agent_memory.processing.webhook import Notifier, PublicAddresses, deliver, send_batch, session_for, signature
from agent_memory.settings import Environment, Webhook, is_public

SECRET = "a secret of the receiver"


@dataclass
class Receiver:
    """A receiver that answers as it is told, 200 by default, and keeps what it was sent."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def changes(self) -> list[tuple[str, str]]:
        """Types and contents, in their order."""
        found = [change for _, body in self.got for change in json.loads(body)["changes"]]
        return [(one["type"], (one["memory"] or {}).get("content", "")) for one in found]


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()

    async def answer(request: web.Request) -> web.Response:
        receiver.got.append((dict(request.headers), await request.read()))
        receiver.reached.set()
        status = receiver.answers.pop(0) if receiver.answers else 200
        return web.Response(status=status, headers={"Location": "/elsewhere"} if status == 302 else {})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield receiver
    finally:
        await runner.cleanup()


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(module.tenacity, "wait_random_exponential", lambda **_: tenacity.wait_none())


def hook(receiver: Receiver) -> Webhook:
    return Webhook(receiver.url, SECRET, allow_private=True)


async def test_each_change_is_sent_once_if_the_receiver_confirms_it(memory: AsyncMemory, receiver: Receiver):
    alice, notifier = memory.user("alice"), Notifier(memory.runtime.store, hook(receiver))
    async with session_for(hook(receiver)) as session:
        assert await notifier.send(session) == 0
        tea = await alice.remember("I like tea")
        await memory.user("bob").remember("I ski")
        assert await notifier.send(session) == 2
        assert await notifier.send(session) == 0
        assert sorted(receiver.changes) == [("added", "I like tea"), ("added", "I ski")]
        await alice.forget(tea.id)
        await notifier.send(session)
        assert receiver.changes[-1] == ("forgotten", "")
        assert "tea" not in receiver.got[-1][1].decode()


async def test_changes_from_before_the_webhook_are_skipped(memory: AsyncMemory, receiver: Receiver):
    store = memory.runtime.store
    await memory.user("alice").remember("I like tea")
    parts = [{"range": part} for part in await store.feed_ranges("memories")]
    later = iso(now() + timedelta(seconds=50))  # less than a memory may take to be written
    await store.upsert("leases", {"id": module.LEASE, "since": later, "parts": parts})
    async with session_for(hook(receiver)) as session:
        assert await Notifier(store, hook(receiver)).send(session) == 0
    lease = await store.read("leases", module.LEASE, (module.LEASE,))
    assert lease is not None
    assert any(part.get("continuation") for part in lease["parts"])  # strict mode has several partitions


async def test_unconfirmed_changes_are_sent_again_also_by_another_process(memory: AsyncMemory, receiver: Receiver):
    alice = memory.user("alice")
    async with session_for(hook(receiver)) as session:
        await Notifier(memory.runtime.store, hook(receiver)).send(session)
        await alice.remember("I like tea")
        receiver.answers = [500, 503, 200]
        assert await Notifier(memory.runtime.store, hook(receiver)).send(session) == 1
        assert len(receiver.got) == 3
        names = {headers[module.DELIVERY] for headers, _ in receiver.got}
        assert len(names) == 1
        await alice.remember("I ski")
        receiver.answers = [400] * module.ATTEMPTS
        with pytest.raises(StoreUnavailable, match="answered 400"):
            await Notifier(memory.runtime.store, hook(receiver)).send(session)
        receiver.got.clear()
        assert await Notifier(memory.runtime.store, hook(receiver)).send(session) == 1
        assert receiver.changes == [("added", "I ski")]


async def test_a_message_is_signed(memory: AsyncMemory, receiver: Receiver):
    async with session_for(hook(receiver)) as session:
        notifier = Notifier(memory.runtime.store, hook(receiver))
        await notifier.send(session)
        await memory.user("alice").remember("I like tea ☕")
        await notifier.send(session)
    headers, body = receiver.got[0]
    stamp = headers[module.TIMESTAMP]
    assert headers[module.SIGNATURE] == signature(SECRET, stamp, body)
    assert headers[module.SIGNATURE] != signature(SECRET, stamp, body + b" ")
    assert headers[module.SIGNATURE] != signature(SECRET, str(int(stamp) + 1), body)
    # As others find it: printf '1.{}' | openssl dgst -sha256 -hmac key
    known = "1ba6b8171186efc613e8bcc0cbdab2748f24984d7c5a84faa2637afa0e40d224"
    assert signature("key", "1", b"{}") == f"v1={known}"


async def test_a_redirect_is_not_followed(memory: AsyncMemory, receiver: Receiver):
    async with session_for(hook(receiver)) as session:
        notifier = Notifier(memory.runtime.store, hook(receiver))
        await notifier.send(session)
        await memory.user("alice").remember("I like tea")
        receiver.answers = [302] * module.ATTEMPTS
        with pytest.raises(StoreUnavailable, match="answered 302"):
            await notifier.send(session)
    assert len(receiver.got) == module.ATTEMPTS


async def test_a_memory_with_a_webhook_sends_by_itself(receiver: Receiver, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "POLL_SECONDS", 0.02)
    async with (
        AsyncMemory.local(
            embedding_model=HashingEmbeddings(), webhook=hook(receiver), cadence=Cadence(idle_seconds=0)
        ) as memory,
        asyncio.timeout(120),
        session_for(hook(receiver)) as session,
    ):
        await Notifier(memory.runtime.store, hook(receiver)).send(session)
        await memory.user("alice").remember("I like tea")
        await receiver.reached.wait()
    assert receiver.changes == [("added", "I like tea")]


async def test_a_batch_of_the_function_app_is_sent(memory: AsyncMemory, receiver: Receiver):
    await memory.user("alice").remember("I like tea")
    rows = await memory.runtime.store.query("memories", "SELECT * FROM c", ("alice",))
    assert await send_batch(hook(receiver), rows) == 1
    assert await send_batch(hook(receiver), []) == 0
    assert receiver.changes == [("added", "I like tea")]


PRIVATE = [
    "127.0.0.1", "10.0.0.7", "172.16.3.4", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "168.63.129.16",
    "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "224.0.0.1", "::",
    "::127.0.0.1",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_refused(address: str):
    assert not is_public(address)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(ConfigurationError, match="private network"):
        Webhook(f"https://{host}/hook", SECRET)


@pytest.mark.parametrize("host", ["１２７.0.0.1", "127。0。0。1", "127．0．0．1", "ⓛocalhost", "localhost."])
def test_a_private_address_in_other_signs_is_refused(host: str):
    """Clients read these as the address itself, without resolving a name."""
    with pytest.raises(ConfigurationError, match="private network"):
        Webhook(f"https://{host}/hook", SECRET)
    assert Webhook("https://bücher.example/hook", SECRET)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_public_addresses_are_not(address: str):
    assert is_public(address)


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f.1"])
async def test_a_name_of_a_private_address_is_not_connected_to(host: str):
    """Names are looked at when they are resolved, in whatever way they are written."""
    resolver = PublicAddresses()
    with pytest.raises(OSError, match=r"."):
        await resolver.resolve(host, 443, socket.AF_INET)
    await resolver.close()


class ByName(AbstractResolver):
    """Knows one name, which has these addresses."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=one, port=port, family=family, proto=0, flags=0)
            for one in self._addresses
        ]

    async def close(self) -> None:
        pass


async def test_of_a_name_with_several_addresses_only_the_public_ones_are_connected_to(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "DefaultResolver", lambda: ByName("10.0.0.7", "93.184.215.14", "127.0.0.1"))
    assert [one["host"] for one in await PublicAddresses().resolve("receiver.example", 443)] == ["93.184.215.14"]


async def test_a_name_that_leads_into_a_private_network_gets_nothing(receiver: Receiver, memory: AsyncMemory):
    made = await memory.user("alice").remember("I like tea")
    change = (await memory.user("alice").changes()).changes or module.changes_of(
        [made.model_dump(mode="json")], made.recorded_at
    )
    port = receiver.url.rpartition(":")[2].partition("/")[0]
    public = Webhook("https://receiver.example/", SECRET)
    object.__setattr__(public, "url", f"http://localhost:{port}/")
    async with session_for(public) as session:
        with pytest.raises(StoreUnavailable):
            await deliver(session, public, change)
    assert receiver.got == []


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("http://example.com/", SECRET),
        ("ftp://example.com/", SECRET),
        ("https://", SECRET),
        ("example.com", SECRET),
        ("https://user:word@example.com/", SECRET),
        ("https://example.com:99999/", SECRET),
        ("https://[::1/", SECRET),
        ("https://example.com/", "short"),
        ("https://localhost/", SECRET),
    ],
)
def test_what_cannot_be_called_is_refused_when_it_is_set(url: str, secret: str):
    with pytest.raises(ConfigurationError) as refused:
        Webhook(url, secret)
    assert secret not in str(refused.value)


def test_the_environment_sets_it(monkeypatch: pytest.MonkeyPatch):
    assert Environment().webhook is None
    monkeypatch.setenv("AGENT_MEMORY_WEBHOOK_URL", "https://example.com/hook")
    with pytest.raises(ConfigurationError, match="16 characters"):
        _ = Environment().webhook
    monkeypatch.setenv("AGENT_MEMORY_WEBHOOK_SECRET", SECRET)
    assert Environment().webhook == Webhook("https://example.com/hook", SECRET)
    assert SECRET not in repr(Environment().webhook)
    monkeypatch.setenv("AGENT_MEMORY_WEBHOOK_PRIVATE", "true")
    assert Environment().webhook == Webhook("https://example.com/hook", SECRET, allow_private=True)
