"""What the operator allows: switches, tiers, and how to handle secrets and instructions."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent_memory.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Tier:
    """What a tier includes: how many memories it keeps (None: any number) and how many one search returns.

    A tier with 0 of either has no memory at all.
    """

    max_memories: int | None
    retrieval_limit: int

    @property
    def enabled(self) -> bool:
        """Whether the tier includes memory."""
        return self.max_memories != 0 and self.retrieval_limit > 0


TIERS: dict[str, Tier] = {
    "free": Tier(0, 0),
    "basic": Tier(100, 5),
    "pro": Tier(500, 10),
    "enterprise": Tier(None, 20),
}
"""The tiers that a user can have: free has no memory, enterprise any number of memories."""
NO_TIER = "unlimited"
"""The name of the tier of users to whom none is assigned. A table of tiers can redefine it."""
UNLIMITED = Tier(None, 100)
"""Any number of memories, and as many results as a search can return."""

SecretsAction = Literal["redact", "quarantine", "allow"]
InstructionsAction = Literal["quarantine", "redact", "allow"]

TierResolver = Callable[[str], str | Awaitable[str | None] | None]
"""Returns the tier of a user by their id; None for the one in the store, or the default."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What the operator allows.

    `enabled` is the global switch. Without `auto_store` nothing is derived from turns, but memories written by hand are
    kept and recalled.

    A user's tier is what `tier_of` returns, else the tier assigned to them, else `default_tier`: `unlimited`, which
    needs no entry in `tiers`. Secrets in memories are removed (`redact`), or the memory waits for review
    (`quarantine`); the same applies to text that looks like an instruction to a model. The audit is kept for
    `audit_days`; 0 for none. Raw turns can be searched for `talk_days`, None for ever. `daily_model_calls` and
    `daily_tokens` limit what the processing of one user may cost in a day (UTC), `store_daily_tokens` that of all users
    together; None for no limit.
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
    store_daily_tokens: int | None = None

    @property
    def limits_users(self) -> bool:
        """Whether the processing of one user is limited."""
        return self.daily_model_calls is not None or self.daily_tokens is not None

    def tier(self, name: str) -> Tier:
        """The tier of this name. Raises ConfigurationError if there is none."""
        tiers = {NO_TIER: UNLIMITED, **self.tiers}
        if name not in tiers:
            raise ConfigurationError(f"no tier {name!r}; known tiers are {', '.join(tiers)}")
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
