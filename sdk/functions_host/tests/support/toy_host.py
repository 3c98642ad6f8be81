"""The toy app in this process, under the local host's engine."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import toy_function_app as toy
from aiohttp import web

from functions_host.functions import Function
from functions_host.http import HttpTriggers, local_only
from functions_host.invoker import Invoker, client_binding
from functions_host.management import Management
from functions_host.orchestrations import Orchestrations
from functions_host.taskhub import TaskHub
from functions_host.worker import Worker

_functions: dict[str, Function] = {}


async def load_toys() -> dict[str, Function]:
    """The functions of the toy app; the worker's library can load an app once in a process."""
    if not _functions:
        before = os.environ.get("PYTHON_SCRIPT_FILE_NAME")
        os.environ["PYTHON_SCRIPT_FILE_NAME"] = "toy_function_app.py"
        try:
            loaded = await Worker().load(Path(toy.__file__).parent)
        finally:
            del os.environ["PYTHON_SCRIPT_FILE_NAME"]
            if before is not None:
                os.environ["PYTHON_SCRIPT_FILE_NAME"] = before
        _functions.update({function.name: function for function in loaded})
    return _functions


@dataclass
class ToyHost:
    """A host without a process of its own."""

    hub: TaskHub
    orchestrations: Orchestrations
    invoker: Invoker
    functions: dict[str, Function]
    url: str

    async def ended(self, instance_id: str) -> Any:
        """Waits until an orchestration has ended: the instance."""

        def instance() -> Any:
            found = self.hub.instance(instance_id)
            return found if found is not None and not found.is_running else None

        return await eventually(instance)


async def eventually(condition: Callable[[], Any], seconds: float = 10.0) -> Any:
    """Waits for something to be true; what it was."""
    async with asyncio.timeout(seconds):
        while not (found := condition()):  # noqa: ASYNC110 - what it waits for happens elsewhere
            await asyncio.sleep(0.01)
        return found


@asynccontextmanager
async def toy_host(state: Path, *, activities: int = 10) -> AsyncIterator[ToyHost]:
    """Runs the toy app on a state, also on one that an earlier host left behind."""
    toy.performed.clear()
    toy.failures.clear()
    toy.gate = asyncio.Event()
    functions = await load_toys()
    hub = TaskHub(state)
    runner: web.AppRunner | None = None
    try:
        app = web.Application(middlewares=[local_only])
        listener = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        invoker = Invoker(Worker(), client_binding(url, "toys"))
        orchestrations = Orchestrations(hub, invoker, functions.values(), activities)
        Management(hub, orchestrations, "toys").add_routes(app)
        HttpTriggers(functions.values(), invoker, "api").add_routes(app)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        orchestrations.resume()
        try:
            yield ToyHost(hub, orchestrations, invoker, functions, url)
        finally:
            await orchestrations.stop()
    finally:
        if runner is not None:
            await runner.cleanup()
        hub.close()
