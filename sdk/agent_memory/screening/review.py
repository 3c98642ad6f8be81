"""Review: memories that wait until a person decides whether they may be remembered.

A `candidate` is a standing instruction that comes from an agent or a tool. A `quarantined` memory was set aside by the
screen. Neither is recalled, merged or used in a profile. Rejecting a memory forgets it, so the same turns do not bring
it back.
"""

from __future__ import annotations

from agent_memory.errors import Conflict
from agent_memory.models import Memory, iso, now
from agent_memory.rules.keeping import with_retention
from agent_memory.rules.switches import Rules
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import from_document


async def waiting(store: Store, user_id: str) -> list[Memory]:
    """The memories of a user that wait for review, newest first. One query."""
    rows = await store.query(MEMORIES, queries.WAITING_MEMORIES, (user_id,))
    return [from_document(Memory, row) for row in rows]


def check_waits(memory: Memory) -> None:
    """Checks that a memory waits for review. Raises Conflict if it is active, or was replaced."""
    if memory.superseded_by is not None:
        raise Conflict(f"memory {memory.id} was replaced or withdrawn; there is nothing to review")
    if memory.status == "active":
        raise Conflict(f"memory {memory.id} is active; forget it, or correct it")


async def approve(store: Store, rules: Rules, memory: Memory) -> Memory:
    """Makes a waiting memory active, for as long as memories of its type are kept.

    Raises:
        Conflict: if it was replaced meanwhile.
        NotFound: if it was forgotten meanwhile.
    """
    ends = None if memory.expires_at is None else iso(memory.expires_at)
    [kept] = with_retention([{"type": memory.type, "expires_at": ends}], rules)
    changes = {"status": "active", "review_reason": None, "updated_at": iso(now())}
    changes |= {"ttl": kept["ttl"]} if "ttl" in kept else {}
    partition = (memory.user_id, memory.thread_id)
    return from_document(
        Memory, await store.patch(MEMORIES, memory.id, partition, changes, f"FROM c WHERE {queries.ACTIVE}")
    )


async def set_aside(store: Store, memory: Memory, before: Memory) -> None:
    """Takes an approval back: the memory waits again, as it did `before`.

    Raises:
        Conflict: if it was replaced meanwhile.
        NotFound: if it was forgotten meanwhile.
    """
    changes = {"status": before.status, "review_reason": before.review_reason}
    partition = (memory.user_id, memory.thread_id)
    await store.patch(MEMORIES, memory.id, partition, changes, f"FROM c WHERE {queries.ACTIVE}")
