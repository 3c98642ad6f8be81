"""What background processing costs: model calls and tokens per 100 turns, and turns per second as stores grow.

    python benchmarks/pipeline.py [--full] [--json]

Turns come in through the change feed in batches of 100, as the function app gets them, and start what their counts
call for at the default cadence. Model calls are counted by a server that speaks OpenAI's chat protocol, turn by turn
in one thread; its answers come from the offline rules, its tokens from tiktoken. Throughput is measured with the
offline models (rules, all-MiniLM-L6-v2), all threads belonging to one user, which is the harder case.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import platform
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.offline.chat import OfflineChat
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.tasks import (
    EXTRACT,
    EXTRACT_AND_SUMMARIZE,
    PROFILE,
    RECONCILE,
    SUMMARIZE,
    ChatModel,
    Task,
)
from agent_memory.models import ProcessResult, Usage
from agent_memory.processing.activities import run_workflow
from agent_memory.processing.due import Work, due_work, possible
from agent_memory.processing.intake import count_turns, due_user_work, mark
from agent_memory.settings import DEFAULT_CADENCE
from agent_memory.store.documents import Document
from agent_memory.text.tokens import TiktokenCounter

CADENCE = DEFAULT_CADENCE
STEP_BY_STEP = Cadence()
"""The same numbers, exactly, and a call for each step."""
NOTHING_BY_ITSELF = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
PAGE = 100
CACHE_FROM, CACHE_STEP = 1024, 128
CACHED_PRICE = 0.25
"""The price of a cached token relative to an uncached one: OpenAI's price for gpt-4.1 and its smaller versions."""
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
TOPICS = ("kitchen", "garden", "Lisbon trip", "newsletter", "boat", "thesis", "allotment", "choir", "workshop", "car")


