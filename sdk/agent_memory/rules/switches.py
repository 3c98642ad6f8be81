"""Switches: what is allowed in a scope now. The most restrictive switch wins.

There are six: global, tier, user, thread, agent profile and request. A switch that nobody has set allows everything.
Users can always see, correct and forget what is kept, whatever the switches say.

Categories say what a memory is about, so that a user can say "never remember health". Some have a list of words. Any
other name works too: it matches in the text, as a tag, and as the kind or type of a memory. A list misses other
wordings, so a language model gets the categories too.

Retention says after how many days the store deletes memories of a type; by default it never does. The days count from
the last write of a document. A memory that is said again is written again, so its time starts again. A memory can also
have its own expiry (`expires_at`). From then on nothing shows it. The store deletes it at that time, or, if it was
changed after it was written, within the same span after that change.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from math import ceil
from typing import Any

from agent_memory.errors import InvalidInput, MemoryDisabled
from agent_memory.models import MemoryConfig, ScopeSettings, as_utc, iso, now
from agent_memory.settings import NO_TIER, UNLIMITED, PolicySettings, Tier
from agent_memory.store.client import Store
from agent_memory.store.documents import Document
from agent_memory.store.scope_documents import THREADS_OFF, TIER, known_document, read_document, scope_settings
from agent_memory.text.folding import bare
from agent_memory.text.patterns import linear
from agent_memory.text.stems import stem
from agent_memory.text.terms import is_unspaced

SECONDS_PER_DAY = 86_400
LONGEST = 2**31 - 1
"""The longest time to live, in seconds (Azure Cosmos DB, time to live)."""
TYPES = ("fact", "episodic", "procedural", "reflection")


def check_retention(days: Mapping[str, int]) -> dict[str, int]:
    """Checks a caller's days for each memory type, and returns them.

    Raises:
        InvalidInput: for an unknown type, or a number of days outside 1 to 36500.
    """
    for name, number in days.items():
        if name not in TYPES:
            raise InvalidInput(f"retention_days: no memory type {name!r}; there are {', '.join(TYPES)}")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 36_500:
            raise InvalidInput(f"retention_days: {name} is a number of days from 1 to 36500, not {number!r:.60}")
    return dict(days)


def check_expiry(expires_at: datetime | None, ttl: int | None) -> datetime | None:
    """When a memory expires, from a time or a number of seconds; None if neither is given.

    Raises:
        InvalidInput: for both, for a time that has passed or has no date, or for seconds outside 1 to 2^31 - 1.
    """
    if ttl is not None:
        if expires_at is not None:
            raise InvalidInput("a memory expires at a time or after seconds: pass expires_at or ttl, not both")
        if isinstance(ttl, bool) or not isinstance(ttl, int) or not 1 <= ttl <= LONGEST:
            raise InvalidInput(f"ttl is a number of seconds from 1 to {LONGEST}, not {ttl!r:.60}")
        return now() + timedelta(seconds=ttl)
    if expires_at is None:
        return None
    if not isinstance(expires_at, datetime):
        raise InvalidInput(f"expires_at is a datetime, not {expires_at!r:.60}")
    try:
        at = as_utc(expires_at)
    except ValueError as error:
        raise InvalidInput(f"expires_at: {error}") from error
    if at <= now():
        raise InvalidInput(f"expires_at has passed: {iso(at)}")
    return at


def with_retention(documents: Sequence[Document], rules: Rules) -> list[Document]:
    """The documents, each with its time to live: the setting of its type, or less if it expires earlier.

    Chunks may have a shorter one (`talk_days`); what was derived from the turns stays.
    """
    return [
        document if (seconds := _seconds(document, rules)) is None else document | {"ttl": seconds}
        for document in documents
    ]


def _seconds(document: Document, rules: Rules) -> int | None:
    days = [rules.retention_days.get(str(document.get("type")))]
    if document.get("kind") == "chunk":
        days.append(rules.talk_days)
    ends = [number * SECONDS_PER_DAY for number in days if number is not None]
    if document.get("expires_at") is not None:
        left = (datetime.fromisoformat(document["expires_at"]) - now()).total_seconds()
        ends.append(max(1, min(LONGEST, ceil(left))))
    return min(ends, default=None)


_WORDS: dict[str, str] = {
    "health": """
        health illness ill sick sickness disease diagnosis diagnosed symptom doctor physician hospital clinic surgery
        therapy therapist psychiatrist medication medicine medical pill prescription allergy allergic asthma diabetes
        diabetic cancer tumor pregnant pregnancy depression depressed anxiety adhd autism hiv infection blood pressure
        cholesterol migraine injury injured disability disabled vaccine vaccinated insulin chemotherapy dosage
    """,
    "money": """
        money salary wage income debt loan mortgage credit savings bank account tax taxes investment invest stock
        pension budget bankrupt bankruptcy inheritance paycheck earn afford finance finances financial
    """,
    "religion": """
        religion religious faith church mosque synagogue temple god christian catholic protestant muslim islam jewish
        judaism hindu buddhist atheist pray prayer baptism bible quran torah ramadan
    """,
    "politics": """
        politics political vote voted voter election party democrat republican conservative liberal socialist communist
        senator congress parliament protest activist union campaign
    """,
    "sexuality": """
        sexuality sexual sex gay lesbian bisexual transgender queer heterosexual homosexual orientation dating
        boyfriend girlfriend intimacy
    """,
    "family": """
        family mother father mom mum dad parent wife husband spouse son daughter child children kid baby brother sister
        grandmother grandfather aunt uncle cousin divorce divorced married marriage
    """,
    "location": """
        address street live lives moved postcode zip neighborhood neighbourhood hometown apartment landlord
    """,
    "legal": """
        lawyer attorney court lawsuit sued arrest arrested conviction convicted crime criminal police prison jail
        probation custody immigration visa
    """,
}
_ALIASES = {"medical": "health", "finance": "money", "finances": "money", "financial": "money", "sex": "sexuality"}
_TOKEN = linear(r"\p{L}[\w'’-]*")


def categories_of(text: str, labels: Iterable[str] = ()) -> set[str]:
    """The stems of a text and the known categories that it belongs to. `labels` are its tags, its kind and its type."""
    found = {stem(word) for word in _TOKEN.findall(bare(text).casefold())}
    found |= {stem(bare(label).casefold()) for label in labels}
    return found | {name for name, words in _stems().items() if words & found}


def is_kept(text: str, labels: Iterable[str], deny: frozenset[str], allow: frozenset[str] | None) -> bool:
    """Whether a text belongs to no denied category, and to an allowed one if only some are allowed."""
    if not deny and allow is None:
        return True
    found, plain = categories_of(text, labels), bare(text).casefold()
    if any(_in(name, found, plain) for name in deny):
        return False
    return allow is None or any(_in(name, found, plain) for name in allow)


def _in(category: str, found: set[str], plain: str) -> bool:
    name = _ALIASES.get(category, category)
    word = bare(name).casefold()
    if is_unspaced(word):  # its script does not show where words begin
        return word in plain
    words = [stem(word) for word in _TOKEN.findall(word)]
    return name in found or (bool(words) and all(word in found for word in words))


@cache
def _stems() -> dict[str, frozenset[str]]:
    return {name: frozenset(stem(word) for word in words.split()) for name, words in _WORDS.items()}


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
        """Checks that memory is on.

        Raises:
            MemoryDisabled: if it is not.
        """
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
