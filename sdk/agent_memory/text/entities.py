"""Entities: the people, places and things named in a text, by capital letters and the words around them.

No model is called and nothing is stored. In a script without capitals nothing is found; a caller can pass known names.
German, which capitalises every noun, gives many things.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from agent_memory.text.dates import CALENDAR, DAY_NAMES, DAYS, MONTHS
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.stop_words import FUNCTION_WORDS, QUESTION_WORDS

EntityKind = Literal["person", "place", "thing"]

_MARKS = frozenset(".!?؟…。！？:\n")
_JOINS = frozenset((" ", "-", "'", "’", " & "))
_TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof"))
_NO_NAMES = frozenset(
    {"user", "agent", "assistant", "ok", "okay", "yes", "hi", "hello", "thanks"}
    | _TITLES
    | CALENDAR
    | {f"{name.lower()}s" for name in DAY_NAMES}
    | (MONTHS.keys() | DAYS.keys()) - {"jan"}
    | QUESTION_WORDS
    | FUNCTION_WORDS
)
_RELATIVES = frozenset(
    """sister brother mother father mom mum dad wife husband son daughter friend boss colleague partner girlfriend
    boyfriend fiancé fiancée uncle aunt nephew niece cousin neighbour neighbor teacher doctor manager mentor grandmother
    grandfather parents kids schwester bruder mutter vater frau mann freund freundin kollege hermana hermano madre padre
    esposa esposo amiga amigo irmã irmão mãe pai soeur sœur frère mère père sorella fratello""".split()
)
_OF_PEOPLE = _RELATIVES | _TITLES
"""A name after one of these is usually a person's."""
_CALLED = frozenset(("called", "named"))
"""A name after one of these is a person's if the words before speak of one: not "a game called Dune"."""
_COMPANY = frozenset(
    """meet meets met meeting talk talked talking chat chatted chatting speak spoke speaking lunch dinner breakfast
    coffee call live lives living share shared discuss discussed discussing dating engaged married went going hang hung
    hanging trip date feedback catch caught work worked working session""".split()
)
"""Before "with" they show that the next name is a person's."""
_PERSONAL = frozenset("he she him her his hers himself herself él ella lui elle ele ela".split())
"""One of these soon after a name shows that it is a person's."""
_NEAR = 8
"""How many words before and after a name are looked at."""
_OF_PLACES = frozenset("in near at visit visited visiting en em à em nach aus".split())
_OF_WAYS = frozenset("to from".split())
_TRAVEL = frozenset(
    "move moved moving travel travelled traveling trip fly flew flying flight go going went come came drive".split()
)
"""Before "to" and "from" they show that the next name is a place."""
_DEEDS = frozenset(
    """says said thinks likes loves lives works wants told asked studies plays met married mentioned prefers recommended
    recommends suggested suggests advised approved agreed helped invited gave turned""".split()
)
"""A name before one of these is usually a person's."""
_BEFORE = frozenset("by recommended suggested".split())
_PLACE_NOUNS = frozenset(
    """house cottage hotel hostel inn resort restaurant café cafe grill bistro bakery street road avenue park beach
    island islands lake mountain mountains valley canyon river coast museum library university school hospital clinic
    airport station square garden gardens city county bridge church gallery center centre hall spa hq""".split()
)
"""A name that ends with one of these is a place's."""
_CODE = linear(r"^[^\p{Ll}\p{Lo}]+$|[\d_]|\w{3,}\p{Ll}\p{Lu}")
"""Names as "API", "HTML5" and "JavaScript": no person's."""
_KNOWN = 2
"""How many mentions a known place counts for: "Jordan" and "Paris" are people, too."""
_LEAST = 8
"""One mention of so many shows a kind: of a name that is often mentioned, one is an accident."""


class Mention(NamedTuple):
    """A name in a text, its possible kind (None: unknown), and whether it begins a sentence.

    `whole` is the name with the word of grammar that begins the sentence before it: "Los Angeles" or "But Angela".
    """

    name: str
    kind: EntityKind | None
    begins: bool
    whole: str | None = None


def mentions(text: str) -> list[Mention]:
    """The names in a text in their order: runs of capitalised words, without days, months and words of grammar."""
    words = list(WORD.finditer(text))
    found: list[Mention] = []
    at = 0
    while at < len(words):
        end = _run(text, words, at)
        if end > at:
            name = text[words[at].start() : words[end - 1].end()]
            begins = _begins(text, words, at)
            # "Ask Ana": a verb at the start of a sentence is not part of the name after it.
            leads = at > 0 and _begins(text, words, at - 1) and _leads(text, words, at - 1)
            whole = f"{words[at - 1][0]} {name}" if leads else None
            found.append(Mention(name, _kind(text, words, at, end), begins, whole))
        at = max(end, at + 1)
    return found


