"""Rules for azure.yaml: its shape is what azd reads, because azd passes over a name that it does not know.

Names and limits are facts from azd's schema of this file, `schemas/v1.0/azure.yaml.json` of Azure/azure-dev at commit
00cddf712c93 (2026), and from `HookConfig.validate` in `cli/azd/pkg/ext/models.go`. The schema lacks a service's
`condition`, which azd reads since pull request 6684 (2026). Its change log has the version that reads .funcignore.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from infra_check.project import Project

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_TOP = {
    *("name", "resourceGroup", "metadata", "infra", "services", "resources", "pipeline", "hooks", "requiredVersions"),
    *("state", "platform", "workflows", "cloud"),
}
_INFRA = {"provider", "path", "module", "layers"}
_OF_FUNCTIONS = {
    *("resourceGroup", "resourceName", "project", "host", "language", "module", "dist", "remoteBuild", "config"),
    *("uses", "hooks", "condition"),
}
"""What a service on the host `function` may have. `image`, `docker`, `k8s`, `apiVersion` and `env` are of others."""
_SERVICE_EVENTS = {"deploy", "restore", "build", "package", "publish"}
_PROJECT_EVENTS = {
    *("provision", "infracreate", "infradelete", "down", "up", "package", "publish", "deploy", "restore"),
}
_HOOK = {"shell", "kind", "dir", "run", "continueOnError", "interactive", "windows", "posix", "secrets", "config"}
_SHELLS = {"sh", "pwsh"}
_OLDEST = "1.23.13"
"""The first azd that takes back in what .funcignore negates (pull request 7311); `condition` came before."""


def azure_yaml_is_what_azd_reads(project: Project) -> Iterator[str]:
    """azure.yaml has only names that azd knows, in the places where it reads them, and hooks that it can run."""
    given = project.azure_yaml
    if not _NAME.fullmatch(str(given.get("name", ""))):
        yield f"azure.yaml: {given.get('name')!r} is no name: small letters, digits and hyphens"
    yield from _unknown("azure.yaml", given, _TOP)
    if given.get("requiredVersions", {}).get("azd") != f">= {_OLDEST}":
        yield f"azure.yaml: requiredVersions lets in an azd before {_OLDEST}, which misreads .funcignore"
    yield from _unknown("azure.yaml: infra", given.get("infra", {}), _INFRA)
    yield from _hooks(project, "azure.yaml", given, _PROJECT_EVENTS)
    for name, service in given["services"].items():
        where = f"azure.yaml: service {name}"
        yield from _unknown(where, service, _OF_FUNCTIONS)
        yield from _hooks(project, where, service, _SERVICE_EVENTS)


def _unknown(where: str, given: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    for name in sorted(given.keys() - known):
        yield f"{where}: azd knows no {name} here"


def _hooks(project: Project, where: str, holder: Mapping[str, Any], events: set[str]) -> Iterator[str]:
    for name, hook in holder.get("hooks", {}).items():
        here = f"{where}: hook {name}"
        if re.sub("^(pre|post)", "", name, count=1) not in events or not name.startswith(("pre", "post")):
            yield f"{here}: azd has no such moment"
        for one in (hook, hook.get("posix"), hook.get("windows")):
            if one is not None:
                yield from _unknown(here, one, _HOOK)
        for system, shell in (("posix", "sh"), ("windows", "pwsh")):
            yield from _one_hook(project, f"{here} on {system}", {**hook, **(hook.get(system) or {})}, shell)


def _one_hook(project: Project, where: str, hook: Mapping[str, Any], usual: str) -> Iterator[str]:
    run = str(hook.get("run", ""))
    if not run:
        yield f"{where}: run is missing"
    elif not (project.root / run).is_file() and hook.get("shell") not in _SHELLS:
        yield f"{where}: a command of one line needs its shell, sh or pwsh"
    elif hook.get("shell", usual) != usual:
        yield f"{where}: its shell is not {usual}, which every machine there has"
