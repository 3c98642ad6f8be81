"""What a program that logs at INFO finds in its log: little, and no users."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.language.openai_client import OpenAIConnection, model_errors
from agent_memory.telemetry import LIBRARIES, STORE_REQUESTS

USER = "zaphod-beeblebrox"
ENOUGH = 3
"""Records that one call may write."""


class Written(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()}")

    def since(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines


@pytest.fixture
def written() -> Iterator[Written]:
    root, handler = logging.getLogger(), Written()
    # A program that ran in this process before, such as the command line, has set the levels of libraries.
    loggers = [root, *(logging.getLogger(name) for name in LIBRARIES)]
    levels = [logger.level for logger in loggers]
    root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.INFO if logger is root else logging.NOTSET)
    yield handler
    root.removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


async def test_the_calls_of_a_memory_write_little_and_no_user(written: Written):
    async with AsyncMemory.local() as memory:
        chat = memory.user(USER).thread("trip")
        calls: dict[str, Any] = {
            "opening": None,
            "add": chat.add("user", "My budget for the Hawaii trip is $10,000."),
            "context": chat.context("What's my budget?"),
            "processing": memory.drain(timeout=60),
            "search": memory.user(USER).search("budget"),
        }
        for name, call in calls.items():
            if call is not None:
                await call
            lines = written.since()
            assert len(lines) <= ENOUGH, (name, lines)
            assert not [line for line in lines if USER in line or "budget" in line], name


async def test_the_requests_are_written_when_they_are_asked_for(written: Written):
    STORE_REQUESTS.setLevel(logging.INFO)
    try:
        async with AsyncMemory.local() as memory:
            await memory.user(USER).thread("trip").add("user", "Hello")
    finally:
        STORE_REQUESTS.setLevel(logging.WARNING)
    assert [line for line in written.since() if line.startswith(STORE_REQUESTS.name) and "partitionkey" in line]


async def test_our_model_calls_are_not_written_and_those_of_the_program_are(written: Written, httpserver: HTTPServer):
    httpserver.expect_request("/v1/models").respond_with_json({"object": "list", "data": []})
    connection = OpenAIConnection(base_url=httpserver.url_for("/v1"), api_key="k")
    client = await connection.client()
    written.since()
    async with model_errors("m", 10):
        await client.models.list()
    assert [line for line in written.since() if line.startswith("httpx")] == []
    await client.models.list()
    assert [line for line in written.since() if line.startswith("httpx")], "the program's own call"
    httpserver.stop()
    try:
        with pytest.raises(ModelError):
            async with model_errors("m", 10):
                await client.models.list()
    finally:
        httpserver.start()  # other tests use it, too
    await connection.close()


def test_programs_let_the_libraries_beneath_write_warnings_alone():
    code = """
import logging
logging.basicConfig(level=logging.INFO)
logging.getLogger("openai").setLevel(logging.DEBUG)  # what somebody asked for stays
from agent_memory.telemetry import quiet_libraries
quiet_libraries()
print([logging.getLogger(name).getEffectiveLevel() for name in ("azure.cosmos", "azure.identity", "httpx2", "openai")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[30, 30, 30, 10]"
