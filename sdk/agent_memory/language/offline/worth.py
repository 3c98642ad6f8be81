"""Chooses the statements worth remembering: those that fill a slot. All else is left to the raw talk.

A slot is something that shapes later help or that people ask for later: who somebody is, where and with whom they
live, work, health, diet, tools, decisions, preferences, requirements, amounts and dated events.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agent_memory.language.offline import kinds, lexicon, vocabulary
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.speech import is_addressed
from agent_memory.language.offline.text import canon, content_words, expand, stem
from agent_memory.language.offline.topics import proper_nouns
from agent_memory.text.dates import Moment
from agent_memory.text.patterns import bounded, either, plain_words

Slot = Literal["rule", "decision", "claim", "health", "liking", "pursuit", "event", "person", "value"]

_CLAIMED = frozenset("attribute diet allergy tool preference plan journey routine kin trait".split())
"""Claims whose subject and value are read; others only repeat the verb."""
_FIRST_PERSON = bounded(r"\b(?:i|me|my|mine|we|us|our|myself|ourselves)\b", re.I)
_VITAL = bounded(rf"\b(?:{plain_words(vocabulary.IMPORTANT['health'])}|pregnan\w+|allerg\w+|intoleran\w+)\b", re.I)
_NUMBERED = bounded(rf"\d|\b{plain_words(set(lexicon.NUMBERS) - {'one'})}\b", re.I)
_DANGLING = bounded(
    r"\b(?:it|them|him|they|her(?=[.,!]|$)|there(?! (?:is|are|was|were)\b)|(?:the|that|this|another) (?:\w+ )?ones?)\b"
    r"|\b(?:this|that|these|those)(?=[.,!]|$| (?:is|was|are|were|at|from|in|for|to|and|with|while)\b)"
    r"|\b(?:at|in|on|of|for|with|about|using|like|love|made|got|took|did|do|use|try|tried|see|saw) "
    r"(?:this|that|those)\b",
    re.I,
)
_OF_ANOTHER = bounded(
    r"(?:his|her|its|their|he|she|they|everyone|everybody|people|somebody|someone|nobody|no one)\b", re.I
)
_VERDICT = bounded(
    r"\b(?:is|are|was|were|looks?|looked|seems?|seemed|sounds?|sounded|feels?|felt|been|be)(?: \w+)? "
    rf"(?:(?:so|really|very|super|pretty|such|a|an|the) )*{plain_words(lexicon.EMOTIONS | lexicon.PRAISE)}\b",
    re.I,
)
_PASSING_WORDS = either("""
    last_night tonight off_to gotta_(?:go|run) have_to_(?:go|run|head) heading_(?:out|off|to)
    let_(?:me|you)_know talk_(?:soon|later) show_you tell_you as_(?:i|we)_(?:said|mentioned) at_the_moment right_now
    no_clue no_idea
