"""CrewAI: a memory for crews and agents.

    Agent(role=…, goal=…, backstory=…, memory=CrewMemory(memory, "alice", "trip"))
    Crew(agents=…, tasks=…, memory=CrewMemory(memory, "alice", "trip"))

It replaces CrewAI's own memory, without an embedder, vector files or model calls. A task or a kickoff and its result
are stored as turns of the thread; what an agent saves with its tool becomes a fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, complete, owner, survive, turn, turn_id
from agent_memory.models import Hit
from agent_memory.recall.render import quoted

require("crewai", "crewai")

from crewai.memory.types import MemoryMatch, MemoryRecord  # noqa: E402
from crewai.memory.unified_memory import Memory  # noqa: E402
from pydantic import PrivateAttr  # noqa: E402

__all__ = ["CrewMemory"]


class _Run(str):
    """CrewAI's record of a run: the task or the input, the agent, and the result."""


class CrewMemory(Memory):
    """The memory of one user in a crew. CrewAI has no user ids: make one for each user and conversation.

    Scopes and categories of CrewAI are not stored. If the store fails, this is logged, and the crew continues.
    """

    _bridge: Bridge = PrivateAttr()
    _user_id: str = PrivateAttr()
    _thread_id: str = PrivateAttr()

    def __init__(self, memory: AnyMemory, user_id: str, thread_id: str) -> None:
        """Uses an open, synchronous memory.

        Args:
            memory: An open `Memory`.
            user_id: The user of the crew.
            thread_id: The conversation or the project that it works on.

        Raises:
            InvalidInput: if there is no user id.
            ConfigurationError: if the memory is asynchronous.
        """
        user, bridge = owner(user_id, "pass user_id to CrewMemory"), Bridge(memory).now
        super().__init__()
        self._bridge, self._user_id, self._thread_id = bridge, user, thread_id

    def model_post_init(self, context: Any) -> None:
        """Makes nothing: CrewAI would open its vector store here."""

    def extract_memories(self, content: str) -> list[str]:
        """Stores CrewAI's record of a run as turns; memories are derived from them in the background."""
        return [_Run(content)] if content.strip() else []

    def remember_many(self, contents: Sequence[str], *args: Any, **options: Any) -> list[MemoryRecord]:
        """Keeps runs as turns, and remembers other texts as facts."""
        made = []
        for content in contents:
            if isinstance(content, _Run):
                self._keep(content)
            elif record := self.remember(content):
                made.append(record)
        return made

    def remember(self, content: str, *args: Any, **options: Any) -> MemoryRecord | None:
        """Remembers a text as a fact; None if that fails, which is logged."""
        method = self._bridge.user(self._user_id).remember
        kept = complete(survive(self._bridge.ask(method, content), "remember", None))
        return None if kept is None else MemoryRecord(id=kept.id, content=kept.content, created_at=kept.created_at)

    def recall(self, query: str, *args: Any, limit: int = 10, **options: Any) -> list[MemoryMatch]:
        """The memories relevant to a query, best first."""
        if not query.strip():
            return []
        method, none = self._bridge.user(self._user_id).search, list[Hit]()
        hits = complete(survive(self._bridge.ask(method, query, limit=min(limit, 100)), "recall", none))
        return [_match(hit) for hit in hits]

    def forget(self, *args: Any, record_ids: Sequence[str] | None = None, **options: Any) -> int:
        """Forgets memories by their ids; returns how many. Nothing else is forgotten here.

        Raises:
            NotFound: if the user has none with such an id.
        """
        for id in record_ids or ():
            complete(self._bridge.ask(self._bridge.user(self._user_id).forget, id))
        return len(record_ids or ())

    async def arecall(self, query: str, *args: Any, **options: Any) -> list[MemoryMatch]:
        """As `recall`."""
        return self.recall(query, *args, **options)

    async def aremember(self, content: str, *args: Any, **options: Any) -> MemoryRecord | None:
        """As `remember`."""
        return self.remember(content)

    async def aremember_many(self, contents: Sequence[str], *args: Any, **options: Any) -> list[MemoryRecord]:
        """As `remember_many`."""
        return self.remember_many(contents)

    async def aextract_memories(self, content: str) -> list[str]:
        """As `extract_memories`."""
        return self.extract_memories(content)

    def drain_writes(self) -> None:
        """Nothing waits: each write is done when its call returns."""

    def close(self) -> None:
        """Leaves the memory open: whoever opened it closes it."""

    def _keep(self, run: str) -> None:
        asked, _, rest = run.partition("\nAgent: ")
        question = asked.removeprefix("Input: ").removeprefix("Task: ")
        result = rest.partition("\nResult: ")[2]
        said = [("user", question), ("assistant", result)]
        turns = [turn(role, text, turn_id(self._thread_id, role, question, result)) for role, text in said]
        complete(self._bridge.keep(self._user_id, self._thread_id, turns))


def _match(hit: Hit) -> MemoryMatch:
    memory = hit.memory
    record = MemoryRecord(id=memory.id, content=quoted(memory.content), created_at=memory.created_at)
    return MemoryMatch(record=record, score=hit.relevance or 0.0, match_reasons=[str(one) for one in hit.found_by])