def names_in(text: str, known: Collection[str]) -> set[str]:
    """Which of these names a text holds as whole words, in any case."""
    folded = text.casefold()
    return {name for name in known if _holds(folded, name.casefold())}


def _run(text: str, words: list[re.Match[str]], at: int) -> int:
    """Behind the last word of the name that begins at a word; `at` if none does."""
    end = at
    while end < len(words) and (
        _is_name(words[end][0]) or (_leads(text, words, end) and not _begins(text, words, end))
    ):
        if end > at and text[words[end - 1].end() : words[end].start()] not in _JOINS:
            break
        end += 1
    return end


def _leads(text: str, words: list[re.Match[str]], at: int) -> bool:
    """Whether a word of grammar has a capital and a name after it, as in "Los Angeles" or "De Gaulle"."""
    word, rest = words[at][0], words[at + 1 : at + 2]
    if len(word) < 2 or not word[0].isupper() or word.isupper() or word.casefold() not in FUNCTION_WORDS:
        return False
    return bool(rest) and text[words[at].end() : rest[0].start()] == " " and _is_name(rest[0][0])


def _is_name(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and word.casefold() not in _NO_NAMES


def _begins(text: str, words: list[re.Match[str]], at: int) -> bool:
    gap = text[words[at - 1].end() : words[at].start()] if at else ""
    return at == 0 or not _MARKS.isdisjoint(gap)


def _kind(text: str, words: list[re.Match[str]], at: int, end: int) -> EntityKind | None:
    before = [words[place][0].casefold() for place in range(max(0, at - _NEAR), at)]
    behind = [words[place][0].casefold() for place in range(end, min(end + _NEAR, len(words)))]
    if at == 0 and text.startswith(": ", words[end - 1].end()):  # the speaker, as a memory renders it
        return "person"
    if before and before[-1] in _OF_PLACES:
        return "place"
    if len(before) > 1 and before[-1] in _OF_WAYS and not _TRAVEL.isdisjoint(before[-3:-1]):
        return "place"
    return "person" if _is_person(text, words, end, before, behind) else None


def _is_person(text: str, words: list[re.Match[str]], end: int, before: list[str], behind: list[str]) -> bool:
    if not _OF_PEOPLE.isdisjoint(before[-2:]) or (before and before[-1] in _BEFORE):
        return True
    if not _CALLED.isdisjoint(before[-2:]) and not (_PERSONAL | _RELATIVES).isdisjoint(before):
        return True
    if before and before[-1] == "with" and not (_COMPANY | _TRAVEL).isdisjoint(before):
        return True
    if behind and (behind[0] in _DEEDS or behind[:2] in (["and", "i"], ["and", "me"])):
        return True
    if behind[:1] == ["s"] and behind[1:2] and behind[1] in _RELATIVES:
        return True
    soon = [words[end + place] for place, word in enumerate(behind) if word in _PERSONAL]
    return bool(soon) and _MARKS.isdisjoint(text[words[end - 1].end() : soon[0].start()])


def _holds(folded: str, name: str) -> bool:
    at = folded.find(name)
    while at >= 0:
        before, behind = folded[at - 1 : at], folded[at + len(name) : at + len(name) + 1]
        # A script without blanks between words has no borders to look at.
        if not name.isascii() or not (before.isalnum() or behind.isalnum()):
            return True
        at = folded.find(name, at + 1)
    return False


def most_likely(name: str, kinds: Sequence[EntityKind | None]) -> EntityKind:
    """What a name is of, by its form and by what its mentions show: a thing if they show nothing."""
    votes = Counter(kind for kind in kinds if kind is not None)
    if name.split()[-1].casefold() in _PLACE_NOUNS:
        return "place"
    if name.casefold() in _known_places():
        votes["place"] += _KNOWN
    if _CODE.search(name):
        del votes["person"]
    order: tuple[EntityKind, ...] = ("person", "place")
    kind = max(order, key=lambda kind: votes[kind])
    return kind if _LEAST * votes[kind] >= max(len(kinds), 1) else "thing"


@cache
def _known_places() -> frozenset[str]:
    """Countries, and the cities that time zones are named after, of the IANA time zone database."""
    folder = files("tzdata")
    zones = folder.joinpath("zones").read_text("utf-8").split()
    lines = folder.joinpath("zoneinfo", "iso3166.tab").read_text("utf-8").splitlines()
    countries = (line.split("\t")[1].partition(" (")[0] for line in lines if not line.startswith("#"))
    cities = (
        zone.rpartition("/")[2].replace("_", " ") for zone in zones if "/" in zone and not zone.startswith("Etc/")
    )
    return frozenset(name.casefold() for name in (*countries, *cities, "UK", "USA"))
