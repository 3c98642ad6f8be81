"""Reversals: finds claims that reverse a comparison or an order, or that say of all what was said of a part.

"Nights pay better than days" has all words of "days pay better than nights". So what is compared is the two sides of a
comparison, and what an order puts first and later. The words come from grammars of seven languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise

from agent_memory.language.grounding.clauses import content_words
from agent_memory.language.grounding.polarity import NEGATORS, words_of
from agent_memory.text.dates import DAY_NAMES
from agent_memory.text.patterns import linear
from agent_memory.text.sentences import sentences

Sides = tuple[set[str], set[str]]
_MOST = 12
"""Sentences that are compared: a text with more of them is a list. A choice."""


def reversed_sides(content: str, quoted: str) -> str | None:
    """What a claim reverses (a comparison, an order) or makes whole (a share), in words; None if nothing.

    Args:
        content: the claim.
        quoted: the sentences that it quotes.
    """
    if is_turned_comparison(content, quoted, same=True):
        return "it was compared the other way round"
    if _is_turned(list(_orders(content)), list(_orders(quoted))):
        return "it was to happen in the other order"
    return _made_whole(content, quoted)


def _side(text: str) -> set[str]:
    """The stems of a side's content words, and its figures."""
    words = words_of(text)
    stems = {stem[:_BEGINNING] for stem in content_words(words) if stem not in ("one", "ones")}
    return stems | {word for word in words if word.isdigit()}


_BEGINNING = 5
"""Letters by which forms of one word are alike where no stemmer helps: "griller", "grillées". A choice."""


def _is_turned(told: list[Sides], said: list[Sides]) -> bool:
    """Whether a claim swaps the two sides of a pair that was said, and nobody said the pair as it stands."""
    parts = [(one - two, two - one) for one, two in said]
    for first, second in ((one - two, two - one) for one, two in told):
        turned = any(first & after and second & before for before, after in parts)
        if turned and not any(first & before and second & after for before, after in parts):
            return True
    return False


# --- comparisons --------------------------------------------------------------------------------------------

_MORE = linear(
    r"\b(\p{L}{2,}er|better|worse|more|less|rather|sooner|mehr|weniger|lieber|más|menos|mayor|menor|mejor|peor|plus|moins|"
    r"meilleure?|pire|più|meno|migliore|peggiore|meglio|maggiore|minore|mais|melhor|pior|maior|meer|minder|beter|liever)\b",
    re.IGNORECASE,
)
_THAN = linear(r"\s(?:than|als|dan|que|di|del|della|dei|do que|qu['’])\s", re.IGNORECASE)
_PREFERS = linear(r"\b(?:prefers?|preferred)\s", re.IGNORECASE)
_PREFERRED_TO = linear(r"\s(?:over|to|rather than|instead of|than)\s", re.IGNORECASE)
_CLAUSE_END = linear(r"[.;!?]")
_AS_PREFERENCE = frozenset("rather sooner prefer lieber liever".split())


def is_turned_comparison(content: str, quoted: str, *, same: bool) -> bool:
    """Whether a claim swaps the sides of a comparison: with the `same` word ("more", "more"), or with another one."""
    for told, those in _compared(content):
        for said, these in _compared(quoted):
            if (told == said) is same and _is_turned([those], [these]):
                return True
    return False


def _compared(text: str) -> Iterator[tuple[str, Sides]]:
    """The comparisons of a text: the word that compares, and the two sides."""
    for part in sentences(text)[:_MOST]:
        prefers = _PREFERS.search(part)
        part = part[prefers.end() :] if prefers else part
        gap = (_PREFERRED_TO if prefers else _THAN).search(part)
        if gap is None:
            continue
        ahead = part[: gap.start()]
        words = ["prefer"] if prefers else [word.casefold() for word in _MORE.findall(ahead)[-1:]]
        for word in words:
            kind = "prefer" if word in _AS_PREFERENCE else word
            yield kind, (_side(ahead) - {word[:_BEGINNING]}, _side(_CLAUSE_END.split(part[gap.end() :])[0]))


# --- orders -------------------------------------------------------------------------------------------------

