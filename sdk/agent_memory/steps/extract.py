"""Extract: facts, procedures and episodes from turns, each with the words that support it.

A new statement replaces an older one that says nearly the same: the older memory is superseded, as `duplicate` if it
said the same, as `update` if it said another amount. Both must have the same user and type, and a cosine above the
embedding model's threshold.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_memory.calibration import calibration_of
from agent_memory.errors import InvalidInput
from agent_memory.forgetting.tombstones import Said, forgotten_after
from agent_memory.language.custom import version_with
from agent_memory.language.grounding.ground import without_evidence
from agent_memory.language.tasks import EXTRACT, ExtractedMemory, ExtractInput, Vector
from agent_memory.models import Memory, ProcessResult, Role, Source, Status, Turn, Usage, content_hash, iso, now
from agent_memory.rules.keeping import make_room
from agent_memory.screening.findings import find_instructions
from agent_memory.screening.screen import screen_memories
from agent_memory.settings import PolicySettings
from agent_memory.steps import index
from agent_memory.steps.gather import StepRequest, Tools, TurnRange, on_record, portions, view_turns
from agent_memory.steps.over_turns import Refusals, over_turns
from agent_memory.steps.step import Effects, Reaffirmation, Retirement, Step, Supersession
from agent_memory.store.documents import check_json, to_document
from agent_memory.store.ids import derived_id
from agent_memory.store.memories import active_by_hash, nearest_active
from agent_memory.store.scope_documents import extraction_of
from agent_memory.store.turns import turns_before
from agent_memory.telemetry import exact_dedup_skipped
from agent_memory.text.likeness import cosine
from agent_memory.text.patterns import linear
from agent_memory.text.restated import Restated, restates

NAME = "extract"
SHORTEST = 20
"""Minimum characters of a conversation for a model to be called."""

_DENSE = linear(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]")
TOO_SHORT = f"fewer than {SHORTEST} characters of conversation: no model was called"
LARGEST_METADATA = 2_000
"""Maximum bytes of JSON in a memory's metadata, which a model wrote; the first entries that fit are kept."""
_OURS = frozenset(("date", "source"))
"""Reserved names in the metadata of a fact, which a model must not set."""
_SOURCES: dict[Role, Source] = {"user": "user", "agent": "agent", "tool": "tool", "system": "agent"}
_PREFIX = {"fact": "fact", "episodic": "ep", "procedural": "proc"}


async def derive(tools: Tools, request: StepRequest, found: TurnRange) -> Effects:
    """Asks for the memories in turns, and keeps those that are new.

    Raises:
        ModelError: if a model is unavailable, or its answer cannot be used.
    """
    refusals = Refusals.of(found.before.extra)
    return await _keep(
        tools, request.user_id, await extract(tools, found.turns, hides=refusals.hides, however_short=found.is_part)
    )