""")
_PASSING = bounded(rf"\b{_PASSING_WORDS}\b", re.I)
_ATTRIBUTES = plain_words(
    frozenset().union(*vocabulary.ATTRIBUTES.values()) | {"bday", "tz", "dob", "appt", "db", "pw"}
)
_NAMED_VALUE = bounded(
    rf"^(?:my |our |the )?(?:[\w-]+ ){{0,2}}{_ATTRIBUTES}"
    r"(?: (?:is|are|was|for|of|went up|moved)\b|:| [#]?\d)",
    re.I,
)
_TROUBLE = bounded(
    r"\b(?:error|exception|traceback|warning|stack ?trace)s?\b(?:[:!]| (?:in|on|at|when|while|i)\b)"
    r"|^(?:took|cost|made|gave) (?:[a-z]+ (?:and )?){0,2}(?:me|us)\b",
    re.I,
)
_USED = bounded(
    rf"\b{plain_words(frozenset().union(*vocabulary.TOOLS.values()) | lexicon.LANGUAGES)}\b(?: v?\d[\d.]*)?", re.I
)
_STACKED = bounded(r"^[\w /-]{2,20}: |\s[+&/]\s|\b(?:runs?|running|use|uses|using|on|in|with)\b", re.I)
_PRAISED = bounded(
    r"\b(?:is|are|was|were|looks?|looked|seems?|seemed|sounds?|sounded|feels?|felt|can be|been|be|'s)(?: \w+)? "
    rf"(?:(?:so|really|very|super|such) |(?:(?:pretty|a|an|the) )*{plain_words(lexicon.PRAISE)}\b)",
    re.I,
)
_GERUND = bounded(r"[a-z]{2,}ing\b", re.I)
_SWEEPING = bounded(
    r"\b(?:can|could|should) (?:really )?be\b|^(?:we|you) (?:can )?all\b"
    r"|^we (?:[a-z]+ )?(?:can(?! not)|could|need|should|have got)\b|\bdo(?:ing)? (?:my|our) best\b"
    r"|\bmakes? (?:a|an|the) (?:[a-z]+ )?(?:difference|impact|change)\b|\b(?:love|like|enjoy) (?:how|that|when)\b",
    re.I,
)
_FELT = bounded(rf"^(?:i|we) (?:am|are|was|were|feel|felt)(?: [a-z]+)? {plain_words(lexicon.EMOTIONS)}\b", re.I)
_JUDGING = frozenset({"", "be", "look", "seem", "sound", "feel"})
_PURSUED = bounded(
    r"\b(?:working on|looking for|learning|training for|studying|preparing|saving (?:up )?for|researching|building"
    r"|writing)\b",
    re.I,
)
_LIFE = bounded(rf"\b{plain_words(vocabulary.IMPORTANT['life'])}\b", re.I)
_NOT_EATEN = bounded(r"^(?:i )?can not (?:eat|drink|have|take|tolerate) [a-z]+", re.I)
_DAY_BEGINS = lexicon.WEEKDAYS | {"on", "every"}
_CLOCK = bounded(r"\d{1,2}(?:[:.]\d\d)?(?:am|pm)?", re.I)
_LEAST_EVENT = 2
"""Words that name something in particular, without which an event needs a name, a time or a figure."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a statement when it is judged. `placed`: its pronoun has got the topic that it stands for."""

    text: str
    clause: Clause | None
    claims: tuple[Claim, ...]
    moments: tuple[Moment, ...]
    kind: str
    standing: bool
    placed: bool = False


def slot_of(evidence: Evidence) -> Slot | None:
    """The slot that a statement fills; None if it is not worth keeping."""
    plain = expand(evidence.text)
    if evidence.standing:
        return "rule"
    if kinds.is_guess(plain) or _dangles(evidence, plain) or _OF_ANOTHER.match(plain):
        return None
    if evidence.kind == "requirement":
        return "rule"
    if evidence.clause is None or is_addressed(evidence.text):
        return _terse(plain)
    claimed = any(claim.relation in _CLAIMED and not _is_bare_plan(claim) for claim in evidence.claims)
    clause = evidence.clause
    if (clause.hedged and not claimed and not evidence.moments) or (clause.thing and _PRAISED.search(plain)):
        return None
    if clause.time == "wish" and not evidence.moments and len(_concrete_words(evidence)) < _LEAST_EVENT:
        return None
    if evidence.kind == "decision":
        return "decision"
    if claimed:
        return "claim"
    return _told(evidence, plain) or _terse(plain)


def _told(evidence: Evidence, plain: str) -> Slot | None:
    """The slot of a statement without a claim that the rules can read: what somebody has, likes, does or did."""
    clause = evidence.clause
    if clause is None or _PASSING.search(plain) or _TROUBLE.search(plain):
        return None
    about_person = not clause.thing and clause.owner != "it"
    mine = about_person and clause.owner == "self"
    concrete = _concrete_words(evidence)
    if _VITAL.search(plain) and (about_person or _FIRST_PERSON.search(plain)):
        return "health"
    particular = bool(evidence.moments or proper_nouns(evidence.text) or _NUMBERED.search(plain))
    judging = clause.verb in _JUDGING or bool(clause.thing)
    if _is_one_of_many(clause.owner) or (judging and _PRAISED.search(plain)) or _SWEEPING.search(plain):
        return None
    if clause.owner != "self" and about_person:
        if clause.verb in _weak() or _GERUND.match(plain):
            return None
        if not clause.owner.startswith("self."):  # Any word may stand first with a capital.
            return "person" if concrete and particular else None
        return "person" if len(concrete) >= 2 or (concrete and particular) else None
    wished = clause.time in {"wish", "ahead"} or bool(_GERUND.match(plain))
    if not particular and (clause.time in {"ahead", "past"} and evidence.kind == "preference"):
        return None
    if (clause.time == "ahead" and not particular) or _FELT.match(plain):
        return None
    if any(claim.relation in {"affinity", "habit"} and claim.topic - _generic() for claim in evidence.claims):
        return "liking" if concrete or clause.negative else None
    if evidence.kind == "preference":
        return "liking" if concrete and (particular or not wished or len(concrete) >= _LEAST_EVENT) else None
    if mine and concrete and _PURSUED.search(plain):
        return "pursuit"
    if (judging and _VERDICT.search(plain)) or clause.verb in _weak() or (wished and not particular):
        return None
    if evidence.kind == "context" and mine:
        return "pursuit" if len(concrete) >= 2 or (particular and concrete) else None
    if mine and clause.verb not in {"", "be"}:
        if clause.negative and clause.time == "past":
            return None
        if concrete and clause.verb in _changing():
            return "event"
        return "event" if concrete and (particular or len(concrete) >= _LEAST_EVENT or _LIFE.search(plain)) else None
    return "value" if concrete and particular and (mine or (clause.definite and clause.thing)) else None


