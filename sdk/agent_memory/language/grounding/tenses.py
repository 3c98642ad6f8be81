"""Tenses: finds claims about now, or about every time, that rest on what was said of the past or of one time.

In English; `foreign_tenses` reads six other languages. "I was on sertraline" is over, "I had a beer last night" is no
habit. A past that leads to a lasting state ("I was born", "we got married") and a present perfect say something about
now, so they pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from agent_memory.language.grounding.clauses import content_words
from agent_memory.language.grounding.foreign_tenses import other_foreign_time
from agent_memory.language.grounding.polarity import NEGATORS, words_of
from agent_memory.language.offline.text import stem as lemma
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.dates import DAY_NAMES, MONTH_NAMES
from agent_memory.text.languages import ENGLISH_ALONE, is_foreign
from agent_memory.text.people import KIN
from agent_memory.text.sentences import sentences


def other_time(content: str, quoted: str) -> str | None:
    """Why a claim may not say "is" or "always": it was said of the past, or of one time. None if it may.

    Args:
        content: the claim.
        quoted: the sentences that it quotes.
    """
    words, said = words_of(content), words_of(quoted)
    is_then = _is_then(words) or not _WHEN.isdisjoint(words)
    if (ENGLISH_ALONE.isdisjoint(said) or is_foreign(quoted)) and (why := other_foreign_time(content, quoted, is_then)):
        return why
    if is_foreign(quoted) or len(said) < _FEWEST:
        return None
    told = content_words(words)
    parts = [words_of(part) for part in sentences(quoted)]
    most = max((len(told & content_words(part)) for part in parts), default=0)
    closest = [part for part in parts if most and len(told & content_words(part)) == most]
    return _too_often(words, said) or next((why for part in closest[:1] if (why := _still(words, part, said))), None)


_FEWEST = 3
"""The fewest words of a quote whose tense counts. A choice."""

# --- how often ----------------------------------------------------------------------------------------------

_SAME = {
    "always": "every each all never only daily whenever constantly".split(),
    "every": "each always all daily weekly whenever per a an".split(),
    "each": "every everyone everybody per a an both all".split(),
    "all": "every everything everyone everybody both none each whole entire".split(),
    "never": sorted(NEGATORS),
    "usually": "usual mostly always often generally normally typically tend tends every".split(),
    "regularly": "regular often every always weekly daily monthly usually".split(),
    "often": "regularly frequently always usually lots keep keeps every".split(),
    "frequently": "often regularly always keep keeps every".split(),
    "constantly": "always keep keeps every".split(),
    "generally": "usually general mostly always normally every".split(),
    "typically": "usually mostly always normally every".split(),
    "daily": "day every morning evening night".split(),
}
"""Words for how often or how many, each with the words of the talk that allow a claim to say it."""
_LIMITED = frozenset("sometimes occasionally once two some few couple several most half part rarely seldom".split())
"""Words with which something is said of some times, or of some people or things, only."""


def _too_often(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "every night" if one night was said: of the past, or with a word such as "sometimes"."""
    if not (any(map(_is_over, said)) or not _LIMITED.isdisjoint(said)) or not _PLURAL_DAYS.isdisjoint(said):
        return None
    if not _LIMITED.isdisjoint(set(words) & set(said)):
        return None  # "usually only once"
    for word in words:
        if word in _SAME and word not in said and set(_SAME[word]).isdisjoint(_without_articles(said)):
            return f"nobody said {word}"
    return None


def _without_articles(said: Sequence[str]) -> list[str]:
    """The words, with an article only where it means "per": "twice a day"."""
    return [word for word, behind in pairwise([*said, ""]) if word not in ("a", "an") or behind in _PERIODS]


_PERIODS = frozenset("hour day night week weekend month quarter year".split())
_PLURAL_DAYS = frozenset([f"{day.casefold()}s" for day in DAY_NAMES] + [f"{one}s" for one in _PERIODS])
_PASTS = frozenset("was were had did didn't wasn't weren't hadn't".split())


def _is_over(word: str) -> bool:
    return word in _PASTS or is_past(word)


# --- now or then --------------------------------------------------------------------------------------------

