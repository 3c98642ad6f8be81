"""What the operator allows: switches, plans, and what is done about secrets and instructions."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent_memory.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Tier:
    """What a plan includes: how many memories are kept (None: any number) and how many one search gives.

    A plan with 0 of either has no memory at all.
    """

    max_memories: int | None
    retrieval_limit: int

    @property
    def enabled(self) -> bool:
        """Whether the plan includes memory."""
        return self.max_memories != 0 and self.retrieval_limit > 0


TIERS: dict[str, Tier] = {
    "free": Tier(0, 0),
    "basic": Tier(100, 5),
    "pro": Tier(500, 10),
    "enterprise": Tier(None, 20),
}
"""The tiers that a user can be put into: free has no memory, enterprise any number of memories."""
NO_TIER = "unlimited"
"""The name of the tier of a user who was put into none. A table of tiers can replace it."""
UNLIMITED = Tier(None, 100)
"""Any number of memories, and as many results as a search can give."""

SecretsAction = Literal["redact", "quarantine", "allow"]
InstructionsAction = Literal["quarantine", "redact", "allow"]

TierResolver = Callable[[str], str | Awaitable[str | None] | None]
"""Tells the tier of a user by their id; None for the one that the store knows, or the default."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What the operator allows.

    `enabled` is the global switch. Without `auto_store` nothing is derived from what is said, while what is remembered
    by hand is kept and recalled.

    A user's tier is what `tier_of` says, else what was assigned to them, else `default_tier`: `unlimited`, which needs
    no entry in `tiers`. Secrets in what is
    remembered are taken out (`redact`), or the memory waits for review (`quarantine`); likewise what reads as an order
    to a model. The audit is kept for `audit_days`; 0 for none. Raw talk can be searched for
    `talk_days`, None for ever. What the processing of one user may cost in a day (UTC) is bounded by
    `daily_model_calls` and `daily_tokens`; None for no bound.
    """

    enabled: bool = True
    auto_store: bool = True
    tiers: Mapping[str, Tier] = field(default_factory=lambda: dict(TIERS))
    default_tier: str = NO_TIER
    tier_of: TierResolver | None = None
    secrets: SecretsAction = "redact"
    instructions: InstructionsAction = "quarantine"
    audit_days: int = 0
    talk_days: int | None = None
    daily_model_calls: int | None = None
    daily_tokens: int | None = None

    @property
    def has_budgets(self) -> bool:
        """Whether processing is bounded."""
        return self.daily_model_calls is not None or self.daily_tokens is not None

    def tier(self, name: str) -> Tier:
        """The tier of this name.

        Raises:
            ConfigurationError: if there is none.
        """
        tiers = {NO_TIER: UNLIMITED, **self.tiers}
        if name not in tiers:
            raise ConfigurationError(f"no tier {name!r}; there are {', '.join(tiers)}")
        return tiers[name]


def read_tiers(text: str) -> dict[str, Tier]:
    """The tiers of a JSON object: `{"basic": {"max_memories": 100, "retrieval_limit": 5}}`, null for any number.

    Raises:
        ConfigurationError: if the text is something else.
    """
    try:
        given = json.loads(text)
        tiers = {name: Tier(plan["max_memories"], plan["retrieval_limit"]) for name, plan in given.items()}
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise ConfigurationError(f"MEMORY_TIERS: not a JSON object of tiers: {error!r}") from error
    for name, tier in tiers.items():
        for number in (tier.max_memories or 0, tier.retrieval_limit):
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise ConfigurationError(f"MEMORY_TIERS: {name}: {number!r} is not a number from 0")
    return tiers
