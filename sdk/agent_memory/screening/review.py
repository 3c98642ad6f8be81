"""Review: what waits for a person to say whether it may be remembered.

`candidate` is what an agent or a tool said and would become a standing instruction, `quarantined` what the screen set
aside. Neither is recalled, merged or told in a profile. A rejected memory is forgotten, and so does not come back out
of the talk that it came from.
"""

from __future__ import annotations

from agent_memory.errors import Conflict
from agent_memory.models import Memory, iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import from_document


async def waiting(store: Store, user_id: str) -> list[Memory]:
    """What waits for review of a user, newest first. One query."""
    rows = await store.query(MEMORIES, queries.WAITING_MEMORIES, (user_id,))
    return [from_document(Memory, row) for row in rows]


def check_waits(memory: Memory) -> None:
    """Checks that a memory waits for review.

    Raises:
        Conflict: if it is active, or was replaced.
    """
    if memory.superseded_by is not None:
        raise Conflict(f"memory {memory.id} was replaced or withdrawn; there is nothing to review")
    if memory.status == "active":
        raise Conflict(f"memory {memory.id} is active; forget it, or correct it")


async def approve(store: Store, memory: Memory) -> Memory:
    """Makes a memory that waits an active one.

    Raises:
        Conflict: if it was replaced meanwhile, NotFound if it was forgotten.
    """
    changes = {"status": "active", "review_reason": None, "updated_at": iso(now())}
    partition = (memory.user_id, memory.thread_id)
    return from_document(
        Memory, await store.patch(MEMORIES, memory.id, partition, changes, f"FROM c WHERE {queries.ACTIVE}")
    )


async def set_aside(store: Store, memory: Memory, before: Memory) -> None:
    """Lets a memory that was approved wait again, as it did before.

    Raises:
        Conflict: if it was replaced meanwhile, NotFound if it was forgotten.
    """
    changes = {"status": before.status, "review_reason": before.review_reason}
    partition = (memory.user_id, memory.thread_id)
    await store.patch(MEMORIES, memory.id, partition, changes, f"FROM c WHERE {queries.ACTIVE}")
