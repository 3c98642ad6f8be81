"""How fast the explorer shows a store, in a real browser: its first paint, and each view until it shows its answer.

python benchmarks/explorer.py [--memories 100 10000 100000] [--folder DIR]

A large store takes minutes to fill. With a folder, it stays there, and a later run continues with it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from api_world import serving

from agent_memory import AsyncMemory
from agent_memory.api import Explorer
from agent_memory.explorer.page import static_files
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
TOPICS = ("trip", "kitchen", "work", "garden", "music", "health", "car", "family")
RUNS = 5


async def fill(memory: AsyncMemory, count: int) -> None:
    """Imports facts, each with a topic and a time, as an export has them."""
    user = memory.user("maya")
    await user.remember("A fact that gives the others their form", tags=["trip"])
    written: list[str] = []
    await user.export(written.append)
    header, form = written[0], json.loads(written[1])
    begun = (await user.stats()).memories // 1000 * 1000
    for start in range(begun, count, 1000):
        lines = [header]
        for number in range(start, min(count, start + 1000)):
            at, topic = (BEGIN + timedelta(minutes=37 * number)).isoformat(), TOPICS[number % len(TOPICS)]
            content = f"Statement {number} about the {topic}, said on some day"
            own = {"id": f"fact_{number:032x}", "content": content, "tags": [topic], "content_hash": f"{number:032x}"}
            lines.append(json.dumps(form | own | {"created_at": at, "recorded_at": at, "valid_from": at}))
        await user.import_lines(lines)


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


def measure(count: int, folder: Path | None) -> None:
    """Prints the figures of a store of this size, in RAM or in a folder."""
    path = None if folder is None else folder / f"{count}.db"
    ready: list[Any] = []
    started, stop = threading.Event(), threading.Event()

    async def run() -> None:
        explorer = Explorer()
        memory = AsyncMemory.local(path, chat_model=OfflineChat(), embedding_model=HashingEmbeddings())
        async with memory, serving(memory, explorer=explorer) as url:
            await fill(memory, count)
            ready.extend((url, explorer.address(url)))
            started.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    started.wait()
    found = defaultdict(list)
    for name, milliseconds in look(*ready):
        found[name].append(milliseconds)
    stop.set()
    thread.join()
    for name in ("first paint", *VIEWS):
        times = sorted(found[name])
        median = times[len(times) // 2]
        print(f"{count:>8} memories  {name:<12} median {median:6.0f} ms  worst {times[-1]:6.0f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="keeps the stores for the next run")
    parser.add_argument("--memories", type=int, nargs="+", default=[100, 10_000, 100_000])
    sizes = static_files()
    print(f"{sum(map(len, sizes.values()))} bytes in {len(sizes)} files")
    arguments = parser.parse_args()
    for count in arguments.memories:
        measure(count, arguments.folder)


if __name__ == "__main__":
    main()
