"""Long-term blocks: they let a short-term memory remember beyond one conversation.

Any object with the interface of `AsyncLongTermBlock` can be a block; the short-term memory has it, too. The blocks here
are views of the store: static knowledge, extracted facts, and turns found by meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from agent_memory.errors import ModelError, NotFound, StaticMemoryError
from agent_memory.models import Hit, Memory
from agent_memory.recall.oneself import NEAREST, asks_of_self
from agent_memory.recall.relevance import Bm25
from agent_memory.scopes import AsyncStaticScope, AsyncThreadScope, AsyncUserScope, ThreadStep
from agent_memory.text.terms import query_terms
from agent_memory.text.tokens import TiktokenCounter, TokenCounter
from agent_memory.working.content import within
from agent_memory.working.messages import ChatMessage, from_turn, read_message, to_turn

Message = ChatMessage | Mapping[str, Any]
FactSelection = Callable[[str, Sequence[Memory]], Any]
"""Chooses among the facts that were found for a message. The async blocks await it.

`agent_memory.working.content` makes one from a model.
"""
EXTRACTED = ("fact", "procedural", "event")
"""The types that extraction creates. Chunks and archived conversations are episodic too, but do not belong to them."""
ANY_COSINE = -1.0
"""A threshold that every vector exceeds."""
QUERY_CHARACTERS = 2000
"""How much of a message is searched for, in characters. Embedding models read less than that."""


@runtime_checkable
class AsyncLongTermBlock(Protocol):
    """A kind of long-term memory. `name` is the element that it is shown in, so it must be one word."""

    name: str

    async def get(self, session_id: str, message: Message) -> Sequence[Any]:
        """What it remembers for a message, best first: texts, memories, hits or data."""
        ...

    async def update(self, session_id: str, message: Message | Sequence[Message]) -> None:
        """Receives one or several messages of a conversation. When it returns, what it keeps of them is durable.

        Raises:
            StaticMemoryError: if the block cannot be updated.
            AgentMemoryError: if it failed. The caller must not drop the messages then.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Deletes what it keeps of a conversation."""
        ...


@runtime_checkable
class CoveredByStep(Protocol):
    """A block that a step of the thread fills. It has every turn that the step has covered."""

    def step_for(self, user: Any) -> ThreadStep | None:
        """The step that fills the block from this user's threads; None if its memories are elsewhere.

        A block whose memories belong to another user or another store gets the messages themselves.
        """
        ...


class AsyncStaticMemory:
    """Knowledge that holds for every user and every conversation. It is read-only and belongs to the operator.

    Example:
        ```python
        rules = AsyncStaticMemory(memory.static, [{"id": "hr1", "content": "Remote work: 3 days a week."}])
        await rules.get("s1", {"role": "user", "content": "May I work remotely?"})
        ```
    """

    def __init__(
        self,
        static: AsyncStaticScope,
        facts: Sequence[Any] = (),
        *,
        name: str = "static_memory",
        limit: int = 20,
        max_tokens: int | None = None,
        tokens: TokenCounter | None = None,
    ) -> None:
        """Stores nothing yet. The facts are seeded before they are first read; seeding again is harmless.

        Args:
            static: The memory's static knowledge.
            facts: Each `{"id": …, "content": …}`, a text, `{"key": …, "value": …}`, or any other data.
            name: The element that they are shown in.
            limit: Most facts that are shown.
            max_tokens: Most tokens that they may take of a view; None: what the view has room for.
            tokens: Counts tokens.
        """
        self.name = name
        self._static = static
        self._facts = list(facts)
        self._limit = limit
        self._max_tokens = max_tokens
        self._tokens = tokens or TiktokenCounter()

    async def insert_facts(self) -> None:
        """Seeds the facts. `get` does this, too.

        Raises:
            InvalidInput: if one of them cannot be used.
        """
        if self._facts:
            await self._static.seed(self._facts)
            self._facts = []

    async def get(self, session_id: str, message: Message) -> list[Memory]:
        """The facts that share words with a message, best first; all facts if none does."""
        await self.insert_facts()
        facts = await self._static.list()
        scores = Bm25({fact.id: fact.content for fact in facts}).scores(query_terms(_query(message)))
        told = [fact for fact in facts if scores[fact.id] > 0] or list(facts)
        best = sorted(told, key=lambda fact: -scores[fact.id])[: self._limit]
        return best if self._max_tokens is None else within(best, self._max_tokens, self._tokens)

    async def update(self, session_id: str, message: Message | Sequence[Message]) -> None:
        """Takes in nothing.

        Raises:
            StaticMemoryError: always.
        """
        raise StaticMemoryError("Static memory does not support update operation")

    async def delete(self, session_id: str) -> None:
        """Deletes nothing.

        Raises:
            StaticMemoryError: always.
        """
        raise StaticMemoryError("Static memory does not support delete operation")


class AsyncExtractiveMemory:
    """The facts, procedures and events that were extracted from all conversations of a user.

    Example:
        ```python
        facts = AsyncExtractiveMemory(memory.user("sarah"))
        await facts.update("s1", {"role": "user", "content": "I work in Marketing."})
        await facts.get("s2", {"role": "user", "content": "Which department am I in?"})
        ```
    """

    def __init__(
        self,
        user: AsyncUserScope,
        *,
        name: str = "extractive_memory",
        max_tokens: int = 2000,
        limit: int = 20,
        select: FactSelection | None = None,
        tokens: TokenCounter | None = None,
    ) -> None:
        """Uses the extraction model and the store of the user's memory.

        Args:
            user: Whose facts.
            name: The element that they are shown in.
            max_tokens: Most tokens that they may take of a view.
            limit: Most facts.
            select: Chooses among the facts that are found or near. Without it, those that a search finds are shown.
            tokens: Counts tokens.
        """
        self.name = name
        self._user = user
        self._max_tokens = max_tokens
        self._limit = limit
        self._select = select
        self._tokens = tokens or TiktokenCounter()

    def step_for(self, user: AsyncUserScope) -> ThreadStep | None:
        """Extraction, if the handle belongs to the same user in the same memory."""
        return "extract" if _is_same(self._user, user) else None

    async def get(self, session_id: str, message: Message) -> list[Memory]:
        """The user's facts for a message, best first, within `max_tokens`.

        A question about oneself hardly resembles its answer ("Which department am I in?", "I'm from Marketing."). So it
        gets the six nearest facts, too, however far they are. A model chooses among the nearest in any case.
        """
        query = _query(message)
        if not query:
            return []
        nearest = self._limit if self._select is not None else _nearest(query)
        facts = [hit.memory for hit in await _found(self._user, query, EXTRACTED, self._limit, nearest)]
        if self._select is not None and facts:
            facts = await self._select(query, facts)
        return within(facts, self._max_tokens, self._tokens)

    async def update(self, session_id: str, message: Message | Sequence[Message]) -> None:
        """Stores messages in their conversation, and extracts from all turns that are not covered yet.

        Raises:
            ModelError: if the model is unavailable, or extraction failed for some messages.
        """
        await _keep(self._user, session_id, message, "extract")

    async def delete(self, session_id: str) -> None:
        """Forgets the facts, procedures and events that come from a conversation. Its turns stay.

        Raises:
            StoreUnavailable: if it could not be done; the call may be repeated.
        """
        for fact in await self._user.thread(session_id).memories(types=EXTRACTED):
            try:
                await self._user.forget(fact.id, include_sources=False)
            except NotFound:  # it went with one before it
                continue


class AsyncVectorMemory:
    """The turns of a user's conversations, found by meaning."""

    def __init__(
        self,
        user: AsyncUserScope,
        *,
        name: str = "vector_memory",
        scope: Literal["user", "thread"] = "user",
        limit: int = 5,
    ) -> None:
        """Uses the embedding model and the store of the user's memory.

        Args:
            user: Whose conversations.
            name: The element that they are shown in.
            scope: All conversations of the user, or only the current one.
            limit: Most turns.
        """
        self.name = name
        self._user = user
        self._scope = scope
        self._limit = limit

    def step_for(self, user: AsyncUserScope) -> ThreadStep | None:
        """Indexing, which calls no chat model, if the handle belongs to the same user in the same memory."""
        return "index" if _is_same(self._user, user) else None

    async def get(self, session_id: str, message: Message) -> list[Hit]:
        """The turns that are nearest to a message, best first. Turns without a vector are left out.

        A question about oneself gets the nearest ones, however far they are, as in an extractive block.
        """
        query = _query(message)
        if not query:
            return []
        within = self._user if self._scope == "user" else self._user.thread(session_id)
        hits = await _found(within, query, ["vector"], self._limit, _nearest(query))
        return [hit for hit in hits if hit.similarity is not None]  # search also finds turns that are not indexed yet

    async def update(self, session_id: str, message: Message | Sequence[Message]) -> None:
        """Stores messages in their conversation, and embeds all turns that are not covered yet.

        Raises:
            ModelError: if the embedding model is unavailable.
        """
        await _keep(self._user, session_id, message, "index")

    async def delete(self, session_id: str) -> None:
        """Deletes the vectors of a conversation. Its turns, and the facts that were learned from them, stay.

        Raises:
            StoreUnavailable: if it could not be done; the call may be repeated.
        """
        await self._user.thread(session_id).delete_index()


