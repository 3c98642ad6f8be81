"""Writes the extract of Azure's resource types that `make infra-check` validates against.

    git clone --filter=blob:none https://github.com/Azure/bicep-types-az
    python tools/infra_check/extract_types.py bicep-types-az

Of each resource type that the templates use, at its version, it keeps facts only: the names of properties, which are
required or read-only, their kinds and allowed values, and bounds. Texts of the source are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from infra_check.resource_rules import API_VERSIONS

OUT = Path(__file__).parent / "src/infra_check/service_types.json"
READ_ONLY, REQUIRED = 2, 1
_PLAIN = {"StringType": "string", "IntegerType": "int", "BooleanType": "bool", "AnyType": "any"}
_BOUNDS = ("minLength", "maxLength", "minValue", "maxValue")


class _File:
    """One types.json; what the templates reach of it goes into the extract."""

    def __init__(self, types: list[dict[str, Any]], out: list[Any]) -> None:
        self._types, self._out = types, out
        self._places: dict[int, int] = {}

    def take(self, place: int) -> int | str:
        """A type of the file, as the name of a plain kind or a place in the extract."""
        given = self._types[place]
        kind = given["$type"]
        if kind in _PLAIN:
            bounds = {name: given[name] for name in _BOUNDS if name in given}
            return self._put(place, {"kind": _PLAIN[kind], **bounds}) if bounds else _PLAIN[kind]
        if kind == "StringLiteralType":
            return self._put(place, {"allowed": [given["value"]]})
        if place not in self._places:
            self._places[place] = len(self._out)
            self._out.append(None)
            self._out[self._places[place]] = self._made(kind, given)
        return self._places[place]

    def _put(self, place: int, made: dict[str, Any]) -> int:
        if place not in self._places:
            self._places[place] = len(self._out)
            self._out.append(made)
        return self._places[place]

    def _made(self, kind: str, given: dict[str, Any]) -> dict[str, Any]:
        if kind == "UnionType":
            members = [self._types[_ref(one)] for one in given["elements"]]
            allowed = [one["value"] for one in members if one["$type"] == "StringLiteralType"]
            opened = any(one["$type"] == "StringType" for one in members)
            return {"allowed": allowed} | ({"open": True} if opened else {})
        if kind == "ArrayType":
            bounds = {name: given[name] for name in ("minLength", "maxLength") if name in given}
            return {"items": self.take(_ref(given["itemType"])), **bounds}
        if kind == "ObjectType":
            more = given.get("additionalProperties")
            made: dict[str, Any] = {"properties": self._properties(given["properties"])}
            return made | ({"more": self.take(_ref(more))} if more else {})
        if kind == "DiscriminatedObjectType":
            return {
                "by": given["discriminator"],
                "properties": self._properties(given["baseProperties"]),
                "cases": {name: self.take(_ref(one)) for name, one in sorted(given["elements"].items())},
            }
        raise SystemExit(f"a kind of type that is not known: {kind}")

    def _properties(self, given: dict[str, Any]) -> dict[str, Any]:
        made = {}
        for name, one in sorted(given.items()):
            flags = one.get("flags", 0)
            mark = "r" * bool(flags & REQUIRED) + "o" * bool(flags & READ_ONLY)
            # Read-only properties are no part of a template, so their types are not followed.
            type_ = "any" if flags & READ_ONLY else self.take(_ref(one["type"]))
            made[name] = [type_, mark] if mark else [type_]
        return made


def _ref(given: dict[str, str]) -> int:
    return int(given["$ref"].removeprefix("#/"))


def main(clone: str, used: set[str]) -> None:
    """Writes the extract of the types in use."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True, text=True).stdout

    commit, day = git("log", "-1", "--format=%H %cs").split()
    paths = git("ls-tree", "-r", "--name-only", "HEAD", "generated").splitlines()
    out: list[Any] = []
    resources: dict[str, int | str] = {}
    for name in sorted(used):
        type_, version = name.split("@")
        ending = f"/{type_.split('/')[0].lower()}/{version}/types.json"
        for path in (path for path in paths if path.endswith(ending)):
            types = json.loads(git("show", f"HEAD:{path}"))
            for given in types:
                if given["$type"] == "ResourceType" and given["name"].lower() == name.lower():
                    resources[name] = _File(types, out).take(_ref(given["body"]))
    missing = sorted(used - resources.keys())
    if missing:
        raise SystemExit(f"not there: {', '.join(missing)}")
    source = {"repository": "https://github.com/Azure/bicep-types-az", "commit": commit, "date": day}
    lines = [json.dumps(one, separators=(",", ":")) for one in out]
    head = json.dumps({"source": source, "resources": resources}, indent=1)[:-2]
    OUT.write_text(head + ',\n "types": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")
    print(f"{len(resources)} resource types, {len(out)} types, {OUT.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    from infra_check.check import ROOT
    from infra_check.project import SCENARIOS, Project

    project = Project(ROOT)
    found = {
        f"{resource.type}@{resource.api_version}"
        for scenario in SCENARIOS
        for resource in project.deployment(scenario).resources
    }
    assert {name.split("@")[0].split("/")[0] for name in found} == {name.split("/")[0] for name in API_VERSIONS}
    main(sys.argv[1], found)