STEP = Step(
    name=NAME,
    scope="thread",
    think=over_turns(derive),
    runs="counted",
    cadence="extract",
    task=EXTRACT,
    shares_call=True,
    counts_runs=True,
    first=(index.NAME,),  # search still finds turns that no model reads
    options=frozenset({"recent_k"}),
    aliases=("facts",),
    makes="facts",
    expected=frozenset({TOO_SHORT}),
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The memories that a model found in turns, not yet compared with what is known.

    `asked`: whether a model was called.
    """

    memories: list[Memory] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    asked: bool = True


async def extract(
    tools: Tools, turns: Sequence[Turn], *, hides: Callable[[Turn], bool] = lambda _: False, however_short: bool = False
) -> Extracted:
    """Extracts the memories in turns. Ids, statuses and times are set here.

    Args:
        tools: What a step works with.
        turns: Turns of one thread in their order.
        hides: Whether an earlier turn must not be shown to the model before these.
        however_short: Whether to call the model even for very short turns, because these are a part of a range.

    Raises:
        ModelError: if a model is unavailable, or its answer cannot be used.
    """
    earlier = on_record(await turns_before(tools.store, turns[0], tools.limits.turns_before))
    shown = [turn for turn in earlier if not hides(turn)]
    if _length(earlier) < SHORTEST:  # no model has read the beginning: it was too short
        turns, shown = [*shown, *turns], []
    if _length([*shown, *turns]) < SHORTEST and not however_short:
        return Extracted(rejected=[TOO_SHORT], asked=False)
    before = view_turns(shown, tools.rules.time_zone, "b")
    never = sorted(tools.rules.deny)
    custom = await extraction_of(tools.store, turns[0].user_id)
    memories: list[Memory] = []
    rejected: list[str] = []
    usage = Usage()
    ordinals: Counter[tuple[str, str]] = Counter()
    for portion in portions(turns, tools.limits.batch_tokens):
        view = view_turns(portion, tools.rules.time_zone)
        data = ExtractInput(turns=view, before=before, never=never, custom=custom)
        answer = await tools.chat.run(EXTRACT, data)
        found = _memories(portion, answer.output.memories, ordinals)
        tools.tally.note_evidence(answer.model, len(found), without_evidence(answer.rejected))
        version = version_with(answer.model, answer.prompt_version, custom)
        maker = {"model": answer.model, "prompt_version": version}
        memories += [memory.model_copy(update=maker) for memory in found]
        rejected += answer.rejected
        usage += answer.usage
    kept = memories[: tools.limits.batch_memories]
    if len(kept) < len(memories):
        rejected.append(f"{len(memories) - len(kept)} more than one commit can hold")
    made_for = {"embedding_model": tools.embeddings.model_id}
    screened = screen_memories([memory.model_copy(update=made_for) for memory in kept], tools.rules, tools.policy)
    return Extracted(_set_aside(screened.memories, turns, tools.policy), rejected + screened.rejected, usage)


def _length(turns: Sequence[Turn]) -> int:
    """Characters of a conversation, with who speaks: "user: I have diabetes." is long enough.

    A character of a script without spaces counts three times: it says as much as half a word.
    """
    said = [f"{view.role}: {view.content.strip()}" for view in view_turns(turns)]
    return sum(len(text) + 2 * len(_DENSE.findall(text[:SHORTEST])) for text in said)


def _set_aside(memories: Sequence[Memory], turns: Sequence[Turn], policy: PolicySettings) -> list[Memory]:
    """Sets aside for review the memories from turns with an instruction to a model, however harmless they look."""
    if policy.instructions == "allow" or not memories:
        return list(memories)
    cited = {turn_id for memory in memories for turn_id in memory.source_turn_ids}
    orders = {
        turn.id: found[0].what
        for turn in turns
        if turn.id in cited and (found := find_instructions(turn.content, _SOURCES[turn.role]))
    }
    aside = []
    for memory in memories:
        what = next((orders[turn_id] for turn_id in memory.source_turn_ids if turn_id in orders), None)
        doubt = {"status": "quarantined", "review_reason": f"rests on a turn that {what}"}
        aside.append(memory.model_copy(update=doubt) if what and memory.status != "quarantined" else memory)
    return aside


async def _keep(tools: Tools, user_id: str, extracted: Extracted) -> Effects:
    """The documents of the extracted memories, without those already known word for word."""
    fresh, again = await _without_known(tools, user_id, extracted.memories)
    skipped = len(extracted.memories) - len(fresh)
    exact_dedup_skipped.add(skipped)
    embedded = await tools.embeddings.embed([memory.content for memory in fresh])
    kept = await unforgotten(tools, user_id, list(zip(fresh, embedded.vectors, strict=True)))
    kept, replaced = await replace_near(tools, user_id, kept)
    room = await make_room(tools.store, tools.rules, user_id, [memory for memory, _ in kept])
    left_out = {
        "that were forgotten since they were said": len(fresh) - len(kept),
        f"for which the tier {tools.rules.tier_name} has no room": len(room.refused),
    }
    return Effects(
        result=ProcessResult(
            step=NAME,
            created=len(kept) - len(room.refused),
            exact_dedup_skipped=skipped,
            rejected=extracted.rejected + [f"{number} {why}" for why, number in left_out.items() if number],
            usage=extracted.usage + embedded.usage,
        ),
        create=[to_document(memory, vector) for memory, vector in kept if memory not in room.refused],
        supersede=[one for one in replaced if one.winner_id not in {memory.id for memory in room.refused}],
        reaffirm=again,
        retire=[Retirement.of(m, "evicted") for m in room.retire],
    )


async def unforgotten(
    tools: Tools, user_id: str, memories: Sequence[tuple[Memory, Vector]]
) -> list[tuple[Memory, Vector]]:
    """Those of these memories (each with its vector) that were not forgotten after they were said."""
    if not memories:
        return []
    first = min(memory.created_at for memory, _ in memories)
    forgotten = await forgotten_after(tools.store, user_id, first, tools.embeddings.model_id)
    return [
        (memory, vector)
        for memory, vector in memories
        if not forgotten.covers(
            Said(memory.content, memory.created_at, memory.thread_id, memory.project_id, vector=vector)
        )
    ]


def _memories(
    turns: Sequence[Turn], extracted: Sequence[ExtractedMemory], ordinals: Counter[tuple[str, str]]
) -> list[Memory]:
    """The memories of an answer. `ordinals` counts those of each turn, over all parts in which it was shown."""
    by_ref = {f"t{number}": turn for number, turn in enumerate(turns, 1)}
    memories = []
    for item in extracted:
        anchor = by_ref[item.turns[-1]]
        ordinal = ordinals[anchor.id, item.type]
        ordinals[anchor.id, item.type] += 1
        memories.append(_memory(anchor, ordinal, item, [by_ref[ref].id for ref in item.turns]))
    return memories


def _memory(anchor: Turn, ordinal: int, item: ExtractedMemory, source_turn_ids: list[str]) -> Memory:
    source = _SOURCES[anchor.role]
    # What an agent or a tool said must not become a standing instruction without review (docs/decisions/0010).
    status: Status = "candidate" if item.type == "procedural" and source != "user" else "active"
    # A future date is when something will happen; that it will happen is true from when it was said.
    since = min(item.valid_from, anchor.created_at) if item.valid_from else anchor.created_at
    return Memory(
        id=derived_id(_PREFIX[item.type], anchor.user_id, anchor.thread_id, anchor.id, str(ordinal)),
        user_id=anchor.user_id,
        thread_id=anchor.thread_id,
        type=item.type,
        kind=item.kind if item.type == "fact" else None,
        data=item.data if item.type == "fact" and isinstance(item.data, dict) else None,
        content=item.content,
        confidence=item.confidence,
        importance=item.importance,
        source=source,
        status=status,
        quote=item.quote,
        source_turn_ids=source_turn_ids,
        time_phrase=item.time_phrase,
        tags=item.tags,
        metadata=_noted(item.metadata) | ({"date": iso(item.valid_from)} if item.valid_from else {}),
        agent_id=anchor.agent_id,
        project_id=anchor.project_id,
        run_id=anchor.run_id,
        contributor_id=anchor.contributor_id,
        created_at=anchor.created_at,
        valid_from=since,
        valid_to=item.valid_to,
        recorded_at=now(),
        content_hash=content_hash(item.content),
    )


def _noted(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the metadata from a model that can be kept."""
    kept: dict[str, Any] = {}
    room = LARGEST_METADATA
    for name, value in metadata.items():
        try:
            check_json({name: value}, "metadata")
        except InvalidInput:
            continue
        room -= len(json.dumps({name: value}, ensure_ascii=False).encode())
        if room < 0:
            break
        if name not in _OURS:
            kept[name] = value
    return kept


async def _without_known(
    tools: Tools, user_id: str, memories: Sequence[Memory]
) -> tuple[list[Memory], list[Reaffirmation]]:
    """Leaves out what an active memory, or an earlier one of this batch, already says word for word.

    The repetition is recorded: a user who says "Rome", then "Oslo", then "Rome" again means Rome.
    """
    known = await active_by_hash(tools.store, user_id, [memory.content_hash for memory in memories])
    fresh: dict[str, Memory] = {}
    again = []
    for memory in memories:
        digest = memory.content_hash
        if digest in known:
            stored = known[digest]
            again.append(Reaffirmation(memory_id=stored.id, thread_id=stored.thread_id, at=memory.created_at))
        elif digest in fresh:
            fresh[digest] = fresh[digest].model_copy(update={"reaffirmed_at": memory.created_at})
        else:
            fresh[digest] = memory
    return list(fresh.values()), again


_TYPES = ("fact", "procedural")
NEIGHBOURS = 3
"""How many of the nearest memories are compared: one alone may be about another thing."""


async def replace_near(
    tools: Tools, user_id: str, fresh: Sequence[tuple[Memory, Vector]]
) -> tuple[list[tuple[Memory, Vector]], list[Supersession]]:
    """Compares new memories (each with its vector) with their nearest neighbours, stored or of this batch.

    Returns them, with what they take over from those they replace, and which replaces which. Costs one vector query for
    each new active fact or procedure, and no model call.
    """
    model = tools.embeddings.model_id
    near = calibration_of(model)
    memories: list[tuple[Memory, Vector]] = []
    supersede: list[Supersession] = []
    taken: set[str] = set()
    for memory, vector in fresh:
        if memory.type in _TYPES and memory.status == "active":
            stored = await nearest_active(tools.store, user_id, memory.type, vector, model, NEIGHBOURS)
            batch = [(earlier, cosine(theirs, vector)) for earlier, theirs in memories if earlier.type == memory.type]
            for old, similarity in sorted([*stored, *batch], key=lambda pair: -pair[1]):
                how = restates(old.content, memory.content) if similarity > near.duplicate else None
                if how is None or old.id in taken or old.status != "active" or old.last_said_at > memory.created_at:
                    continue
                taken.add(old.id)
                supersede.append(_supersession(old, memory, how))
                memory = _heir(old, memory, how)
        memories.append((memory, vector))
    return memories, supersede


def _supersession(old: Memory, new: Memory, how: Restated) -> Supersession:
    ends = max(new.valid_from or new.created_at, old.valid_from or old.created_at) if how == "update" else None
    return Supersession.of(old, new.id, how, ends)


def _heir(old: Memory, new: Memory, how: Restated) -> Memory:
    """The new memory, which names the old one. If it says the same, it takes over the old one's age and confidence."""
    changes: dict[str, object] = {"supersedes_ids": [*new.supersedes_ids, old.id]}
    if how == "duplicate":
        changes |= {
            "valid_from": min(new.valid_from or new.created_at, old.valid_from or old.created_at),
            "confidence": max(new.confidence, old.confidence),
            "importance": max(new.importance, old.importance),
        }
    return new.model_copy(update=changes)
