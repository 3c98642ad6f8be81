"""The method names of the Azure Cosmos DB Agent Memory Toolkit. Every call names its user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory import models
from agent_memory.models import Hit, ProcessResult, ThreadSummary, Turn, TurnInput, UserProfile
from agent_memory.store.documents import validated
from agent_memory.store.ids import check_id, new_turn_id
from agent_memory.sync import Memory

Record = Turn | models.Memory | ThreadSummary | UserProfile
_SUMMARIES = ("summary", "thread_summary")


class MemoryToolkit:
    """A memory under the toolkit's names. There is no call without a user.

    Example:
        ```python
        toolkit = MemoryToolkit(Memory.local("memory.db"))
        toolkit.add_local("alice", "t1", "user", "I live in Lisbon.")
        toolkit.push_to_cosmos()
        toolkit.extract_facts("alice", "t1")
        ```
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._buffer: list[tuple[str, str, TurnInput]] = []

    def create_memory_store(self) -> None:
        """Creates the database and its five containers if they are missing."""
        self._memory.create_memory_store()

    def add_local(
        self,
        user_id: str,
        thread_id: str,
        role: str,
        content: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        memory_id: str | None = None,
    ) -> str:
        """Buffers a turn in this process and returns its id. `push_to_cosmos` writes it.

        Raises:
            InvalidInput: if a value is invalid.
        """
        self._memory.user(user_id).thread(thread_id)
        turn = validated(
            TurnInput,
            {
                "role": role,
                "content": content,
                "id": check_id(memory_id, "memory_id") if memory_id else new_turn_id(),
                "created_at": models.now(),
                "metadata": dict(metadata or {}),
            },
        )
        self._buffer.append((user_id, thread_id, turn))
        return str(turn.id)

    @property
    def local_memories(self) -> list[TurnInput]:
        """The buffered turns, oldest first."""
        return [turn for _, _, turn in self._buffer]

    def push_to_cosmos(self) -> int:
        """Writes the buffered turns. Returns how many are new. Written turns leave the buffer.

        After an error, the rest is still buffered. Pushing again writes nothing twice.

        Raises:
            StoreUnavailable: if the store did not answer.
            Conflict: if a turn with the same id has other content.
        """
        created = 0
        while self._buffer:
            user_id, thread_id, _ = self._buffer[0]
            mine = [turn for user, thread, turn in self._buffer if (user, thread) == (user_id, thread_id)]
            created += self._memory.user(user_id).thread(thread_id).add_many(mine).created
            self._buffer = [entry for entry in self._buffer if entry[:2] != (user_id, thread_id)]
        return created

    def add_cosmos(
        self,
        user_id: str,
        thread_id: str,
        role: str,
        content: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        memory_id: str | None = None,
    ) -> str:
        """Writes one turn and returns its id."""
        thread = self._memory.user(user_id).thread(thread_id)
        return thread.add(role, content, id=memory_id, metadata=metadata).ids[0]

    def get_thread(self, user_id: str, thread_id: str, *, recent_k: int | None = None) -> list[Turn]:
        """The turns of a thread, oldest first; with `recent_k`, only that many, the newest."""
        return self._memory.user(user_id).thread(thread_id).turns(last=recent_k)

    def get_memories(
        self,
        user_id: str,
        *,
        thread_id: str | None = None,
        memory_types: Sequence[str] | None = None,
        include_superseded: bool = False,
    ) -> list[Record]:
        """The stored items of a user, or of one thread, by type.

        Types are turn, fact, episodic, procedural, summary (or thread_summary) and user_summary. Without types, it
        returns the derived memories.
        """
        user = self._memory.user(user_id)
        threads = [thread_id] if thread_id is not None else [info.thread_id for info in user.threads()]
        wanted = list(memory_types) if memory_types is not None else None
        records: list[Record] = []
        derived = [t for t in wanted or [] if t not in ("turn", *_SUMMARIES, "user_summary")]
        if wanted is None or derived:
            scope = user if thread_id is None else user.thread(thread_id)
            records += scope.memories(types=derived or None, include_superseded=include_superseded)
        if wanted is not None and "turn" in wanted:
            records += [turn for name in threads for turn in user.thread(name).turns()]
        if wanted is not None and any(name in wanted for name in _SUMMARIES):
            records += [summary for name in threads if (summary := user.thread(name).summary()) is not None]
        if wanted is not None and "user_summary" in wanted and (profile := user.profile()) is not None:
            records.append(profile)
        return records

    def search_cosmos(
        self,
        search_terms: str,
        user_id: str,
        *,
        thread_id: str | None = None,
        memory_types: Sequence[str] | None = None,
        top_k: int = 5,
        include_superseded: bool = False,
    ) -> list[Hit]:
        """The memories nearest to some words, by vector and full text, best first.

        Args:
            search_terms: Words, or a question.
            user_id: The user.
            thread_id: Only from this thread.
            memory_types: Only of these types; `turn` finds pieces of the conversations. `get_memories` reads summaries.
            top_k: Most results.
            include_superseded: Also memories that were replaced, for an audit.
        """
        user = self._memory.user(user_id)
        scope = user if thread_id is None else user.thread(thread_id)
        types = memory_types and ["vector" if name == "turn" else name for name in memory_types]
        return scope.search(search_terms, limit=top_k, types=types, include_superseded=include_superseded)

    def extract_memories(self, user_id: str, thread_id: str, *, recent_k: int | None = None) -> ProcessResult:
        """Extracts memories from the new turns of a thread.

        With `recent_k`, only that many of the new turns are read, the newest. The others are never read.
        """
        return self._memory.user(user_id).thread(thread_id).process("extract", recent_k=recent_k)

    extract_facts = extract_memories

    def generate_thread_summary(
        self, user_id: str, thread_id: str, *, recent_k: int | None = None
    ) -> ThreadSummary | None:
        """Adds new turns to the summary of a thread and returns it; None for a thread without turns.

        With `recent_k`, only that many of the new turns are read, the newest. The others are never read.
        """
        thread = self._memory.user(user_id).thread(thread_id)
        thread.process("summarize", recent_k=recent_k)
        return thread.summary()

    def generate_user_summary(self, user_id: str, *, recent_k: int | None = None) -> UserProfile | None:
        """Adds new facts to the profile of a user and returns it; None if nothing is known.

        With `recent_k`, new facts are read only if they are among that many newest facts of the user. The others are
        never read.
        """
        user = self._memory.user(user_id)
        user.process("profile", recent_k=recent_k)
        return user.profile()

    def reconcile_memories(self, user_id: str, n: int = 50) -> dict[str, int]:
        """Resolves duplicates and contradictions among the `n` newest facts: `{"kept", "merged", "contradicted"}`."""
        counts = self._memory.user(user_id).process("reconcile", n=n).counts
        return {name: counts.get(name, 0) for name in ("kept", "merged", "contradicted")}
