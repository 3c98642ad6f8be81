"""The screen: everything that is to be remembered passes it, whoever wants it kept.

It leaves out what the user's categories forbid, takes secrets out, and sets aside what reads as an order to a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_memory.models import Memory, content_hash
from agent_memory.patterns import linear
from agent_memory.policy.categories import is_kept
from agent_memory.policy.switches import Rules
from agent_memory.policy.trust import Finding, find_instructions, find_secrets, redacted
from agent_memory.settings import PolicySettings

_SENTENCE_END = linear(r"[.!?] +")
FORBIDDEN = "about what the settings say is not to be remembered"


@dataclass(frozen=True, slots=True)
class Screened:
    """What passed the screen, and why the rest did not, one line each (never the words themselves)."""

    memories: list[Memory] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


def screen_memories(memories: Iterable[Memory], rules: Rules, policy: PolicySettings) -> Screened:
    """The memories that may be kept: without secrets, and set aside for review where they give orders."""
    kept = []
    forbidden = 0
    for memory in memories:
        if is_kept(memory.content, _labels(memory), rules.deny, rules.allow):
            kept.append(screen_memory(memory, policy))
        else:
            forbidden += 1
    return Screened(kept, [f"{forbidden} {FORBIDDEN}"] if forbidden else [])


def screen_memory(memory: Memory, policy: PolicySettings) -> Memory:
    """A memory without its secrets, or set aside for review, as the policy says."""
    secrets = find_secrets(memory.content) if policy.secrets != "allow" else []
    orders = find_instructions(memory.content, memory.source) if policy.instructions != "allow" else []
    quoted = find_secrets(memory.quote) if memory.quote and policy.secrets != "allow" else []
    removed = [*(secrets if policy.secrets == "redact" else []), *(orders if policy.instructions == "redact" else [])]
    doubtful = [
        *([*secrets, *quoted] if policy.secrets == "quarantine" else []),
        *(orders if policy.instructions == "quarantine" else []),
    ]
    if not (removed or quoted or doubtful):
        return memory
    content = redacted(memory.content, removed)
    changes: dict[str, object] = {"content": content, "content_hash": content_hash(content)}
    if quoted and policy.secrets == "redact" and memory.quote:
        changes["quote"] = redacted(memory.quote, quoted)
    if doubtful:
        changes |= {"status": "quarantined", "review_reason": _reason(doubtful)}
    return memory.model_copy(update=changes)


def screen_lines(lines: Iterable[str], rules: Rules, policy: PolicySettings) -> list[str]:
    """Pieces of text that nobody reviews one by one (raw talk, lines of a summary): what may be kept, as it may be.

    What would be set aside for review is left out.
    """
    return [kept for line in lines if (kept := _screen_line(line, rules, policy)) is not None]


def screen_values(value: Any, rules: Rules, policy: PolicySettings) -> Any:
    """A value of JSON without the sentences that may not be kept, nor the entries whose names may not.

    None for a text of which nothing is left.
    """
    if isinstance(value, str):
        return " ".join(screen_lines(_sentences(value), rules, policy)) or (None if value else value)
    if isinstance(value, list):
        return [kept for item in value if (kept := screen_values(item, rules, policy)) is not None]
    if isinstance(value, dict):
        named = {name: item for name, item in value.items() if is_kept(name, (), rules.deny, None)}
        screened = {name: screen_values(item, rules, policy) for name, item in named.items()}
        return {name: item for name, item in screened.items() if item is not None}
    return value


def _sentences(text: str) -> list[str]:
    ends = [(end.start() + 1, end.end()) for end in _SENTENCE_END.finditer(text)]
    starts = [0, *(start for _, start in ends)]
    return [text[start:end] for start, end in zip(starts, [*(end for end, _ in ends), len(text)], strict=True)]


def is_clean(value: Any, rules: Rules, policy: PolicySettings) -> bool:
    """Whether a value of JSON may be kept as it is: no secret, no order to a model, nothing that settings forbid."""
    if isinstance(value, str):
        return _screen_line(value, rules, policy) == value
    if isinstance(value, list):
        return all(is_clean(item, rules, policy) for item in value)
    if isinstance(value, dict):
        names = is_clean(list(value), Rules(deny=rules.deny), policy)
        return names and is_clean(list(value.values()), rules, policy)
    return True


def _screen_line(line: str, rules: Rules, policy: PolicySettings) -> str | None:
    if not is_kept(line, (), rules.deny, rules.allow):
        return None
    secrets = find_secrets(line) if policy.secrets != "allow" else []
    orders = find_instructions(line) if policy.instructions != "allow" else []
    if (secrets and policy.secrets == "quarantine") or (orders and policy.instructions == "quarantine"):
        return None
    return redacted(line, [*secrets, *orders]) if secrets or orders else line


def _labels(memory: Memory) -> list[str]:
    return [*memory.tags, memory.type, *([memory.kind] if memory.kind else [])]


def _reason(findings: Sequence[Finding]) -> str:
    return "; ".join(dict.fromkeys(finding.what for finding in findings))
