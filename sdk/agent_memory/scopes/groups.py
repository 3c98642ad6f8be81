"""Recall from the memory of groups, together with that of a user who is a member."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent_memory.models import Hit, SearchFilters
from agent_memory.recall.groups import check_groups, merged
from agent_memory.rules.switches import Asked
from agent_memory.runtime import Runtime
from agent_memory.scopes.shared import bounded, find
from agent_memory.store.ids import group_owner


async def find_too(
    runtime: Runtime,
    partition: tuple[str, ...],
    query: str,
    limit: int | None,
    given: SearchFilters,
    asked: Asked,
    groups: Sequence[str],
) -> list[Hit]:
    """Searches a partition of a user, and the memory of these groups by their own rules.

    The user's switches and limits apply to everything, those of a group to its part.

    Raises:
        InvalidInput: if an argument is invalid.
        StoreUnavailable: if every part of one of the searches failed.
    """
    named = check_groups(groups)
    own = await find(runtime, partition, query, limit, given, asked)
    if not named:
        return own
    most = await bounded(runtime, partition, limit, asked)
    if not most:
        return []
    found = await asyncio.gather(*(find(runtime, (group_owner(group),), query, most, given, asked) for group in named))
    return merged(own, dict(zip(named, found, strict=True)))[:most]
