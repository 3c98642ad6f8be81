"""Overflow: what leaves a live conversation when it outgrows its window, by which strategy.

Pure decisions over messages; `short_term` carries them out. A tool's results never part from their call, and the
system's messages are not asked about: they stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_memory.errors import InvalidInput
from agent_memory.text.tokens import TokenCounter
from agent_memory.working.messages import ChatMessage, count_tokens, last_exchange, units

MAX_TOKENS = 100_000
"""Tokens that a view may hold."""


@dataclass(frozen=True, slots=True)
class Summarize:
    """Above `threshold_tokens`, the thread's summary takes the place of all but the `keep` newest messages.

    `summary_role` is the role under which the summary is shown, `max_summary_tokens`
    what it may take of the view. `threshold_tokens=None` means the view's own limit.
    """

    threshold_tokens: int | None = 10_000
    keep: int = 10
    max_summary_tokens: int | None = None
    summary_role: Literal["system", "user", "assistant"] = "system"

    def __post_init__(self) -> None:
        _positive(threshold_tokens=self.threshold_tokens, keep=self.keep, max_summary_tokens=self.max_summary_tokens)


@dataclass(frozen=True, slots=True)
class Trim:
    """Above the view's limit, the oldest messages go until `max_tokens` are left, or the last exchange."""

    max_tokens: int = 500

    def __post_init__(self) -> None:
        _positive(max_tokens=self.max_tokens)


@dataclass(frozen=True, slots=True)
class Delete:
    """Above the view's limit, the `count` oldest messages go, but for the last exchange."""

    count: int

    def __post_init__(self) -> None:
        _positive(count=self.count)


@dataclass(frozen=True, slots=True)
class Flush:
    """Above `ratio` of the view's limit, the long-term blocks take in all but the `keep` newest messages.

    Without blocks that take something in, this is `Trim()` at that limit.
    """

    ratio: float = 0.5
    keep: int = 10

    def __post_init__(self) -> None:
        _positive(keep=self.keep)
        if not 0 < self.ratio <= 1:
            raise InvalidInput(f"ratio must be above 0 and at most 1, not {self.ratio}")


Overflow = Summarize | Trim | Delete | Flush


def limit_of(strategy: Overflow, max_tokens: int) -> int:
    """The tokens above which a strategy acts."""
    match strategy:
        case Summarize(threshold_tokens=threshold):
            return max_tokens if threshold is None else min(threshold, max_tokens)
        case Flush(ratio=ratio):
            return int(ratio * max_tokens)
        case _:
            return max_tokens


def leaving(
    strategy: Overflow, messages: Sequence[ChatMessage], max_tokens: int, tokens: TokenCounter, *, ahead: int = 0
) -> int:
    """How many of the oldest messages are to leave; 0 while they, and what stands ahead of them, fit the limit."""
    if ahead + count_tokens(messages, tokens) <= limit_of(strategy, max_tokens):
        return 0
    match strategy:
        case Summarize(keep=keep) | Flush(keep=keep):
            return _at_most(messages, len(messages) - keep)
        case Trim(max_tokens=room):
            return trimmed(messages, room, tokens)
        case Delete(count=count):
            return _at_most(messages, min(count, last_exchange(messages))) or _first_unit(messages)


def trimmed(messages: Sequence[ChatMessage], room: int, tokens: TokenCounter) -> int:
    """How many of the oldest messages have to go for the rest to fit, which has at least the last exchange."""
    end = last_exchange(messages)
    return min(fitting(messages, room, tokens), _at_most(messages, end))


def fitting(messages: Sequence[ChatMessage], room: int, tokens: TokenCounter) -> int:
    """How many of the oldest messages have to go for the rest to fit, which has at least the last unit."""
    kept = len(messages)
    for position, unit in enumerate(reversed(units(messages))):
        room -= count_tokens(unit, tokens)
        if room < 0 and position > 0:
            break
        kept -= len(unit)
    return kept


def _at_most(messages: Sequence[ChatMessage], count: int) -> int:
    """The most messages up to `count` that can go without tearing a unit apart."""
    gone = 0
    for unit in units(messages):
        if gone + len(unit) > count:
            break
        gone += len(unit)
    return gone


def _first_unit(messages: Sequence[ChatMessage]) -> int:
    """The first unit, unless the last exchange begins in it."""
    first = len(units(messages)[0]) if messages else 0
    return first if first <= last_exchange(messages) else 0


def _positive(**figures: int | None) -> None:
    for name, value in figures.items():
        if value is not None and value < 1:
            raise InvalidInput(f"{name} must be at least 1, not {value}")
