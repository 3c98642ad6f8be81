"""Reprocess: derives the memories of old turns again, with the current model and prompt.

A pass over a thread has one target: the model, the prompt's version, and the version whose work is repeated. It has its
own cursor, which follows the cursor of the extraction and never overtakes it. So an interrupted pass continues where it
stopped, and a finished one is not repeated. A memory derived again stays, under the new version; one in other words is
a new version; one no longer derived is withdrawn, together with its merge, whose other parts become active again.
Memories written or corrected by hand, and pinned ones, are not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, get_args

from agent_memory.errors import ConfigurationError
from agent_memory.language.custom import version_with
from agent_memory.language.grounding.quotes import telling_words
from agent_memory.language.roles import model_of
from agent_memory.language.tasks import EXTRACT, EXTRACT_AND_SUMMARIZE
from agent_memory.models import FactKind, Memory, ProcessResult
from agent_memory.remembering.replacing import Merged, unmerged
from agent_memory.steps import extract
from agent_memory.steps.gather import StepRequest, Tools, TurnRange
from agent_memory.steps.over_turns import think_over_turns
from agent_memory.steps.step import Draft, Effects, Reaffirmation, Release, Retirement, Step, Supersession
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import StoredCursor
from agent_memory.store.documents import from_document, to_document
from agent_memory.store.ids import derived_id
from agent_memory.store.memories import active_by_hash
from agent_memory.store.scope_documents import extraction_of

_ENOUGH = 0.5
"""Minimum share of content words in common for two memories to count as versions of one."""
_ENOUGH_OF_A_QUOTE = 0.1
"""The same for memories from the same words of the transcript, which can give two memories."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What happens to the memories of some turns when they are derived again.

    `kept` pairs old ones with new ones in the same words, `changed` pairs old and new, `decided` are new wordings of
    memories that stay as they are (pinned) or stay replaced (by others), `gone` are no longer found. `orphaned` were
    merged with others and are no longer found: their merge now says too much.
    """

    kept: list[tuple[Memory, Memory]] = field(default_factory=list)
    changed: list[tuple[Memory, Memory]] = field(default_factory=list)
    added: list[Memory] = field(default_factory=list)
    decided: list[Memory] = field(default_factory=list)
    gone: list[Memory] = field(default_factory=list)
    orphaned: list[Memory] = field(default_factory=list)


def match(before: Sequence[Memory], found: Sequence[Memory], stale: Callable[[Memory], bool]) -> Matched:
    """Compares the memories derived from turns before (including those replaced since) with those derived now.

    Only active, `stale` and unpinned memories are replaced or withdrawn. A memory replaced by a later statement or by
    hand does not come back because the old words are read again.
    """
    matched = Matched()
    active = {memory.id: memory for memory in before if memory.superseded_by is None}
    # Nobody decided what an earlier derivation replaced: the turns may give it again.
    decided = [one for one in before if one.superseded_by is not None and one.supersede_reason != "rederived"]
    open_ = dict(active)
    rest: list[Memory] = []
    for new in found:
        same = next((old for old in open_.values() if _says_the_same(old, new)), None)
        if same is not None:
            matched.kept.append((open_.pop(same.id), new))
        elif any(_says_the_same(old, new) for old in decided):
            matched.decided.append(new)
        else:
            rest.append(new)
    pairs = [(likeness(old, new), old.id, new.id) for old in [*open_.values(), *decided] for new in rest]
    by_id = {memory.id: memory for memory in decided}
    waiting = {memory.id: memory for memory in rest}
    for score, old_id, new_id in sorted(pairs, reverse=True):
        if score <= 0 or new_id not in waiting or not (old_id in open_ or old_id in by_id):
            continue
        new = waiting.pop(new_id)
        if old_id in by_id:
            by_id.pop(old_id)
            matched.decided.append(new)
            continue
        old = open_.pop(old_id)
        if old.pinned or not stale(old):
            matched.decided.append(new)
        else:
            matched.changed.append((old, new))
    matched.added.extend(waiting.values())
    matched.gone.extend(old for old in open_.values() if stale(old) and not old.pinned)
    matched.orphaned.extend(
        old
        for old in by_id.values()
        if old.supersede_reason == "duplicate" and stale(old) and not any(_says_the_same(old, new) for new in found)
    )
    return matched


def likeness(one: Memory, two: Memory) -> float:
    """How much of two memories is the same, from 0 to 1; 0 if they are not taken for versions of one."""
    if one.type != two.type:
        return 0.0
    words, others = telling_words(one.content), telling_words(two.content)
    share = len(words & others) / len(words | others) if words | others else 0.0
    quotes = (one.quote or "").casefold(), (two.quote or "").casefold()
    same_words = all(quotes) and (quotes[0] in quotes[1] or quotes[1] in quotes[0])
    return share if share >= (_ENOUGH_OF_A_QUOTE if same_words else _ENOUGH) else 0.0


def _says_the_same(one: Memory, two: Memory) -> bool:
    return one.type == two.type and one.content_hash == two.content_hash


NAME = "reprocess"


@dataclass(frozen=True, slots=True)
class Target:
    """The model and prompt version to derive with.

    `only`: the prompt version whose memories are made again; None: every other one. `together` is today's prompt for
    facts and summary in one call, if it is in use: memories made with it are not stale.
    """

    model: str
    version: str
    only: str | None
    together: str | None = None

    @classmethod
    async def of(cls, tools: Tools, request: StepRequest) -> Target:
        """The target of a request."""
        model = model_of(tools.chat, EXTRACT) or tools.chat
        custom = await extraction_of(tools.store, request.user_id)
        together = None
        if tools.one_call:
            with suppress(ConfigurationError):  # a prompts folder of one's own may have none; then it is not in use
                shared = model.prompt_version(EXTRACT_AND_SUMMARIZE)
                together = version_with(model.model_id, shared, custom)
        version = version_with(model.model_id, model.prompt_version(EXTRACT), custom)
        return cls(model.model_id, version, request.prompt_version, together)

    @property
    def key(self) -> str:
        """The target as a cursor stores it."""
        return "\n".join((self.model, self.version, self.only or "", *([self.together] if self.together else [])))

    def is_stale(self, model: str | None, version: str | None) -> bool:
        """Whether memories of this model and this prompt version must be derived again."""
        if self.only is not None:
            return version == self.only
        return model != self.model or version is None or version not in (self.version, self.together)


async def plan(tools: Tools, request: StepRequest) -> list[str]:
    """The threads of a user with work to repeat, or whose pass was interrupted. Costs two queries.

    A thread without memories so far may give some with a new prompt, so it is included, unless only one version's work
    is repeated.
    """
    target = await Target.of(tools, request)
    cursors = await tools.store.query(MEMORIES, queries.DERIVING_CURSORS, (request.user_id,))
    passes = {row["thread_id"]: row["extra"] for row in cursors if row["step"] == NAME}
    extracted = {row["thread_id"] for row in cursors if row["step"] == extract.NAME}
    rows = await tools.store.query(MEMORIES, queries.DERIVATIONS, (request.user_id,))
    fruitful = {row["thread_id"] for row in rows}
    stale = {row["thread_id"] for row in rows if target.is_stale(row.get("model"), row.get("prompt_version"))}
    begun = {thread for thread, extra in passes.items() if extra.get("target") == target.key}
    unfinished = {thread for thread in begun if not passes[thread].get("done")}
    barren = extracted - fruitful - begun if target.only is None else set()
    planned = sorted(extracted & (stale | unfinished | barren))
    return [thread for thread in planned if request.thread_id in ("", thread)]


async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Derives the next turns of a thread again. None if the pass is finished.

    The first draft of a pass only sets its cursor to the beginning.

    Raises:
        ModelError: if a model is unavailable; nothing advances then. An unusable answer becomes a dead letter instead,
            and the old memories stay.
    """
    target = await Target.of(tools, request)

    async def read(_: StoredCursor) -> list[Target]:
        return [target]

    stored, _ = await step.read_ahead(tools, request, read)
    replay = request.dead_letter_id is not None
    nothing = Effects(result=ProcessResult(step=NAME))
    if not replay and stored.extra.get("target") != target.key:
        begun = {"target": target.key, "pass": int(stored.extra.get("pass", 0)) + 1}
        return step.draft(request, stored, nothing.model_copy(update={"more": True}), extra=begun)
    if not replay and stored.extra.get("done"):
        return None
    generation = request.dead_letter_id or str(stored.extra["pass"])

    async def derive(found: TurnRange) -> Effects:
        return await _derive(tools, request, found, target, generation)

    draft = await think_over_turns(step, tools, request, derive, behind=extract.NAME)
    if draft is None:
        cursor, extra = stored.cursor.advanced([]), stored.extra | {"done": True}
        return step.draft(request, stored, nothing, cursor=cursor, extra=extra)
    extra = stored.extra if replay or draft.more else stored.extra | {"done": True}
    return draft.model_copy(update={"extra": extra})


