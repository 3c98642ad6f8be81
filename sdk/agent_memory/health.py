"""Health: whether the parts of an open memory answer, and what its operator should know of them."""

from __future__ import annotations

from agent_memory.models import Health, iso
from agent_memory.policy.budgets import count_over_budget
from agent_memory.policy.trust import knows_tokens
from agent_memory.processing.dead_letters import list_dead_letters
from agent_memory.runtime import Runtime


async def look_at(runtime: Runtime) -> Health:
    """Asks each part. Never raises: a store that does not answer is a finding."""
    warnings = []
    paused: list[str] = []
    pending = dead = 0
    try:
        pending = await runtime.counters.pending_turns()
        dead = len(await list_dead_letters(runtime.store))
        spent = await count_over_budget(runtime.store, runtime.tools.policy)
        if spent:
            paused.append(f"{spent} users have spent today's budget; their turns wait for tomorrow")
    except Exception as error:
        warnings.append(f"the store does not answer: {error}")
    ok = not warnings
    warnings += paused
    if runtime.tools.embeddings.model_id.startswith("hashing"):
        warnings.append("embeddings are hashed words: search finds wording, not meaning")
    if runtime.tools.policy.secrets != "allow" and not knows_tokens():
        warnings.append("of keys and tokens in what is said only some are found: install the extra 'secrets'")
    outage = runtime.searcher.outage
    if outage.since is not None:
        warnings.append(f"questions are searched by words alone since {iso(outage.since)}: {outage.reason}")
    return Health(
        ok=ok,
        store=runtime.store.name,
        chat_model=runtime.tools.chat.model_id,
        embedding_model=runtime.tools.embeddings.model_id,
        unprocessed_turns=pending,
        dead_letters=dead,
        warnings=warnings,
    )
