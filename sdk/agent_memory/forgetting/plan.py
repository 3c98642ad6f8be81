"""Forgetting: from what was found to all that follows from it, and what of that stays.

With a claim go all its versions, the turns that it rests on, the answers to them that take it up, and what was derived
from these turns and makes the claim too. What else those turns told stays, without its quote: the turn is gone, and the
quote may hold the claim. With a place goes all that was derived from it. What was merged, consolidated or reflected out
of something that goes, goes too, and what it had replaced stands again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from agent_memory.forgetting.selection import Corpus, Selection, TurnKey, add_answers, claim_in, read_texts
from agent_memory.forgetting.tombstones import of_turn, of_words
from agent_memory.models import ForgetItem, ForgetReceipt, Memory, iso
from agent_memory.store.documents import Document
from agent_memory.store.ids import FORGOTTEN_THREAD, new_turn_id


@dataclass(slots=True)
class ForgetPlan:
    """What will be deleted, and what stays of that which rests on the same turns; each with the reason."""

    user_id: str
    at: datetime
    memories: dict[str, ForgetItem] = field(default_factory=dict)
    turns: dict[TurnKey, ForgetItem] = field(default_factory=dict)
    kept: dict[str, ForgetItem] = field(default_factory=dict)
    accounts: dict[str, list[ForgetItem]] = field(default_factory=dict)
    """Summaries and the like that go for themselves and not with turns or memories, by thread."""
    by_place: bool = False
    keeps_memories: bool = False

    def __bool__(self) -> bool:
        """Whether anything goes."""
        return bool(self.memories or self.turns or self.accounts)

    @property
    def items(self) -> list[ForgetItem]:
        """All that goes."""
        accounts = (item for items in self.accounts.values() for item in items)
        return [*self.memories.values(), *self.turns.values(), *accounts]

    @property
    def job(self) -> Document:
        """What is to be done, by ids only: kept in the store until it is done, so that a crash cannot leave half."""
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
        }

    def receipt(self, *, dry_run: bool) -> ForgetReceipt:
        """The plan as the caller sees it; with words only if nothing has been done."""
        deleted: dict[str, list[str]] = {}
        items = sorted(self.items, key=lambda item: (item.type, item.id))
        for item in items:
            deleted.setdefault(item.type, []).append(item.id)
        kept = list(self.kept.values())
        if not dry_run:
            items, kept = ([item.model_copy(update={"content": None}) for item in part] for part in (items, kept))
        return ForgetReceipt(dry_run=dry_run, at=self.at, deleted=deleted, items=items, kept=kept)


async def plan_claim(corpus: Corpus, selection: Selection, at: datetime, *, include_sources: bool) -> ForgetPlan:
    """What goes with a claim or a topic.

    Without `include_sources` it was not the talk that was wrong but what was made of it: turns and their chunks stay.
    """
    plan = ForgetPlan(corpus.user_id, at)
    reasons = _with_versions(corpus.memories, selection.memories)
    if include_sources:
        for memory in (corpus.memories[memory_id] for memory_id in reasons):
            for turn_id in memory.source_turn_ids if _is_of_a_talk(memory) else []:
                selection.turns.setdefault((memory.thread_id, turn_id), "it rests on it")
        await read_texts(corpus, selection)
        await add_answers(corpus, selection)
        companions = [m for m in corpus.memories.values() if m.id not in reasons and _rests_on(m, selection.turns)]
        vectors = await corpus.embed(memory.content for memory in companions)
        for memory in companions:
            if memory.kind == "session":
                reasons[memory.id] = "an account of a turn that goes"
            elif claim_in(corpus.likeness, selection.claims, memory.content, vectors[memory.content]):
                reasons[memory.id] = "says it too"
            else:
                plan.kept[memory.id] = _item(memory, "tells something else of a turn that goes; its quote goes")
    _add(plan, corpus, _with_derived(corpus.memories, reasons), selection if include_sources else None)
    return plan


def plan_place(corpus: Corpus, selection: Selection, at: datetime) -> ForgetPlan:
    """What goes with a place: its turns, and all that was derived from them."""
    plan = ForgetPlan(corpus.user_id, at, by_place=True)
    reasons = dict(selection.memories)
    for memory in corpus.memories.values():
        if _rests_on(memory, selection.turns):
            reasons.setdefault(memory.id, "derived from it")
    _add(plan, corpus, _with_derived(corpus.memories, reasons), selection)
    return plan


async def tombstones(corpus: Corpus, plan: ForgetPlan) -> list[Document]:
    """The tombstones of the words and the turns of a plan."""
    contents = [item.content for item in plan.items if item.content and item.type != "chunk"]
    vectors = await corpus.embed(contents)
    model = corpus.embeddings.model_id
    words = [of_words(plan.user_id, text, plan.at, "forgotten", vector, model) for text, vector in vectors.items()]
    return words + [of_turn(plan.user_id, thread_id, turn_id, plan.at) for thread_id, turn_id in plan.turns]


def _add(plan: ForgetPlan, corpus: Corpus, reasons: Mapping[str, str], selection: Selection | None) -> None:
    plan.memories = {key: _item(corpus.memories[key], why) for key, why in reasons.items()}
    for key in plan.memories:
        plan.kept.pop(key, None)
    if selection is None:
        return
    for (thread_id, turn_id), why in selection.turns.items():
        turn = selection.texts.get((thread_id, turn_id))
        if turn is None:
            continue  # it is gone already
        plan.turns[thread_id, turn_id] = ForgetItem(
            id=turn_id, type="turn", thread_id=thread_id, why=why, content=turn.content
        )


def _item(memory: Memory, why: str) -> ForgetItem:
    return ForgetItem(id=memory.id, type=memory.type, thread_id=memory.thread_id, why=why, content=memory.content)


def _with_versions(memories: Mapping[str, Memory], found: Mapping[str, str]) -> dict[str, str]:
    """What was found, and all versions of it: what it replaced, and what replaced it.

    What was put together of several memories is no version of one of them; it goes for another reason.
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
        if memory.superseded_by is not None and not _is_put_together(memories.get(memory.superseded_by)):
            versions.append(memory.superseded_by)
        for version in versions:
            if version in memories and version not in reasons:
                reasons[version] = "a version of it"
                frontier.append(version)
    return reasons


def _with_derived(memories: Mapping[str, Memory], found: Mapping[str, str]) -> dict[str, str]:
    """What was found, and what was merged, consolidated or reflected out of it."""
    reasons = dict(found)
    while True:
        more = {m.id for m in memories.values() if m.id not in reasons and made_from(m, reasons)}
        if not more:
            return reasons
        reasons |= dict.fromkeys(more, "made from it")


def made_from(memory: Memory, ids: Iterable[str]) -> bool:
    """Whether a memory was made from one of these, rather than said."""
    origins = set(memory.source_ids) | (set() if _is_of_a_talk(memory) else set(memory.supersedes_ids))
    return not origins.isdisjoint(ids)


def _is_put_together(memory: Memory | None) -> bool:
    return memory is not None and bool(memory.source_ids)


def _is_of_a_talk(memory: Memory) -> bool:
    return not memory.thread_id.startswith("__")


def _rests_on(memory: Memory, turns: Mapping[TurnKey, str]) -> bool:
    """Whether a memory was derived from one of these turns. Turn ids mean something in their thread only."""
    return _is_of_a_talk(memory) and any((memory.thread_id, turn_id) in turns for turn_id in memory.source_turn_ids)