STEP = Step(name=NAME, scope="thread", think=think, task=EXTRACT, plan=plan, options=frozenset({"prompt_version"}))


async def _derive(tools: Tools, request: StepRequest, found: TurnRange, target: Target, generation: str) -> Effects:
    ids = [turn.id for turn in found.turns]
    rows = await tools.store.query(
        MEMORIES, queries.DERIVED_FROM_TURNS, (request.user_id, request.thread_id), turns=ids
    )
    # A memory belongs to the turn that settles it, which is the last of its turns.
    before = [memory for row in rows if (memory := from_document(Memory, row)).source_turn_ids[-1] in ids]
    wanted = any(target.is_stale(memory.model, memory.prompt_version) for memory in before)
    if not wanted and (before or target.only is not None):
        return Effects(result=ProcessResult(step=NAME))
    extracted = await extract.extract(tools, found.turns)
    if not extracted.asked:  # the remaining turns are too short to judge the memories by
        return Effects(result=ProcessResult(step=NAME))
    matched = match(before, extracted.memories, lambda old: target.is_stale(old.model, old.prompt_version))
    derived = await _write(tools, request, matched, target, generation)
    derived.result.rejected = extracted.rejected
    derived.result.usage += extracted.usage
    return derived


async def _write(tools: Tools, request: StepRequest, matched: Matched, target: Target, generation: str) -> Effects:
    """The documents and intents that turn what is stored into the matched state."""
    replaces = {new.id: old for old, new in matched.changed}
    candidates = [*(new for _, new in matched.changed), *matched.added]
    known = await active_by_hash(tools.store, request.user_id, [new.content_hash for new in candidates])
    stand_in = {new.id: known[new.content_hash] for new in candidates if new.content_hash in known}
    renewed = [_renewed(new, generation, replaces.get(new.id)) for new in candidates if new.id not in stand_in]
    embedded = await tools.embeddings.embed([memory.content for memory in renewed])
    fresh = await extract.unforgotten(tools, request.user_id, list(zip(renewed, embedded.vectors, strict=True)))
    kept_out = {memory.id for memory in renewed} - {memory.id for memory, _ in fresh}
    lost = [old for old, new in matched.changed if _new_id(new, generation) in kept_out]
    changed = [
        Supersession.of(
            old,
            stand_in[new.id].id if new.id in stand_in else _new_id(new, generation),
            "duplicate" if new.id in stand_in else "rederived",
        )
        for old, new in matched.changed
        if old not in lost
    ]
    merges, parts = await unmerged(tools.store, request.user_id, matched.orphaned)
    gone = [*matched.gone, *lost, *merges]
    counts = {
        "kept": len(matched.kept) + len(matched.decided),
        "changed": len(changed),
        "added": len(matched.added),
        "gone": len(gone),
    }
    return Effects(
        result=ProcessResult(step=NAME, created=len(fresh), counts=counts, usage=embedded.usage),
        create=[to_document(memory, vector) for memory, vector in fresh],
        patch={old.id: _stamp(target) | _seen_anew(old, new) for old, new in matched.kept if not _stamped(old, target)},
        supersede=changed,
        retire=[Retirement.of(old, "revoked") for old in gone],
        release=[_release(part) for part in parts],
        reaffirm=_again(candidates, stand_in),
    )


