"""The function app."""

from __future__ import annotations

import os

import azure.durable_functions as df
import azure.functions as func
from azure.core.settings import settings as azure_settings

from agent_memory.settings import env_variable
from agent_memory.telemetry import quiet_libraries
from azure_functions import activities, http, orchestrators, sweeps, triggers

WEBHOOK_VARIABLE = env_variable("webhook_url")
EXPLORER_VARIABLE = "AGENT_MEMORY_EXPLORER_KEY"
TRACING_VARIABLE = "AZURE_TRACING_ENABLED"
"""Azure's SDKs read it."""


def build_app() -> df.DFApp:
    """Registers every function. HTTP requires a function key, except for the explorer, which is off without its key.

    The worker sends everything from INFO on to telemetry, and has Azure's SDKs record a span of each request. Requests
    to Cosmos DB name users, so other libraries log only warnings and errors, and record no spans. A level that was set
    before stays; so does what the environment says about spans.
    """
    quiet_libraries()
    if TRACING_VARIABLE not in os.environ:
        azure_settings.tracing_enabled = False
    app = df.DFApp(http_auth_level=func.AuthLevel.FUNCTION)
    for part in (triggers, orchestrators, sweeps, activities, http):
        app.register_functions(part.blueprint)
    if os.environ.get(WEBHOOK_VARIABLE):  # a trigger that has nothing to do would still read the feed
        app.register_functions(triggers.webhook_blueprint)
    if os.environ.get(EXPLORER_VARIABLE):  # browsers get no further than its sign-in without a session
        app.register_functions(http.explorer_blueprint)
    return app
