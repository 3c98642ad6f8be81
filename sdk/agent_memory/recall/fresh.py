"""Fresh talk: what was said so lately that it may not be indexed yet, found by its words.

So what a user has just said in one conversation is known in the next, before any processing. Fresh turns pass what
keeps talk out of the index: the switches, the screen, and what was forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from agent_memory.language.stems import stem
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.models import Memory, SearchFilters, Turn
from agent_memory.policy.injected import without_injected
from agent_memory.policy.screen import screen_lines
from agent_memory.policy.switches import Rules
from agent_memory.policy.tombstones import forgotten_turns
from agent_memory.settings import PolicySettings
from agent_memory.store import queries
from agent_memory.store.chunks import SHORTEST, chunk_of, chunk_text
from agent_memory.store.client import Store
from agent_memory.store.containers import TURNS
from agent_memory.store.documents import from_document
from agent_memory.store.filters import condition_of_turns
from agent_memory.store.filters import parameters as filter_parameters

MOST = 20
"""Turns at most, the newest."""
LONGEST = 8000
"""Characters that are read of one."""


async def fresh_turns(
    store: Store, partition: Sequence[str], terms: Sequence[str], filters: SearchFilters, seconds: float
) -> list[Turn]:
    """The turns of the last `seconds` that share a word with a question, newest first; one query, or none."""
    where = condition_of_turns(filters)
    if where is None or not terms or seconds <= 0:
        return []
    words = {f"w{number}": _beginning(term) for number, term in enumerate(terms)}
    sql = queries.fresh_turns(where, list(words))
    since = int(time.time() - seconds)
    rows = await store.query(
        TURNS, sql, partition, limit=MOST, since=since, **words, **filter_parameters(filters, of_turns=True)
    )
    return [from_document(Turn, row) for row in rows]


def _beginning(term: str) -> str:
    """What the forms of a word have in common at least: its stem, as far as the word spells it."""
    root = stem(term)
    while not term.startswith(root):
        root = root[:-1]
    return root or term


async def as_chunks(
    turns: Sequence[Turn], store: Store, embeddings: EmbeddingModel, rules: Rules, policy: PolicySettings
) -> list[Memory]:
    """Turns as they will be indexed, without those that will not.

    Raises:
        AgentMemoryError: if the store, or the embedding model where something was forgotten, is unavailable.
    """
    if not turns:
        return []
    forgotten = await forgotten_turns(store, embeddings, turns[0].user_id, turns)
    texts = {turn.id: without_injected(turn.content[:LONGEST]).strip() for turn in turns if turn.id not in forgotten}
    return [
        chunk_of(turn, line, None)
        for turn in turns
        if len(texts.get(turn.id, "")) >= SHORTEST
        for line in screen_lines([chunk_text(turn, texts[turn.id])], rules, policy)
    ]