def _is_one_of_many(owner: str) -> bool:
    """Whether a person is one of those whom one has many of, so that little about them is of use."""
    return any(part in _many() for part in owner.split("."))


@cache
def _many() -> frozenset[str]:
    return frozenset(canon(word) for word in vocabulary.MANY_KIN)


def _terse(plain: str) -> Slot | None:
    """The slot of a note without a sentence around it: "no dairy", "FastAPI + Postgres 15", "bday is on the 19th"."""
    bare = plain.strip().rstrip(".! ")
    if is_addressed(bare) or len(bare) > 120 or _GERUND.match(bare):
        return None
    words = bare.lower().replace(",", " ").split()
    if words[:1] == ["no"] and _foods().issuperset(set(words) - {"no", "and", "or"}):
        return "health"
    if _NOT_EATEN.match(bare):
        return "health"
    if _is_appointment(words):
        return "event"
    if _NAMED_VALUE.match(bare) and len(bare.split()) > 2 and not _VERDICT.search(bare):
        return "value"
    tools = _USED.findall(bare)
    stated = _STACKED.search(bare) or (tools and bare.startswith(tools[0]))
    if tools and stated and (len(tools) > 1 or ": " in bare or _NUMBERED.search(bare)):
        return "value"
    return None


def _is_appointment(words: list[str]) -> bool:
    """Whether a note is one or two words and a weekday: "gym mon wed at 7", "dentist thursday 3pm"."""
    size = next((at for at, word in enumerate(words) if {word, word.removesuffix("s")} & _DAY_BEGINS), 0)
    named, times = words[:size], words[size:]
    return (
        0 < size <= 2
        and all(word.isalpha() and word not in _vague() | lexicon.STOPWORDS for word in named)
        and any({word, word.removesuffix("s")} & lexicon.WEEKDAYS for word in times)
        and all(
            {word, word.removesuffix("s")} & (lexicon.WEEKDAYS | {"on", "every", "and", "at", "am", "pm"})
            or _CLOCK.fullmatch(word)
            for word in times
        )
    )


@cache
def _foods() -> frozenset[str]:
    return frozenset().union(*vocabulary.FOODS.values())


def _concrete_words(evidence: Evidence) -> list[str]:
    """The words of a statement that name something in particular, its verb and its times aside."""
    bare = evidence.text
    for moment in evidence.moments:
        bare = bare.replace(moment.phrase, " ")
    verb = evidence.clause.verb if evidence.clause else ""
    return [word for word in content_words(bare) if word not in _vague() and stem(word) != verb]


def _dangles(evidence: Evidence, plain: str) -> bool:
    """Whether a pronoun stands before anything that it could stand for."""
    pronoun = None if evidence.placed else _DANGLING.search(plain)
    if pronoun is None:
        return False
    return sum(word not in lexicon.GENERIC_NOUNS for word in content_words(plain[: pronoun.start()])) < 2


def _is_bare_plan(claim: Claim) -> bool:
    """Whether a plan names nothing that one could tell it by ("planning a trip there")."""
    return claim.relation == "plan" and len(claim.topic) < 2


@cache
def _vague() -> frozenset[str]:
    common = lexicon.GENERIC_NOUNS | lexicon.EMOTIONS | lexicon.PRAISE | lexicon.ADVERBS
    return common | frozenset(lexicon.NUMBERS) | lexicon.TIME_WORDS


@cache
def _weak() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.WEAK_VERBS)


@cache
def _changing() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.SWITCHING | lexicon.STOPPING | {"leave", "join", "adopt", "marry"})


@cache
def _generic() -> frozenset[str]:
    return frozenset(stem(word) for word in lexicon.GENERIC_NOUNS)
