"""HTTP: one route for all requests, and one for the explorer. The ASGI app of `agent_memory.api` answers them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import azure.durable_functions as df
import azure.functions as func

from agent_memory.errors import AgentMemoryError
from azure_functions.wiring import Parts, open_parts

if TYPE_CHECKING:
    from fastapi import FastAPI

blueprint = df.Blueprint()
explorer_blueprint = df.Blueprint()

_lock = asyncio.Lock()
_apps: dict[str, func.AsgiMiddleware] = {}


def _app(parts: Parts, name: str) -> FastAPI:
    """The ASGI app of a route: the API for callers with a function key, or the explorer for browsers without one."""
    # A worker that only processes turns starts faster without a web framework.
    from agent_memory.api import ApiSettings, HeaderIdentity, create_app
    from azure_functions.pull import DurableProcessing

    settings = ApiSettings()
    header: HeaderIdentity | None = None  # without a function key, a header names nobody
    options: dict[str, Any] = {}
    if name == "explorer":
        options["explorer"] = settings.explorer()
    else:
        # The platform has checked the function key before a request gets here.
        header = HeaderIdentity(allowed=parts.environment.allow_header_identity, behind_key=True)
        options["allowed_origins"] = settings.allowed_origins
        options["mcp"] = settings.mcp(streams=False)  # the host sends an answer when it is whole
    identity = settings.identity(header=header)
    return create_app(
        parts.memory, DurableProcessing(parts.runtime), identity, rate_limit=settings.rate_limit, **options
    )


async def _answer(
    name: str, req: func.HttpRequest, client: df.DurableOrchestrationClient, context: func.Context
) -> func.HttpResponse:
    """Lets an ASGI app answer; it is made at its first request, after the models are loaded.

    A memory that cannot be opened is an error as the API has them, and the next request tries again.
    """
    try:
        parts = await open_parts()
        async with _lock:
            if name not in _apps:
                await parts.memory.warm()
                _apps[name] = func.AsgiMiddleware(_app(parts, name))  # type: ignore[no-untyped-call]
    except AgentMemoryError as error:
        from agent_memory.api.errors import response_to

        found = response_to(error)
        return func.HttpResponse(bytes(found.body), status_code=found.status_code, headers=dict(found.headers))
    from azure_functions.pull import durable_client

    token = durable_client.set(client)
    try:
        response: func.HttpResponse = await _apps[name].handle_async(req, context)
        return response
    finally:
        durable_client.reset(token)


@blueprint.function_name("api")
@blueprint.route(route="{*path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
@blueprint.durable_client_input(client_name="client")
async def api(req: func.HttpRequest, client: df.DurableOrchestrationClient, context: func.Context) -> func.HttpResponse:
    """Answers a request."""
    return await _answer("api", req, client, context)


@explorer_blueprint.function_name("explorer")
@explorer_blueprint.route(
    route="ui/{*path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], auth_level=func.AuthLevel.ANONYMOUS
)
@explorer_blueprint.durable_client_input(client_name="client")
async def explorer(
    req: func.HttpRequest, client: df.DurableOrchestrationClient, context: func.Context
) -> func.HttpResponse:
    """Answers a browser that shows the explorer; its signed cookie identifies it."""
    return await _answer("explorer", req, client, context)