_BEFORE = r"before|bevor|ehe|antes (?:de|que)|avant (?:de|que|d['’])|prima (?:di|che)|voordat"
_AROUND = linear(rf"\b(?:({_BEFORE})|after|nachdem|después de|après|dopo|depois de|nadat)\s", re.IGNORECASE)
_NEXT_CLAUSE = linear(r",\s|\s(?:i|we|he|she|they|you)\s", re.IGNORECASE)
"""Where the next clause begins: "after the match we shower"."""
_THEN = linear(
    r"[,.;]?\s(?:and\s|und\s|y\s|et\s|e\s|en\s)?(?:then|after that|afterwards|followed by|danach|dann|"
    r"anschließend|después|luego|puis|ensuite|poi|dopodiché|depois|daarna|vervolgens)[,\s]\s?",
    re.IGNORECASE,
)
_MOST_STEPS = 6
"""Steps of a sentence that are compared. A choice."""


def _orders(text: str) -> Iterator[Sides]:
    """What comes earlier and what comes later in a text, in pairs."""
    for part in sentences(text)[:_MOST]:
        around = _AROUND.search(part)
        if around is None:
            yield from combinations([_side(step) for step in _THEN.split(part)][:_MOST_STEPS], 2)
            continue
        one, other = _side(part[: around.start()]), part[around.end() :]
        if not one and (gap := _NEXT_CLAUSE.search(other)):  # "Before we eat, we wash"
            one, other = _side(other[gap.start() :]), other[: gap.start()]
        yield (one, _side(other)) if around[1] else (_side(other), one)


# --- shares -------------------------------------------------------------------------------------------------

_PARTS = linear(
    r"\b(?:(?:an?|one|two)[ -](?:third|quarter)s?|"
    r"most|some|several|few|half|many|usually|mostly|often|sometimes|occasionally|normally|generally|typically|"
    r"rarely|meist|meistens|manchmal|oft|einige|manche|viele|gewöhnlich|normalerweise|selten|la plupart|souvent|"
    r"parfois|quelques|beaucoup|"
    r"d['’]habitude|la mayoría|algun[oa]s|much[oa]s|a menudo|a veces|normalmente|la maggior parte|alcun[ie]|"
    r"molt[ie]|spesso|di solito|a maioria|algun?s|algumas|muit[oa]s|geralmente|de meeste|sommige|vaak|soms|meestal)\b",
    re.IGNORECASE,
)
_WHOLE = linear(
    r"\b(all|whole|entire|every|each|everyone|everybody|everything|always|alle|allen|jede[rsnm]?|immer|sämtliche|tous|toutes|toujours|chaque|"
    r"tod[oa]s|siempre|cada|tutt[ie]|sempre|ogni|altijd|iedereen|elke?)\b",
    re.IGNORECASE,
)
_DAILY = linear(
    r"\b(?:every ?day|daily|jeden tag|täglich|todos los días|tous les jours|ogni giorno|todos os dias|elke dag)\b",
    re.IGNORECASE,
)
_ONLY = frozenset("only just nur solo sólo seulement soltanto apenas alleen".split())
_DAYS = frozenset(f"{day.casefold()}s" for day in DAY_NAMES) | frozenset("weekends weekdays evenings mornings".split())


def _made_whole(content: str, quoted: str) -> str | None:
    """Finds "all clients pay in cash" where most do, and "eats meat every day" where only at weekends."""
    words, said = words_of(content), words_of(quoted)
    if (
        (not NEGATORS.isdisjoint(words) and NEGATORS.isdisjoint(said))
        or _PARTS.search(content)
        or not _ONLY.isdisjoint(words)
    ):
        return None
    if not _ONLY.isdisjoint(said) and _DAILY.search(content) and not _DAILY.search(quoted):
        return "it was said of fewer days"
    whole = _WHOLE.search(content)
    if whole is None or _WHOLE.search(quoted) or not _PARTS.search(quoted) or not _DAYS.isdisjoint(said):
        return None
    told = _side(content)
    shared = any(_PARTS.search(part) and told & _side(part) for part in sentences(quoted)[:_MOST])
    behind = {after for word, after in pairwise(words) if word == whole[1].casefold()}
    return f"nobody said {whole[1]}" if shared and behind.isdisjoint(_TOGETHER) else None


_TOGETHER = frozenset("other others time".split())
"""Words after which such a word means no whole: "each other", "all the time"."""
