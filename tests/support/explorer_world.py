"""A memory with hostile and friendly talk behind a real server, and one browser that looks at it."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from api_world import serving

from agent_memory import AsyncMemory, Cadence
from agent_memory.api import Explorer
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.settings import PolicySettings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@dataclass
class World:
    """A server in a thread of its own, and the memory behind it."""

    url: str
    memory: AsyncMemory
    explorer: Explorer
    loop: asyncio.AbstractEventLoop

    def do(self, work: Awaitable[Any]) -> Any:
        """Does work on the memory, in its event loop."""

        async def done() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(done(), self.loop).result(60)


@dataclass
class Looking:
    """A page in the browser, and what went wrong in it."""

    page: Any
    world: World
    wrong: list[str] = field(default_factory=list)

    def show(self, path: str, user: str = "ann") -> str:
        """Shows a view; the text of its main part."""
        from urllib.parse import quote

        self.page.goto(f"{self.world.url}/ui/#/u/{quote(user, safe='')}/{path}")
        return self.settled()

    def settled(self) -> str:
        """Waits until nothing is loading; the text of the main part."""
        self.page.wait_for_selector("main h1", timeout=20_000)
        self.page.wait_for_selector(".loading", state="detached", timeout=20_000)
        return str(self.page.inner_text("main"))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    made: list[World] = []
    started, stop = threading.Event(), threading.Event()

    async def run() -> None:
        explorer = Explorer()
        memory = AsyncMemory.local(
            chat_model=OfflineChat(),
            # Pictures show what the packaged model finds.
            embedding_model=None if os.environ.get("EXPLORER_SCREENSHOTS") else HashingEmbeddings(),
            cadence=Cadence(extract=0, summarize=0, profile=0, reconcile=0),
            policy=PolicySettings(audit_days=30),
        )
        async with memory, serving(memory, explorer=explorer, stream_seconds=60) as url:
            made.append(World(url, memory, explorer, asyncio.get_running_loop()))
            started.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert started.wait(60)
        yield made[0]
    finally:
        stop.set()
        thread.join(60)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here (apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright, which drives the browser, is not here")
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def look(world: World, browser: Any) -> Iterator[Callable[..., Looking]]:
    """Opens a signed-in page of a size; what it complains of fails the test module's last check."""
    contexts = []

    def opened(width: int = 1600, height: int = 1000, **options: Any) -> Looking:
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **options)
        contexts.append(context)
        found = Looking(context.new_page(), world)
        found.page.on("dialog", lambda one: (found.wrong.append(f"dialog: {one.message}"), one.dismiss()))
        found.page.on("pageerror", lambda one: found.wrong.append(f"error: {one}"))
        found.page.on("console", lambda one: found.wrong.append(one.text) if _is_complaint(one) else None)
        found.page.goto(world.explorer.address(world.url))
        found.page.wait_for_selector("main", timeout=20_000)
        return found

    yield opened
    for context in contexts:
        context.close()


def _is_complaint(message: Any) -> bool:
    """The browser logs each 404, which a missing summary is; everything else is a fault."""
    return message.type == "error" and "404" not in message.text
