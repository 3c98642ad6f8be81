"""Archive: an account of a stretch of a conversation, which other conversations can find.

A stretch is what one run covers. It becomes an episodic memory of the kind `session`, with its topics in the metadata.
Each stretch is archived once. Questions about earlier conversations are left out, with the answers to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.forgetting.accounts import projects_with
from agent_memory.forgetting.tombstones import forgotten_turns
from agent_memory.language.tasks import ARCHIVE, ArchiveInput, ArchiveOutput
from agent_memory.models import Memory, ProcessResult, Turn, content_hash, iso, now
from agent_memory.screening.screen import FORBIDDEN, screen_values
from agent_memory.steps.gather import StepRequest, Tools, TurnRange, view_turns
from agent_memory.steps.over_turns import over_turns
from agent_memory.steps.step import Effects, Step
from agent_memory.store.documents import to_document
from agent_memory.store.ids import derived_id
from agent_memory.text.asked_back import note_of, telling

NAME = "archive"


async def derive(tools: Tools, request: StepRequest, found: TurnRange) -> Effects:
    """Asks for an account of turns. Raises ModelError if a model is unavailable, or its answer cannot be used."""
    forgotten = await forgotten_turns(tools.store, tools.embeddings, request.user_id, found.turns)
    turns = telling([turn for turn in found.turns if turn.id not in forgotten])
    if not turns:
        return Effects(result=ProcessResult(step=NAME))
    answer = await tools.chat.run(ARCHIVE, ArchiveInput(turns=view_turns(turns, tools.rules.time_zone)))
    kept = screen_values(answer.output.model_dump(), tools.rules, tools.policy)
    if not kept.get("summary"):
        rejected = [*answer.rejected, f"an account {FORBIDDEN}, or not to be trusted"]
        return Effects(result=ProcessResult(step=NAME, rejected=rejected, usage=answer.usage))
    account = ArchiveOutput.model_validate(kept)
    session = _session(turns, account).model_copy(
        update={
            "model": answer.model,
            "prompt_version": answer.prompt_version,
            "embedding_model": tools.embeddings.model_id,
        }
    )
    # What it is about, without the frame and the dates, which are alike in all of them.
    text = told_of(account.summary, account.topics, account.entities)
    embedded = await tools.embeddings.embed([text])
    usage = answer.usage + embedded.usage
    return Effects(
        result=ProcessResult(step=NAME, created=1, rejected=answer.rejected, usage=usage),
        create=[to_document(session, embedded.vectors[0])],
    )


STEP = Step(
    name=NAME,
    scope="thread",
    think=over_turns(derive),
    runs="at the end",
    cadence="archive",
    task=ARCHIVE,
    options=frozenset({"retired"}),
)


def told_of(summary: str, topics: Sequence[str], entities: Sequence[str]) -> str:
    """The text whose vector stands for a session."""
    return f"{summary}\n{', '.join([*topics, *entities])}".strip()


def _session(turns: list[Turn], account: ArchiveOutput) -> Memory:
    first, last = turns[0], turns[-1]
    start, end = iso(first.created_at), iso(last.created_at)
    projects = projects_with([], turns) or []
    text = f"# Conversation Summary\n## Date Range: {start} to {end}\n## Summary: {account.summary}"
    return Memory(
        id=derived_id("session", last.user_id, last.thread_id, first.id, last.id),
        user_id=last.user_id,
        thread_id=last.thread_id,
        type="episodic",
        kind="session",
        content=text,
        confidence=1.0,
        source="user" if any(turn.role == "user" for turn in turns) else "agent",
        source_turn_ids=[turn.id for turn in turns],
        metadata={
            "namespace": f"conversations:{last.user_id}",
            "doc_type": "conversation",
            "session_id": str(note_of(last).get("session_id") or last.thread_id),
            "agent_id": last.agent_id,
            "conversation_topics": account.topics,
            "entities_mentioned": account.entities,
            "decisions_made": account.decisions,
            "open_questions": account.questions,
            "message_count": len(turns),
            "date_range": {"start": start, "end": end},
            **({"project_ids": projects} if len(projects) > 1 else {}),
        },
        agent_id=last.agent_id,
        project_id=last.project_id,
        run_id=last.run_id,
        contributor_id=last.contributor_id if len({turn.contributor_id for turn in turns}) == 1 else None,
        created_at=last.created_at,
        valid_from=last.created_at,
        recorded_at=now(),
        content_hash=content_hash(text),
    )
