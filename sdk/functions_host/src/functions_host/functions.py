"""Functions, as the app declares them: their triggers, their bindings, their retries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from functions_host.errors import HostError
from functions_host.settings import substituted

HTTP = "httpTrigger"
TIMER = "timerTrigger"
COSMOS = "cosmosDBTrigger"
ORCHESTRATION = "orchestrationTrigger"
ACTIVITY = "activityTrigger"
TRIGGERS = (HTTP, TIMER, COSMOS, ORCHESTRATION, ACTIVITY)
CLIENT = "durableClient"


@dataclass(frozen=True, slots=True)
class Retry:
    """When a function that failed is run again. -1 tries: for ever."""

    tries: int
    shortest: float
    longest: float

    def delay(self, attempt: int) -> float | None:
        """Seconds to wait after the n-th failure (from 1); None for no more."""
        if 0 <= self.tries < attempt:
            return None
        return min(self.longest, self.shortest * 2.0 ** min(attempt - 1, 60))  # as far as a float goes


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the app. `trigger` is its binding; `client` the parameter that gets a Durable client."""

    name: str
    id: str
    trigger: Mapping[str, Any]
    client: str | None
    retry: Retry | None

    @property
    def kind(self) -> str:
        """The type of its trigger."""
        return str(self.trigger["type"])

    @property
    def parameter(self) -> str:
        """The parameter that gets what the trigger brings."""
        return str(self.trigger["name"])


def read_function(name: str, function_id: str, raw_bindings: Sequence[str], retry: Retry | None) -> Function:
    """A function from what the worker says of it.

    Raises:
        HostError: if it has a binding that this host does not do.
    """
    trigger: dict[str, Any] | None = None
    client: str | None = None
    for raw in raw_bindings:
        binding = substituted(json.loads(raw))
        kind = binding["type"]
        if kind in TRIGGERS:
            trigger = binding
        elif kind == CLIENT:
            client = binding["name"]
        elif (kind, binding["name"]) != ("http", "$return"):
            raise HostError(f"function {name}: the local host does not do the binding {kind} ({binding['name']})")
    if trigger is None:
        raise HostError(f"function {name} has no trigger that the local host does; it does {', '.join(TRIGGERS)}")
    return Function(name, function_id, trigger, client, retry)
