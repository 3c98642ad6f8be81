"""The routes of the API, taken from the app itself, and requests to them."""

from __future__ import annotations

from typing import Any

from fastapi.routing import iter_route_contexts

from agent_memory import AsyncMemory
from agent_memory.api import HeaderIdentity, InlineProcessing, create_app
from agent_memory.api.mcp import METADATA_PATH, PATH

PUBLIC = {
    "/",
    "/health",
    "/openapi.json",
    "/docs",
    "/docs/oauth2-redirect",
    "/redoc",
    METADATA_PATH,
    METADATA_PATH + PATH,
}
"""What everybody may ask."""


def routes(memory: AsyncMemory) -> set[tuple[str, str]]:
    """Each method and path of the app, whether its document tells of it or not."""
    app = create_app(memory, InlineProcessing(memory.runtime), HeaderIdentity(allowed=True))
    found = iter_route_contexts(app.routes)
    return {(verb, route.path) for route in found for verb in route.methods or () if verb != "HEAD"}


def body_of(document: dict[str, Any], verb: str, path: str) -> Any:
    """The example of a request's body, from the document."""
    for prefix in ("", "/api"):  # the paths without a prefix are documented with it
        operation = document["paths"].get(f"{prefix}{path}", {}).get(verb.lower())
        if operation is not None and "requestBody" in operation:
            schema = operation["requestBody"]["content"].get("application/json", {}).get("schema", {})
            name = str(schema.get("$ref") or schema.get("anyOf", [{}])[0].get("$ref", "")).rpartition("/")[2]
            return document["components"]["schemas"].get(name, {}).get("examples", [None])[0]
    return None


def filled_in(path: str, ids: dict[str, str]) -> str:
    for name, value in ids.items():
        path = path.replace(f"{{{name}}}", value)
    return path
