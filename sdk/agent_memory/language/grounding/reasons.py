"""Reasons: finds claims that give a reason which nobody gave.

The cause words come from grammars of English, German, Spanish, French, Italian and Portuguese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_memory.language.grounding.clauses import content_words, stems_of
from agent_memory.language.grounding.polarity import CLAUSE, NEGATORS, words_of
from agent_memory.language.offline.lexicon import BASE_OR_PAST
from agent_memory.language.offline.text import canons
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import linear
from agent_memory.text.people import SAME_KIN
from agent_memory.text.sentences import sentences

_CAUSE = linear(
    r"(?:\b(not|nicht|no|pas|non)\s+(?:\p{L}+\s+)?)?\b(because of|because|due to|owing to|since|thanks to|weil|wegen|"
    r"da|porque|a causa de|por culpa de|parce que?|à cause de|car|perché|a causa di|por causa de)\s+([^.;!?,]+)",
    re.IGNORECASE,
)
_FOR_REASONS = linear(r"\bfor\s+(\p{L}+(?:\s\p{L}+)?)\s+reasons", re.IGNORECASE)
_SO = linear(
    r"([^.;!?]+?)(?:,\s+so|\sso(?:\s(?:i|we|he|she|it|they|the|my|our|there|now|no))|"
    r",?\s(?:deshalb|darum|así que|por eso|du coup|donc|quindi|perciò))\s",
    re.IGNORECASE,
)
_OFTEN_OTHERWISE = frozenset("since da car".split())
"""Words for "because" that also mean other things, so a claim with one may give no reason at all."""


def other_reason(content: str, quoted: str, near: str, before: str) -> str | None:
    """What is wrong with the reason that a claim gives: nobody gave it, or not for this. None if nothing is.

    Args:
        content: the claim.
        quoted: the sentences that it quotes.
        near: the turns that it cites.
        before: the turns just before them.
    """
    return _turned(content, quoted) or _other_cause(content, quoted) or _invented(content, near, before)


_BECAUSE = linear(
    r"\b(?:because of|because|due to|owing to|thanks to|weil|wegen|a causa de|por culpa de|porque|parce qu(?:e|['’])|"
    r"à cause de|perché|a causa di|por causa de|omdat|vanwege)\s",
    re.IGNORECASE,
)


def _turned(content: str, quoted: str) -> str | None:
    """Finds "he fell ill because the farm was sold" where the farm was sold because he fell ill."""
    (effect, cause), *_ = [*_explained(content), ("", "")]
    effect_told, cause_told = stems_of([effect]), stems_of([cause])
    for effect, cause in _explained(quoted) if cause_told else ():
        effect_said, cause_said = stems_of([effect]), stems_of([cause])
        caused, causes = effect_said - cause_said, cause_said - effect_said
        if len(cause_told & caused) > len(cause_told & causes) and len(effect_told & causes) > len(
            effect_told & caused
        ):
            return "the reason was said to follow from it"
    return None


def _explained(text: str) -> Iterator[tuple[str, str]]:
    """What a text explains, each with its reason."""
    for part in sentences(text):
        if found := _BECAUSE.search(part):
            yield part[: found.start()], part[found.end() :]


def _other_cause(content: str, quoted: str) -> str | None:
    """Finds a reason that was mentioned but not given as the reason: another one was given, or this one was denied."""
    causes = [found[2] for found in _CAUSE.findall(content) if found[1].casefold() not in _OFTEN_OTHERWISE]
    told, said = stems_of([*causes, *_FOR_REASONS.findall(content)]), stems_of([quoted])
    about = told & said
    given = stems_of([*(found[2] for found in _CAUSE.findall(quoted) if not found[0]), *_SO.findall(quoted)])
    if told and given and told.isdisjoint(said) and (stems_of([content]) - told) & said:
        return f"{min(told)} was not said to be the reason"
    if not about:
        return None
    denied = stems_of(clause for clause in CLAUSE.split(quoted) if not NEGATORS.isdisjoint(words_of(clause)))
    is_denial = not NEGATORS.isdisjoint(words_of(" ".join(causes)))  # "because the queue did not keep up"
    if about.isdisjoint(given) and (given or (about <= denied and not is_denial)):
        return f"{min(about)} was not said to be the reason"
    return None


# --- reasons without a source -------------------------------------------------------------------------------

_GIVEN = linear(
    r"\b(?:because of|because|due to|owing to|thanks to|in order to|so that|"
    r"since (?:they|she|he|it|user))\s+([^.;!?]+)|"
    r"\bfor\s+((?:better|more|less|greater)\s[^.;!?,]+|\p{L}+(?:\s\p{L}+)?\sreasons)",
    re.IGNORECASE,
)
"""A reason or a purpose of a claim in English."""
_CAUSAL = frozenset(
    """because so since due as why reason reasons hence therefore after when thanks cause means made makes make for
    if out""".split()
)
"""Words of a talk that may join a reason and what follows from it: "turned out", "after"."""
_LINKING = frozenset("it its it's that that's there they them he she him her those which".split())
"""Words with which a sentence goes on about the one before it."""
_NEAR = 4
"""Words at a sentence's beginning of which one takes up the sentence before it. A choice."""
_SAME_BEGINNING = 4
"""Letters by which forms of one word are alike: caffeine and caffeinated. A choice."""


def _invented(content: str, near: str, before: str) -> str | None:
    """Finds a reason of which no word was said, or that comes from a later sentence about something else."""
    found = [one for groups in _GIVEN.findall(content) for one in groups if one]
    if not found or is_foreign(near):
        return None
    told = _beginnings(" ".join(found).removesuffix("reasons"))
    known = _beginnings(f"{near} {before}")
    if told and not (_begins_one(told, known) or _begins_one(known, told)):
        return "the reason was not said"
    if not _CAUSAL.isdisjoint(words_of(near)):
        return None
    rest = _beginnings(_GIVEN.sub(" ", content))
    done = False
    for part in sentences(near):
        known, words = _beginnings(part), words_of(part)
        if told & known:
            apart = done and rest.isdisjoint(known) and _LINKING.isdisjoint(words[:_NEAR])
            return "the reason was said of something else" if apart else None
        done = done or (bool(rest & known) and any(is_past(word) or word in BASE_OR_PAST for word in words))
    return None


def _beginnings(text: str) -> set[str]:
    words = [SAME_KIN.get(word, word) for word in words_of(text)]
    known = content_words(words)
    return {one[:_SAME_BEGINNING] for one in known | canons([word for word in words if content_words([word])])}


def _begins_one(words: set[str], others: set[str]) -> bool:
    """Whether one of these is the beginning of another: "docs" of "documentation"."""
    return any(word[:length] in others for word in words for length in range(2, _SAME_BEGINNING + 1))
