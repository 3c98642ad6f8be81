"""Tombstones: records that something was forgotten (or rejected), so that it does not come back. They hold no text.

A tombstone covers what was said up to its time and matches it by hash, meaning or place. Steps that derive memories,
and imports, leave such text out. What is said afterwards is new. A meaning is a vector, and a hash of one byte for each
word: a dictionary has hundreds of words with the same one, two claims seldom do. A hash is keyed by the user, but
anybody who has the store can still try texts against it, and a vector reveals the gist of a text. So tombstones are as
private as memories, and are erased with the user.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.calibration import calibration_of
from agent_memory.language.tasks import EmbeddingModel, Vector
from agent_memory.models import Turn, content_hash, iso
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import VECTOR_DECIMALS, Document, in_batches, upsert
from agent_memory.store.ids import FORGOTTEN_THREAD, derived_id
from agent_memory.text.likeness import cosine
from agent_memory.text.wordings import Wording, is_same, wording_of, wordings

ASKED = 500
"""Maximum turns in one query, so that their hashes fit into it."""
_SIZE, _NUMBER_SIZE = 500 + 3 * 256 * len('"ff",'), VECTOR_DECIMALS + 4
"""The most bytes of JSON in a tombstone without its vector, and in one number of the vector."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when something was said: in a thread, for a project, in a time range (both ends included)."""

    thread_id: str | None = None
    project_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __bool__(self) -> bool:
        """Whether it narrows anything."""
        return self != Place()


@dataclass(frozen=True, slots=True)
class Said:
    """Something that was said: what, when and where, with its vector if there is one."""

    text: str
    at: datetime
    thread_id: str
    project_id: str | None = None
    turn_id: str | None = None
    vector: Vector | None = None


def of_words(user_id: str, text: str, at: datetime, vector: Sequence[float] | None, embedding_model: str) -> Document:
    """The tombstone of a text."""
    document = _tombstone(user_id, at, "said", _keyed(user_id, content_hash(text)))
    if vector is not None:
        document["embedding"] = [round(value, VECTOR_DECIMALS) for value in vector]
        document["embedding_model"] = embedding_model
        document["wording"] = [sorted(part) for part in _keyed_wording(user_id, wording_of(text))[:3]]
    return document


def of_turn(user_id: str, thread_id: str, turn_id: str, at: datetime) -> Document:
    """The tombstone of a turn, in case a writer sends the turn again."""
    return _tombstone(user_id, at, "turn", _keyed(user_id, thread_id, turn_id))


def of_place(user_id: str, place: Place, at: datetime) -> Document:
    """The tombstone of everything said in a place."""
    bounds = {"since": place.since and iso(place.since), "until": place.until and iso(place.until)}
    names = {"thread": place.thread_id, "project": place.project_id}
    kept = {name: value for name, value in bounds.items() if value is not None}
    kept |= {name: _keyed(user_id, value) for name, value in names.items() if value is not None}
    key = "\0".join(f"{name}={value}" for name, value in sorted(kept.items()))
    return _tombstone(user_id, at, "place", key) | {"place": kept}


def of_request(user_id: str, thread_id: str | None, item_id: str) -> str:
    """The hash by which a repeated request to forget an id is known."""
    return _keyed(user_id, thread_id or "", item_id)


async def bury(store: Store, user_id: str, tombstones: Sequence[Document]) -> None:
    """Writes tombstones. An existing one gets the newer time."""
    unique = {document["id"]: document for document in tombstones}
    for some in in_batches(unique.values(), lambda one: _SIZE + _NUMBER_SIZE * len(one.get("embedding", ()))):
        await store.batch(MEMORIES, (user_id, FORGOTTEN_THREAD), [upsert(document) for document in some])


class Forgotten:
    """The tombstones of a user, to compare texts with."""

    def __init__(self, user_id: str, tombstones: Sequence[Document], embedding_model: str) -> None:
        self._user_id = user_id
        self._model = embedding_model
        self._limits = calibration_of(embedding_model)
        self._turns = {one["turn"] for one in tombstones if "turn" in one}
        self._said = {one["said"]: one["at"] for one in tombstones if "said" in one}
        self._places = [one for one in tombstones if "place" in one]
        self._meanings = [one for one in tombstones if one.get("embedding_model") == embedding_model]

    def __bool__(self) -> bool:
        """Whether there is any tombstone."""
        return bool(self._turns or self._said or self._places)

    @property
    def has_meanings(self) -> bool:
        """Whether anything was forgotten by its meaning."""
        return bool(self._meanings)

    def covers(self, said: Said) -> bool:
        """Whether this was forgotten after it was said."""
        at = iso(said.at)
        if said.turn_id is not None and _keyed(self._user_id, said.thread_id, said.turn_id) in self._turns:
            return True  # the same turn sent again, with whatever time
        if self._said.get(_keyed(self._user_id, content_hash(said.text)), "") >= at:
            return True
        if any(one["at"] >= at and self._holds(one["place"], said, at) for one in self._places):
            return True
        return said.vector is not None and self._means(said.text, said.vector, at)

    def _means(self, text: str, vector: Vector, at: str) -> bool:
        """Whether a text makes a claim that was forgotten at this time or later."""
        known = [(one, cosine(one["embedding"], vector)) for one in self._meanings if one["at"] >= at]
        near = [(one, similarity) for one, similarity in known if similarity >= self._limits.near_claim]
        said = [_keyed_wording(self._user_id, wording) for wording in wordings(text)] if near else []
        return any(self._is_claim(one, said, similarity) for one, similarity in near)

    def _is_claim(self, tombstone: Document, said: Sequence[Wording], similarity: float) -> bool:
        if "wording" not in tombstone:  # versions before 1.0 wrote none
            return similarity >= self._limits.same_claim
        words, values, names = map(frozenset, tombstone["wording"])
        claim = Wording(words, values, names)
        return any(is_same(claim, wording, similarity, self._limits) for wording in said)

    def _holds(self, place: dict[str, str], said: Said, at: str) -> bool:
        names = {"thread": said.thread_id, "project": said.project_id}
        for name, value in names.items():
            if name in place and (value is None or _keyed(self._user_id, value) != place[name]):
                return False
        return place.get("since", "") <= at <= place.get("until", "9999")


