"""Judges whether a statement is worth remembering: whether it tells something concrete of someone's life or work."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.dates import Moment
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.speech import is_addressed
from agent_memory.language.offline.text import content_words, expand, stem
from agent_memory.language.offline.topics import proper_nouns

THRESHOLD = 3.0

_STRONG = {"attribute", "diet", "allergy", "tool", "preference", "plan"}
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|us|our|myself|ourselves)\b", re.I)
_EMOTIVE = re.compile(
    r"^(?:i|we) (?:am|are|was|were|feel|felt|have been)(?: \w+)? (?:" + "|".join(sorted(lexicon.EMOTIONS, key=len, reverse=True))
    + r")\b", re.I
)  # fmt: skip
_DANGLING = re.compile(r"\b(?:it|them|him|there(?! (?:is|are|was|were))|they)\b", re.I)
_POINTING = re.compile(
    r"\b(?:this|that|these|those)(?=[.,!]|$| (?:at|from|in|is|was|for|to|and|lately|before|after|while|when|too)\b)"
    r"|\b(?:got|took|made|bought|found|did|have|has|had|saw|tried|love|loved|like|use|used|finished|started|see|get|take|do|make|using|making|doing|giving|give) "
    r"(?:it|them|this|that)\b|\b(?:a few|some|many) more\b(?! [a-z])", re.I
)  # fmt: skip
_GERUND = re.compile(r"[a-z]{2,}ing\b(?! to\b)", re.I)
_THAT_THING = re.compile(r"(?:^that|\b(?:in|on|at|of|with|for|about|using) that|\b(?:this|these|those)) (?!(?:i|we|my|he|she|they|it|is|was|are|were|has|have|had|can|will|year|week"
                         r"|month|weekend|morning|evening|afternoon|summer|winter|spring|fall|time|day)\b)[a-z]+", re.I)  # fmt: skip
_DURATION = re.compile(
    r"\bfor (?:about |over |almost |nearly |the past )?(?:\d+|an?|"
    + "|".join(lexicon.NUMBERS)
    + r") (?:years?|months?)\b",
    re.I,
)
_SOME_ONE = re.compile(r"\b(?:the|that|this|a|an|other|which|another) (?:\w+ )?ones?\b", re.I)
_SWEEPING = re.compile(
    r"\b(?:we|you|they|it|that|this|which|people|everyone|life|love|dance|art|music|words|support) (?:all )?(?:can|should|must|need to|has the power)\b"
    r"|\b(?:everyone|everybody|people|others|nobody) (?:deserves?|needs?|should)\b|\bis (?:all about|what|key|everything)\b"
    r"|\bmakes? (?:a|the) (?:real |big |huge )?difference\b|\bmakes? (?:me|us|it) (?:feel|happy|smile|all)\b|\bgot this\b", re.I
)  # fmt: skip
_PASSING = re.compile(
    r"\b(?:off to|gotta (?:go|run)|have (?:got )?to (?:go|run|head)|heading (?:out|off|to bed)|talk (?:soon|later|to you)|"
    r"be right back|let (?:me|you) know|keep (?:me|you) posted|going to (?:bed|keep|try my best)|try my best|do my best|"
    r"check (?:it|this|them|that)? ?out|show you|tell you|hear (?:about|from)|as (?:i|we) (?:said|mentioned))\b", re.I
)  # fmt: skip
_IMPRESSION = re.compile(
    r"\b(?:is|are|was|were|looks?|looked|seems?|seemed|sounds?|sounded|feels?|felt) (?:\w+ )?(?:so|really|such|very|pretty|super|quite)\b"
    r"|\b(?:looks?|looked|seems?|seemed|sounds?|sounded|feels?) (?:\w+ )?(?:like|as if|great|good|amazing)\b", re.I
)  # fmt: skip
_HOLLOW = re.compile(
    r"\b(?:give up|come true|keep (?:going|trying|pushing|at it|improving)|make (?:it )?(?:happen|a change|an impact|a difference|the most)"
    r"|stay (?:positive|strong|motivated|focused|determined|true)|move forward|(?:new|my|your|our) goals?|do better|be (?:myself|better|there))\b", re.I
)  # fmt: skip
_VERDICT = re.compile(
    r"\b(?:is|was|are|were|been|be)(?: \w+)? (?:so |really |very |super |pretty |such |a |an |the )*"
    r"(?:great|good|awesome|amazing|nice|cool|fun|key|important|hard|tough|best|wonderful|incredible|fantastic|beautiful"
    r"|lovely|special|powerful|inspiring|rewarding|perfect|crazy|wild|blast|crucial|worth|okay|fine|stunning|cute|sweet"
    r"|challenge|challenging|exciting|gorgeous|tasty|delicious|relaxing|therapeutic|joy|treat|delight)\b", re.I
)  # fmt: skip


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


def score(evidence: Evidence) -> float:
    """How much speaks for keeping a statement; `THRESHOLD` is enough."""
    plain = expand(evidence.text)
    clause = evidence.clause
    bare = evidence.text
    for moment in evidence.moments:
        bare = bare.replace(moment.phrase, " ")
    words = content_words(bare)
    if clause is None and not evidence.standing:
        return 0.0
    strong = any(claim.relation in _STRONG and not _is_bare_plan(claim) for claim in evidence.claims)
    concrete = [word for word in words if word not in lexicon.GENERIC_NOUNS and word not in lexicon.EMOTIONS]
    named = proper_nouns(evidence.text)
    personal = bool(_FIRST_PERSON.search(plain)) or (clause is not None and clause.owner != "it" and not clause.thing)
    points = 0.0
    points += 3 * evidence.standing
    points += 2 * strong
    points += 1.5 * any(
        claim.relation in {"affinity", "habit"} and claim.topic - _generic() for claim in evidence.claims
    )
    points += 1 * personal
    points += 1 * (clause is not None and clause.verb in _informative())
    points += 1 * (len(concrete) >= 3) + 0.5 * (len(concrete) == 2)
    points += 1 * bool(evidence.moments)
    points += 0.5 * min(len(named), 2)
    points += 1 * bool(_DURATION.search(plain))
    points += 0.5 * bool(re.search(r"\d", plain))
    points += 1 * (evidence.kind in {"decision", "requirement"})
    points -= 2 * is_addressed(evidence.text)
    points -= 1.5 * bool(_EMOTIVE.match(plain)) + 1 * (_is_verdict(plain, clause) and not strong)
    points -= 1.5 * (clause is not None and clause.verb in _weak())
    points -= 1.5 * (_dangles(plain) and not evidence.placed) + 1 * bool(_POINTING.search(plain))
    points -= 1.5 * bool(_SWEEPING.search(plain)) + 1.5 * bool(_PASSING.search(plain))
    points -= 1 * bool(_GERUND.match(plain)) + 1.5 * bool(_HOLLOW.search(plain))
    points -= 2 * bool(re.match(r"(?:his|her|its|their)\b", plain, re.I)) + 0.5 * bool(_THAT_THING.search(plain))
    points -= 1.5 * bool(clause and clause.thing and not clause.definite and not strong)
    points -= 2 * (clause is not None and clause.owner == "it" and not (strong or evidence.placed))
    points -= 1.5 * (bool(_SOME_ONE.search(plain)) and not evidence.placed)
    points -= 1 * (len(concrete) < 2 and not strong) + 1 * (not concrete and not strong)
    points -= 0.5 * (clause is not None and clause.time == "wish" and not evidence.moments and len(concrete) < 3)
    return points


def _is_verdict(plain: str, clause: Clause | None) -> bool:
    """Whether a statement mainly says how good something was."""
    if clause is not None and clause.thing and _IMPRESSION.search(plain):
        return True
    verdict = _VERDICT.search(plain)
    return bool(verdict) and (clause is None or clause.owner != "self" or bool(clause.thing) or clause.verb == "be")


def _dangles(plain: str) -> bool:
    """Whether a pronoun stands before anything that it could stand for."""
    pronoun = _DANGLING.search(plain)
    if pronoun is None:
        return False
    before = [word for word in content_words(plain[: pronoun.start()]) if word not in lexicon.GENERIC_NOUNS]
    return len(before) < 2


def _is_bare_plan(claim: Claim) -> bool:
    """Whether a plan names nothing that one could tell it by ("planning a trip there")."""
    return claim.relation == "plan" and len(claim.topic) < 2


@cache
def _informative() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.INFORMATIVE)


@cache
def _weak() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.WEAK_VERBS)


@cache
def _generic() -> frozenset[str]:
    return frozenset(stem(word) for word in lexicon.GENERIC_NOUNS)
