"""Settings: host.json, local.settings.json, `%NAME%` in bindings, and connections."""

from __future__ import annotations

import json
import os
import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from functions_host.errors import HostError

SETTINGS_FILES = ("local.settings.json", "local.settings.sample.json")
DEFAULT_ROUTE_PREFIX = "api"
DEFAULT_ACTIVITIES = 10


@dataclass(frozen=True, slots=True)
class HostConfig:
    """The settings in host.json that this host uses."""

    route_prefix: str
    hub: str
    activities: int

    @classmethod
    def read(cls, root: Path) -> HostConfig:
        """Reads host.json.

        Raises:
            HostError: if the folder has none.
        """
        try:
            extensions = json.loads((root / "host.json").read_text()).get("extensions", {})
        except FileNotFoundError as error:
            raise HostError(f"{root} is not a function app: it has no host.json") from error
        durable = extensions.get("durableTask", {})
        return cls(
            route_prefix=extensions.get("http", {}).get("routePrefix", DEFAULT_ROUTE_PREFIX).strip("/"),
            hub=durable.get("hubName", "TestHubName"),
            activities=int(durable.get("maxConcurrentActivityFunctions", DEFAULT_ACTIVITIES)),
        )


def read_settings(root: Path) -> dict[str, str]:
    """The values of the folder's settings file, or else of the sample."""
    paths = [root / name for name in SETTINGS_FILES if (root / name).exists()]
    return read_settings_file(paths[0]) if paths else {}


def read_settings_file(path: Path) -> dict[str, str]:
    """The values of a settings file. An empty file has none.

    Raises:
        HostError: if it cannot be read.
    """
    try:
        text = path.read_text()
        values = json.loads(text)["Values"] if text else {}
    except (OSError, ValueError, KeyError) as error:
        raise HostError(f"the settings in {path} cannot be read: {error}") from error
    return {name: str(value) for name, value in values.items()}


def apply_settings(values: dict[str, str], environment: MutableMapping[str, str] = os.environ) -> None:
    """Sets environment variables that are not set yet. As in Core Tools, existing ones win."""
    for name, value in values.items():
        environment.setdefault(name, value)


def substituted(binding: dict[str, Any], environment: MutableMapping[str, str] = os.environ) -> dict[str, Any]:
    """A binding with `%NAME%` replaced by settings.

    Raises:
        HostError: if a setting is missing.
    """

    def value_of(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in environment:
            raise HostError(f"the setting {name}, which a binding names, is missing")
        return environment[name]

    return {
        key: re.sub(r"%([^%\s]+)%", value_of, value) if isinstance(value, str) else value
        for key, value in binding.items()
    }


@dataclass(frozen=True, slots=True)
class CosmosConnection:
    """How to reach a Cosmos DB account. Without a key, the host signs in by identity."""

    endpoint: str
    key: str | None
    verify: bool = True

    @classmethod
    def named(cls, name: str, environment: MutableMapping[str, str] = os.environ) -> CosmosConnection:
        """The connection that a binding names: a connection string, or `NAME__accountEndpoint`.

        Raises:
            HostError: if neither is set.
        """
        text = environment.get(name)
        if text:
            parts = dict(part.split("=", 1) for part in text.split(";") if part)
            if "AccountEndpoint" not in parts:
                raise HostError(f"the setting {name} is no Cosmos DB connection string: it has no AccountEndpoint")
            unchecked = parts.get("DisableServerCertificateValidation", "").lower() == "true"
            return cls(parts["AccountEndpoint"], parts.get("AccountKey"), verify=not unchecked)
        endpoint = environment.get(f"{name}__accountEndpoint")
        if not endpoint:
            raise HostError(f"the connection {name} needs the setting {name} or {name}__accountEndpoint")
        return cls(endpoint, None)
