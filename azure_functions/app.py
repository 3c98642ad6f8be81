"""The function app, put together."""

from __future__ import annotations

import azure.durable_functions as df
import azure.functions as func

from azure_functions import activities, http, orchestrators, triggers


def build_app() -> df.DFApp:
    """Registers every function. HTTP is for callers with a function key."""
    app = df.DFApp(http_auth_level=func.AuthLevel.FUNCTION)
    for part in (triggers, orchestrators, activities, http):
        app.register_functions(part.blueprint)
    return app
