"""Activities: what a workflow calls by name. Each takes and returns JSON, and may be repeated.

`run_workflow` runs a workflow in this process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from agent_memory.errors import AgentMemoryError, ConfigurationError, ModelError
from agent_memory.forgetting.erasure import erase_piece
from agent_memory.language.current import CurrentEmbeddings, for_writing
from agent_memory.language.rejections import in_words, reasons_of
from agent_memory.language.roles import ROLE_OF, is_off
from agent_memory.language.tasks import ChatModel
from agent_memory.language.together import Together
from agent_memory.models import Usage, now
from agent_memory.processing.reembed import move
from agent_memory.processing.workflows import TOGETHER, Call, Json, Sub, sharing, workflow
from agent_memory.rules.budgets import charge, require_budget
from agent_memory.rules.keeping import with_retention
from agent_memory.rules.switches import read_rules
from agent_memory.steps.dead_letters import clear_failure, note_failure
from agent_memory.steps.gather import StepRequest, Tools
from agent_memory.steps.over_turns import fault_of_input
from agent_memory.steps.step import Draft, Step, commit
from agent_memory.steps.table import steps
from agent_memory.store.calls import metered
from agent_memory.store.documents import from_document
from agent_memory.telemetry import doing, write_to_recall

logger = logging.getLogger("agent_memory")

Activity = Callable[[Json], Awaitable[Json | None]]


def activity_names() -> list[str]:
    """The names of all activities."""
    thinking = [step.name if step.files_talk else f"{step.name}.think" for step in steps().values()]
    planning = [f"{step.name}.plan" for step in steps().values() if step.plan]
    return [*thinking, f"{TOGETHER}.think", *planning, "commit", "erase_piece", "reembed_piece"]


def why_off(chat: ChatModel, name: str) -> str | None:
    """Why a step does not run, if its role is switched off; else None."""
    step = steps().get(name)
    if step is None or step.task is None or not is_off(chat, step.task):
        return None
    return f"the role {ROLE_OF[step.task.name]!r} is switched off"


def activities(tools: Tools) -> dict[str, Activity]:
    """All activities, by name: each step's think, its plan if it has one, the shared think, the commit and the erasure.

    The index thinks and commits in one activity: its drafts are too large for the history of an orchestration, and
    cheap to make again. If a switch or the step's role is off, no step thinks, and the turns stay as they are. If
    the day's budget is spent, the activity raises QuotaExceeded, and the work stays due.
    """

    async def charge_failure(step: Step, request: StepRequest, error: ModelError) -> None:
        usage = Usage.model_validate(error.cost)
        tools.tally.add(step.name, usage)
        await charge(tools.store, tools.policy, request.user_id, usage)
        if step.is_pass and not error.retryable:
            kept = await step.kept_after_failure(tools, request.user_id) if step.kept_after_failure else {}
            await note_failure(tools.store, request.user_id, step, error, kept)

    async def within_budget(step: Step, mine: Tools, request: StepRequest) -> Draft | None:
        await require_budget(tools.store, tools.policy, request.user_id)
        try:
            draft = await step.think(step, mine, request)
        except ModelError as error:
            await charge_failure(step, request, error)
            raise
        except Exception as unexpected:
            final = fault_of_input(unexpected) if step.is_pass else None
            if final is None:
                raise
            logger.warning("%s of %s failed", step.name, request.user_id, exc_info=True)
            await charge_failure(step, request, final)
            raise final from unexpected
        if step.is_pass:
            await clear_failure(tools.store, request.user_id, step)
        if draft is not None:
            await charge(tools.store, tools.policy, request.user_id, draft.result.usage)
        return draft

    def switched_off(name: str) -> bool:
        reason = why_off(tools.chat, name)
        if reason is not None:
            logger.info("%s is not run: %s", name, reason)
        return reason is not None

    async def think(step: Step, payload: Json, chat: ChatModel = tools.chat) -> Json | None:
        request = from_document(StepRequest, payload)
        if switched_off(step.name):
            return None
        with metered() as charges, doing(step.name):
            rules = await read_rules(tools.store, tools.policy, request.user_id, request.thread_id or None)
            if not rules.derive:
                logger.info("nothing is derived for %s: %s", request.user_id, rules.reason)
                return None
            mine = replace(tools, rules=rules, chat=chat, embeddings=for_writing(tools.embeddings))
            draft = await (step.think(step, mine, request) if step.files_talk else within_budget(step, mine, request))
        if draft is None:
            return None
        draft.result.usage.request_units += sum(charges)
        tools.tally.add(step.name, draft.result.usage)
        kept = {"create": with_retention(draft.create, rules), "upsert": with_retention(draft.upsert, rules)}
        return draft.model_copy(update=kept).model_dump(mode="json")

    async def think_together(payload: Json) -> Json | None:
        shared = Together(tools.chat)

        async def run(step: Step) -> Json | None:
            try:
                return await think(step, payload, shared if tools.one_call else tools.chat)
            finally:
                shared.left()

        names = sharing()
        outcomes = await asyncio.gather(*(run(steps()[name]) for name in names), return_exceptions=True)
        faults = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        drafts = {
            name: draft for name, draft in zip(names, outcomes, strict=True) if not isinstance(draft, BaseException)
        }
        if faults and not any(drafts.values()):
            raise faults[0]
        # If one step failed and the other did not, the failed one is tried alone, and raises its error then.
        return {"drafts": drafts} if any(drafts.values()) else None

    async def run_commit(payload: Json) -> Json:
        draft = from_document(Draft, payload)
        with metered() as charges, doing(draft.step):
            committed = await commit(tools.store, draft)
        result, step = committed.result, steps()[committed.result.step]
        result.usage.request_units += sum(charges)
        tools.tally.add(step.name, Usage(request_units=sum(charges)))
        lines = [reason for reason in result.rejected if reason not in step.expected]
        dropped, changed = reasons_of(lines, result.dead_letters)
        if dropped:
            logger.warning("Memory: %d items of %s were left out: %s", dropped.total(), result.step, in_words(dropped))
        if changed:
            logger.info("Memory: %d items of %s were changed: %s", changed.total(), result.step, in_words(changed))
        if step.files_talk and draft.oldest is not None and not committed.raced:
            write_to_recall.record(max(0.0, now().timestamp() - draft.oldest))
        if step.makes and not committed.raced:
            logger.info("Memory: Stored %d %s", result.created, step.makes)
        return committed.model_dump(mode="json")

    async def think_and_commit(step: Step, payload: Json) -> Json | None:
        draft = await think(step, payload)
        return None if draft is None else await run_commit(draft)

    async def plan(step: Step, payload: Json) -> Json:
        if step.plan is None or switched_off(step.name):
            return {"threads": []}
        return {"threads": await step.plan(tools, from_document(StepRequest, payload))}

    async def run_erase(payload: Json) -> Json:
        deleted, more = await erase_piece(tools.store, payload["user_id"])
        return {"deleted": deleted, "more": more}

    async def run_reembed(payload: Json) -> Json:
        current = tools.embeddings
        if not isinstance(current, CurrentEmbeddings) or current.next is None:
            raise ConfigurationError("AGENT_MEMORY_REEMBED is not set, so there is no model to move the store to")
        piece = await move(tools.store, current.next, current, rate=payload.get("rate"))
        return piece.model_dump(mode="json")

    named: dict[str, Activity] = {
        f"{TOGETHER}.think": think_together,
        "commit": run_commit,
        "erase_piece": run_erase,
        "reembed_piece": run_reembed,
    }
    for step in steps().values():
        if step.files_talk:
            named[step.name] = partial(think_and_commit, step)
        else:
            named[f"{step.name}.think"] = partial(think, step)
        if step.plan:
            named[f"{step.name}.plan"] = partial(plan, step)
    return named


ATTEMPTS = 4
"""How often an activity is tried before its workflow fails. The turns then stay pending, and are tried again later."""


async def run_workflow(
    name: str, payload: Json, activities: Mapping[str, Activity], told: Callable[[list[Json]], None] | None = None
) -> list[Json]:
    """Runs a workflow to its end and returns the results of its steps. At checkpoints, `told` gets those so far.

    Raises:
        AgentMemoryError: the error of an activity's last attempt. What was committed stays committed.
    """
    run = workflow(name, payload)
    effect = next(run)
    while True:
        try:
            outcome: Any = None
            if isinstance(effect, Call):
                outcome = await _attempt(activities[effect.activity], effect.payload)
            elif isinstance(effect, Sub):
                outcome = await run_workflow(effect.workflow, effect.payload, activities)
            elif told is not None:
                told(effect.results)
            effect = run.send(outcome)
        except StopIteration as stop:
            results: list[Json] = stop.value
            return results


async def _attempt(activity: Activity, payload: Json) -> Json | None:
    """Runs one activity; tries again after a pause if the fault may be transient."""
    async for attempt in AsyncRetrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.2, max=10),
        retry=retry_if_exception(_may_pass_soon),
        reraise=True,
    ):
        with attempt:
            return await activity(payload)
    raise AssertionError("unreachable: the last attempt raises")


def _may_pass_soon(error: BaseException) -> bool:
    """Whether to try again soon. If a model asked for a wait, its adapter has already waited."""
    if isinstance(error, ModelError) and error.retry_after is not None:
        return False
    return isinstance(error, AgentMemoryError) and error.retryable
