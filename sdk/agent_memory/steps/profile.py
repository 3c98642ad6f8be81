"""Profile: merges what has changed among a user's memories into the picture of the user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent_memory.forgetting.accounts import projects_with
from agent_memory.forgetting.profiles import (
    held_up,
    is_cut,
    newest_sources,
    read_profile_document,
    render_profile,
    sources_of_lines,
    sources_until,
)
from agent_memory.language.tasks import PROFILE, ProfileInput, ProfileOutput, ProfileView
from agent_memory.models import Memory, ProcessResult, UserProfile, now
from agent_memory.screening.findings import find_instructions, find_powers
from agent_memory.screening.screen import screen_values
from agent_memory.settings import PolicySettings
from agent_memory.steps.gather import StepRequest, Tools, view_facts
from agent_memory.steps.step import Draft, Effects, Step
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.cursors import StoredCursor
from agent_memory.store.documents import Document, from_document, to_document
from agent_memory.store.ids import USER_SUMMARY_THREAD, user_summary_id
from agent_memory.store.memories import active_by_hash, list_memories
from agent_memory.text.tokens import ApproximateTokens

NAME = "profile"
MOST_TOKENS = 250
"""The longest profile. Any conversation may show parts of it, so it has to be short. A choice."""
KINDS = ("fact", "procedural")
"""The types of the memories that a profile is made of."""


async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Merges the memories that are new, changed or superseded since the last run. None if there are none.

    With `recent_k`, new memories count only if they are among the `recent_k` newest of the user. What no longer holds
    leaves the profile all the same.

    Raises:
        ModelError: if the model gave nothing usable; the profile stays as it is.
    """

    async def read(stored: StoredCursor) -> list[Document]:
        limit = tools.limits.profile_facts + len(stored.cursor.seen) + 1
        rows = await tools.store.query(
            MEMORIES, queries.CHANGED_MEMORIES, (request.user_id,), since=stored.cursor.since, limit=limit
        )
        # A memory can change twice in one second; its ETag distinguishes the versions, its `_ts` does not.
        return [row for row in rows if stored.cursor.is_new(row["_etag"], row["_ts"])]

    stored, changed = await step.read_ahead(tools, request, read)
    if not changed:
        return None
    taken = changed[: tools.limits.profile_facts]
    cursor = stored.cursor.advanced((row["_etag"], row["_ts"]) for row in taken)
    memories = [from_document(Memory, row) for row in taken]
    nothing = Effects(result=ProcessResult(step=NAME), more=len(taken) < len(changed))
    draft = step.draft(request, stored, nothing, cursor=cursor)
    before = await read_profile_document(tools.store, request.user_id)
    earlier = await held_up(tools.store, before) if before else None
    told = set(earlier.source_ids) if earlier else set()
    # A memory that was recalled, said again, pinned or derived again has changed, but says what the profile already
    # has.
    current = [memory for memory in memories if _holds(memory) and memory.id not in told]
    if request.recent_k is not None:
        listed = await list_memories(tools.store, request.user_id, types=KINDS, limit=request.recent_k)
        newest = {memory.id for memory in listed}
        current = [memory for memory in current if memory.id in newest]
    gone = [memory for memory in memories if not _holds(memory)]
    noted = before["source_ids"] if before else []
    lost = len(told) < len(noted)
    is_told = not told.isdisjoint(memory.id for memory in gone) or (bool(gone) and is_cut(noted))
    if not current and not lost and not is_told:
        return draft
    view = ProfileView.model_validate(earlier.model_dump()) if earlier else None
    newest_first = sorted(current, key=lambda memory: (memory.created_at, memory.id), reverse=True)
    untold = await _no_longer_said(tools, request.user_id, gone)
    answer = await tools.chat.run(
        PROFILE, ProfileInput(earlier=view, facts=view_facts(newest_first), gone=view_facts(untold, "g"))
    )
    # Its memories passed the screen; the model's text passes it again; their labels show what is allowed.
    policy = _profile_policy(tools.policy, [*([earlier.content] if earlier else []), *(one.content for one in current)])
    kept = screen_values(answer.output.model_dump(), replace(tools.rules, allow=None), policy)
    profile = _merge(request.user_id, earlier, ProfileOutput.model_validate(kept), current, gone).model_copy(
        update={"model": answer.model, "prompt_version": answer.prompt_version}
    )
    embedded = await tools.embeddings.embed([profile.content])
    document = to_document(profile, embedded.vectors[0]) | {"embedding_model": tools.embeddings.model_id}
    # Only over the version that it was made from: one that was changed meanwhile says that memories were replaced.
    version = {"_etag": before["_etag"]} if before else {}
    draft.upsert = [document | {"thread_id": USER_SUMMARY_THREAD} | sources_until(taken, before) | version]
    draft.result = ProcessResult(
        step=NAME,
        created=1 if earlier is None else 0,
        rejected=answer.rejected,
        usage=answer.usage + embedded.usage,
    )
    return draft