def talk(count: int, seed: int = 0) -> Iterator[dict[str, object]]:
    """A conversation: every fourth turn holds something to remember, the others do not."""
    for n in range(count):
        topic, number = TOPICS[(n // 4 + seed) % len(TOPICS)], n + seed * 7
        line = (
            ("user", f"My budget for the {topic}, phase {number}, is ${1000 + number}."),
            ("agent", f"Noted. Shall we look at offers for the {topic} next?"),
            ("user", "Yes please, show me what there is."),
            ("agent", f"Here are three offers for the {topic}; the second has the best reviews so far."),
        )[n % 4]
        at = START + timedelta(minutes=n)
        yield {"id": f"{seed}-{n}", "role": line[0], "content": line[1], "created_at": at}


@dataclass
class Feed:
    """The change feed of a memory, and the work that it starts."""

    memory: AsyncMemory
    cadence: Cadence = CADENCE
    rejected: int = 0
    usage: Usage = field(default_factory=Usage)
    runs: Counter[str] = field(default_factory=Counter)
    _continuations: dict[str, str] = field(default_factory=dict)

    async def pump(self) -> int:
        """Reads the feed batch by batch, and does the due work; returns the number of turns."""
        runtime, turns = self.memory.runtime, 0
        for part in await runtime.store.feed_ranges():
            key = json.dumps(part)
            async for page, continuation in runtime.store.changes(part, self._continuations.get(key), PAGE):
                self._continuations[key] = continuation
                turns += len(page)
                await self._batch(page)
        return turns

    async def _batch(self, page: list[Document]) -> None:
        runtime = self.memory.runtime
        touched = await count_turns(runtime.tools, runtime.counters, page)
        for work in due_work(touched, self.cadence):
            await self._run(work)
        for user_id in {counter.user_id for counter in touched}:
            for work in await due_user_work(runtime.tools, runtime.counters, self.cadence, user_id):
                await self._run(work)

    async def _run(self, work: Work) -> None:
        runtime = self.memory.runtime
        results = await run_workflow(work.workflow, work.request, runtime.activities)
        await mark(runtime.counters, work)
        self.runs[work.workflow] += 1
        for result in map(ProcessResult.model_validate, results):
            self.usage += result.usage
            self.rejected += len(result.rejected)


# --- model calls --------------------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """OpenAI's chat protocol over the offline rules; counts its calls."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self._seen: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def cached(self, text: str) -> int:
        """How many tokens of a request a prompt cache has: those shared with the beginning of an earlier one.

        As OpenAI's guide to prompt caching says: from 1,024 tokens on, in steps of 128.
        """
        shared = max((_shared(text, one) for one in self._seen), default=0)
        self._seen.append(text)
        tokens = TiktokenCounter().count(text[:shared])
        return tokens // CACHE_STEP * CACHE_STEP if tokens >= CACHE_FROM else 0


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        task = {one.name: one for one in (EXTRACT, SUMMARIZE, EXTRACT_AND_SUMMARIZE, PROFILE, RECONCILE)}[
            request["response_format"]["json_schema"]["name"]
        ]
        system, user = (message["content"] for message in request["messages"])
        content = json.dumps(asyncio.run(_answer(task, task.input.model_validate_json(user))))
        count = TiktokenCounter().count
        usage = {"prompt_tokens": count(system) + count(user), "completion_tokens": count(content)}
        cached = self.server.cached(system + user)
        self.server.calls[task.name] += 1
        self.server.tokens.update(usage, cached_tokens=cached)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        usage_told = usage | {"prompt_tokens_details": {"cached_tokens": cached}}
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage_told}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


async def _answer(task: Task[Any, Any], data: Any) -> dict[str, Any]:
    """The rules' answer, in the form of a strict schema."""
    if task is EXTRACT_AND_SUMMARIZE:
        return {
            "extraction": await _answer(EXTRACT, data.of_extraction),
            "summary": await _answer(SUMMARIZE, data.of_summary),
        }
    answer = (await OfflineChat().run(task, data)).output.model_dump(mode="json")
    if "state" in answer:  # strict schemas know no free keys: a list of keys and values stands for them
        answer["state"] = [{"key": key, "value": value} for key, value in answer["state"].items()]
    return dict(answer)


async def count_calls(turns: int, cadence: Cadence = CADENCE) -> dict[str, Any]:
    """Model calls and tokens for one thread that is written turn by turn, and what came of it, without ids."""
    server = Server()
    chat = OpenAIChat("scripted", base_url=server.url, api_key="none")
    try:
        async with open_memory(chat, one_call=cadence.one_call) as memory:
            feed, user = Feed(memory, cadence), memory.user("bench")
            for turn in talk(turns):
                await user.thread("t").add_many([turn])
                await feed.pump()
            read = (await memory.runtime.counters.get("bench", "t")).done["extract"]
            made = sorted((one.content, one.quote) for one in await user.memories(limit=1000))
            summary = await user.thread("t").summary()
    finally:
        server.shutdown()
        server.server_close()
    calls = sum(server.calls.values())
    assert calls == feed.usage.model_calls
    assert server.tokens["cached_tokens"] == feed.usage.cached_tokens
    return {
        "turns": turns,
        "turns_unread": turns - read,
        "memories": len(made),
        "digest": hashlib.sha256(json.dumps([made, summary.content if summary else ""]).encode()).hexdigest()[:16],
        "rejected": feed.rejected,
        "calls": dict(server.calls),
        "calls_per_100_turns": round(calls * 100 / turns, 1),
        "tokens_in_per_100_turns": round(server.tokens["prompt_tokens"] * 100 / turns),
        "cached_tokens_in_per_100_turns": round(server.tokens["cached_tokens"] * 100 / turns),
        "uncached_equivalent_per_100_turns": round(
            (server.tokens["prompt_tokens"] - (1 - CACHED_PRICE) * server.tokens["cached_tokens"]) * 100 / turns
        ),
        "tokens_out_per_100_turns": round(server.tokens["completion_tokens"] * 100 / turns),
    }


# --- throughput ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Throughput:
    """How fast a number of turns went through, and what the first and the last tenth of them cost.

    Milliseconds are of the processor, so that another program on the machine does not pass for growth.
    """

    threads: int
    turns_each: int
    turns_per_second: float
    first_tenth_ms: float
    last_tenth_ms: float
    first_tenth_ru: float
    last_tenth_ru: float


async def throughput(threads: int, turns_each: int) -> Throughput:
    """Feeds turns in ten parts; milliseconds and request units are per turn."""
    lines = [list(talk(turns_each, seed)) for seed in range(threads)]
    # Threads are written one after the other if they are many; one long thread in ten pieces.
    everything = [(number, turn) for number, part in enumerate(lines) for turn in part]
    tenth = max(1, len(everything) // 10)
    spent: list[tuple[int, float, float]] = []
    seconds = 0.0
    chat = OfflineChat()
    async with open_memory(chat) as memory:
        user, feed = memory.user("bench"), Feed(memory, possible(CADENCE, chat))
        for start in range(0, len(everything), tenth):
            piece: dict[int, list[dict[str, object]]] = {}
            for number, turn in everything[start : start + tenth]:
                piece.setdefault(number, []).append(turn)
            for number, turns in piece.items():
                await user.thread(f"t{number}").add_many(turns)
            units, began, at = feed.usage.request_units, time.process_time(), time.perf_counter()
            count = await feed.pump()
            seconds += time.perf_counter() - at
            spent.append((count, time.process_time() - began, feed.usage.request_units - units))
    first, last = spent[0], spent[-1]
    return Throughput(
        threads,
        turns_each,
        round(len(everything) / seconds, 1),
        round(first[1] * 1000 / first[0], 2),
        round(last[1] * 1000 / last[0], 2),
        round(first[2] / first[0], 2),
        round(last[2] / last[0], 2),
    )


def open_memory(chat: ChatModel, *, one_call: bool = False) -> AsyncMemory:
    """An embedded memory in RAM whose own worker finds nothing to do."""
    return AsyncMemory.local(chat_model=chat, cadence=replace(NOTHING_BY_ITSELF, one_call=one_call))


QUICK = [(1, 100), (1, 1000), (10, 20), (100, 20)]
FULL = [(1, 100), (1, 1000), (1, 10_000), (10, 20), (100, 20), (1000, 20)]


async def measure(full: bool) -> dict[str, Any]:
    """All figures of one run."""
    turns = 300 if full else 100
    calls = await count_calls(turns)
    apart = await count_calls(turns, STEP_BY_STEP)
    await throughput(1, 20)  # loads the models
    sizes = FULL if full else QUICK
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}",
        "model_calls": calls,
        "model_calls_step_by_step": apart,
        "throughput": [asdict(await throughput(threads, turns)) for threads, turns in sizes],
    }


