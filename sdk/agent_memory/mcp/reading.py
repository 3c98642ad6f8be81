"""The tools that read: search, context, reflect, history, why."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.tools.base import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from agent_memory.mcp.calls import Door, Request, Visit, answer, answer_there
from agent_memory.mcp.views import (
    ContextAnswer,
    MemoriesAnswer,
    QuoteView,
    ReflectAnswer,
    SentenceView,
    TurnView,
    WhyAnswer,
    conversation,
    lines_of,
    told,
    view_of,
)
from agent_memory.models import Provenance, Reflection, SearchFilters, day, there
from agent_memory.recall.render import quoted
from agent_memory.screening.injected import HEADER

MOST_HITS = 50
MOST_TOKENS = 8000
LONGEST_QUERY = 4000
"""Limits in characters on one call of a model; a choice."""

Query = Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)]
ThreadId = Annotated[str, Field(max_length=255, description="The id of a conversation.")]
MemoryId = Annotated[
    str, Field(min_length=1, max_length=255, description="The id of a memory, from search or context.")
]
Types = list[Literal["fact", "episodic", "procedural", "reflection", "document"]]
Words = list[Annotated[str, Field(max_length=255)]]
Kinds = Annotated[
    Words,
    Field(
        max_length=20,
        description="fact, preference, context, requirement, decision, event, session, chunk, or a custom kind.",
    ),
]


def reading(title: str) -> ToolAnnotations:
    """The hints of a tool that changes nothing."""
    return ToolAnnotations(
        title=title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )


def reading_tools(door: Door) -> list[Tool]:
    """The tools that read through a door."""

    async def search(
        request: Request,
        query: Annotated[Query, Field(description="A question, or words.")],
        limit: Annotated[int, Field(ge=1, le=MOST_HITS)] = 8,
        types: Types | None = None,
        kinds: Kinds | None = None,
        tags: Annotated[Words | None, Field(max_length=20, description="With at least one of these.")] = None,
        since: Annotated[datetime | None, Field(description="Said at this time or later (ISO 8601).")] = None,
        until: Annotated[datetime | None, Field(description="Said before this time (ISO 8601).")] = None,
        as_of: Annotated[datetime | None, Field(description="Answers as of this time, instead of now.")] = None,
        project_id: Annotated[str | None, Field(max_length=255)] = None,
    ) -> Annotated[CallToolResult, MemoriesAnswer]:
        """Finds memories of the user, best first, with their ids.

        Use it to look something up, and to get the id of what is to be corrected or forgotten. Before an answer,
        context is shorter and clearer.
        """
        given: dict[str, Any] = {
            "types": types,
            "kinds": kinds,
            "tags": tags,
            "created_after": since,
            "created_before": until,
            "as_of": as_of,
            "project_id": project_id,
        }
        filters: SearchFilters = {name: value for name, value in given.items() if value is not None}  # type: ignore[assignment]  # its names

        async def work(visit: Visit) -> MemoriesAnswer:
            hits = await visit.user.search(query, limit=limit, **filters)
            return MemoriesAnswer(memories=[view_of(hit.memory, hit.relevance) for hit in hits])

        found, zone = await answer_there(door, work, request, "searching")
        return told(lines_of(found.memories, HEADER, "Nothing is remembered about this.", zone), found)

    async def context(
        request: Request,
        query: Annotated[Query, Field(description="What the user asks, or what you are about to do.")],
        thread_id: Annotated[ThreadId | None, Field(description="The current conversation.")] = None,
        budget: Annotated[int, Field(ge=50, le=MOST_TOKENS, description="Maximum tokens of the text.")] = 650,
        project_id: Annotated[str | None, Field(max_length=255, description="The project that you work on.")] = None,
    ) -> Annotated[CallToolResult, ContextAnswer]:
        """What you should know about the user before you answer. Call it at the start of each task.

        It never fails: if memory cannot help, the text is empty, and missing or skipped_reason says why.
        """

        async def work(visit: Visit) -> ContextAnswer:
            if thread_id is None:
                found = await visit.user.context(query, budget=budget)
            else:
                found = await visit.user.thread(thread_id, project_id=project_id).context(query, budget=budget)
            ids = [one for used in found.used for one in (used.get("ids") or [used.get("id")]) if one]
            return ContextAnswer(
                text=found.text,
                memory_ids=list(dict.fromkeys(ids)),
                relevance=None if found.relevance is None else round(found.relevance, 2),
                tokens=found.tokens,
                missing=found.degraded,
                skipped_reason=found.skipped_reason,
            )

        known = await answer(door, work, request, "recalling")
        why_empty = known.skipped_reason or "; ".join(known.missing) or "nothing is known about this"
        return told(known.text or f"(empty: {why_empty})", known)

    async def reflect(
        request: Request,
        question: Annotated[Query, Field(description="A question about the user.")],
        limit: Annotated[int, Field(ge=1, le=MOST_HITS, description="Maximum number of memories that it reads.")] = 20,
        project_id: Annotated[str | None, Field(max_length=255)] = None,
        as_of: Annotated[datetime | None, Field(description="Answers as of this time, instead of now.")] = None,
    ) -> Annotated[CallToolResult, ReflectAnswer]:
        """Answers a question about the user. Each sentence quotes the memories that support it.

        Use it for a question that needs several memories, or an answer that you must show with its evidence. It may
        call a model, so it is slower than context and counts towards the user's budget.
        """
        given: SearchFilters = {}
        if project_id is not None:
            given["project_id"] = project_id
        if as_of is not None:
            given["as_of"] = as_of

        async def work(visit: Visit) -> ReflectAnswer:
            return _answered(await visit.user.reflect(question, limit=limit, **given))

        found, zone = await answer_there(door, work, request, "reflecting")
        return told(_with_evidence(found, zone), found)

    async def history(request: Request, id: MemoryId) -> Annotated[CallToolResult, MemoriesAnswer]:
        """All versions of a memory, oldest first: what it replaced, and what replaced it."""

        async def work(visit: Visit) -> MemoriesAnswer:
            await visit.memory(id)
            return MemoriesAnswer(memories=[view_of(one) for one in await visit.visible(await visit.user.history(id))])

        versions, zone = await answer_there(door, work, request, "reading")
        return told(lines_of(versions.memories, HEADER, "No version is kept.", zone), versions)

    async def why(request: Request, id: MemoryId) -> Annotated[CallToolResult, WhyAnswer]:
        """Why a memory is believed: the words that support it, who said them and when, and what it replaced."""

        async def work(visit: Visit) -> WhyAnswer:
            await visit.memory(id)
            return _evidence(await visit.user.why(id))

        evidence, zone = await answer_there(door, work, request, "reading")
        return told(_as_text(evidence, zone), evidence)

    return [
        Tool.from_function(search, annotations=reading("Search memory")),
        Tool.from_function(context, annotations=reading("Recall what matters")),
        Tool.from_function(reflect, annotations=reading("Answer from memory")),
        Tool.from_function(history, annotations=reading("Versions of a memory")),
        Tool.from_function(why, annotations=reading("Evidence for a memory")),
    ]


def _answered(found: Reflection) -> ReflectAnswer:
    return ReflectAnswer(
        sentences=[
            SentenceView(
                text=quoted(sentence.text),
                evidence=[
                    QuoteView(
                        memory_id=one.memory_id,
                        quote=quoted(one.quote),
                        said_at=one.said_at,
                        thread_id=conversation(one.thread_id),
                        turn_ids=one.turn_ids or None,
                    )
                    for one in sentence.evidence
                ],
            )
            for sentence in found.sentences
        ],
        left_out=[quoted(reason) for reason in found.rejected],
        skipped_reason=found.skipped_reason,
        derived_by=found.model,
    )


def _with_evidence(found: ReflectAnswer, zone: tzinfo) -> str:
    if not found.sentences:
        return f"(empty: {found.skipped_reason or 'what is remembered does not answer this'})"
    lines = [HEADER]
    for sentence in found.sentences:
        lines.append(f"- {sentence.text}")
        lines += [
            f'  rests on "{one.quote}" (said {day(there(one.said_at, zone))}) [id {one.memory_id}]'
            for one in sentence.evidence
        ]
    return "\n".join([*lines, "", found.notice])


def _evidence(found: Provenance) -> WhyAnswer:
    memory = found.memory
    return WhyAnswer(
        memory=view_of(memory),
        quote=None if memory.quote is None else quoted(memory.quote),
        derived_by=memory.model or "told by hand, or edited",
        turns=[
            TurnView(
                id=turn.id,
                role=turn.role,
                said_at=turn.created_at,
                content=quoted(turn.content),
                thread_id=turn.thread_id,
            )
            for turn in found.turns
        ],
        turns_no_longer_kept=found.missing_turn_ids,
        made_from=[view_of(one) for one in found.sources],
        linked_with=[view_of(one) for one in found.related],
        replaced=[view_of(one) for one in found.replaced],
    )


def _as_text(evidence: WhyAnswer, zone: tzinfo) -> str:
    lines = [f"{evidence.memory.content} [id {evidence.memory.id}]", f"Derived by: {evidence.derived_by}"]
    for turn in evidence.turns:
        said = there(turn.said_at, zone).isoformat(timespec="minutes")
        lines.append(f"- said {said} by the {turn.role}: {turn.content}")
    for name, views in (
        ("made from", evidence.made_from),
        ("linked with", evidence.linked_with),
        ("replaced", evidence.replaced),
    ):
        lines += [f"- {name}: {view.content} [id {view.id}]" for view in views]
    return "\n".join([*lines, "", evidence.notice])
