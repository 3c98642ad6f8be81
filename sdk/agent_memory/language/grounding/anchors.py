"""Anchors: checks that a claim keeps each figure and name with the words beside which it was said.

"The kitchen came in at 11,800, the bathroom at 6,200" has all words of "the bathroom cost 11,800". So each figure and
each name (an "anchor") belongs to its own part of the sentence. A claim whose other words come from another part has
moved the anchor there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from agent_memory.language.grounding.clauses import content_words, is_about_user, stems_of
from agent_memory.language.grounding.measures import in_digits, is_unit, without_scales
from agent_memory.language.grounding.polarity import CLAUSE, NEGATORS, words_of
from agent_memory.language.grounding.reversals import is_turned_comparison
from agent_memory.text.dates import CALENDAR, DAY_NAMES, MONTH_NAMES
from agent_memory.text.names import names
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.people import ME, SAME_KIN
from agent_memory.text.sentences import sentences
from agent_memory.text.stop_words import SMALL_WORDS

_PARTS = linear(
    r"[,;:.!?]\s+|\s[–—-]\s|\s(?:and|but|with|while|whereas|including|und|aber|mit|y|pero|con|et|mais|avec|e|ma)\s"
)
_CALENDAR = frozenset(name.casefold()[:3] for name in (*MONTH_NAMES, *DAY_NAMES))
_FIGURE = linear(r"\d+(?:[.,:]\d+)*")
_OPPOSITES = [
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("buy buys bought buying purchased purchases kaufte gekauft", "sell sells sold selling verkauft verkaufte"),
        ("lend lends lent lending", "borrow borrows borrowed borrowing"),
        ("gross brutto bruto brut lordo", "net netto neto nette"),
        ("older eldest oldest elder", "younger youngest"),
        ("bigger larger biggest largest more most taller", "smaller smallest fewer less least shorter"),
        (
            "increase increased increases raised rose risen higher",
            "decrease decreased decreases reduced fell lower down",
        ),
        ("plus", "moins"),
        ("better best", "worse worst"),
        ("besser bessere", "schlechter schlechtere"),
        ("mejor mejores", "peor peores"),
        ("meilleur meilleure mieux", "pire"),
        ("meglio migliore", "peggio peggiore"),
        ("größer größere groß", "kleiner kleinere klein"),
        ("grande grandes", "pequeño pequeña pequeños pequeñas"),
        ("grand grande grands grandes", "petit petite petits petites"),
        ("más", "menos"),
        ("più", "meno"),
        ("mehr", "weniger"),
        ("win wins won winning", "lose loses lost losing"),
        ("accept accepts accepted accepting", "decline declined declines reject rejected refused turned"),
        ("arrive arrives arrived arriving arrival", "leave leaves left leaving depart departs departed departure"),
        ("open opens opened opening", "close closes closed closing"),
        ("first earliest", "last latest"),
        ("morning mornings breakfast morgens", "evening evenings dinner night nights abends"),
        ("single", "married"),
        ("hot warm warmer", "cold cool cooler"),
        ("cheaper cheapest cheap", "pricier expensive dearer dear"),
        ("faster fastest quicker", "slower slowest"),
        ("landlord landlady", "tenant tenants"),
        ("employer employs employed", "employee employees"),
        ("import imports imported", "export exports exported"),
        ("daily täglich", "weekly wöchentlich monthly monatlich yearly annually annual"),
    )
]
"""Pairs of sets: words that mean the opposite of each other."""


def out_of_place(content: str, quoted: str) -> str | None:
    """The first figure, name or opposite that a claim puts where it was not said; None if there is none."""
    content, quoted = without_scales(content), without_scales(quoted)
    return (
        _opposite(content, quoted)
        or _other_rate(content, quoted)
        or _counted(content, quoted)
        or _moved(content, quoted)
        or _crossed(content, quoted)
        or next((why for part in content.split(" and ")[:_MOST] if (why := _other_half(part, quoted))), None)
    )


def _crossed(content: str, quoted: str) -> str | None:
    """Finds "Ann pays 20" if Ann pays 30 and Bob 20: the figure belongs to something else."""
    figures = frozenset(_figures(content))
    if len(figures) != 1:
        return None
    claim = _told(content)
    parts = [(frozenset(_figures(text)), text) for text in _PARTS.split(quoted)]
    homes = [text for found, text in parts if figures <= found]
    rivals = [text for found, text in parts if found and figures.isdisjoint(found)]
    for rival in rivals if len(homes) == 1 and _told(homes[0]) else ():
        # "230 guests were invited, 180 came"
        counted = stems_of(_COUNTED.findall(in_digits(homes[0]))) if rival.strip()[:1].isdigit() else frozenset[str]()
        own, other = _told(homes[0]) - _told(rival) - counted, _told(rival) - _told(homes[0])
        named = [stems_of(one for one in _anchors(text, inside=True) if one.isalpha()) for text in (homes[0], rival)]
        if _begins(content, rival) and not _begins(content, homes[0]) and not claim & stems_of([_head(homes[0])]):
            return f"{min(figures)} was said of something else"
        if claim & other and (not _meets(claim, own) or (named[0] and claim & named[1] and claim.isdisjoint(named[0]))):
            return f"{min(figures)} was said of something else"
    return None


_COUNTED = linear(r"\d\s(\p{L}+)")


def _head(text: str) -> str:
    """The first content word of a text: what it is about."""
    return next((word for word in words_of(text) if content_words([word])), "")


def _begins(claim: str, part: str) -> bool:
    """Whether a claim and a part of a sentence are about the same thing."""
    return bool(stems_of([_head(claim)]) & stems_of([_head(part)]))


def _figures(text: str) -> list[str]:
    return [one.strip(".,") for one in _FIGURE.findall(in_digits(text))]


_RATE = linear(
    r"\b(?:per|an?|each|every)\s+(second|minute|hour|day|night|week|month|quarter|year)\b|"
    r"\b(hour|dai|week|month|quarter|year)ly\b",
    re.IGNORECASE,
)


_PER = linear(r"\s?/\s?(sec|s|min|hr|h|day|wk|mo|yr)\b", re.IGNORECASE)
_PER_UNITS = {"sec": "second", "s": "second", "min": "minute", "hr": "hour", "h": "hour", "day": "day", "wk": "week",
              "mo": "month", "yr": "year"}  # fmt: skip


def _other_rate(content: str, quoted: str) -> str | None:
    """Finds "a cup a week" if a cup a day was said."""
    content, quoted = (
        _PER.sub(lambda unit: f" per {_PER_UNITS[unit[1].casefold()]}", text) for text in (content, quoted)
    )
    told, said = (
        {"".join(found).casefold().replace("dai", "day") for found in _RATE.findall(text)} for text in (content, quoted)
    )
    if told and said and told.isdisjoint(said):
        return f"nobody said a {min(told)}"
    here, there = (
        {
            number
            for word in _TIMES.findall(text.casefold())
            if (number := in_digits(word.removesuffix(" times"))).isdigit()
        }
        for text in (content, quoted)
    )
    return f"nobody said {min(here)} times" if here and there and here.isdisjoint(there) else None


_TIMES = linear(
    r"\b(once|twice|\w+\stimes)\s(?:(?:an?|per|each|every)\s(?:hour|day|night|week|month|year)|daily|weekly|monthly)\b"
)


def _opposite(content: str, quoted: str) -> str | None:
    parts = [words_of(part) for part in CLAUSE.split(_BOUND.sub(" ", quoted))]
    words, quote = words_of(_BOUND.sub(" ", content)), [word for part in parts for word in part]
    denied = {word for part in parts if not NEGATORS.isdisjoint(part) for word in part}
    told, said = set(words), set(quote)
    if not NEGATORS.isdisjoint(told):
        return None
    for pair in _OPPOSITES:
        for here, there in (pair, pair[::-1]):
            if (found := told & here) and not told & there and said & there - denied and not said & here:
                if pair in _CONVERSES and _is_the_other(words, quote, there):
                    continue  # "Marcus bought it from Leo", whom Leo sold it
                if is_turned_comparison(content, quoted, same=False):
                    continue  # "A gives more than B", which gives less than A
                return f"{min(found)} is the opposite of what was said"
    return None


_BOUND = linear(
    r"\b(?:at (?:least|most)|no (?:more|less|fewer) than|or (?:more|less|fewer|so)|more or less)\b", re.IGNORECASE
)
"""Bounds of figures, which the module `bounds` compares."""
_CONVERSES = [
    _OPPOSITES[0],
    _OPPOSITES[1],
    *(pair for pair in _OPPOSITES if not pair[0].isdisjoint(("landlord", "employer"))),
]
"""Opposites that say the same thing seen from the other side: who buys it, and who sells it."""


def _is_the_other(words: Sequence[str], quote: Sequence[str], verbs: frozenset[str]) -> bool:
    """Whether a claim begins with somebody who comes after the verb in its quote."""
    place = next(at for at, word in enumerate(quote) if word in verbs)
    if is_about_user(words):
        return not ME.isdisjoint(quote[place:])
    return words[0].removesuffix("'s") in {word.removesuffix("'s") for word in quote[place:]}


def _counted(content: str, quoted: str) -> str | None:
    """Finds "40 developers" if 40 people and 12 developers were said."""
    told, said = _after_figures(content, 1), _after_figures(_ARTICLE.sub("1 ", quoted), 3)
    counts: dict[str, set[str]] = {}
    for figure, things in said.items():
        for thing in things:
            counts.setdefault(thing, set()).add(figure)
    for figure, things in told.items():
        if (
            figure != "1"
            and said.get(figure)
            and said[figure].isdisjoint(things)
            and any(counts.get(one) for one in things)
        ):
            return f"{figure} was said of something else"
    return None


_ARTICLE = linear(r"\ban?\s", re.IGNORECASE)
"""An article that means one: "three cats and a dog"."""


def _after_figures(text: str, most: int) -> dict[str, set[str]]:
    """For each figure, the beginnings of the content words among the next few words."""
    found: dict[str, set[str]] = {}
    words = in_digits(text.casefold()).split()
    for at, word in enumerate(words):
        if figure := _FIGURE.search(word):
            behind = content_words(words_of(" ".join(words[at + 1 : at + 1 + most])))
            things = {one[:3] for one in behind if not (one.isdigit() or one[:3] in _CALENDAR or is_unit(one))}
            found.setdefault(figure[0].strip(".,"), set()).update(things)
    return found


def _moved(content: str, quoted: str) -> str | None:
    texts = [part for sentence in sentences(in_digits(quoted)) for part in _PARTS.split(sentence) if part.strip()]
    parts = [(_anchors(text, inside=True), _told(text)) for text in texts]
    homes: dict[str, list[frozenset[str]]] = {}
    for anchors, told in parts:
        for anchor in anchors:
            homes.setdefault(anchor, []).append(told)
    subjects = {text.split()[0] for text in texts if not _IS.isdisjoint(text.split()[1:2])}
    compared = 0
    for claim in _PARTS.split(in_digits(content)) if len(parts) > 1 else ():
        anchors = _anchors(claim, inside=not claim.startswith(("User", "The user", "Der Nutzer")))
        told = _told(claim)
        for anchor in sorted(anchors & homes.keys()):
            compared += 1
            home = homes[anchor]
            itself = {anchor.casefold()[:8]}
            about = home[0] - itself
            # A bare name addresses somebody: "Thanks, Nate!"
            fewest = 2 if anchor.isalpha() and anchor not in subjects else 1
            if len(home) > 1 or len(about) < fewest or _meets(told - itself, about) or compared > _MOST:
                continue
            if any(others and others.isdisjoint(anchors) and told & rival for others, rival in parts):
                return f"{anchor} was said of something else"
    return None


_IS = frozenset("is was are were has had".split())
_MOST = 12
"""Figures and names of a claim that are compared: a claim with more of them is a list. A choice."""


def _meets(told: frozenset[str], about: frozenset[str]) -> bool:
    """Whether two clauses share a word, perhaps a short form of it: "prod" is production."""
    return any(one == two or (len(one) > 3 and two.startswith(one)) for one in about for two in told)


def _told(part: str) -> frozenset[str]:
    words = [SAME_KIN.get(word.removesuffix("'s"), word) for word in words_of(part)]
    return frozenset(word for word in content_words(words) if not word.isdigit())


def _anchors(part: str, *, inside: bool = False) -> frozenset[str]:
    """The figures and the names in a part of a sentence."""
    found = {figure.replace(",", "") for figure in _FIGURE.findall(part)}
    capitals = [*names(part), *(WORD.findall(part)[:1] if inside else [])]
    if not _NOUNS_HAVE_CAPITALS.isdisjoint(words_of(part)):
        capitals = []
    return frozenset(found | {word for word in capitals if word[:1].isupper() and word.casefold() not in SMALL_WORDS})


_NOUNS_HAVE_CAPITALS = frozenset("ich und der die das den dem ein eine im ist bin mein meine wir zum zur".split())


# --- halves -------------------------------------------------------------------------------------------------

_RIVALS = [
    frozenset(names.split())
    for names in (
        " ".join(day.casefold() for day in DAY_NAMES),
        "morning evening night afternoon noon lunch breakfast dinner",
        "older elder eldest younger youngest oldest",
        "first second third fourth last",
        "small smaller big bigger large larger little",
        "old new",
        "left right",
        "red blue green black white yellow brown grey",
        "mum mom mother dad father",
        "wife husband",
        "brother sister",
        "son daughter",
    )
]
"""Words of one kind: a sentence with two of them is about two things."""
_HALVES = linear(r"[,;:]\s+|\s(?:and|but|while|whereas)\s")
_PLACED = linear(r"\b(?i:in|at|from|to|with|for|on)\s(\p{Lu}[\p{L}\p{M}]+)|\b(\p{Lu}[\p{L}\p{M}]+)['’]s\b")
_MOST_HALVES = 8
"""Parts of a sentence that are compared. A choice."""


def _other_half(content: str, quoted: str) -> str | None:
    """Finds "yoga on Thursdays" if yoga is on Tuesdays and pottery on Thursdays."""
    halves = [part for one in sentences(quoted) for part in _HALVES.split(one) if len(words_of(part)) > 2][
        :_MOST_HALVES
    ]
    known = [(_kinds(part), stems_of([part]), words_of(part)) for part in halves]
    told, stems, said = _kinds(content), stems_of([content]), frozenset(words_of(content))
    for kinds, here, _ in known:
        for others, there, words in known:
            for own, other, claimed in zip(kinds, others, told, strict=True):
                anchors, rivals = own - other, other - own
                if not (anchors & claimed and rivals) or rivals & (claimed | said):
                    continue
                # "The left speaker works, the right one doesn't" speaks of two speakers.
                things = stems_of(behind for word, behind in pairwise(words) if word in rivals)
                about = stems - stems_of(anchors | rivals) - things
                if about & (there - here) and not about & (here - there - stems_of(anchors)):
                    return f"{min(anchors & claimed)} was said of something else"
    return None


def _kinds(text: str) -> list[frozenset[str]]:
    """The anchors of a text by their kind: those of each list of rivals, and names after a preposition."""
    words = frozenset(word.removesuffix("s") if word.endswith("days") else word for word in words_of(text))
    placed = frozenset(one.casefold() for found in _PLACED.findall(text) for one in found if one)
    return [*(words & rivals for rivals in _RIVALS), placed - CALENDAR]
