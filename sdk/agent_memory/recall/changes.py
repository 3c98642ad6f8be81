"""Changes: finds memories that say something newer about the subject of another memory.

A ranking shows what is similar to a question, not what is current: the first statement of a value is often more similar
to the question than the later one that replaced it. So the hits are compared in pairs. A pair about one thing is shown
in order of time: the newer one first, and the older one below it, marked `earlier`, which is always true. A wrong
comparison loses nothing: both are shown, each with its day.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import chain
from operator import mul
from typing import NamedTuple

from agent_memory.models import Hit, Memory
from agent_memory.recall.relevance import only_asks
from agent_memory.store.chunks import chunk_id, speaker_of, told_by, words_of
from agent_memory.text.figures import FIGURE, NUMBERS
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import WORD, linear, plain_words
from agent_memory.text.restated import restates
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import FUNCTION_WORDS, QUESTION_WORDS


class Signs(NamedTuple):
    """Signs that two memories are about the thing in question, and that the newer one says something else.

    Each is 0 or 1 unless its docstring says otherwise.
    """

    old_score: float
    """The score of the older one, as a share of the best."""
    new_place: float
    """1 for a newer one that is the best hit, 1/2 for the second best, and so on."""
    anchor: float
    """The weight, from 0 to about 1, of the rarest word or figure of several digits that both have; words that fewer
    hits have weigh more."""
    change: float
    """Whether the newer one has a word of change."""
    new_figures: float
    """If both have figures or numbers, and none of these is the same: the weight of the rarest word that both have."""
    linked: float
    """Whether their turns were linked when they were indexed."""
    length: float
    """The logarithm of the number of words of the newer one that tell something, plus one."""


WEIGHTS = Signs(10, 4.1, 2.9, 2.2, 3.5, 1.9, -0.8)
"""What each sign counts. They began as a logistic regression over all pairs that the contexts of four development sets
compare, each set with the same weight: 75 changes in 20 short conversations (`tests/data/labelled`), 16 of BEAM, and
LoCoMo and REALTALK, in which hardly anything changes. A later one over the first set and LoCoMo, with new signs, gave
those of change and figures. Figures: docs/decisions/0027."""
LEAST = 11.8
"""Evidence above which the older of two memories is marked. Figures for other values: docs/decisions/0027."""
ADDED = 2
"""Maximum number of newer memories that a context shows only because they replace another one. With 1, contexts for 75
changes in the project's own conversations show the current value in 61 instead of 62."""
MARKED = 4
"""Maximum number of older memories that a context marks, besides those for which it adds a newer one. A choice."""
SURER = 1.0
"""A memory can be newer than one and older than another. It gets no mark as older if the evidence that it is newer is
stronger by more than this. A choice."""
_NEAR = 0.7
"""Minimum share of the highest cosine at which a memory without a word in common counts as about the same thing. A
choice."""
_ANCHOR = 0.55
"""Minimum weight of the rarest common word of two statements in another language than English: the embedding model
finds everything in such a language similar. Of 42 marks in two conversations in German and Spanish, 19 were right; 21
are left, 14 of them right."""
_COMMON = 0.33
"""Minimum weight of a word that two memories with other figures have in common: among few hits, every word of theirs
looks frequent. A choice."""
_LATER = timedelta(hours=12)
"""The least time between two conversations. In one conversation people keep coming back to a subject: there the newer
turn needs a word of change, and a figure that the older one lacks or a link. A choice."""
_ROUNDING = 1e-6
"""The same terms, added in another order, differ by less than this."""