def _is_same(one: Any, other: Any) -> bool:
    """Whether two handles belong to the same user in the same memory."""
    return one.user_id == other.user_id and one.home is other.home


def _nearest(query: str) -> int:
    """How many of the nearest memories a message gets, however far they are."""
    return NEAREST if asks_of_self(query) else 0


async def _found(
    scope: AsyncUserScope | AsyncThreadScope, query: str, types: Sequence[str], limit: int, nearest: int
) -> list[Hit]:
    """What a search finds, then the `nearest` memories, at most `limit` in all."""
    hits = await scope.search(query, types=types, limit=limit)
    if nearest:
        hits += await scope.search(query, types=types, limit=min(nearest, limit), threshold=ANY_COSINE)
    return list({hit.memory.id: hit for hit in hits}.values())[:limit]


async def _keep(user: AsyncUserScope, session_id: str, message: Message | Sequence[Message], step: ThreadStep) -> None:
    """Writes messages and runs a step over them. Messages that were written before stay unchanged.

    An agent may give its messages without ids to the short-term memory and to blocks. The live conversation has them
    once.
    """
    thread = user.thread(session_id)
    given = [read_message(one) for one in ([message] if isinstance(message, ChatMessage | Mapping) else message)]
    if any(one.id is None for one in given):
        live = {(one.role, one.content) for one in map(from_turn, (await thread.view()).turns)}
        given = [one for one in given if one.id is not None or (one.role, one.content) not in live]
    await thread.add_many([to_turn(one) for one in given])
    result = await thread.process(step)
    if result.dead_letters:
        raise ModelError(f"nothing could be made of some messages: {'; '.join(result.rejected)}")


def _query(message: Message) -> str:
    return read_message(message).content.strip()[:QUERY_CHARACTERS]
