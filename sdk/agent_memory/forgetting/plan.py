"""The plan of a deletion: what is deleted together with the selected items, and what stays.

With a claim, these are deleted: all its versions, its source turns, the answers that repeat it, and the memories from
these turns that make the claim too. Other memories from these turns stay, without their quote: the turn is gone, and
the quote may hold the claim. With a place, everything derived from its turns is deleted. Memories merged, consolidated
or reflected from a deleted memory are deleted too, and what it had replaced becomes active again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Container, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent_memory.forgetting.corpus import Corpus, TurnKey
from agent_memory.forgetting.selection import EMBEDDED, NAMED, Selection, add_answers, read_texts
from agent_memory.forgetting.tombstones import of_turn, of_words
from agent_memory.models import ForgetItem, ForgetReceipt, Memory, iso
from agent_memory.store.documents import Document
from agent_memory.store.ids import FORGOTTEN_THREAD, is_reserved, new_turn_id
from agent_memory.text.likeness import cosine


@dataclass(slots=True)
class ForgetPlan:
    """What will be deleted, and which memories from the same turns stay; each with the reason."""

    user_id: str
    at: datetime
    memories: dict[str, ForgetItem] = field(default_factory=dict)
    turns: dict[TurnKey, ForgetItem] = field(default_factory=dict)
    kept: dict[str, ForgetItem] = field(default_factory=dict)
    accounts: dict[str, list[ForgetItem]] = field(default_factory=dict)
    """By thread: summaries and the like that are deleted because of their text, not with turns or memories."""
    later: dict[TurnKey, datetime] = field(default_factory=dict)
    """The turns with a time that is still to come, because their writer's clock is ahead of ours."""
    latest: datetime = field(default=datetime.min.replace(tzinfo=UTC))
    """The latest time of what is deleted, which may also be to come."""
    by_place: bool = False
    keeps_memories: bool = False
    named: dict[str, str] | None = None
    """A hash of the id that the request names, and its type, so that the request may be repeated."""

    def __bool__(self) -> bool:
        """Whether anything is deleted."""
        return bool(self.memories or self.turns or self.accounts)

    @property
    def items(self) -> list[ForgetItem]:
        """Everything that is deleted."""
        accounts = (item for items in self.accounts.values() for item in items)
        return [*self.memories.values(), *self.turns.values(), *accounts]

    @property
    def job(self) -> Document:
        """The deletion as ids only. It is stored until all is deleted (`jobs`), so a crash loses none."""
        threads: dict[str, list[str]] = {}
        for thread_id, turn_id in self.turns:
            threads.setdefault(thread_id, []).append(turn_id)
        return {
            "id": f"forgetting_{new_turn_id()}",
            "user_id": self.user_id,
            "thread_id": FORGOTTEN_THREAD,
            "type": "forgetting",
            "at": iso(self.at),
            "turns": threads,
            "memories": {item.id: item.thread_id for item in self.memories.values()},
            "kept": sorted(self.kept),
            "accounts": sorted(self.accounts),
            "keeps_memories": self.keeps_memories,
            **({} if self.named is None else {"named": self.named}),
        }

    def of_later_turns(self) -> list[Document]:
        """Tombstones of the turns that the tombstone of their place does not cover, which holds up to now."""
        return [of_turn(self.user_id, *turn, at) for turn, at in self.later.items()]

    def receipt(self, *, dry_run: bool) -> ForgetReceipt:
        """The plan as the caller sees it, with contents only in a dry run."""
        deleted: dict[str, list[str]] = {}
        items = sorted(self.items, key=lambda item: (item.type, item.id))
        for item in items:
            deleted.setdefault(item.type, []).append(item.id)
        kept = list(self.kept.values())
        if not dry_run:
            items, kept = ([item.model_copy(update={"content": None}) for item in part] for part in (items, kept))
        return ForgetReceipt(dry_run=dry_run, at=self.at, deleted=deleted, items=items, kept=kept)


async def plan_claim(corpus: Corpus, selection: Selection, at: datetime, *, include_sources: bool) -> ForgetPlan:
    """What is deleted with a claim or a topic.

    Without `include_sources`, turns and chunks stay: only the memories derived from them were wrong.
    """
    plan = ForgetPlan(corpus.user_id, at)
    reasons = _with_versions(corpus.memories, selection.memories)
    if include_sources:
        # The accounts of sessions come last: of all the turns that they cover, those that say this are known by then.
        for memory in sorted(
            (corpus.memories[memory_id] for memory_id in reasons), key=lambda one: one.kind == "session"
        ):
            keys = [(memory.thread_id, turn_id) for turn_id in memory.source_turn_ids if _is_from_talk(memory)]
            if memory.kind == "session" and reasons[memory.id] != NAMED and not selection.turns.keys().isdisjoint(keys):
                continue
            for key in keys:
                selection.turns.setdefault(key, "a deleted memory comes from this turn")
        await read_texts(corpus, selection)
        await add_answers(corpus, selection)
        companions = [m for m in corpus.memories.values() if m.id not in reasons and _rests_on(m, selection.turns)]
        repeated = {memory.content: selection.claims.repeated_by(memory.content) for memory in companions}
        vectors = await corpus.embed(one for text, claims in repeated.items() for one in (text, *claims) if claims)
        for memory in companions:
            if memory.kind == "session":
                reasons[memory.id] = "covers a session with a deleted turn"
            elif any(
                corpus.likeness.same_claim(claim, memory.content, cosine(vectors[claim], vectors[memory.content]))
                for claim in repeated[memory.content]
            ):
                reasons[memory.id] = "makes the same statement"
            else:
                plan.kept[memory.id] = _item(
                    memory, "says something else from a deleted turn; only its quote is removed"
                )
    _add(plan, corpus, _with_derived(corpus.memories, reasons), selection if include_sources else None)
    return plan