async def forgotten_after(store: Store, user_id: str, first_said: datetime, embedding_model: str) -> Forgotten:
    """Reads what was forgotten after a time. Earlier tombstones cannot cover what was said at that time or later.

    Costs one query of one partition (about 3 request units if it finds nothing).
    """
    rows = await store.query(MEMORIES, queries.TOMBSTONES, (user_id, FORGOTTEN_THREAD), since=iso(first_said))
    return Forgotten(user_id, rows, embedding_model)


async def sent_again(store: Store, turns: Sequence[Turn]) -> set[str]:
    """The ids of the turns (of one thread) that were forgotten, by id, place or exact words.

    Costs one query of one partition for each 500 turns, without vectors.
    """
    found: set[str] = set()
    for start in range(0, len(turns), ASKED):
        part = turns[start : start + ASKED]
        user_id = part[0].user_id
        rows = await store.query(
            MEMORIES,
            queries.TOMBSTONES_OF_TURNS,
            (user_id, FORGOTTEN_THREAD),
            turns=[_keyed(user_id, turn.thread_id, turn.id) for turn in part],
            said=[_keyed(user_id, content_hash(turn.content)) for turn in part],
        )
        forgotten = Forgotten(user_id, rows, "")
        found |= {turn.id for turn in part if forgotten.covers(_said(turn))}
    return found


async def turns_gone(store: Store, user_id: str, turns: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Which of these turns, given as thread and id, were forgotten, whatever time they have.

    Costs one query of one partition for each 500 turns, without vectors.
    """
    found: set[tuple[str, str]] = set()
    keys = {_keyed(user_id, *turn): turn for turn in turns}
    for start in range(0, len(keys), ASKED):
        part = list(keys)[start : start + ASKED]
        rows = await store.query(
            MEMORIES, queries.TOMBSTONES_OF_TURNS, (user_id, FORGOTTEN_THREAD), turns=part, said=[]
        )
        found |= {keys[row["turn"]] for row in rows if row.get("turn") in keys}
    return found


async def forgotten_turns(store: Store, embeddings: EmbeddingModel, user_id: str, turns: Sequence[Turn]) -> set[str]:
    """The ids of the turns (of one thread) that were forgotten after they were said.

    Turns are embedded only if something was forgotten by its meaning, and id, place and words do not decide.

    Raises:
        ModelError: if the embedding model is needed and unavailable.
    """
    first = min(turn.created_at for turn in turns)
    forgotten = await forgotten_after(store, user_id, first, embeddings.model_id)
    found = {turn.id for turn in turns if forgotten.covers(_said(turn))}
    unknown = [turn for turn in turns if turn.id not in found]
    if not unknown or not forgotten.has_meanings:
        return found
    vectors = (await embeddings.embed([turn.content for turn in unknown])).vectors
    alike = zip(unknown, vectors, strict=True)
    return found | {turn.id for turn, vector in alike if forgotten.covers(_said(turn, vector))}


def _said(turn: Turn, vector: Vector | None = None) -> Said:
    return Said(turn.content, turn.created_at, turn.thread_id, turn.project_id, turn.id, vector)


def _tombstone(user_id: str, at: datetime, kind: str, key: str) -> Document:
    document: dict[str, Any] = {
        "id": derived_id("tombstone", user_id, kind, key),
        "user_id": user_id,
        "thread_id": FORGOTTEN_THREAD,
        "type": "tombstone",
        "reason": "forgotten",
        "at": iso(at),
    }
    return document | ({} if kind == "place" else {kind: key})


def _keyed_wording(user_id: str, wording: Wording) -> Wording:
    return wording.keyed(lambda word: _keyed(user_id, "word", word)[-2:])


def _keyed(user_id: str, *parts: str) -> str:
    """A hash that differs from user to user."""
    return derived_id("h", user_id, *parts)
