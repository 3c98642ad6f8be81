"""How fast the explorer shows a store, in a real browser: its first paint, and each view until it shows its answer.

python benchmarks/explorer.py [--memories 100 10000 100000]
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from api_world import serving

from agent_memory import AsyncMemory
from agent_memory.api import Explorer
from agent_memory.explorer.page import static_files
from agent_memory.language.hashing import HashingEmbeddings, embed_text
from agent_memory.language.offline import OfflineChat
from agent_memory.store.containers import MEMORIES

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
TOPICS = ("trip", "kitchen", "work", "garden", "music", "health", "car", "family")
RUNS = 5


async def fill(memory: AsyncMemory, count: int) -> None:
    """Writes facts into the store, each with a topic, a time and a vector, in the form that a real one has there."""
    await memory.user("maya").remember("A fact that gives the others their form", tags=["trip"])
    store = memory.runtime.store
    [form] = await store.query(MEMORIES, "SELECT * FROM c WHERE c.type = 'fact'")
    form = {name: value for name, value in form.items() if not name.startswith("_")}
    partition = (form["user_id"], form["thread_id"])
    for start in range(0, count - 1, 100):
        facts = []
        for number in range(start, min(count - 1, start + 100)):
            at, topic = (BEGIN + timedelta(minutes=5 * number)).isoformat(), TOPICS[number % len(TOPICS)]
            content = f"Statement {number} about the {topic}, said on some day"
            own = {"id": f"fact_{number:032x}", "content": content, "tags": [topic], "content_hash": f"{number:032x}"}
            times = {"created_at": at, "recorded_at": at, "valid_from": at}
            facts.append(form | own | times | {"embedding": embed_text(content)})
        await store.batch(MEMORIES, partition, [("create", (fact,), {}) for fact in facts])


VIEWS = {
    "timeline": ("timeline", ".bar"),
    "list": ("timeline?show=table", "tbody tr"),
    "filter": ("timeline?tag=garden", ".bar"),
    "search": ("playground?q=What+about+the+garden%3F", ".hits li"),
}
"""Each view with the element that shows that its answer is there."""


def look(url: str, address: str) -> Iterator[tuple[str, float]]:
    """Opens each view several times; milliseconds until the browser has painted the page, and until it has drawn it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(address)
        for name, (route, shown) in VIEWS.items():
            for _ in range(RUNS):
                page.goto("about:blank")
                page.goto(f"{url}/ui/#/u/maya/{route}", wait_until="commit")
                page.wait_for_selector(shown, timeout=120_000)
                yield name, page.evaluate("performance.now()")
                yield "first paint", page.evaluate("performance.getEntriesByType('paint')[0]?.startTime ?? -1")
        browser.close()


def measure(count: int, file: Path) -> None:
    """Prints the figures of a store of this size, in a file that was just opened."""
    ready: list[Any] = []
    started, stop = threading.Event(), threading.Event()

    def opened() -> AsyncMemory:
        return AsyncMemory.local(file, chat_model=OfflineChat(), embedding_model=HashingEmbeddings())

    async def run() -> None:
        async with opened() as memory:
            await fill(memory, count)
        explorer = Explorer()
        async with opened() as memory, serving(memory, explorer=explorer) as url:
            ready.extend((url, explorer.address(url)))
            started.set()
            await asyncio.to_thread(stop.wait)

    def work() -> None:
        try:
            asyncio.run(run())
        finally:
            started.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    started.wait()
    if not ready:
        raise SystemExit("the store could not be filled")
    found = defaultdict(list)
    for name, milliseconds in look(*ready):
        found[name].append(milliseconds)
    stop.set()
    thread.join()
    for name in ("first paint", *VIEWS):
        first, times = found[name][0], sorted(found[name])
        median = times[len(times) // 2]
        shown = f"first {first:6.0f} ms  median {median:6.0f} ms  worst {times[-1]:6.0f} ms"
        print(f"{count:>8} memories  {name:<12} {shown}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, nargs="+", default=[100, 10_000, 100_000])
    sizes = static_files()
    print(f"{sum(map(len, sizes.values()))} bytes in {len(sizes)} files")
    for count in parser.parse_args().memories:
        with TemporaryDirectory() as folder:
            measure(count, Path(folder) / "memory.db")


if __name__ == "__main__":
    main()
