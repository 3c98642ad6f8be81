"""Long-term blocks: what a short-term memory can be given to remember beyond one conversation.

All have the interface of `AsyncLongTermBlock`, as the short-term memory has itself; any object that has it can be a
block. Ours are views of the one store: static knowledge, extracted facts, the raw talk by meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from agent_memory.errors import ModelError, NotFound, StaticMemoryError
from agent_memory.models import Hit, Memory
from agent_memory.recall.bm25 import Bm25
from agent_memory.scopes import AsyncStaticScope, AsyncUserScope, ThreadStep
from agent_memory.text.terms import query_terms
from agent_memory.text.tokens import TiktokenCounter, TokenCounter
from agent_memory.working.content import within
from agent_memory.working.messages import ChatMessage, read_message, to_turn

Message = ChatMessage | Mapping[str, Any]
FactSelection = Callable[[str, Sequence[Memory]], Any]
"""Chooses, of the facts that a search found for the text of a message, those that matter; awaited by the async blocks.

`agent_memory.working.selection` makes one of a model.
"""
EXTRACTED = ("fact", "procedural", "event")
"""What extraction makes of a talk. The raw talk and archived conversations, episodic too, are none of it."""
QUERY_CHARACTERS = 2000
"""Of a message, that are searched for; embedding models read less than that."""


@runtime_checkable
class AsyncLongTermBlock(Protocol):
    """A kind of long-term memory. `name` is the element in which it is shown, so it must be one word."""

    name: str

    async def get(self, session_id: str, message: Message) -> Sequence[Any]:
        """What it remembers that matters for a message, best first: texts, memories, hits or data."""
        ...

    async def update(self, session_id: str, message: Message | Sequence[Message]) -> None:
        """Takes in a message, or several of one conversation. When it returns, what it keeps of them is durable.

        Raises:
            StaticMemoryError: if it takes in nothing, ever.
            AgentMemoryError: if it could not; nothing must be dropped then.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Deletes what it keeps of a conversation."""
        ...


@runtime_checkable
class CoveredByStep(Protocol):
    """A block that a step of a thread fills: what the step has covered, the block has taken in."""

    def step_for(self, user: Any) -> ThreadStep | None:
        """The step that fills it from the threads of this handle; None if it keeps its memories elsewhere.

        A block that keeps them elsewhere, with another user or in another memory, is given the messages themselves.
        """
        ...


class AsyncStaticMemory:
    """What holds for every user and every conversation: read-only, and the operator's.

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
        """Keeps nothing yet: the facts are seeded before they are first asked for, which repeats harmlessly.

        Args:
            static: The memory's static knowledge.
            facts: Each `{"id": …, "content": …}`, a text, `{"key": …, "value": …}`, or any other data.
            name: The element in which they are shown.
            limit: How many facts are told at most.
            max_tokens: What they may take of a view; None: what the view has room for.
            tokens: Counts tokens.
        """
        self.name = name
        self._static = static
        self._facts = list(facts)
        self._limit = limit
        self._max_tokens = max_tokens
        self._tokens = tokens or TiktokenCounter()

    async def insert_facts(self) -> None:
        """Seeds the facts that it was given; `get` does it too.

        Raises:
            InvalidInput: if one of them cannot be used.
        """
        if self._facts:
            await self._static.seed(self._facts)
            self._facts = []

    async def get(self, session_id: str, message: Message) -> list[Memory]:
        """The facts that share words with a message, best first; all of them if none does."""
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
        """The model that extracts, and the store, are those of the user's memory.

        Args:
            user: Whose facts.
            name: The element in which they are shown.
            max_tokens: What they may take of a view.
            limit: How many facts at most.
            select: Chooses among the facts that a search found; all of them are told if not given.
            tokens: Counts tokens.
        """
        self.name = name
        self._user = user
        self._max_tokens = max_tokens
        self._limit = limit
        self._select = select
        self._tokens = tokens or TiktokenCounter()

    def step_for(self, user: AsyncUserScope) -> ThreadStep | None:
        """Extraction, if the handle is of the same user in the same memory."""
        return "extract" if _is_same(self._user, user) else None

    async def get(self, session_id: str, message: Message) -> list[Memory]:
        """The user's facts that matter for a message, best first, as many as `max_tokens` holds."""
        query = _query(message)
        if not query:
            return []
        hits = await self._user.search(query, types=EXTRACTED, limit=self._limit)
        facts = [hit.memory for hit in hits]
        if self._select is not None and facts:
            facts = await self._select(query, facts)
        return within(facts, self._max_tokens, self._tokens)

    async def update(self, session_id: str, message: Message | Sequence[Message]) -> None:
        """Keeps messages in their conversation, and extracts from all of it that was not covered yet.

        Raises:
            ModelError: if the model is unavailable, or nothing could be made of the messages.
        """
        await _keep(self._user, session_id, message, "extract")

    async def delete(self, session_id: str) -> None:
        """Forgets the facts, procedures and events that come from a conversation; what was said stays.

        Raises:
            StoreUnavailable: if it could not be done; the call may be repeated.
        """
        for fact in await self._user.thread(session_id).memories(types=EXTRACTED):
            try:
                await self._user.forget(fact.id, include_sources=False)
            except NotFound:  # it went with one before it
                continue