STEP = Step(
    name=NAME,
    scope="user",
    think=think,
    container=SUMMARIES,
    user_thread=USER_SUMMARY_THREAD,
    runs="counted",
    cadence="profile",
    task=PROFILE,
    options=frozenset({"recent_k"}),
    aliases=("user-summary",),
)


def _profile_policy(policy: PolicySettings, told: Iterable[str]) -> PolicySettings:
    """The policy for a profile. It allows orders to a model only if the user has approved a memory with one."""
    approved = any(find_instructions(text) or find_powers(text) for text in told)
    return replace(policy, instructions="allow") if approved else policy


async def _no_longer_said(tools: Tools, user_id: str, gone: Sequence[Memory]) -> list[Memory]:
    """The memories whose sentence no active memory has any more. Of two equal memories, only one may be gone."""
    held = await active_by_hash(tools.store, user_id, [memory.content_hash for memory in gone])
    sentences = {memory.content for memory in held.values()}
    return [memory for memory in gone if memory.content not in sentences]


def _holds(memory: Memory) -> bool:
    """Whether a memory is believed now."""
    ended = memory.valid_to is not None and memory.valid_to <= now()
    return memory.superseded_by is None and memory.status == "active" and not ended


def _merge(
    user_id: str,
    earlier: UserProfile | None,
    output: ProfileOutput,
    current: Sequence[Memory],
    gone: Sequence[Memory],
) -> UserProfile:
    clock = now()
    left = {memory.id for memory in gone}
    output = within_bound(output)
    contents = {memory.id: memory.content for memory in current}
    lines = sources_of_lines(output, earlier, contents)
    newest_last = sorted(current, key=lambda memory: (memory.created_at, memory.id))
    sources = dict.fromkeys([*(earlier.source_ids if earlier else []), *(memory.id for memory in newest_last)])
    named = {key for of in lines.values() for ids in of for key in ids}
    return UserProfile(
        id=user_summary_id(user_id),
        user_id=user_id,
        content=render_profile(output),
        source_ids=newest_sources([key for key in sources if key not in left], named),
        memory_ids={part: [[key for key in ids if key not in left] for ids in of] for part, of in lines.items()},
        project_ids=projects_with([] if earlier is None else earlier.project_ids, current),
        created_at=earlier.created_at if earlier else clock,
        updated_at=clock,
        **ProfileView.model_validate(output.model_dump()).model_dump(),
    )


def within_bound(view: ProfileOutput) -> ProfileOutput:
    """A profile of at most `MOST_TOKENS`: the last lines of the longest section go first."""
    sections: dict[str, list[str]] = view.model_dump()
    counter = ApproximateTokens()
    costs = {part: [counter.count(f"- {line}\n") for line in lines] for part, lines in sections.items()}
    while sum(map(sum, costs.values())) > MOST_TOKENS:
        longest = max(costs, key=lambda part: sum(costs[part]))
        sections[longest].pop()
        costs[longest].pop()
    return ProfileOutput.model_validate(sections)
