"""Activities: what a workflow can ask for by name. Each takes and gives JSON, and may be repeated."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from agent_memory.errors import ModelError
from agent_memory.forgetting.erasure import erase_piece
from agent_memory.language.roles import ROLE_OF, is_off
from agent_memory.language.tasks import (
    ARCHIVE,
    CONSOLIDATE,
    EXTRACT,
    PROFILE,
    RECONCILE,
    REFLECT,
    SUMMARIZE,
    SYNTHESIZE,
    ChatModel,
    Task,
)
from agent_memory.language.together import Together
from agent_memory.models import Usage
from agent_memory.processing.workflows import BOTH, BOTH_THINK
from agent_memory.rules.budgets import charge, require_budget
from agent_memory.rules.retention import with_retention
from agent_memory.rules.switches import read_rules
from agent_memory.steps import (
    archive,
    consolidate,
    extract,
    index,
    profile,
    prune,
    reconcile,
    reflect,
    reprocess,
    summarize,
    synthesize,
)
from agent_memory.steps.commit import commit
from agent_memory.steps.dead_letters import clear_failure, note_failure
from agent_memory.steps.effects import Draft
from agent_memory.steps.faults import fault_of_input
from agent_memory.steps.gather import StepRequest, Tools
from agent_memory.store.calls import metered

logger = logging.getLogger("agent_memory")

Json = dict[str, Any]
Activity = Callable[[Json], Awaitable[Json | None]]
Thinker = Callable[[Tools, StepRequest], Awaitable[Draft | None]]

_THINKERS: dict[str, Thinker] = {
    extract.NAME: partial(extract.STEP.think, extract.STEP),
    summarize.NAME: partial(summarize.STEP.think, summarize.STEP),
    profile.NAME: partial(profile.STEP.think, profile.STEP),
    reconcile.NAME: partial(reconcile.STEP.think, reconcile.STEP),
    archive.NAME: partial(archive.STEP.think, archive.STEP),
    reprocess.NAME: partial(reprocess.STEP.think, reprocess.STEP),
    consolidate.NAME: partial(consolidate.STEP.think, consolidate.STEP),
    synthesize.NAME: partial(synthesize.STEP.think, synthesize.STEP),
    reflect.NAME: partial(reflect.STEP.think, reflect.STEP),
    prune.NAME: partial(prune.STEP.think, prune.STEP),
}

_TASKS: dict[str, Task[Any, Any]] = {
    extract.NAME: EXTRACT,
    summarize.NAME: SUMMARIZE,
    profile.NAME: PROFILE,
    reconcile.NAME: RECONCILE,
    archive.NAME: ARCHIVE,
    reprocess.NAME: EXTRACT,
    consolidate.NAME: CONSOLIDATE,
    synthesize.NAME: SYNTHESIZE,
    reflect.NAME: REFLECT,
}
"""What each step that asks a model asks of it."""

_OF_USER = frozenset((profile.NAME, reconcile.NAME, consolidate.NAME, synthesize.NAME, reflect.NAME))
"""The steps over a user's memories that ask a model. What one of them cannot do stays due as a whole."""

ACTIVITIES = (
    *(f"{name}.think" for name in _THINKERS),
    BOTH_THINK,
    index.NAME,
    reprocess.PLAN,
    summarize.PLAN,
    "commit",
    "erase_piece",
)
"""The names of all activities."""


def why_off(chat: ChatModel, step: str) -> str | None:
    """Why a step is not run, if its role is switched off."""
    task = _TASKS.get(step)
    if task is None or not is_off(chat, task):
        return None
    return f"the role {ROLE_OF[task.name]!r} is switched off"


