"""The gate: whether a question is worth a search. When in doubt, it is."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from agent_memory.models import Signals
from agent_memory.settings import Classifier
from agent_memory.text.patterns import WORD, linear

logger = logging.getLogger("agent_memory")

PERSONAL = frozenset(("my", "i", "me", "mine"))
"""Words by which a user speaks of themselves: classifiers of general facts misread such questions."""
_LONGEST_GREETING = 20
_GREETINGS = [
    linear(pattern)
    for pattern in (
        r"(hi|hello|hey|howdy)[\s!.,]*",
        r"(hi|hello|hey)[\s,]*(there)?[\s!.,]*",
        r"(thanks|thank you|thx)[\s!.,]*",
        r"(bye|goodbye|see you)[\s!.,]*",
        r"(ok|okay|sure|yes|no)[\s!.,]*",
    )
]


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to search. `reason` is why not."""

    search: bool
    reason: str | None = None


SEARCH = Decision(True)
_CLASSIFIER_SHARE = 0.2
"""Share of the context's deadline that a classifier may use; a later answer is ignored."""


def decide(query: str, signals: Signals) -> Decision:
    """Skips general facts (unless the user speaks of themselves), what a tool answers, and greetings."""
    if signals.is_fact and not is_personal(query):
        return _skip("general fact query")
    if signals.requires_tool:
        return _skip("tool query")
    if is_greeting(query):
        return _skip("greeting")
    return SEARCH


def is_personal(query: str) -> bool:
    """Whether the user speaks of themselves."""
    return not PERSONAL.isdisjoint(WORD.findall(query.lower()))


def is_greeting(query: str) -> bool:
    """Whether a message is nothing but a greeting, thanks or a bare answer."""
    text = query.strip().lower()
    return len(text) <= _LONGEST_GREETING and any(pattern.fullmatch(text) for pattern in _GREETINGS)


async def classify(query: str, classifier: Classifier | None, timeout: float, degraded: list[str]) -> Signals:
    """A classifier's signals for a question; none, which means search, if there is no classifier or it fails."""
    if classifier is None:
        return Signals()
    try:
        async with asyncio.timeout(timeout * _CLASSIFIER_SHARE):
            return await classifier(query)
    except Exception as error:
        logger.warning("Memory classifier failed, searching: %s", error)
        degraded.append(f"classifier: {str(error) or type(error).__name__}")
        return Signals()


def _skip(reason: str) -> Decision:
    logger.debug("Memory: Skipping - %s", reason)
    logger.debug("Memory: Skipping - not memory-relevant")
    return Decision(False, reason)
