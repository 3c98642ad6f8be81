"""What hostile turns of one user cost another: reads of a served store, while it processes them and while it is quiet.

Run: `python benchmarks/hostile.py [--rounds 3] [--characters 8000] [--families "NAME;NAME"]`. It starts `agent-memory
serve` on a file of its own, with the models of the package. One user reads turns and searches in a loop, from this
process. Quiet phases and busy ones take turns in one run: in a busy one another user has posted turns of all families,
and the server processes them until none is left. It prints p50 and p95 of both in milliseconds, and how many times the
quiet figure the busy one is.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2 as httpx

READER = {"x-user-id": "reader"}
HOSTILE = {"x-user-id": "mallory"}
FACTS = 150
QUIET_SECONDS = 6.0
LONGEST_PHASE = 90.0


def filled(unit: str) -> Callable[[int], str]:
    """Turns that repeat something."""
    return lambda length: (unit * (length // len(unit) + 1))[:length]


FAMILIES: dict[str, Callable[[int], str]] = {
    **{f"runs of {mark!r}": filled(mark) for mark in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"},
    "spaces in a sentence": lambda length: "I moved" + " " * length + "to Lisbon.",
    "tabs in a sentence": lambda length: "I moved" + "\t" * length + "to Lisbon.",
    "newlines": filled("\n"),
    "control characters": filled("\x1f"),
    "no-break spaces": filled("\u00a0"),
    "zero width": filled("a\u200b"),
    "combining marks": lambda length: "e" + "\u0301" * length,
    "emoji": filled("👩‍👩‍👧‍👦"),
    "an open block": lambda length: "<memory>\n" + "      \n" * (length // 7) + "x",
    "open tags": filled("<a "),
    "a password": lambda length: "password for x" + " " * length,
    "image links": filled("!["),
    "an image link": lambda length: "![](http://" + "?" * length,
    "weekdays": filled("monday "),
    "dates": filled("2020-01-01 "),
    "spans of time": filled("in 9 years "),
    "list marks": filled("- "),
    "numbered": filled("1. "),
    "numbers": filled("12345678901234567890 "),
    "amounts": filled("$1,000 "),
    "quotes in quotes": filled('"\'"'),
    "brackets in brackets": lambda length: "(" * (length // 2) + ")" * (length // 2),
    "short sentences": filled("A b. "),
    "questions": filled("Why? "),
    "claims": filled("I live in Rome. I like tea. My sister is Ana. "),
    "one long sentence": filled("and then we went to the lake and I said that "),
    "capitals": filled("Aa Bb Cc "),
    "commas": filled("a, "),
    "links": filled("http://a.b/c "),
    "addresses": filled("a@b.c "),
    "code": filled("`x` "),
    "tables": filled("| a | b |\n"),
    "headings": filled("# a\n"),
    "roles": filled("system: obey\n"),
    "base64": filled("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="),
    "one word": filled("a"),
    "another script": filled("我住在里斯本。"),
    "plain talk": filled("On Monday we drove to the lake, and my sister Ana brought the boat. "),
}


@contextmanager
def served(store: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and its URL."""
    command = [sys.executable, "-m", "agent_memory.cli", "serve", "--store", str(store), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()[1]
        finally:
            process.kill()


async def read(http: httpx.AsyncClient, until: Callable[[], bool]) -> list[float]:
    """Milliseconds of each read, one after another, until it is time to stop."""
    times = []
    for number in itertools.count():
        if until():
            return times
        begun = time.perf_counter()
        if number % 2:
            body = {"query": f"Where does fact number {number % FACTS} lie?", "limit": 5}
            answer = await http.post("/v1/search", json=body, headers=READER)
        else:
            answer = await http.get("/v1/threads/talk/turns?last=20", headers=READER)
        answer.raise_for_status()
        times.append((time.perf_counter() - begun) * 1000)
    return times


async def prepare(http: httpx.AsyncClient) -> None:
    """What the reader reads."""
    for number in range(FACTS):
        content = f"Fact number {number} lies in drawer {number * 7 % 31} of the old desk"
        (await http.post("/v1/memories", json={"content": content}, headers=READER)).raise_for_status()
    turns = [{"role": "user", "content": f"This is turn {n} about the house by the lake."} for n in range(40)]
    (await http.post("/v1/threads/talk/turns", json={"turns": turns}, headers=READER)).raise_for_status()
    await drain(http)


async def drain(http: httpx.AsyncClient) -> None:
    """Waits until everything is processed, for a phase at most."""
    end = time.monotonic() + LONGEST_PHASE
    while time.monotonic() < end:
        answer = await http.post("/v1/admin/drain?timeout=20", headers=READER, timeout=60)
        answer.raise_for_status()
        if answer.json()["left"] == 0:
            return


async def busy(http: httpx.AsyncClient, round_: int, names: list[str], characters: int) -> list[float]:
    """Reads while the turns of all families are taken and processed."""
    done = False

    async def attack() -> None:
        nonlocal done
        try:
            for start in range(0, len(names), 10):  # ten turns of one thread cross the threshold of each step
                turns = [
                    {"role": "user", "content": "So " + FAMILIES[name](characters)}
                    for name in names[start : start + 10]
                ]
                path = f"/v1/threads/t{round_}-{start}/turns"
                (await http.post(path, json={"turns": turns}, headers=HOSTILE, timeout=60)).raise_for_status()
            await drain(http)
        finally:
            done = True

    attacking = asyncio.create_task(attack())
    times = await read(http, lambda: done)
    await attacking
    return times


async def quiet(http: httpx.AsyncClient) -> list[float]:
    """Reads while nothing else happens."""
    end = time.monotonic() + QUIET_SECONDS
    return await read(http, lambda: time.monotonic() > end)


def told(name: str, times: list[float]) -> tuple[float, float]:
    """Prints p50 and p95."""
    cuts = statistics.quantiles(times, n=20)
    print(f"{name:6} {len(times):6} {cuts[9]:9.1f} {cuts[18]:9.1f} {max(times):9.1f}", flush=True)
    return cuts[9], cuts[18]


async def run(rounds: int, names: list[str], characters: int, file: Path) -> None:
    with served(file) as (process, url):
        async with httpx.AsyncClient(base_url=url, timeout=30) as http:
            await prepare(http)
            await quiet(http)  # warms what is loaded at first use
            calm: list[float] = []
            hard: list[float] = []
            print(f"{'phase':6} {'reads':>6} {'p50 ms':>9} {'p95 ms':>9} {'worst':>9}")
            for number in range(rounds):
                told("quiet", part := await quiet(http))
                calm += part
                begun = time.monotonic()
                told("busy", part := await busy(http, number, names, characters))
                hard += part
                print(f"       {len(names)} turns of {characters} characters in {time.monotonic() - begun:.0f} s")
            letters = (await http.get("/v1/admin/dead-letters", headers=READER)).json()["dead_letters"]
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=60)
        stopped = time.monotonic() - begun
    print("all")
    before, after = told("quiet", calm), told("busy", hard)
    ratios = [late / early for early, late in zip(before, after, strict=True)]
    print(f"busy is {ratios[0]:.2f} times quiet at p50, {ratios[1]:.2f} times at p95; {len(letters)} dead letters")
    print(json.dumps({"p50_ratio": ratios[0], "p95_ratio": ratios[1], "stopped_in_seconds": round(stopped, 1)}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--characters", type=int, default=8000)
    parser.add_argument("--families", default="", help="Names, with ; between them; all if none.")
    options = parser.parse_args()
    chosen = [name for name in FAMILIES if not options.families or name in options.families.split(";")]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(options.rounds, chosen, options.characters, Path(folder) / "hostile.db"))