_NEWER = frozenset(
    """actually adjusted anymore bumped cancelled canceled changed changing correction decreased doubled dropped ended
    finally gone halved increased instead longer lowered moved moving never now nvm postponed quit raised reduced
    replaced rescheduled resigned retired scrapped stopped swapped switched switching update updated upped

    abgesagt doch geändert gekündigt gewechselt jetzt mehr nunmehr statt stattdessen umgezogen verlegt verschoben

    ahora cambiado cambiada cambié cambió dejé mudé ya
    maintenant désormais changé changée déménagé déplacé déplacée plutôt annulé annulée
    agora mudei mudou cancelado cancelada cancelei
    adesso ora cambiato cambiata spostato spostata annullato annullata invece
    nu verhuisd veranderd verplaatst verzet overgestapt voortaan""".split()
)
"""Words by which people say that something is no longer as it was, in seven languages."""
_FOR_NOW = linear(r"\bfor now\b")
_TO_ANOTHER = linear(
    rf"\b(?:\p{{L}}{{3,}} to [$€£]?\d|(?:up|down|back) to {plain_words(NUMBERS)}\b|after all\b|any more\b|as of\b)"
)
"""Phrases for the same: "raised it to 15", "down to eight", "a blue one after all"."""
_DAY_ADDED = linear(r" \([^()\n]{0,40}(?:19|20)\d\d\)")
"""The day that a fact gives for "next Friday". It is no figure that was said."""
_MOST = 4000
"""Characters of a text that are read. It bounds the work."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A hit as it is compared."""

    hit: Hit
    words: frozenset[str]
    """The stems of its words, and figures of several digits."""
    talk_id: str
    """The chunk of the turn that it comes from; its own id if it comes from none, or was corrected by hand since."""
    links: frozenset[str]
    """The links of that chunk, if the search found it."""
    turns: frozenset[tuple[str, str]]
    """The threads and ids of the turns that it comes from."""
    speaker: str | None
    """Who said it, of a chunk; None for other memories."""
    said_at: datetime
    memory: Memory
    is_change: bool
    is_foreign: bool
    figures: frozenset[str]
    """Its figures and its numbers in words, without the day that a fact gives for "next Friday"."""
    length: float
    """The logarithm of the number of its words, plus one."""


def newer_versions(hits: Sequence[Hit], shown: Sequence[Hit]) -> dict[str, str]:
    """Maps each chosen memory that a newer one in effect replaces to the newer one, by their ids.

    The newer one may be a hit that the context does not show yet. One that only repeats the older replaces nothing.
    Only what users say is compared: agents repeat their explanations.

    Args:
        hits: What was found, best first.
        shown: The hits that the context shows, best first.
    """
    pairs = sorted(
        ((sum(map(mul, signs, WEIGHTS)), old, new, signs.linked) for signs, old, new in _signs_of(hits, shown)),
        key=lambda pair: (-pair[0], pair[1].id, pair[2].id),
    )
    shown_ids = {hit.memory.id for hit in shown}
    found: dict[str, str] = {}
    sure: dict[str, float] = {}  # the evidence that a memory is the newer one of a pair; the highest comes first
    added: set[str] = set()
    for evidence, old, new, linked in pairs:
        if evidence < LEAST:
            break
        is_shown = new.id in shown_ids or new.id in added
        if is_shown:
            may_mark = sure.get(old.id, 0.0) <= evidence + SURER and len(found) < MARKED + len(added)
        else:
            may_mark = bool(linked) and len(added) < ADDED
        # Sentences are compared last, because that takes longest.
        if not may_mark or old.id in found or restates(told_by(old), told_by(new)) == "duplicate":
            continue
        if not is_shown:
            added.add(new.id)
        found[old.id] = new.id
        sure.setdefault(new.id, evidence)
    found |= _other_parts(shown, found)
    return {old_id: _newest(new_id, found) for old_id, new_id in found.items()}


def _other_parts(shown: Sequence[Hit], found: Mapping[str, str]) -> dict[str, str]:
    """The other parts of each long turn of which one part is marked as older: they are as old."""
    parts = [hit.memory for hit in shown if hit.memory.kind == "chunk"]
    older = {_turn(memory): found[memory.id] for memory in parts if memory.id in found}
    return {
        memory.id: older[_turn(memory)]
        for memory in parts
        if memory.id not in found and _turn(memory) in older and older[_turn(memory)] != memory.id
    }


