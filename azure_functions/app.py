"""The function app, put together."""

from __future__ import annotations

import azure.durable_functions as df
import azure.functions as func

from agent_memory.logs import quiet_libraries
from azure_functions import activities, http, orchestrators, triggers


def build_app() -> df.DFApp:
    """Registers every function. HTTP is for callers with a function key.

    The worker writes everything from INFO on to the telemetry. Requests to Cosmos DB name users there, so what the
    libraries beneath say is kept at warnings; a level that was set before stays.
    """
    quiet_libraries()
    app = df.DFApp(http_auth_level=func.AuthLevel.FUNCTION)
    for part in (triggers, orchestrators, activities, http):
        app.register_functions(part.blueprint)
    return app