def activities(tools: Tools) -> dict[str, Activity]:
    """All activities over these tools: `<step>.think` for each step that asks a chat model, and those of their own.

    Indexing thinks and commits at once: its drafts are the talk itself, which no history is to keep, and to make
    one again costs little. Where a switch or the role of a step is off, nothing is thought: the turns stay as they are.
    Where the day's budget is spent, no model is asked: that raises QuotaExceeded, and the work stays due.
    """

    async def settle_failure(name: str, request: StepRequest, error: ModelError) -> None:
        await charge(tools.store, tools.policy, request.user_id, Usage.model_validate(error.cost))
        if name in _OF_USER and not error.retryable:
            kept = await reconcile.answered(tools, request.user_id) if name == reconcile.NAME else {}
            await note_failure(tools.store, request.user_id, name, error, kept)

    async def within_budget(name: str, think: Thinker, mine: Tools, request: StepRequest) -> Draft | None:
        await require_budget(tools.store, tools.policy, request.user_id)
        try:
            draft = await think(mine, request)
        except ModelError as error:
            await settle_failure(name, request, error)
            raise
        except Exception as unexpected:
            final = fault_of_input(unexpected) if name in _OF_USER else None
            if final is None:
                raise
            logger.warning("%s of %s failed", name, request.user_id, exc_info=True)
            await settle_failure(name, request, final)
            raise final from unexpected
        if name in _OF_USER:
            await clear_failure(tools.store, request.user_id, name)
        if draft is not None:
            await charge(tools.store, tools.policy, request.user_id, draft.result.usage)
        return draft

    def switched_off(name: str) -> bool:
        reason = why_off(tools.chat, name)
        if reason is not None:
            logger.info("%s is not run: %s", name, reason)
        return reason is not None

    def thinker(name: str, think: Thinker, chat: ChatModel = tools.chat) -> Activity:
        perform = think if name == index.NAME else partial(within_budget, name, think)

        async def run(payload: Json) -> Json | None:
            request = StepRequest.model_validate(payload)
            if switched_off(name):
                return None
            with metered() as charges:
                rules = await read_rules(tools.store, tools.policy, request.user_id, request.thread_id or None)
                if not rules.derive:
                    logger.info("nothing is derived for %s: %s", request.user_id, rules.reason)
                    return None
                mine = replace(tools, rules=rules, chat=chat)
                draft = await perform(mine, request)
            if draft is None:
                return None
            draft.result.usage.request_units += sum(charges)
            kept = {"create": with_retention(draft.create, rules), "upsert": with_retention(draft.upsert, rules)}
            return draft.model_copy(update=kept).model_dump(mode="json")

        return run

    async def run_both(payload: Json) -> Json | None:
        shared = Together(tools.chat)

        async def run(name: str) -> Json | None:
            try:
                return await thinker(name, _THINKERS[name], shared if tools.one_call else tools.chat)(payload)
            finally:
                shared.left()

        outcomes = await asyncio.gather(*(run(name) for name in BOTH), return_exceptions=True)
        faults = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        drafts = {
            name: draft for name, draft in zip(BOTH, outcomes, strict=True) if not isinstance(draft, BaseException)
        }
        if faults and not any(drafts.values()):
            raise faults[0]
        # A step that failed beside one that did not is left out: it is tried alone, and says then what is wrong.
        return {"drafts": drafts} if any(drafts.values()) else None

    async def run_commit(payload: Json) -> Json:
        with metered() as charges:
            committed = await commit(tools.store, Draft.model_validate(payload))
        result = committed.result
        result.usage.request_units += sum(charges)
        dropped = [reason for reason in result.rejected if reason != extract.TOO_SHORT]
        if dropped:
            logger.warning("Memory: %d items of %s were left out", len(dropped), result.step)
        if result.step == extract.NAME and not committed.raced:
            logger.info("Memory: Stored %d facts", result.created)
        return committed.model_dump(mode="json")

    async def run_index(payload: Json) -> Json | None:
        draft = await thinker(index.NAME, partial(index.STEP.think, index.STEP))(payload)
        return None if draft is None else await run_commit(draft)

    async def plan_reprocess(payload: Json) -> Json:
        if switched_off(reprocess.NAME):
            return {"threads": []}
        return {"threads": await reprocess.plan(tools, StepRequest.model_validate(payload))}

    async def plan_corrections(payload: Json) -> Json:
        if switched_off(summarize.NAME):
            return {"threads": []}
        return {"threads": await summarize.plan(tools, StepRequest.model_validate(payload))}

    async def run_erase(payload: Json) -> Json:
        deleted, more = await erase_piece(tools.store, payload["user_id"])
        return {"deleted": deleted, "more": more}

    return {f"{name}.think": thinker(name, think) for name, think in _THINKERS.items()} | {
        BOTH_THINK: run_both,
        index.NAME: run_index,
        reprocess.PLAN: plan_reprocess,
        summarize.PLAN: plan_corrections,
        "commit": run_commit,
        "erase_piece": run_erase,
    }
