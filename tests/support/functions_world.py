"""A world for the function app: an account in a process of its own, the local host in another, and an application."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from urllib.error import HTTPError

from agent_memory import Memory
from agent_memory.memory import AsyncMemory
from agent_memory.settings import Cadence, Environment
from embedded_cosmos.auth import WELL_KNOWN_KEY

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
"""Seconds for what happens in other processes, on a machine that may be busy."""

Json = dict[str, Any]


def _inherited() -> dict[str, str]:
    """What a process needs of our environment: its settings are not among it."""
    return {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Waits for another process; gives what the condition gave."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"it did not happen in {seconds:g} s: {what}"
        time.sleep(0.05)
    return found


class Process:
    """A process that says `ready URL` when it is."""

    def __init__(self, module: str, *arguments: str, env: dict[str, str] | None = None, log: Path) -> None:
        self._log = log
        self._said = log.stat().st_size if log.exists() else 0
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env={**_inherited(), "HOME": str(log.parent), **(env or {})},
                stdout=output,
                stderr=output,
            )
        self.url = ""

    def ready(self) -> Self:
        """Waits until it is ready."""

        def url() -> str | None:
            said = self._log.read_bytes()[self._said :].decode()
            assert self._process.poll() is None, f"it ended:\n{said}"
            lines = [line for line in said.splitlines() if line.startswith("ready ")]
            return lines[-1].removeprefix("ready ").rstrip("/") if lines else None

        self.url = until(url, "a process is ready")
        return self

    def kill(self) -> None:
        """Ends it as `kill -9` does."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """Ends it as Ctrl-C does; its exit status."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(timeout=120)


class Account(Process):
    """An empty Cosmos DB account."""

    def __init__(self, folder: Path) -> None:
        super().__init__("embedded_cosmos", "--port", "0", log=folder / "account.log")

    def environment(self, database: str) -> Environment:
        """The environment of an application that uses one of its databases."""
        return Environment(cosmos_endpoint=self.url, cosmos_key=WELL_KNOWN_KEY, cosmos_database=database)

    def open(self, database: str) -> Memory:
        """The memory in a database, as an application opens it that leaves processing to the function app."""
        return Memory.from_env(self.environment(database))

    def open_inline(self, database: str, cadence: Cadence) -> Memory:
        """The same, but processing happens here."""
        made = AsyncMemory.from_env(self.environment(database)).runtime
        return Memory.cosmos(
            self.url,
            WELL_KNOWN_KEY,
            database,
            chat_model=made.tools.chat,
            embedding_model=made.tools.embeddings,
            process="inline",
            cadence=cadence,
        )


class Host(Process):
    """The local functions host with the real app, on one database of an account."""

    def __init__(
        self, account: Account, database: str, folder: Path, *, verbose: bool = False, **settings: str
    ) -> None:
        connection = f"AccountEndpoint={account.url}/;AccountKey={WELL_KNOWN_KEY};"
        env = {
            "COSMOS": connection,
            "COSMOS_DB_ENDPOINT": account.url,
            "COSMOS_DB_KEY": WELL_KNOWN_KEY,
            "COSMOS_DB_DATABASE": database,
            "ALLOW_HEADER_IDENTITY": "true",
            **settings,
        }
        folder.mkdir(exist_ok=True)
        state, self.log = folder / f"{database}.db", folder / f"{database}.log"
        arguments = ["--state", str(state), "--port", "0", "--poll", "0.1", "--settings", os.devnull]
        if verbose:
            arguments.append("--log")
        super().__init__("functions_host", *arguments, env=env, log=self.log)

    @classmethod
    def of_settings(cls, settings: Path, folder: Path) -> Self:
        """The same, with everything from a settings file."""
        made = cls.__new__(cls)
        made.log = folder / "host.log"
        arguments = ["--settings", str(settings), "--state", str(folder / "host.db"), "--port", "0", "--poll", "0.1"]
        Process.__init__(made, "functions_host", *arguments, log=made.log)
        return made

    def call(self, method: str, path: str, body: Any = None, user: str | None = None) -> tuple[int, Any]:
        """A request to the host: status and JSON."""
        request = urllib.request.Request(f"{self.url}{path}", method=method)
        request.add_header("content-type", "application/json")
        if user is not None:
            request.add_header("x-user-id", user.encode().decode("latin-1"))  # it sends Latin-1, and UTF-8 is wanted
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data, timeout=60) as response:
                return response.status, _json(response.read())
        except HTTPError as error:
            return error.code, _json(error.read())

    def orchestrations(self) -> dict[str, str]:
        """The orchestrations, with their states, but for sweeps and lanes, which the clock starts."""
        return {name: state for name, state in self._instances().items() if not name.startswith(("sweep-", "lane-"))}

    def _instances(self) -> dict[str, str]:
        _, found = self.call("GET", "/runtime/webhooks/durabletask/instances")
        return {one["instanceId"]: one["runtimeStatus"] for one in found}

    def is_quiet(self) -> bool:
        """Whether nothing runs."""
        return not set(self._instances().values()) & {"Pending", "Running"}

    def process(self, step: str, user: str, **body: Any) -> Json:
        """Runs a step by pull, to its end."""
        status, run = self.call("POST", f"/v1/process/{step}", body, user)
        assert status == 202, run

        def done() -> Json | None:
            _, now = self.call("GET", f"/v1/process/{run['id']}", user=user)
            return None if now["status"] == "running" else now

        return until(done, f"{step} of {user}")


def _json(body: bytes) -> Any:
    return json.loads(body) if body else None
