"""Health: whether the parts of an open memory respond, and what its operator should know about them.

The state of models comes from the calls that this process has made anyway (`language.endpoints`); a health check calls
no model. The figures from the store cover all processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent_memory.language.endpoints import health_of
from agent_memory.language.roles import models_of, roles_off
from agent_memory.language.tasks import ChatModel, EmbeddingModel
from agent_memory.models import Budget, EndpointHealth, Health, iso
from agent_memory.processing.intake import uncounted_turns
from agent_memory.rules.budgets import budget_of_store, count_over_budget
from agent_memory.runtime import Runtime
from agent_memory.screening.findings import knows_tokens
from agent_memory.settings import role_variable
from agent_memory.steps.dead_letters import count_dead_letters
from agent_memory.store.client import Store
from agent_memory.store.containers import LEASES

_GONE = "the store file was deleted or replaced: what is written now is lost; stop this process and bring the file back"
PROBE_ID = "health"
"""The document that is read and written to test the store."""


@dataclass(slots=True)
class _Stored:
    """What was read from the store."""

    pending: int = 0
    oldest: datetime | None = None
    dead: int = 0
    paused: int = 0
    budget: Budget | None = None
    notes: list[str] = field(default_factory=list)


async def look_at(runtime: Runtime) -> Health:
    """Checks the store, also with a small write, and the models. Never raises; a part that fails is reported."""
    models = _models(runtime)
    found = _Stored()
    faults = []
    try:
        await _read_store(runtime, found)
    except Exception as error:
        faults.append(f"the store does not answer: {error}")
    else:
        faults += [_GONE] if _is_gone(runtime.store) else await _try_to_write(runtime)
    failing = _failing(runtime, models)
    return Health(
        ok=not faults and not failing,
        store=runtime.store.name,
        chat_model=runtime.tools.chat.model_id,
        embedding_model=runtime.tools.embeddings.model_id,
        unprocessed_turns=found.pending,
        dead_letters=found.dead,
        warnings=faults + failing + found.notes + _shortcomings(runtime),
        store_answers=not faults,
        models=models,
        oldest_unprocessed=found.oldest,
        paused_users=found.paused,
        budget=found.budget,
        search_misses=None if runtime.searcher.misses is None else runtime.searcher.misses.counted.model_copy(),
        roles_off=list(roles_off(runtime.tools.chat)),
        usage=runtime.tools.tally.usage,
    )


async def glance_at(runtime: Runtime) -> tuple[bool, list[str]]:
    """Whether the store accepts reads and writes, and which parts fail.

    Costs one point read. If the last write of this process failed, it costs a small write instead.
    """
    store = runtime.store
    try:
        if store.refusal is None:
            await store.read(LEASES, PROBE_ID, (PROBE_ID,))
        else:
            await store.upsert(LEASES, {"id": PROBE_ID})
        stands = not _is_gone(store)
    except Exception:
        stands = False
    failing = [name for name, model in _models(runtime).items() if model.answers is False]
    return stands, failing if stands else ["store", *failing]


def _is_gone(store: Store) -> bool:
    return store.file is not None and not store.file.is_in_place


def _models(runtime: Runtime) -> dict[str, EndpointHealth]:
    return {name: health_of(model) for name, model in _behind(runtime).items()}


def _behind(runtime: Runtime) -> dict[str, ChatModel | EmbeddingModel]:
    return {**models_of(runtime.tools.chat), "embeddings": runtime.tools.embeddings}


async def _read_store(runtime: Runtime, found: _Stored) -> None:
    store = runtime.store
    # A function app has counted what is stored within seconds; where this process counts, that may be interrupted.
    uncounted = 0 if runtime.worker is None else await uncounted_turns(store, runtime.counters)
    found.pending = await runtime.counters.pending_turns() + uncounted
    waiting_since = await runtime.counters.waiting_since()
    found.oldest = None if waiting_since is None else datetime.fromtimestamp(waiting_since, UTC)
    letters = await count_dead_letters(store)
    found.dead = letters.count
    if letters.newest:
        found.notes.append(f"{letters.count} dead letters; the newest is {letters.newest}")
    found.paused = await count_over_budget(store, runtime.tools.policy)
    if found.paused:
        found.notes.append(f"{found.paused} users have spent today's budget; their turns wait until tomorrow")
    found.budget = await budget_of_store(store, runtime.tools.policy)
    if found.budget and found.budget.tokens >= (found.budget.most_tokens or 0):
        found.notes.append("today's budget of tokens for all users is spent; all turns wait until tomorrow")


async def _try_to_write(runtime: Runtime) -> list[str]:
    try:
        await runtime.store.upsert(LEASES, {"id": PROBE_ID})
    except Exception as error:
        since = runtime.store.refusal.since if runtime.store.refusal else None
        return [f"the store accepts no writes{f' since {iso(since)}' if since else ''}: {error}"]
    return []


def _failing(runtime: Runtime, models: Mapping[str, EndpointHealth]) -> list[str]:
    ids = {name: model.model_id for name, model in _behind(runtime).items()}
    return [
        f"the model for {name}, {ids[name]}, has failed since {iso(model.failing_since)}: {model.fault}"
        for name, model in models.items()
        if model.failing_since
    ]


def _shortcomings(runtime: Runtime) -> list[str]:
    notes = [
        f"{role} is switched off: {role_variable(role, 'model')} is none" for role in roles_off(runtime.tools.chat)
    ]
    if runtime.tools.embeddings.model_id.startswith("hashing"):
        notes.append("embeddings are hashed words: search finds wording, not meaning")
    if runtime.tools.policy.secrets != "allow" and not knows_tokens():
        notes.append("the screen finds only some keys and tokens: install the extra 'secrets'")
    if (complaint := runtime.tools.tally.complaint) is not None:
        notes.append(complaint)
    outage = runtime.searcher.outage
    if outage.since is not None and not health_of(runtime.tools.embeddings).failing_since:
        notes.append(f"search uses words only since {iso(outage.since)}: {outage.reason}")
    return notes