def _turn(chunk: Memory) -> tuple[str, str, str]:
    return chunk.user_id, chunk.thread_id, chunk.source_turn_ids[0]


def _newest(memory_id: str, newer: Mapping[str, str]) -> str:
    """The end of a chain of ever newer memories. It has one: each was said later than the one before."""
    while memory_id in newer:
        memory_id = newer[memory_id]
    return memory_id


def _signs_of(hits: Sequence[Hit], shown: Sequence[Hit]) -> Iterable[tuple[Signs, Memory, Memory]]:
    """The signs of each pair: an older memory that the context shows, and a newer one. Neither only asks.

    A pair is dropped once it cannot reach `LEAST`. That saves most comparisons.
    """
    read = _read(hits)
    weight = _weights(read)
    rarest = max(weight.values(), default=0.0)
    top = max((one.hit.score for one in read), default=0.0) or 1.0
    nearest = max((one.hit.similarity or 0.0 for one in read), default=0.0) or 1.0
    similarity = {one.memory.id: (one.hit.similarity or 0.0) / nearest for one in read}
    places = {one.memory.id: place for place, one in enumerate(read, 1)}
    shown_ids = {hit.memory.id for hit in shown}
    stating = [one for one in _without_questions(read) if one.memory.source == "user"]
    olds = [one for one in stating if one.memory.id in shown_ids]
    replacing = {one.memory.near_ids[0] for one in read if one.memory.valid_to is not None and one.memory.near_ids}
    of_new = {
        new.memory.id: WEIGHTS.new_place / places[new.memory.id]
        + WEIGHTS.change * new.is_change
        + WEIGHTS.length * new.length
        for new in stating
    }
    most = WEIGHTS.anchor * rarest + WEIGHTS.linked + WEIGHTS.new_figures * max(rarest, _COMMON)
    for old in olds:
        if old.talk_id in replacing:
            continue
        lacking = LEAST - _ROUNDING - WEIGHTS.old_score * old.hit.score / top
        for new in stating:
            missing = lacking - of_new[new.memory.id]
            if most < missing or not _may_overtake(new, old):
                continue
            common = old.words & new.words
            new_figures = _new_figures(old, new, common, weight)
            missing -= WEIGHTS.new_figures * new_figures
            anchor = max(map(weight.__getitem__, common), default=0.0)
            linked = old.talk_id in new.links or new.talk_id in old.links
            if WEIGHTS.anchor * anchor + WEIGHTS.linked * linked < missing:
                continue
            if not common and not linked and similarity[new.memory.id] < _NEAR:
                continue
            if (old.is_foreign or new.is_foreign) and anchor < _ANCHOR:
                continue
            is_apart = new.said_at - old.said_at >= _LATER or (
                new.is_change and (linked or not new.figures <= old.figures)
            )
            if not is_apart:
                continue
            signs = Signs(
                old_score=old.hit.score / top,
                new_place=1 / places[new.memory.id],
                anchor=anchor,
                change=new.is_change,
                new_figures=new_figures,
                linked=linked,
                length=new.length,
            )
            yield signs, old.memory, new.memory


def _new_figures(old: _Read, new: _Read, common: Iterable[str], weight: Mapping[str, float]) -> float:
    if not old.figures or not new.figures or not old.figures.isdisjoint(new.figures):
        return 0.0
    return max((max(weight[word], _COMMON) for word in common if not word.isdigit()), default=0.0)


def _without_questions(read: Sequence[_Read]) -> list[_Read]:
    """The hits that do more than ask: a question replaces nothing, and nothing replaces it."""
    return [one for one in read if not only_asks(words_of(one.memory))]


def _weights(read: Sequence[_Read]) -> dict[str, float]:
    """The weight of each word, from 0 to about 1; words that fewer hits have weigh more."""
    count = Counter(chain.from_iterable(one.words for one in read))
    most = math.log(len(read) + 1)
    of = {number: math.log((len(read) + 1) / number) / most for number in set(count.values())}
    return {word: of[number] for word, number in count.items()}