def table(report: dict[str, Any]) -> str:
    """The report for a person."""
    head = f"{'threads':>8}{'turns':>8}{'turns/s':>10}{'ms/turn first':>15}{'last':>8}{'RU/turn first':>15}{'last':>8}"
    rows = [
        f"{row['threads']:>8}{row['turns_each']:>8}{row['turns_per_second']:>10}{row['first_tenth_ms']:>15}"
        f"{row['last_tenth_ms']:>8}{row['first_tenth_ru']:>15}{row['last_tenth_ru']:>8}"
        for row in report["throughput"]
    ]
    return "\n".join(
        [
            report["machine"],
            *_calls("one thread", report["model_calls"]),
            *_calls("one thread, every step by itself after its exact number", report["model_calls_step_by_step"]),
            "",
            head,
            *rows,
        ]
    )


def _calls(of: str, calls: dict[str, Any]) -> list[str]:
    kinds = ", ".join(f"{name} {count}" for name, count in calls["calls"].items())
    return [
        f"model calls per 100 turns of {of}: {calls['calls_per_100_turns']} ({kinds} in {calls['turns']} turns)",
        f"tokens per 100 turns: {calls['tokens_in_per_100_turns']} in"
        f" ({calls['cached_tokens_in_per_100_turns']} of them cached;"
        f" {calls['uncached_equivalent_per_100_turns']} uncached equivalent),"
        f" {calls['tokens_out_per_100_turns']} out",
        f"{calls['turns_unread']} turns wait for the next batch;"
        f" {calls['memories']} memories, {calls['rejected']} lines rejected, digest {calls['digest']}",
    ]


def main() -> int:
    """Runs the benchmark; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--full", action="store_true", help="up to 1,000 threads and 10,000 turns in one")
    options.add_argument("--json", action="store_true", help="print JSON only")
    arguments = options.parse_args()
    report = asyncio.run(measure(arguments.full))
    print(json.dumps(report, indent=2) if arguments.json else table(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
