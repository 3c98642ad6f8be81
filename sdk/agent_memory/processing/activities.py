"""Activities: what a workflow can ask for by name. Each takes and gives JSON, and may be repeated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_memory.processing.draft import Draft, commit
from agent_memory.processing.gather import StepRequest, Tools
from agent_memory.processing.steps import extract, index, profile, reconcile, summarize
from agent_memory.store.client import metered

Json = dict[str, Any]
Activity = Callable[[Json], Awaitable[Json | None]]

_THINKERS: dict[str, Callable[[Tools, StepRequest], Awaitable[Draft | None]]] = {
    index.NAME: index.think,
    extract.NAME: extract.think,
    summarize.NAME: summarize.think,
    profile.NAME: profile.think,
    reconcile.NAME: reconcile.think,
}

ACTIVITIES = (*(f"{name}.think" for name in _THINKERS), "commit")
"""The names of all activities."""


def activities(tools: Tools) -> dict[str, Activity]:
    """All activities over these tools: `<step>.think` for each step, and `commit`."""

    def thinker(think: Callable[[Tools, StepRequest], Awaitable[Draft | None]]) -> Activity:
        async def run(payload: Json) -> Json | None:
            with metered() as charges:
                draft = await think(tools, StepRequest.model_validate(payload))
            if draft is None:
                return None
            draft.result.usage.request_units += sum(charges)
            return draft.model_dump(mode="json")

        return run

    async def run_commit(payload: Json) -> Json:
        with metered() as charges:
            committed = await commit(tools.store, Draft.model_validate(payload))
        committed.result.usage.request_units += sum(charges)
        return committed.model_dump(mode="json")

    return {f"{name}.think": thinker(think) for name, think in _THINKERS.items()} | {"commit": run_commit}
