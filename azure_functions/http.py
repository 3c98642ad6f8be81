"""HTTP: one route for all requests. The ASGI app of `agent_memory.api` answers them."""

from __future__ import annotations

import asyncio

import azure.durable_functions as df
import azure.functions as func

from azure_functions.wiring import Parts, open_parts

blueprint = df.Blueprint()

_lock = asyncio.Lock()
_asgi: func.AsgiMiddleware | None = None


async def _app(parts: Parts) -> func.AsgiMiddleware:
    """The ASGI app, created at the first request. The models are loaded before that request's deadline begins."""
    global _asgi
    async with _lock:
        if _asgi is None:
            await parts.memory.warm()
            _asgi = _made(parts)
        return _asgi


def _made(parts: Parts) -> func.AsgiMiddleware:
    # A worker that only processes turns starts faster without a web framework.
    from agent_memory.api import ApiSettings, HeaderIdentity, create_app
    from azure_functions.pull import DurableProcessing

    # The platform has checked the function key before a request gets here.
    header = HeaderIdentity(allowed=parts.environment.allow_header_identity, behind_key=True)
    settings = ApiSettings()
    app = create_app(
        parts.memory,
        DurableProcessing(parts.runtime),
        settings.identity(header=header),
        rate_limit=settings.rate_limit,
        allowed_origins=settings.allowed_origins,
        mcp=settings.mcp(streams=False),  # the host sends an answer when it is whole
    )
    return func.AsgiMiddleware(app)  # type: ignore[no-untyped-call]


@blueprint.function_name("api")
@blueprint.route(route="{*path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
@blueprint.durable_client_input(client_name="client")
async def api(req: func.HttpRequest, client: df.DurableOrchestrationClient, context: func.Context) -> func.HttpResponse:
    """Answers a request."""
    app = await _app(await open_parts())
    from azure_functions.pull import durable_client

    token = durable_client.set(client)
    try:
        response: func.HttpResponse = await app.handle_async(req, context)
        return response
    finally:
        durable_client.reset(token)
