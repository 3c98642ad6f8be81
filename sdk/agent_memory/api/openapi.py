"""The OpenAPI document: what FastAPI makes of the routes, with the credentials, and without what never happens."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from agent_memory.api.credentials import KEY_HEADER
from agent_memory.api.identity import USER_HEADER

_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of the issuer, or an API key."},
    "key": {"type": "apiKey", "in": "header", "name": KEY_HEADER},
    "user": {
        "type": "apiKey",
        "in": "header",
        "name": USER_HEADER,
        "description": "Whom a service acts for. Alone, it is believed for development only.",
    },
}


def describe(app: FastAPI) -> dict[str, Any]:
    """The document of an app, made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, summary=app.summary, description=app.description, routes=app.routes
        )
        for path, operations in document["paths"].items():
            for operation in operations.values():
                # FastAPI expects its own answer to invalid input, which is a 400 here.
                operation["responses"].pop("422", None)
                operation["security"] = [] if path == "/health" else [{name: []} for name in _SCHEMES]
        document["components"]["securitySchemes"] = _SCHEMES
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        app.openapi_schema = document
    return app.openapi_schema