def _release(part: Merged) -> Release:
    one = part.memory
    winner_id = str(one.superseded_by)
    return Release(memory_id=one.id, thread_id=one.thread_id, winner_id=winner_id, merge_id=part.merge_id)


def _again(candidates: Sequence[Memory], stand_in: dict[str, Memory]) -> list[Reaffirmation]:
    return [
        Reaffirmation(memory_id=stand_in[new.id].id, thread_id=stand_in[new.id].thread_id, at=new.created_at)
        for new in candidates
        if new.id in stand_in
    ]


def _renewed(new: Memory, generation: str, old: Memory | None) -> Memory:
    return new.model_copy(update={"id": _new_id(new, generation), "supersedes_ids": [old.id] if old else []})


def _new_id(new: Memory, generation: str) -> str:
    """A new id for this pass: the id from the place in the transcript belongs to the first derivation."""
    return derived_id(new.id.partition("_")[0], new.id, generation)


def _stamp(target: Target) -> dict[str, Any]:
    return {"model": target.model, "prompt_version": target.version}


def _seen_anew(old: Memory, new: Memory) -> dict[str, Any]:
    """The kind that today's extraction gives the same words, and the data of a custom kind."""
    custom = {old.kind, new.kind} - set(get_args(FactKind))
    if old.pinned or not custom or (old.kind, old.data) == (new.kind, new.data):
        return {}
    return {"kind": new.kind, "data": new.data}


def _stamped(memory: Memory, target: Target) -> bool:
    return (memory.model, memory.prompt_version) == (target.model, target.version)