def plan_place(corpus: Corpus, selection: Selection, at: datetime) -> ForgetPlan:
    """What is deleted with a place: its turns, and everything derived from them."""
    plan = ForgetPlan(corpus.user_id, at, by_place=True)
    reasons = dict(selection.memories)
    for memory in corpus.memories.values():
        if _rests_on(memory, selection.turns):
            reasons.setdefault(memory.id, "derived from a deleted turn")
    _add(plan, corpus, _with_derived(corpus.memories, reasons), selection)
    return plan


async def tombstones(corpus: Corpus, plan: ForgetPlan) -> AsyncIterator[list[Document]]:
    """The tombstones for the texts and the turns of a plan, some at a time."""
    contents = list(dict.fromkeys(item.content for item in plan.items if item.content and item.type != "chunk"))
    model = corpus.embeddings.model_id
    at = max(plan.at, plan.latest)
    for start in range(0, len(contents), EMBEDDED):
        vectors = await corpus.embed(contents[start : start + EMBEDDED])
        yield [of_words(plan.user_id, text, at, vector, model) for text, vector in vectors.items()]
    yield [of_turn(plan.user_id, thread_id, turn_id, at) for thread_id, turn_id in plan.turns]


def _add(plan: ForgetPlan, corpus: Corpus, reasons: Mapping[str, str], selection: Selection | None) -> None:
    plan.memories = {key: _item(corpus.memories[key], why) for key, why in reasons.items()}
    for key in plan.memories:
        plan.kept.pop(key, None)
        plan.latest = max(plan.latest, corpus.memories[key].created_at)
    if selection is None:
        return
    for (thread_id, turn_id), why in selection.turns.items():
        turn = selection.texts.get((thread_id, turn_id))
        if turn is None:
            continue  # deleted already
        plan.latest = max(plan.latest, turn.created_at)
        if turn.created_at > plan.at:
            plan.later[thread_id, turn_id] = turn.created_at
        plan.turns[thread_id, turn_id] = ForgetItem(
            id=turn_id, type="turn", thread_id=thread_id, why=why, content=turn.content
        )


def _item(memory: Memory, why: str) -> ForgetItem:
    return ForgetItem(id=memory.id, type=memory.type, thread_id=memory.thread_id, why=why, content=memory.content)


def _with_versions(memories: Mapping[str, Memory], found: Mapping[str, str]) -> dict[str, str]:
    """What was found, and all its versions: what it replaced, and what replaced it.

    A memory combined from several is not a version of one of them; it is deleted for another reason.
    """
    replaced: dict[str, list[str]] = {}
    for memory in memories.values():
        if memory.superseded_by is not None:
            replaced.setdefault(memory.superseded_by, []).append(memory.id)
    reasons = dict(found)
    frontier = list(found)
    while frontier:
        memory = memories[frontier.pop()]
        versions = [] if memory.source_ids else [*replaced.get(memory.id, []), *memory.supersedes_ids]
        successor = memories.get(memory.superseded_by or "")
        if successor is not None and not successor.source_ids:
            versions.append(successor.id)
        for version in versions:
            if version in memories and version not in reasons:
                reasons[version] = "a version of it"
                frontier.append(version)
    return reasons


def _with_derived(memories: Mapping[str, Memory], found: Mapping[str, str]) -> dict[str, str]:
    """What was found, and everything merged, consolidated or reflected out of it."""
    reasons = dict(found)
    while True:
        more = {m.id for m in memories.values() if m.id not in reasons and made_from(m, reasons)}
        if not more:
            return reasons
        reasons |= dict.fromkeys(more, "made from it")


def made_from(memory: Memory, ids: Container[str]) -> bool:
    """Whether a memory was made from one of these, rather than said."""
    origins = [*memory.source_ids, *([] if _is_from_talk(memory) else memory.supersedes_ids)]
    return any(origin in ids for origin in origins)


def _is_from_talk(memory: Memory) -> bool:
    return not is_reserved(memory.thread_id)


def _rests_on(memory: Memory, turns: Mapping[TurnKey, str]) -> bool:
    """Whether a memory was derived from one of these turns. A turn's id is unique only within its thread."""
    return _is_from_talk(memory) and any((memory.thread_id, turn_id) in turns for turn_id in memory.source_turn_ids)
