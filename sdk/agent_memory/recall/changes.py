"""Changes: which of the things that a search found says something newer about what another one says.

A ranking knows what is near to a question, not what holds now: the first statement of a value is often nearer to the
question than the later one that replaced it. So what was found is compared pair by pair: the same speaker, words of the
question in common, and another value or a word of change in the newer one. The newer one is told, and the older one
under it with a mark. Nothing is lost when the comparison errs: both are told, each with its day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent_memory.models import Hit, Memory
from agent_memory.store.chunks import speaker_of, words_of
from agent_memory.text.figures import FIGURE, NUMBERS
from agent_memory.text.patterns import WORD
from agent_memory.text.sentences import sentences
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import FUNCTION_WORDS, QUESTION_WORDS

NEWER = frozenset(
    """actually anymore bumped cancelled canceled changed changing correction dropped ended finally gone instead longer
    moved moving never now quit raised replaced rescheduled scrapped stopped swapped switched switching update updated
    upped

    abgesagt doch geändert gekündigt gewechselt jetzt mehr nunmehr statt stattdessen umgezogen verschoben

    ahora cambiado cambié cambió dejé mudé ya
    maintenant désormais changé déménagé plutôt annulé
    agora mudei mudou cancelado cancelei
    adesso ora cambiato spostato annullato invece
    nu verhuisd veranderd voortaan""".split()
)
"""Words by which people say that something is no longer as it was, in seven languages."""
_UNITS = {"$": "money", "€": "money", "£": "money", "¥": "money", "%": "share", "eur": "money", "usd": "money"}
_MONTHS = frozenset(
    """january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence as it is compared."""

    stems: frozenset[str]
    values: tuple[tuple[str, str], ...]
    """Of each figure: what it measures (money, a share, a time, a day; else empty), and the figure."""
    is_change: bool


def newer_versions(hits: Sequence[Hit], query: str) -> dict[str, str]:
    """For each memory that another one overtakes: the id of the newest that does."""
    asked = _stems(query)
    read = [(hit.memory, _statements(words_of(hit.memory))) for hit in hits]
    found: dict[str, str] = {}
    by_age = sorted(read, key=lambda one: one[0].last_said_at, reverse=True)
    for place, (old, olds) in enumerate(by_age):
        for new, news in by_age[:place]:
            if _may_overtake(new, old) and any(_overtakes(n, o, asked) for n in news for o in olds):
                found[old.id] = new.id
                break
    return found


def _may_overtake(new: Memory, old: Memory) -> bool:
    """Whether one was said later than the other, by the same, in another turn."""
    if new.last_said_at <= old.last_said_at or new.source != old.source:
        return False
    if not set(new.source_turn_ids).isdisjoint(old.source_turn_ids) and new.thread_id == old.thread_id:
        return False
    if new.kind == old.kind == "chunk":
        return speaker_of(new) == speaker_of(old)
    return True


def _overtakes(new: _Statement, old: _Statement, asked: frozenset[str]) -> bool:
    """Whether one says something else about what is asked than the other: in words of change, or in other figures.

    Two words must stand in both, one of them of the question; both of them where only the figures differ. Of looser
    and stricter forms, this one found a change in 9 pairs of 20 labelled conversations, 7 of them rightly and none in
    the 41 pairs that look like one; one word of the question for figures too: 16 pairs, 8 rightly, 1 of the 41.
    """
    common = new.stems & old.stems
    shared = common & asked
    if not shared:
        return False
    return (new.is_change and len(common) > 1) or (len(shared) > 1 and _values_differ(new, old))


def _values_differ(new: _Statement, old: _Statement) -> bool:
    """Whether both have figures of one kind, and none in common."""
    kinds = {kind for kind, _ in new.values} & {kind for kind, _ in old.values}
    ours = {figure for kind, figure in new.values if kind in kinds}
    theirs = {figure for kind, figure in old.values if kind in kinds}
    return bool(kinds) and ours.isdisjoint(theirs)


@lru_cache(maxsize=4096)
def _statements(text: str) -> tuple[_Statement, ...]:
    return tuple(_statement(sentence) for sentence in sentences(text)[:40])


def _statement(sentence: str) -> _Statement:
    words = [(word[0], word.start(), word.end()) for word in WORD.finditer(sentence)]
    values = []
    for found in FIGURE.finditer(sentence):
        values.append(_value(sentence, found[0], found.start(), found.end(), words))
    for word, start, end in words:
        if word.lower() in NUMBERS:
            values.append(_value(sentence, str(NUMBERS[word.lower()]), start, end, words))
    lower = {word.lower() for word, _, _ in words}
    return _Statement(_stems(sentence), tuple(values), not lower.isdisjoint(NEWER))


def _value(sentence: str, figure: str, start: int, end: int, words: Sequence[tuple[str, int, int]]) -> tuple[str, str]:
    before = [word.lower() for word, _, stop in words if stop <= start][-1:]
    after = [word.lower() for word, begin, _ in words if begin >= end][:1]
    sign = _UNITS.get(sentence[start - 1 : start]) or _UNITS.get(sentence[end : end + 1])
    kind = sign or next((_UNITS[word] for word in after if word in _UNITS), "")
    if not kind and ":" in figure:
        kind = "time"
    if not kind and not _MONTHS.isdisjoint((*before, *after)):
        kind = "day"
    return kind, figure.replace(",", "")


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower()) for word in WORD.findall(text) if _tells(word.lower()))


def _tells(word: str) -> bool:
    return len(word) > 1 and not word.isdigit() and word not in QUESTION_WORDS and word not in FUNCTION_WORDS


def with_newer(told: Sequence[Hit], found: Sequence[Hit], newer: Mapping[str, str]) -> list[Hit]:
    """The hits to tell: the newest version stands in the place of an older one, and the older one behind it."""
    by_id = {hit.memory.id: hit for hit in found}
    ordered: dict[str, Hit] = {}
    for hit in told:
        version = newer.get(hit.memory.id)
        if version is not None:
            ordered.setdefault(version, by_id[version])
        ordered.setdefault(hit.memory.id, hit)
    return list(ordered.values())