_SAID_PAST = frozenset(
    """was were used had has've have've formerly previously former once ago until ended past earlier back did ex
    during whether been""".split()
)
"""Words with which a claim says that something was."""
_LASTING = frozenset("now still since currently always already anymore longer today i've we've they've".split())
"""Words with which a past reaches until now."""
_AM = frozenset("is are am i'm he's she's it's we're they're you're that's there's".split())
_HAVE = frozenset("have has got having own owns".split())
_POLITE = frozenset(map(lemma, "wanted hoped thought wondered needed meant told said felt got".split()))
"""Verbs that people put into the past to be polite, or that report what is still so."""
_IRREGULAR = frozenset("born made given told sent taken put built known seen done paid left lost bred".split())
"""Irregular participles: "was born" and the like say something that may last."""
_FAR = 6
"""How many words at the beginning of a claim are searched for its verb. A choice."""


def _still(words: Sequence[str], home: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "is on sertraline" if "was" was said in the sentence that is its home, and nothing says that it lasts."""
    start = words[1:_FAR]
    if _is_then(words) or not _LASTING.isdisjoint(said) or any(word.endswith(("'ve", "'ll")) for word in said):
        return None
    return (
        _only_was(words, start, home, said)
        or _only_had(words, start, home, said)
        or _only_did(start, home, said)
        or _only_did_not(words, start, home)
    )


def _is_then(words: Sequence[str]) -> bool:
    done = [word for ahead, word in pairwise(words[:4]) if is_past(word) and ahead not in _AM]
    return bool(done) or not _SAID_PAST.isdisjoint(words)


def _only_was(words: Sequence[str], start: Sequence[str], home: Sequence[str], said: Sequence[str]) -> str | None:
    if _AM.isdisjoint(start) or not _AM.isdisjoint(said) or not _WHEN.isdisjoint(words):
        return None
    states = [behind for word, behind in pairwise([*home, ""]) if word in ("was", "were")]
    lasts = any(is_past(one) or one in _IRREGULAR for one in states) or any(map(_is_superlative, home))
    return 'only "was" was said' if states and not lasts else None


def _only_had(words: Sequence[str], start: Sequence[str], home: Sequence[str], said: Sequence[str]) -> str | None:
    if _HAVE.isdisjoint(start[:2]) or not _HAVE.isdisjoint(said):
        return None
    if any(word in ("has", "have") and is_past(behind) for word, behind in pairwise(words)):
        return None
    places = [at for at, word in enumerate(home) if word == "had"]
    for at in places:
        ahead, behind = home[max(0, at - 1) : at], home[at + 1 : at + 4]
        if not behind or is_past(behind[0]) or not KIN.isdisjoint(behind) or _SELF.isdisjoint(ahead):
            return None
    return 'only "had" was said' if places else None


_SELF = frozenset(["i", "we"])


def _only_did(start: Sequence[str], home: Sequence[str], said: Sequence[str]) -> str | None:
    for verb in start:
        if not verb.endswith("s") or len(verb) < 4 or lemma(verb) in _POLITE:
            continue
        if any(lemma(word) == lemma(verb) and not is_past(word) for word in said):
            continue
        for at, word in enumerate(home):
            # "It is appreciated" is now.
            if is_past(word) and lemma(word) == lemma(verb) and _AM.isdisjoint(home[max(0, at - 3) : at]):
                return f'only "{word}" was said'
    return None


def _only_did_not(words: Sequence[str], start: Sequence[str], home: Sequence[str]) -> str | None:
    if {"does", "do", "doesn't", "don't"}.isdisjoint(start):
        return None
    behind = {lemma(one) for word, one in pairwise(home) if word == "didn't"}
    told = {lemma(one) for word, one in pairwise(words) if word in ("not", "doesn't", "don't")}
    return 'only "didn\'t" was said' if behind & told - _POLITE else None


_WHEN = frozenset(map(str.casefold, (*MONTH_NAMES, *DAY_NAMES))) | {"birthday", "anniversary"}
"""Words with which a claim says on what day something is. That day comes again, so "is" may be right."""


def _is_superlative(word: str) -> bool:
    """Whether a word names a record, which holds until it is broken: "my fastest was 1:47"."""
    return word in ("best", "worst", "first") or (word.endswith("est") and len(word) > 5)
