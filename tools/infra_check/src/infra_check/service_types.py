"""Azure's resource types that the templates use: an extract of the public Bicep types, and their violations.

`extract_types.py` writes the extract. For each type it has the properties, which are required or read-only, their
kinds, bounds and allowed values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from infra_check.bicep_evaluation import Deferred

_OF_THE_ENVELOPE = {"apiVersion", "id", "type"}
"""Properties that Bicep sets in the head of a resource, or that only Azure sets."""
_OF_BICEP = {"scope", "parent", "dependsOn"}
"""What Bicep knows of a resource, and the service is not sent."""
_KINDS: dict[str, type | tuple[type, ...]] = {"string": str, "int": int, "bool": bool}


@cache
def extract() -> dict[str, Any]:
    """The extract: `source`, and by resource type and version the place of its body among the `types`."""
    found: dict[str, Any] = json.loads((files(__package__) / "service_types.json").read_text(encoding="utf-8"))
    return found


def faults_in(name: str, body: Mapping[str, Any]) -> Iterator[str]:
    """What the service would refuse in the body of a resource of a type (`Type@version`)."""
    place = extract()["resources"].get(name)
    if place is None:
        yield f"{name} is not in the extract of Azure's types; run tools/infra_check/extract_types.py"
        return
    yield from _faults(place, {key: value for key, value in body.items() if key not in _OF_BICEP}, "")


def _faults(type_: int | str, value: Any, where: str) -> Iterator[str]:
    if isinstance(value, Deferred) or value is None or type_ == "any":
        return
    made = {"kind": type_} if isinstance(type_, str) else extract()["types"][type_]
    if "allowed" in made:
        if value not in made["allowed"] and not made.get("open"):
            yield f"{where or 'it'} is {value!r}, and may be {', '.join(made['allowed'])}"
    elif "kind" in made:
        yield from _of_plain(made, value, where)
    elif "items" in made:
        yield from _of_list(made, value, where)
    else:
        yield from _of_object(made, value, where)


def _of_plain(made: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    expected = _KINDS.get(made["kind"], object)
    if not isinstance(value, expected) or (made["kind"] == "int" and isinstance(value, bool)):
        yield f"{where} is {value!r}, and must be of type {made['kind']}"
        return
    size = len(value) if isinstance(value, str) else value
    # A name with a value that only Azure knows in it has another length there.
    if isinstance(value, str) and "<" in value:
        return
    if size < made.get("minLength", made.get("minValue", size)) or size > made.get(
        "maxLength", made.get("maxValue", size)
    ):
        yield f"{where} is {value!r}, which is too short or too long, too small or too large"


def _of_list(made: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{where} is {value!r}, and must be a list"
        return
    if len(value) < made.get("minLength", 0) or len(value) > made.get("maxLength", len(value)):
        yield f"{where} has {len(value)} items, which is too few or too many"
    for number, item in enumerate(value):
        yield from _faults(made["items"], item, f"{where}[{number}]")


def _of_object(made: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{where} is {value!r}, and must be an object"
        return
    given = {name: item for name, item in value.items() if item is not None}
    properties = dict(made["properties"])
    if "by" in made:
        chosen = given.get(made["by"])
        case = made["cases"].get(chosen)
        if case is None and not isinstance(chosen, Deferred):
            yield f"{_in(where, made['by'])} is {chosen!r}, and may be {', '.join(made['cases'])}"
            return
        properties |= {} if case is None else extract()["types"][case]["properties"]
    for name, item in given.items():
        type_, mark = (*properties[name], "")[:2] if name in properties else (made.get("more"), "")
        if type_ is None:
            yield f"{_in(where, name)} is no property of it"
        elif "o" in mark and not (not where and name in _OF_THE_ENVELOPE):
            yield f"{_in(where, name)} is read-only"
        else:
            yield from _faults(type_, item, _in(where, name))
    for name, (_, *mark) in properties.items():
        envelope = not where and name in _OF_THE_ENVELOPE
        if "r" in "".join(mark) and name not in given and not envelope:
            yield f"{_in(where, name)} is required"


def _in(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
