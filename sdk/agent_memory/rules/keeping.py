"""Keeping: which memories may be kept, for how long, and how many.

Categories say what a memory is about, so that a user can say "never remember health". Some have a list of words. Any
other name works too: it matches in the text, as a tag, and as the kind or type of a memory. A list misses other
wordings, so a language model gets the categories too.

Retention says after how many days the store deletes memories of a type; by default it never does. The days count from
the last write of a document. A memory that is said again is written again, so its time starts again. A memory can also
have its own expiry (`expires_at`). From then on nothing shows it. The store deletes it at that time, or, if it was
changed after it was written, within the same span after that change.

When a user's quota is reached, writing a memory by hand raises an error. An extracted memory replaces the least
valuable one, but never one that was written by hand or pinned. An import adds as many as there is room for. A writer
counts again after its write, and takes the write back if it was one too many. So the quota is never exceeded, but
several writers who compete for the last place may all be refused.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

from agent_memory.errors import InvalidInput, QuotaExceeded
from agent_memory.models import Memory, as_utc, iso, now
from agent_memory.models.base import LONGEST
from agent_memory.rules.switches import Rules
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document
from agent_memory.store.memories import list_memories
from agent_memory.store.uses import read_uses
from agent_memory.text.folding import bare
from agent_memory.text.patterns import linear
from agent_memory.text.stems import stem
from agent_memory.text.terms import is_unspaced

SECONDS_PER_DAY = 86_400
TYPES = ("fact", "episodic", "procedural", "reflection")


def check_retention(days: Mapping[str, int]) -> dict[str, int]:
    """Checks a caller's days for each memory type, and returns them.

    Raises:
        InvalidInput: for an unknown type, or a number of days outside 1 to 36500.
    """
    for name, number in days.items():
        if name not in TYPES:
            raise InvalidInput(f"retention_days: no memory type {name!r}; the types are {', '.join(TYPES)}")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 36_500:
            raise InvalidInput(f"retention_days: {name} is a number of days from 1 to 36500, not {number!r:.60}")
    return dict(days)


MOST_CATEGORIES = 100
"""The most categories that a scope denies or allows. A choice: a text is compared with all, and a model reads all."""


def check_categories(field: str, given: Collection[str]) -> list[str]:
    """The names of categories, in the form in which they are stored.

    Raises:
        InvalidInput: if it is no list of names, or of more than `MOST_CATEGORIES`.
    """
    if (
        isinstance(given, str)
        or not isinstance(given, Collection)
        or not all(isinstance(name, str) and 0 < len(name.strip()) <= 60 for name in given)
    ):
        raise InvalidInput(f"{field} is a list of names of 1 to 60 characters, like ['health']")
    names = sorted({name.strip().lower() for name in given})
    if len(names) > MOST_CATEGORIES:
        raise InvalidInput(f"{field} has at most {MOST_CATEGORIES} names, not {len(names)}")
    return names


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
        ends.append(max(1, min(LONGEST, math.ceil(left))))
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


STRENGTH_DAYS = 30.0
"""Days after which the score of a memory that was never recalled has fallen to 1/e. Each recall adds a day."""


def retention(memory: Memory, at: datetime) -> float:
    """The score of a memory, from 1 (used just now) towards 0: exp(-days / (30 + times recalled)).

    The days count from when it was last recalled, said or recorded, whichever came last.
    """
    last = max(memory.recorded_at, memory.last_said_at, memory.last_accessed_at or memory.recorded_at)
    days = max(0.0, (at - last).total_seconds() / 86400)
    return math.exp(-days / (STRENGTH_DAYS + memory.access_count))


def eviction_order(memory: Memory, at: datetime) -> tuple[float, float, datetime, str]:
    """A sort key that puts the memory to evict first: lowest score, then lowest confidence, then oldest."""
    return (retention(memory, at), memory.confidence, memory.created_at, memory.id)


@dataclass(frozen=True, slots=True)
class Room:
    """Which memories are withdrawn to make room, and which new ones are refused."""

    retire: list[Memory] = field(default_factory=list)
    refused: list[Memory] = field(default_factory=list)


async def count_kept(store: Store, user_id: str) -> int:
    """How many memories count against a user's quota: the active ones without chunks. One query for a number."""
    return int(sum(await store.query(MEMORIES, queries.KEPT_MEMORIES, (user_id,))))


async def room_left(store: Store, rules: Rules, user_id: str) -> int | None:
    """How many more memories the tier allows: None for any number, negative if there are too many. One query."""
    most = rules.tier.max_memories
    return None if most is None else most - await count_kept(store, user_id)


async def require_room(store: Store, rules: Rules, user_id: str) -> None:
    """Checks that one more memory may be written by hand, before any work is done for it.

    Raises:
        QuotaExceeded: if the tier allows no more.
    """
    left = await room_left(store, rules, user_id)
    if left is not None and left <= 0:
        raise _no_room(rules)


async def keep_within(store: Store, rules: Rules, user_id: str, undo: Callable[[], Awaitable[object]]) -> None:
    """Counts again after a write by hand, and undoes the write if it was one too many.

    Raises:
        QuotaExceeded: if the write was undone.
    """
    left = await room_left(store, rules, user_id)
    if left is not None and left < 0:
        await undo()
        raise _no_room(rules)


def _no_room(rules: Rules) -> QuotaExceeded:
    most = rules.tier.max_memories
    return QuotaExceeded(f"the tier {rules.tier_name} keeps {most} memories; forget some, or change the tier")


async def make_room(store: Store, rules: Rules, user_id: str, fresh: Sequence[Memory]) -> Room:
    """Chooses the memories that new ones replace. Reads the user's memories only if there is no room."""
    most = rules.tier.max_memories
    counted = [memory for memory in fresh if memory.status == "active"]
    if most is None or not counted:
        return Room()
    over = await count_kept(store, user_id) + len(counted) - most
    if over <= 0:
        return Room()
    uses = await read_uses(store, user_id)
    return choose([uses.of(memory) for memory in await list_memories(store, user_id)], counted, over)


def choose(kept: Sequence[Memory], fresh: Sequence[Memory], over: int) -> Room:
    """Chooses the `over` memories that are worth least, among those that may be displaced."""
    at = now()
    replaceable = [memory for memory in kept if memory.model is not None and not memory.pinned]
    going = sorted([*replaceable, *fresh], key=lambda memory: eviction_order(memory, at))[:over]
    new = {memory.id for memory in fresh}
    return Room([m for m in going if m.id not in new], [m for m in going if m.id in new])