def _read(hits: Sequence[Hit]) -> list[_Read]:
    """The hits in the form for comparison. A memory derived from a turn has the links of that turn."""
    links = {hit.memory.id: frozenset(hit.memory.near_ids) for hit in hits}
    read = []
    for hit in hits:
        text = _told_in(told_by(hit.memory))
        memory, talk_id = hit.memory, _talk_id(hit.memory)
        turns = frozenset((memory.thread_id, turn_id) for turn_id in memory.source_turn_ids)
        speaker = speaker_of(memory) if memory.kind == "chunk" else None
        linked = links.get(talk_id, frozenset[str]())
        of_text = (text.is_change, text.is_foreign, text.figures, math.log1p(len(text.words)))
        read.append(_Read(hit, text.words, talk_id, linked, turns, speaker, memory.last_said_at, memory, *of_text))
    return read


class _Told(NamedTuple):
    """A text as it is compared."""

    words: frozenset[str]
    """The stems of its words, and its figures of several digits."""
    is_change: bool
    """Whether it has a word of change."""
    figures: frozenset[str]
    is_foreign: bool


@lru_cache(maxsize=4096)
def _told_in(text: str) -> _Told:
    """Reads a text for the comparison, once: searches of one user meet the same texts again and again."""
    said = _DAY_ADDED.sub("", text[:_MOST]).lower()
    words = WORD.findall(said)
    figures = {found.replace(",", "") for found in FIGURE.findall(said)}
    numbers = {str(NUMBERS[word]) for word in words if word in NUMBERS and word != "one"}  # "the blue one": no figure
    of_change = not _NEWER.isdisjoint(WORD.findall(_FOR_NOW.sub(" ", said))) or _TO_ANOTHER.search(said) is not None
    every = frozenset(figures | numbers)
    long = frozenset(figure for figure in every if len(figure) > 1)
    return _Told(long | _stems(words), of_change, every, is_foreign(text))


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(_telling_stem, words)))


@lru_cache(maxsize=65536)
def _telling_stem(word: str) -> str | None:
    is_telling = len(word) > 1 and not word.isdigit() and word not in QUESTION_WORDS and word not in FUNCTION_WORDS
    return stem(word) if is_telling else None


def _talk_id(memory: Memory) -> str:
    corrected_by_hand = memory.model is None and bool(memory.supersedes_ids)
    if memory.kind == "chunk" or not memory.source_turn_ids or corrected_by_hand:
        return memory.id
    return chunk_id(memory.user_id, memory.thread_id, memory.source_turn_ids[-1])


def _may_overtake(new: _Read, old: _Read) -> bool:
    """Whether the same speaker may have said one later than the other, in another turn."""
    if new.said_at <= old.said_at or not new.turns.isdisjoint(old.turns):
        return False
    return new.speaker is None or old.speaker is None or new.speaker == old.speaker


def with_added(shown: Sequence[Hit], found: Sequence[Hit], newer: Mapping[str, str]) -> list[Hit]:
    """The hits to show, best first. Each newer one that is not among them is added ahead of its older one."""
    by_id = {hit.memory.id: hit for hit in found}
    known = {hit.memory.id for hit in shown}
    added: dict[str, Hit] = {}
    for hit in shown:
        newer_id = newer.get(hit.memory.id)
        if newer_id is not None and newer_id not in known:
            added.setdefault(newer_id, by_id[newer_id])
        added[hit.memory.id] = hit
    return list(added.values())


def newest_first(shown: Sequence[Hit], newer: Mapping[str, str]) -> list[Hit]:
    """The hits in the order in which they are shown: each newer one takes the position of the older one above it."""
    by_id = {hit.memory.id: hit for hit in shown}
    ordered: dict[str, Hit] = {}
    for hit in shown:
        newer_id = newer.get(hit.memory.id)
        if newer_id is not None and newer_id in by_id:
            ordered.setdefault(newer_id, by_id[newer_id])
        ordered.setdefault(hit.memory.id, hit)
    return list(ordered.values())
