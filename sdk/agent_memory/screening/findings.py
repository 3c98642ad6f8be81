"""Findings: places in a text that should not be remembered as they stand."""

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
    """A text with what was found taken out; the place says what it was."""
    parts: list[str] = []
    at = 0
    for finding in apart(findings):
        parts += [text[at : finding.start], f"[{finding.what} removed]"]
        at = finding.end
    return "".join([*parts, text[at:]])


def apart(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in order; of those that overlap, the one that begins first, and of these the longest.

    One that reaches beyond an earlier one makes that longer, so that no end of it stays.
    """
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda one: (one.start, -one.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
        elif finding.end > kept[-1].end:
            kept[-1] = Finding(kept[-1].kind, kept[-1].what, kept[-1].start, finding.end)
    return kept
