"""Fresh turns: turns so recent that they may not be indexed yet, found by their words.

So one conversation knows what a user has just said in another, before any processing. Fresh turns pass the same checks
as indexed ones: the switches, the screen, and what was forgotten.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from agent_memory.errors import AgentMemoryError
from agent_memory.forgetting.tombstones import forgotten_turns
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.models import Memory, SearchFilters, Turn
from agent_memory.recall.fusion import Candidate
from agent_memory.recall.gate import is_greeting
from agent_memory.recall.relevance import only_asks, words
from agent_memory.recall.searcher import Searcher
from agent_memory.rules.switches import Rules, known_rules
from agent_memory.screening.injected import without_injected
from agent_memory.screening.screen import screen_talk
from agent_memory.settings import PolicySettings
from agent_memory.store import queries, search_queries
from agent_memory.store.chunks import SHORTEST, chunk_id, chunk_of
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import from_document
from agent_memory.store.filters import EVERY_TURN, condition_of_turns, parameters as filter_parameters
from agent_memory.text.folding import folded

logger = logging.getLogger("agent_memory")

MOST = 20
"""Maximum number of turns that are compared, the newest. Two conversations have about so many that are not indexed."""
LONGEST = 8000
"""Maximum characters of a fresh turn; a longer one is found once it is indexed."""


async def fresh_turns(
    store: Store,
    partition: Sequence[str],
    terms: Sequence[str],
    filters: SearchFilters,
    seconds: float,
    newest: int = 0,
) -> list[Turn]:
    """The turns of the last `seconds` that share a word with a question, newest first; one query, or none.

    The user's last `newest` turns are included whatever their words, except greetings and questions.

    No query if this process knows that nobody wrote, or looked a moment ago and found nothing (`store.known`).
    """
    where = condition_of_turns(filters)
    if where is None or not terms or seconds <= 0 or not store.known.may_be_fresh(partition[0], seconds):
        return []
    bounds = {"limit": MOST, "since": int(time.time() - seconds), "longest": LONGEST}
    values = bounds | filter_parameters(filters, of_turns=True)
    began = time.monotonic()
    rows = await store.query(TURNS, search_queries.fresh_turns(where), partition, **values)
    if not rows and len(partition) == 1 and where == EVERY_TURN:
        store.known.saw_no_turns(partition[0], began)
    asked = {word for term in terms for word in words(term)}
    turns = [from_document(Turn, row) for row in rows]
    # Words are compared here, because the store would look into every turn of a history that is being imported.
    telling = (turn.id for turn in turns if turn.role == "user" and not _says_nothing(turn.content))
    own = set(islice(telling, newest))
    return [turn for turn in turns if turn.id in own or not asked.isdisjoint(words(folded(turn.content)))]


def _says_nothing(text: str) -> bool:
    return is_greeting(text) or only_asks(text.strip())


async def as_chunks(
    turns: Sequence[Turn], store: Store, embeddings: EmbeddingModel, rules: Rules, policy: PolicySettings
) -> list[Memory]:
    """A user's turns in the form in which they will be indexed, if they are not indexed yet.

    Turns that the settings of their own conversations, or of the search (`rules`), exclude are left out.

    Raises:
        AgentMemoryError: if the store is unavailable, or the embedding model if something was forgotten.
    """
    ids = [chunk_id(turn.user_id, turn.thread_id, turn.id) for turn in turns]
    threads: dict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        threads[turn.thread_id].append(turn)
    indexed, parts = await asyncio.gather(
        store.query(MEMORIES, queries.IDS_THAT_EXIST, (turns[0].user_id,), ids=ids),
        asyncio.gather(*(_of_thread(part, store, embeddings, policy) for part in threads.values())),
    )
    return [
        chunk
        for turn, words in (one for part in parts for one in part)
        if chunk_id(turn.user_id, turn.thread_id, turn.id) not in indexed
        and (talk := screen_talk(turn, words, rules, policy)) is not None
        for chunk in [chunk_of(turn, talk.words, None, name=talk.name)]
    ]


async def _of_thread(
    turns: Sequence[Turn], store: Store, embeddings: EmbeddingModel, policy: PolicySettings
) -> list[tuple[Turn, str]]:
    """The turns of one thread that may be shown, each with its words."""
    user_id, thread_id = turns[0].user_id, turns[0].thread_id
    rules, forgotten = await asyncio.gather(
        known_rules(store, policy, user_id, thread_id), forgotten_turns(store, embeddings, user_id, turns)
    )
    if not (rules.recall and rules.derive):
        return []
    said = {turn.id: without_injected(folded(turn.content)).strip() for turn in turns if turn.id not in forgotten}
    return [
        (turn, talk.words)
        for turn in turns
        if len(said.get(turn.id, "")) >= SHORTEST
        and (talk := screen_talk(turn, said[turn.id], rules, policy)) is not None
    ]


async def read_fresh(
    searcher: Searcher,
    partition: Sequence[str],
    terms: Sequence[str],
    filters: SearchFilters,
    degraded: list[str],
    newest: int,
) -> list[Turn]:
    """Fresh turns, if they can be read and may be shown."""
    if searcher.rules is None:
        return []
    try:
        return await fresh_turns(searcher.store, partition, terms, filters, searcher.settings.fresh_seconds, newest)
    except AgentMemoryError as error:
        logger.warning("What was said lately could not be read: %s", error)
        degraded.append(f"fresh turns: {error}")
        return []


async def as_candidates(searcher: Searcher, said: Sequence[Turn]) -> list[Candidate]:
    """Fresh turns in the form of chunks, if they may be shown."""
    if searcher.rules is None or not said:
        return []
    chunks = await as_chunks(said, searcher.store, searcher.embeddings, searcher.rules, searcher.policy)
    return [Candidate(chunk, None, ("fresh",)) for chunk in chunks]
