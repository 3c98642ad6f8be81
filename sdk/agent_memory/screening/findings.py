"""Findings: places in a text that should not be remembered as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["secret", "instruction"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A place in a text, and what was found there."""

    kind: Kind
    what: str
    start: int
    end: int


def redacted(text: str, findings: Iterable[Finding]) -> str:
    """Replaces each finding in a text with a marker that names it, such as `[password removed]`."""
    parts: list[str] = []
    at = 0
    for finding in apart(findings):
        parts += [text[at : finding.start], f"[{finding.what} removed]"]
        at = finding.end
    return "".join([*parts, text[at:]])


def apart(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order, without overlaps. If two overlap, the one that begins first stays, then the longer.

    If a later finding ends further on, the earlier one is extended to that end, so that no part of either stays.
    """
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda one: (one.start, -one.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
        elif finding.end > kept[-1].end:
            kept[-1] = Finding(kept[-1].kind, kept[-1].what, kept[-1].start, finding.end)
    return kept
