"""Switches: what is allowed in a scope now. The most restrictive switch wins.

There are six: global, tier, user, thread, agent profile and request. A switch that nobody has set allows everything.
Users can always see, correct and forget what is kept, whatever the switches say.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent_memory.errors import MemoryDisabled
from agent_memory.models import MemoryConfig, ScopeSettings
from agent_memory.settings import NO_TIER, UNLIMITED, PolicySettings, Tier
from agent_memory.store.client import Store
from agent_memory.store.scope_documents import THREADS_OFF, TIER, known_document, read_document, scope_settings

PROFILE_RESOURCE = "memory"
"""The resource that an agent's profile must list for memory to be on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The restrictions of one request, and the resources of the agent that makes it."""

    config: MemoryConfig = field(default_factory=MemoryConfig)
    resources: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What all switches together allow in one scope.

    `recall` allows search and context. `derive` allows memories and summaries to be derived from turns. `keep_turns`
    allows the turns themselves to be stored. `off_by` names the first switch that is off. Categories in `deny` are
    never remembered; if `allow` is not None, no other categories are.
    """

    recall: bool = True
    derive: bool = True
    keep_turns: bool = True
    off_by: str | None = None
    tier_name: str = NO_TIER
    tier: Tier = UNLIMITED
    deny: frozenset[str] = frozenset()
    allow: frozenset[str] | None = None
    retention_days: Mapping[str, int] = field(default_factory=dict)
    talk_days: int | None = None
    """For how many days chunks are kept; None for ever."""
    threads_off: frozenset[str] = frozenset()
    """The user's threads that are switched off. Nothing from them is shown in other threads."""
    time_zone: str = "UTC"
    """The user's time zone. Days and weekdays are counted in it."""

    @property
    def reason(self) -> str:
        """A sentence that says why something is not done."""
        return f"memory is switched off by {self.off_by}"

    def require_enabled(self) -> None:
        """Checks that memory is on. Raises MemoryDisabled if it is not."""
        if not self.recall:
            raise MemoryDisabled(self.reason)


def effective(
    policy: PolicySettings, tier_name: str, scopes: Mapping[str, ScopeSettings], asked: Asked | None = None
) -> Rules:
    """Combines all switches. `scopes` holds the settings of user and thread, by their names in reasons.

    Raises:
        ConfigurationError: if the tier does not exist.
    """
    tier = policy.tier(tier_name)
    asked = asked or Asked()
    profiled = asked.resources is None or PROFILE_RESOURCE in asked.resources
    switches = {
        "ENABLE_MEMORY": policy.enabled,
        f"the tier {tier_name}": tier.enabled,
        **{f"the {name}'s settings": settings.enabled for name, settings in scopes.items()},
        "the agent's profile": profiled,
        "the request": asked.config.enabled,
    }
    stores = {f"the {name}'s settings": settings.auto_store for name, settings in scopes.items()}
    off = [name for name, on in switches.items() if not on]
    stores = {"MEMORY_AUTO_STORE": policy.auto_store, **stores, "the request": asked.config.auto_store}
    not_stored = [name for name, on in stores.items() if not on]
    allowed = [frozenset(s.allow_categories) for s in scopes.values() if s.allow_categories]
    zones = [scopes[name].time_zone for name in ("thread", "user") if name in scopes]
    return Rules(
        recall=not off,
        derive=not off and not not_stored,
        keep_turns=all(settings.keep_turns for settings in scopes.values()),
        off_by=next(iter([*off, *not_stored]), None),
        tier_name=tier_name,
        tier=tier,
        deny=frozenset(category for settings in scopes.values() for category in settings.deny_categories),
        allow=frozenset.intersection(*allowed) if allowed else None,
        retention_days=_shortest([settings.retention_days for settings in scopes.values()]),
        talk_days=policy.talk_days,
        time_zone=next((zone for zone in zones if zone), "UTC"),
    )


async def read_rules(
    store: Store,
    policy: PolicySettings,
    user_id: str,
    thread_id: str | None = None,
    asked: Asked | None = None,
    *,
    but: Collection[str | None] = (),
) -> Rules:
    """Reads what is allowed for a user, or in one of their threads. Two point reads at most, at the same time.

    `but` names settings to ignore: a thread's by its id, the user's by None.

    Raises:
        StoreUnavailable: if the settings cannot be read. A caller that must not fail treats memory as off.
        ConfigurationError: if the user's tier does not exist.
    """
    scopes = _scopes(thread_id)
    read = await asyncio.gather(*(read_document(store, user_id, scope) for scope in scopes))
    return await rules_of(policy, user_id, dict(zip(scopes, read, strict=True)), asked, but=but)


async def known_rules(
    store: Store, policy: PolicySettings, user_id: str, thread_id: str | None = None, asked: Asked | None = None
) -> Rules:
    """The same, from the settings cached in this process (`store.known`): no request, if they were read recently.

    Raises:
        StoreUnavailable: if settings must be read and cannot be.
        ConfigurationError: if the user's tier does not exist.
    """
    scopes = _scopes(thread_id)
    known = await asyncio.gather(*(known_document(store, user_id, scope) for scope in scopes))
    return await rules_of(policy, user_id, dict(zip(scopes, known, strict=True)), asked)


async def rules_of(
    policy: PolicySettings,
    user_id: str,
    settings: Mapping[str | None, Mapping[str, Any]],
    asked: Asked | None = None,
    *,
    but: Collection[str | None] = (),
) -> Rules:
    """What these settings documents allow: the user's under None, a thread's under its id.

    Raises:
        ConfigurationError: if the user's tier does not exist.
    """
    scopes = {
        "user" if scope is None else "thread": scope_settings(document)
        for scope, document in settings.items()
        if scope not in but
    }
    rules = effective(policy, await _tier_name(policy, user_id, settings[None]), scopes, asked)
    return replace(rules, threads_off=frozenset(settings[None].get(THREADS_OFF, ())))


def _scopes(thread_id: str | None) -> Sequence[str | None]:
    return (None,) if thread_id is None else (None, thread_id)


async def _tier_name(policy: PolicySettings, user_id: str, user: Mapping[str, Any]) -> str:
    resolved = policy.tier_of(user_id) if policy.tier_of is not None else None
    if inspect.isawaitable(resolved):
        resolved = await resolved
    return resolved or user.get(TIER) or policy.default_tier


def _shortest(retention: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = {name for days in retention for name in days}
    return {name: min(days[name] for days in retention if name in days) for name in sorted(names)}
