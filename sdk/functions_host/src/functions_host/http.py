"""HTTP triggers, and the host's own addresses."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterable

from aiohttp import web
from aiohttp.typedefs import Handler

from agent_memory.api.guard import is_cross_site, is_local
from functions_host.errors import HostError, InvocationFailed
from functions_host.functions import HTTP, TIMER, Function
from functions_host.invoker import Invoker
from functions_host.timers import timer_datum
from functions_host.worker import Value, http_datum

logger = logging.getLogger(__name__)

ALL_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")


@web.middleware
async def local_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers only programs on this machine, because the host checks no function keys.

    It refuses web pages of other sites, proxies, and host names that do not mean this machine.
    """
    if not is_local(request.remote, request.headers):
        message = "the local host answers programs on this machine, by the name localhost and without a proxy"
        return web.json_response({"Message": message}, status=403)
    if is_cross_site(request.headers):
        return web.json_response({"Message": "the local host answers no page of another site"}, status=403)
    return await handler(request)


class HttpTriggers:
    """Serves the HTTP functions of an app. It checks no keys, so it is for this machine only."""

    def __init__(self, functions: Iterable[Function], invoker: Invoker, route_prefix: str) -> None:
        functions = list(functions)
        self._served = [function for function in functions if function.kind == HTTP]
        self._timers = {function.name: function for function in functions if function.kind == TIMER}
        self._invoker = invoker
        self._prefix = f"/{route_prefix}" if route_prefix else ""
        self._running: set[asyncio.Task[bool]] = set()

    def add_routes(self, app: web.Application) -> None:
        """Adds the routes to a web application, the more specific ones first."""
        app.router.add_get("/admin/host/status", self._host_status)
        app.router.add_post("/admin/functions/{name}", self._run_now)
        for function in sorted(self._served, key=_generality):
            route = _route(function)
            handler = self._handler(function)
            for path in aiohttp_paths(f"{self._prefix}/{route}"):
                for method in function.trigger.get("methods") or ALL_METHODS:
                    app.router.add_route(method, path, handler)

    def _handler(self, function: Function):  # type: ignore[no-untyped-def]  # noqa: ANN202 - aiohttp's own type
        async def handle(request: web.Request) -> web.Response:
            try:
                value = await self._invoker.run(function, await _datum(request))
            except InvocationFailed as error:
                logger.error("%s failed: %s\n%s", function.name, error, error.details)
                return web.Response(status=500)
            return _response(value)

        return handle

    async def _host_status(self, _: web.Request) -> web.Response:
        return web.json_response({"state": "Running"})

    async def _run_now(self, request: web.Request) -> web.Response:
        """Runs a timer function immediately. The platform has the same address."""
        function = self._timers.get(request.match_info["name"])
        if function is None:
            return web.json_response({"Message": "only functions with a timer are run in this way"}, status=404)
        task = asyncio.create_task(self._invoker.run_until_done(function, timer_datum(past_due=False)))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return web.Response(status=202)


def _route(function: Function) -> str:
    return str(function.trigger.get("route") or function.name)


def _generality(function: Function) -> tuple[bool, int]:
    """Sorts the routes with a rest (`{*rest}`) behind the others, and those with a longer beginning first."""
    route = _route(function)
    return "*" in route, -len(route.partition("{*")[0])


def aiohttp_paths(route: str) -> list[str]:
    """A route of Azure Functions as aiohttp writes it: `{name}`, `{name?}` at the end, `{*rest}` at the end.

    Raises:
        HostError: for a constraint (`{id:int}`), which this host does not support.
    """
    if re.search(r"\{[^}]*:", route):
        raise HostError(f"the local host does no constraints in routes: {route}")
    optional = re.fullmatch(r"(.*)/\{(\w+)\?\}", route)
    if optional:
        return [optional[1] or "/", f"{optional[1]}/{{{optional[2]}}}"]
    return [re.sub(r"\{\*(\w+)\}", r"{\1:.*}", route)]


async def _datum(request: web.Request) -> Value:
    return http_datum(
        method=request.method,
        url=str(request.url),
        # As on the platform, a header that comes twice becomes one with both values, so neither value is trusted alone.
        headers={name: _readable(",".join(request.headers.getall(name))) for name in request.headers},
        query=dict(request.query),
        params=dict(request.match_info),
        body=await request.read(),
    )


def _readable(value: str) -> str:
    """Reads a header as Latin-1 if it is not UTF-8, as older HTTP does."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode(errors="surrogateescape").decode("latin-1")
    return value


def _response(value: Value | None) -> web.Response:
    if value is None or value.type is None:
        return web.Response(status=204)
    if value.type != "http":
        text = value.value if isinstance(value.value, str) else json.dumps(value.value)
        return web.Response(text=text)
    parts = value.value
    headers = {name: one.value for name, one in parts["headers"].items() if name.lower() != "content-length"}
    response = web.Response(status=int(parts["status_code"].value), headers=headers, body=parts["body"].value)
    for cookie in parts.get("cookies") or ():
        for morsel in cookie.values():
            response.headers.add("Set-Cookie", morsel.OutputString())
    return response
