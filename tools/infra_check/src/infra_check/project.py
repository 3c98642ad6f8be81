"""The project as the rules see it: its templates, what they deploy in each configuration, and the app's files."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from infra_check.bicep_evaluation import Deployed, Deployment, deploy
from infra_check.bicep_symbols import load_all
from infra_check.bicep_syntax import Parameter, Template

Bindings = Mapping[str, Sequence[Mapping[str, Any]]]
"""The bindings of each function of the app, as the host sees them."""

NAMED = {"environmentName": "check", "location": "somewhere"}
SCENARIOS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "without the function app": {"deployFunctionApp": False, "principalId": "developer"},
    "autoscale": {
        "cosmosAutoscaleMaxRu": 4000,
        "cosmosBackupTier": "Continuous30Days",
        "cosmosSecondaryLocation": "elsewhere",
    },
    "other vectors, turns kept": {"embeddingDimensions": 256, "turnTtlSeconds": -1},
    "containers of an earlier version": {"vectorIndexForEachUser": False},
    "models of one's own": {"openAiEndpoint": "https://elsewhere.openai.azure.com/", "monthlyBudget": 0},
    "everything on": {
        "principalId": "developer",
        "privateNetworking": True,
        "durableTaskScheduler": True,
        "cosmosKeyVaultKeyUri": "https://vault/keys/key",
        "alertEmail": "somebody@example.com",
        "budgetStartDate": "2026-11-01",
        "alwaysReadyHttp": 1,
        "alwaysReadyDurable": 1,
        "zoneRedundant": True,
        "diagnosticLogs": True,
    },
    "private, without the function app": {"deployFunctionApp": False, "privateNetworking": True},
}
"""Ways to deploy that between them take every branch of the templates."""


@dataclass
class Project:
    """A checkout. `known_bindings` spares importing the function app again."""

    root: Path
    known_bindings: Bindings | None = None
    _deployments: dict[str, Deployment] = field(default_factory=dict)

    @property
    def main(self) -> Path:
        """The main template."""
        return self.infra / "main.bicep"

    @property
    def infra(self) -> Path:
        """The folder of the templates."""
        return self.root / "infra"

    @cached_property
    def templates(self) -> dict[Path, Template]:
        """The main template and its modules.

        Raises:
            BicepError: if one cannot be read.
        """
        return load_all(self.main.resolve(), self.infra.resolve())

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters of the main template."""
        return self.templates[self.main.resolve()].of(Parameter)

    def deployment(self, scenario: str) -> Deployment:
        """What is deployed in one of the scenarios.

        Raises:
            BicepError: if Azure would refuse it.
        """
        if scenario not in self._deployments:
            self._deployments[scenario] = self.deployed(NAMED | SCENARIOS[scenario])
        return self._deployments[scenario]

    def deployed(self, parameters: dict[str, Any]) -> Deployment:
        """What is deployed with these parameters.

        Raises:
            BicepError: if Azure would refuse it.
        """
        return deploy(self.main.resolve(), self.templates, parameters)

    def parameter(self, scenario: str, name: str) -> Any:
        """The value of a plain parameter in a scenario."""
        default = self.parameters[name].default
        return SCENARIOS[scenario].get(name, getattr(default, "value", None))

    def settings(self, scenario: str) -> dict[str, Any]:
        """The app settings in a scenario; none without a function app."""
        found = [r for r in self.deployment(scenario).of_type("Microsoft.Web/sites/config") if r.name == "appsettings"]
        return dict(found[0].body["properties"]) if found else {}

    def identity(self, scenario: str) -> Deployed:
        """The app's identity."""
        return self.deployment(scenario).of_type("Microsoft.ManagedIdentity/userAssignedIdentities")[0]

    @cached_property
    def azure_yaml(self) -> dict[str, Any]:
        """The configuration of azd."""
        return dict(yaml.safe_load((self.root / "azure.yaml").read_text(encoding="utf-8")))

    @cached_property
    def host_json(self) -> dict[str, Any]:
        """The configuration of the Functions host."""
        return dict(json.loads((self.root / "host.json").read_text(encoding="utf-8")))

    @cached_property
    def more_vectors(self) -> list[dict[str, Any]]:
        """The further paths of vectors that the templates give to containers."""
        return list(json.loads((self.infra / "more-vectors.json").read_text(encoding="utf-8")))

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        """The configuration of Python's tools."""
        return tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))

    @cached_property
    def host_pyproject(self) -> dict[str, Any]:
        """What the functions host needs, Microsoft's worker library among it."""
        return tomllib.loads((self.root / "sdk/functions_host/pyproject.toml").read_text(encoding="utf-8"))

    @cached_property
    def bindings(self) -> Bindings:
        """The bindings of the function app, which a separate process imports."""
        return self.known_bindings if self.known_bindings is not None else read_bindings(self.root)


_READ_BINDINGS = """
import json, sys
sys.path[:0] = [".", *sys.argv[1:]]
from function_app import app
print(json.dumps({f.get_function_name(): f.get_dict_repr()["bindings"] for f in app.get_functions()}, default=str))
"""


def read_bindings(root: Path, packages: Path | None = None) -> Bindings:
    """Imports the function app in a folder; returns the bindings of its functions.

    Args:
        root: The folder.
        packages: Where its packages are installed; then it does not see those of this process.

    Raises:
        RuntimeError: if it cannot be imported.
    """
    command = [sys.executable] if packages is None else [getattr(sys, "_base_executable", sys.executable), "-I", "-S"]
    command += ["-c", _READ_BINDINGS] + ([] if packages is None else [str(packages)])
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(
            f"the function app cannot be loaded: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}"
        )
    found: Bindings = json.loads(done.stdout.splitlines()[-1])
    return found