class AsyncVectorMemory:
    """The raw talk of a user's conversations, found by meaning."""

    def __init__(
        self,
        user: AsyncUserScope,
        *,
        name: str = "vector_memory",
        scope: Literal["user", "thread"] = "user",
        limit: int = 5,
    ) -> None:
        """The embedding model and the store are those of the user's memory.

        Args:
            user: Whose conversations.
            name: The element in which they are shown.
            scope: All conversations of the user, or only the one that is going on.
            limit: How many turns at most.
        """
        self.name = name
        self._user = user
        self._scope = scope
        self._limit = limit

    def step_for(self, user: AsyncUserScope) -> ThreadStep | None:
        """Indexing, which asks no chat model, if the handle is of the same user in the same memory."""
        return "index" if _is_same(self._user, user) else None

    async def get(self, session_id: str, message: Message) -> list[Hit]:
        """The turns that are nearest to a message, best first: those that have a vector."""
        query = _query(message)
        if not query:
            return []
        within = self._user if self._scope == "user" else self._user.thread(session_id)
        hits = await within.search(query, types=["vector"], limit=self._limit)
        return [hit for hit in hits if hit.similarity is not None]  # search also finds what waits to be indexed

    async def update(self, session_id: str, message: Message | Sequence[Message]) -> None:
        """Keeps messages in their conversation, and embeds all of it that was not covered yet.

        Raises:
            ModelError: if the embedding model is unavailable.
        """
        await _keep(self._user, session_id, message, "index")

    async def delete(self, session_id: str) -> None:
        """Deletes the vectors of a conversation; its turns, and the facts that were learned from it, stay.

        Raises:
            StoreUnavailable: if it could not be done; the call may be repeated.
        """
        await self._user.thread(session_id).delete_index()


def _is_same(one: Any, other: Any) -> bool:
    """Whether two handles are of one user in one memory."""
    return one.user_id == other.user_id and one.home is other.home


async def _keep(user: AsyncUserScope, session_id: str, message: Message | Sequence[Message], step: ThreadStep) -> None:
    """Writes messages, which changes nothing for those that have been written, and runs a step over them."""
    thread = user.thread(session_id)
    messages = [message] if isinstance(message, ChatMessage | Mapping) else message
    await thread.add_many([to_turn(read_message(one)) for one in messages])
    result = await thread.process(step)
    if result.dead_letters:
        raise ModelError(f"nothing could be made of some messages: {'; '.join(result.rejected)}")


def _query(message: Message) -> str:
    return read_message(message).content.strip()[:QUERY_CHARACTERS]
