"""The text of a model's answer: finds the JSON in it, or the sections of an account.

Prose and fences around it do not matter. Broken or cut-off JSON is read as far as it goes, if the caller allows it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

import json_repair
from pydantic_core import from_json

from agent_memory.language.tasks import ArchiveOutput
from agent_memory.text.halves import without_halves
from agent_memory.text.patterns import linear

Json = dict[str, Any]


class UnusableAnswer(ValueError):
    """No part of an answer can be used; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """A JSON value found in an answer, and what was wrong with its text."""

    value: Any
    flaw: Literal["cut off, and read up to there", "broken JSON, and repaired"] | None = None


_THOUGHTS = linear(r"<think>.*?</think>", re.DOTALL)
_OPENING = linear(r"\{\s*[\"'}]|\[\s*[\[{\]]")
_OPENING_OF_TEXTS = linear(r"\[\s*\"")


_LONGEST_REPAIRED = 8_000
"""Maximum characters of broken JSON to repair, the length of an extraction's 2,000 tokens: the time for repairs grows
with the square of the text."""


_DEEPEST_REPAIRED = 64
"""Maximum nesting of brackets in broken JSON to repair; an answer has five levels. Each level costs more time."""


def _depth(text: str) -> int:
    """The deepest nesting of brackets in a text."""
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(0, depth - 1)
    return deepest


def _joined(pairs: list[tuple[str, Any]]) -> Json:
    """An object from pairs. Lists under one name are joined; of other values under one name the last counts."""
    found: Json = {}
    for name, value in pairs:
        earlier = found.get(name)
        found[name] = [*earlier, *value] if isinstance(earlier, list) and isinstance(value, list) else value
    return found


def parse_json(text: str, *, salvage: bool = True) -> ParsedJson:
    """Finds the object or array in an answer, whatever prose or fence is around it.

    Raises:
        UnusableAnswer: there is none, or it is broken and not to be salvaged or too long for it.
    """
    text = without_halves(_THOUGHTS.sub("", text))
    opening = _OPENING.search(text) or _OPENING_OF_TEXTS.search(text)
    if opening is None:
        raise UnusableAnswer("there is no JSON in it")
    text = text[opening.start() :]
    try:
        return ParsedJson(json.JSONDecoder(object_pairs_hook=_joined).raw_decode(text)[0])
    except (ValueError, RecursionError) as error:
        if not salvage:
            raise UnusableAnswer(f"its JSON is broken: {error}") from error
    try:
        # An incomplete string at the end is left out, so that no half sentence passes for a whole one.
        return ParsedJson(from_json(text, allow_partial=True), "cut off, and read up to there")
    except ValueError:
        pass  # broken elsewhere than at its end
    if len(text) > _LONGEST_REPAIRED or _depth(text) > _DEEPEST_REPAIRED:
        raise UnusableAnswer("its JSON is broken, and too long or too deep to be repaired")
    try:
        repaired = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError) as error:
        raise UnusableAnswer(f"its JSON cannot be repaired: {error}") from error
    if not isinstance(repaired, dict | list):
        raise UnusableAnswer("its JSON cannot be repaired")
    return ParsedJson(repaired, "broken JSON, and repaired")


_HEADING = linear(r"^\s*#+\s*(\w+)\s*:?\s*$", re.MULTILINE)
_BULLET = linear(r"^\s*(?:[-*•]|\d+[.)])\s+")
_COMMA_LISTS = {"topics", "entities"}


def read_sections(text: str) -> dict[str, Any] | None:
    """The fields of an account in sections; None if the text has no summary under its heading.

    Topics and entities are listed with commas, decisions and questions line by line; "None" is nothing, and so is a
    section that is missing.
    """
    parts = _HEADING.split(text)
    sections = {name.lower(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    if not sections.get("summary"):
        return None
    lists = {
        name: _entries(sections.get(name, ""), commas=name in _COMMA_LISTS)
        for name in ArchiveOutput.model_fields
        if name != "summary"
    }
    return {"summary": sections["summary"], **lists}


def _entries(body: str, *, commas: bool) -> list[str]:
    pieces = body.replace(",", "\n").split("\n") if commas else body.splitlines()
    entries = [_BULLET.sub("", piece).strip() for piece in pieces]
    return [entry for entry in entries if entry and entry.rstrip(".").lower() not in ("none", "[none]", "n/a")]
