"""Self-corrections: "on Tuesday, no wait, on Wednesday" says Wednesday."""

from __future__ import annotations

import re
from itertools import islice

from agent_memory.language.grounding.measures import UNITS
from agent_memory.language.grounding.polarity import NEGATORS, words_of
from agent_memory.text.calendar_words import with_english_calendar
from agent_memory.text.dates import CALENDAR, MONTH_NAMES
from agent_memory.text.figures import NUMBERS
from agent_memory.text.patterns import linear
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS

_MARKER = linear(
    r"\s*[,;–—…-]+\s*(?:(?:no|wait|sorry|actually),?\s+)?(no,? espera|nein,? warte|no|nein|non|wait|sorry|scratch that|"
    r"make that|i mean|i meant|or rather|correction|warte|quatsch|ich meine|ich meinte|besser gesagt|vielmehr|"
    r"entschuldigung|perdón|digo|mejor dicho|quiero decir|pardon|je veux dire|plutôt|scusa|anzi|volevo dire)"
    r"\s*[,:;–—…]*\s+|\s(no,? sorry|no,? wait|scratch that|make that|sorry,? i mean)\s",
    re.IGNORECASE,
)
_BARE = frozenset({"no", "nein", "non"})
"""Markers that also answer or address somebody: they correct a figure or a date only."""
_LEADING = frozenset(
    """it's it is es ist at in on to for by from of with the a an am im um auf nach zu zum zur bei mit ab der die das
    den dem el la los las al en de del para por con es à au le les il lo alle""".split()
)
_SMALL = _LEADING | SMALL_WORDS | FUNCTION_WORDS | {"dr", "s", "course", "natürlich"}
_UNITS = frozenset(unit for units in UNITS for unit in units)
"""What a correction may have beside its values and the words of what it corrects; a unit only if there was none."""
# Words that add a value to another; and words before a name that is a place's, not a person's.
_ADDING = frozenset("and also too plus another und auch y también et aussi e anche também en ook".split())
_PLACED = linear(r"\b(?:at|in|to|from|for|by|on|im|in|bei|aus|nach|en|de|à|au|a|em|no|na|op|naar)\s$", re.IGNORECASE)
_NAME_BEFORE = linear(r"\p{Lu}[\w'’-]*\s$")
_FARTHEST = 4
"""Words between a marker and a value that it corrects or brings."""
_REACH, _MOST = 200, 50
"""Characters on either side of a marker that are read, and markers of a text. They bound the work; choices."""
_CLAUSE_END = linear(r"[.,;:!?]\s")
_BRIEF_END = linear(r"[,;:!?]\s")
_WORD = linear(r"\S+")
_SIGNS = '.,;:!?€$£%()"'


def corrected(text: str) -> str:
    """The text without values that the speaker took back in the same breath."""
    done, near, at = list[str](), "", 0
    for marker in islice(_MARKER.finditer(text), _MOST):
        near += text[at : marker.start()]
        done.append(near[:-_REACH])
        near, at = near[-_REACH:], max(at, marker.start())
        after = text[marker.end() : marker.end() + _REACH]
        if found := _taken_back(near, after, bare=(marker[1] or "").casefold() in _BARE):
            near, at = found[0], marker.end() + found[1]
    return "".join([*done, near, text[at:]])


def first_clause(text: str) -> str:
    """A text up to the first mark that ends a clause within a sentence."""
    end = _BRIEF_END.search(text)
    return text[: end.start()] if end else text


def revised(said: str, correction: str, *, sure: bool = False) -> str | None:
    """A statement with the values at the beginning of a correction in place of its own.

    None unless it has as many values of each kind. A capital at the beginning of a sentence makes no name. What asks,
    adds or has words of its own is about something else: "I take 20 mg. Hmm, 40 pills left." A name alone may be that
    of the person addressed, unless the correction is `sure`.
    """
    brought = first_clause(correction)
    new, old = _values(brought, opens=True), _values(said, opens=False)
    kinds = {kind for kind, _, _ in new}
    pairs = [one for one in old if one[0] in kinds]
    if not new or not NEGATORS.isdisjoint(words_of(brought)) or len(pairs) != len(new) or "?" in correction:
        return None
    if not sure and any(kind == "name" and not _PLACED.search(brought[:start]) for kind, start, _ in new):
        return None
    if not _ADDING.isdisjoint(words_of(brought)):
        return None
    beside = set(words_of(brought)) - {word for _, start, end in new for word in words_of(brought[start:end])}
    counted = any(kind == "figure" and not _SMALL.issuperset(words_of(said[end:])[:1]) for kind, _, end in pairs)
    if not beside <= set(words_of(said)) | _SMALL | (set() if counted else _UNITS):
        return None
    text = said
    for kind, start, end in reversed(pairs):
        at = next((at for at in range(len(new) - 1, -1, -1) if new[at][0] == kind), None)
        if at is None:
            return None
        _, first, last = new.pop(at)
        text = f"{text[:start]}{brought[first:last]}{text[end:]}"
    return text if text != said else None


def _values(text: str, *, opens: bool) -> list[tuple[str, int, int]]:
    """The kind and the place of each figure, month, weekday and name in a text."""
    found = []
    for word in _WORD.finditer(text):
        core = word[0].strip(_SIGNS)
        kind = _kind(core) if core else None
        if kind and not (kind == "name" and ((not opens and word.start() == 0) or "'" in core or "’" in core)):
            start = word.start() + word[0].index(core)
            found.append((kind, start, start + len(core)))
    return found


def _taken_back(before: str, after: str, *, bare: bool) -> tuple[str, int] | None:
    """The text `before`, with the new value in place of the old one, and where the new one ends in `after`.

    None if nothing is corrected.
    """
    new = _first_value(after)
    kind = _kind(new) if new else None
    clause = _CLAUSE_END.split(before)[-1]
    if new is None or kind is None or (bare and kind == "name") or not NEGATORS.isdisjoint(words_of(clause)):
        return None
    old = next((word for word in clause.split()[: -_FARTHEST - 1 : -1] if _kind(word) == kind), None)
    if old is None or old == new:
        return None
    start = before.rindex(old)
    behind, end = before[start + len(old) :], after.index(new) + len(new)
    following = after[end:].lstrip()[:1]
    if kind == "name" and (_NAME_BEFORE.search(before[:start]) or following.isupper()):
        return None  # a part of a longer name
    repeated = {stem(word) for word in words_of(behind)} & {stem(word) for word in words_of(after[end:])[:_FARTHEST]}
    return before[:start] + new + ("" if repeated else behind), end


def _first_value(text: str) -> str | None:
    """The first figure, date or name of a text, if only articles and the like come before it."""
    for word in text.split()[:_FARTHEST]:
        plain = word.rstrip(".,;:!?")
        if _kind(plain):
            return plain
        if word.casefold() not in _LEADING:
            break
    return None


def _kind(word: str) -> str | None:
    plain = with_english_calendar(word.strip(".,;:!?€$£%")).casefold()
    if plain[:1].isdigit() or plain in NUMBERS:
        return "figure"
    if plain in _MONTHS:
        return "month"
    if plain in CALENDAR:
        return "day"
    return "name" if word[:1].isupper() and len(word) > 1 else None


_MONTHS = frozenset(name.casefold() for name in MONTH_NAMES)
