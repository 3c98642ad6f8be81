"""Rarity: which words of a question are worth searching for in one user's memories, and which names they use.

A word that many of them have (such as a name in every conversation) finds nothing that vectors do not find. A store
counts words only over all users, so some texts of the user are sampled instead, and cached for a while. The sample also
shows the names by which people address each other (`recall.phrasing`).
"""

from __future__ import annotations

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_memory.errors import AgentMemoryError
from agent_memory.recall.phrasing import Greeting, Said, Speaker, greetings, speakers
from agent_memory.recall.relevance import words
from agent_memory.store import search_queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES

logger = logging.getLogger("agent_memory")

SAMPLE = 100
"""Texts that are looked at. 200 found as much (LoCoMo, REALTALK, BEAM)."""
LONGEST = 400
"""Characters of each. A choice."""
COMMON = 0.15
"""The words of a question are searched from the rarest on, while the shares of the user's texts that have them add up
to at most this. The rarest is always searched. 0.25 found as much on three sets, 0.03 less."""
FEWEST = 50
"""A share is computed over at least so many texts, even if the user has fewer. A choice."""
SECONDS, SECONDS_OF_FEW = 600.0, 60.0
"""How long a process caches a sample; less for a user with fewer texts than `SAMPLE`, who soon has more. A choice."""
MOST_USERS = 1000
"""Users whose words a process remembers: about 20 KB each."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How many texts were sampled, and how many have each word; words of only one text are left out."""

    texts: int
    having: Mapping[str, int]
    greetings: tuple[Greeting, ...] = ()
    """The names by which speakers are addressed."""
    speakers: frozenset[Speaker] = frozenset()
    """The speakers whose names are sure, and where they spoke."""

    def share(self, term: str) -> float:
        """What share of the texts has a term."""
        found = [self.having.get(word, 0) for word in words(term)]
        return max(found, default=0) / max(self.texts, FEWEST)


NOTHING_SEEN = Seen(0, {})


class SeenWords:
    """What this process saw of the words of its users."""

    def __init__(self) -> None:
        self._users: OrderedDict[str, tuple[float, Seen]] = OrderedDict()

    async def of(self, store: Store, user_id: str) -> Seen:
        """The words of a user; one query, or none if they are remembered. Nothing if it fails."""
        until, seen = self._users.get(user_id, (0.0, NOTHING_SEEN))
        if time.monotonic() < until:
            return seen
        try:
            rows = await store.query(MEMORIES, search_queries.SOME_TEXTS, (user_id,), limit=SAMPLE, longest=LONGEST)
        except AgentMemoryError as error:
            logger.warning("How common words are could not be read: %s", error)
            return NOTHING_SEEN
        seen = seen_in([Said(row["thread_id"], row.get("speaker"), row["text"]) for row in rows])
        lasts = SECONDS if len(rows) == SAMPLE else SECONDS_OF_FEW
        self._users[user_id] = (time.monotonic() + lasts, seen)
        self._users.move_to_end(user_id)
        while len(self._users) > MOST_USERS:
            self._users.popitem(last=False)
        return seen


def seen_in(said: Sequence[Said]) -> Seen:
    """How many of the texts have each word, and who is called what."""
    count = Counter(word for one in said for word in words(one.text))
    having = {word: number for word, number in count.items() if number > 1}
    return Seen(len(said), having, greetings(said), speakers(said))


def telling(terms: Sequence[str], seen: Seen) -> list[str]:
    """The terms to search by, the rarest first: at least one, further ones while their shares add up to `COMMON`."""
    chosen: list[str] = []
    total = 0.0
    for term in sorted(terms, key=seen.share):
        total += seen.share(term)
        if chosen and total > COMMON:
            break
        chosen.append(term)
    return chosen
