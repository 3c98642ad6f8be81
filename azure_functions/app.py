"""The function app."""

from __future__ import annotations

import os

import azure.durable_functions as df
import azure.functions as func

from agent_memory.settings import env_variable
from agent_memory.telemetry import quiet_libraries
from azure_functions import activities, http, orchestrators, sweeps, triggers

WEBHOOK_VARIABLE = env_variable("webhook_url")
EXPLORER_VARIABLE = "AGENT_MEMORY_EXPLORER_KEY"


def build_app() -> df.DFApp:
    """Registers every function. HTTP requires a function key, except for the explorer, which is off without its key.

    The worker sends everything from INFO on to telemetry. Requests to Cosmos DB name users, so other libraries log only
    warnings and errors. A level that was set before stays.
    """
    quiet_libraries()
    app = df.DFApp(http_auth_level=func.AuthLevel.FUNCTION)
    for part in (triggers, orchestrators, sweeps, activities, http):
        app.register_functions(part.blueprint)
    if os.environ.get(WEBHOOK_VARIABLE):  # a trigger that has nothing to do would still read the feed
        app.register_functions(triggers.webhook_blueprint)
    if os.environ.get(EXPLORER_VARIABLE):  # browsers get no further than its sign-in without a session
        app.register_functions(http.explorer_blueprint)
    return app
