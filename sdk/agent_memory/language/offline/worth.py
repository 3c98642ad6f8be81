"""Judges whether a statement is worth remembering: whether it tells something concrete of someone's life or work."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from agent_memory.language.offline import lexicon, vocabulary
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.speech import is_addressed
from agent_memory.language.offline.text import content_words, expand, stem
from agent_memory.language.offline.topics import proper_nouns
from agent_memory.text.dates import Moment
from agent_memory.text.patterns import bounded, either, plain_words

THRESHOLD = 3.0

_STRONG = frozenset("attribute diet allergy tool preference plan journey routine kin trait".split())
_FIRST_PERSON = bounded(r"\b(?:i|me|my|mine|we|us|our|myself|ourselves)\b", re.I)
_COMMON = frozenset({"moved", "house", "job"})
_VITAL = bounded(
    rf"\b(?:{plain_words(vocabulary.IMPORTANT['health'] | vocabulary.IMPORTANT['life'] - _COMMON)}|pregnan\w+)\b", re.I
)
_NUMBERED = bounded(rf"\d|\b{plain_words(set(lexicon.NUMBERS) - {'one'})}\b", re.I)
_DURATION = bounded(
    rf"\bfor (?:about |over |almost |nearly |the past )?(?:\d+|an?|{plain_words(lexicon.NUMBERS)}) "
    r"(?:years?|months?)\b",
    re.I,
)

_EMOTIVE = bounded(
    rf"^(?:i|we) (?:am|are|was|were|feel|felt|have been)(?: \w+)? {plain_words(lexicon.EMOTIONS)}\b", re.I
)
_DANGLING = bounded(r"\b(?:it|them|him|there(?! (?:is|are|was|were))|they|her(?=[.,!]|$| [A-Z]))\b", re.I)
_HANDLED = either("""
    got took made bought found did have has had saw tried love loved like use used finished started see get take do
    make using making doing giving give
""")
_AFTER_POINTER = either("at from in is was for to and lately before after while when too")
_POINTING = bounded(
    rf"\b(?:this|that|these|those)(?=[.,!]|$| {_AFTER_POINTER}\b)|\b{_HANDLED} (?:this|that)\b"
    r"|\b(?:a few|some|many) more\b(?! [a-z])",
    re.I,
)
_HANDLED_IT = bounded(rf"\b{_HANDLED} (?:it|them)\b", re.I)
_NOT_POINTED_AT = either("""
    i we my he she they it is was are were has have had can will year week month weekend morning evening afternoon
    summer winter spring fall time day
""")
_THAT_THING = bounded(
    rf"(?:^that|\b{either('in on at of with for about using')} that|\b(?:this|these|those)) "
    rf"(?!{_NOT_POINTED_AT}\b)[a-z]+",
    re.I,
)
_UNNAMED = bounded(r"\b(?:this|that|these|those) (?:\w+ )?[a-z]+\W*$", re.I)
_SOME_ONE = bounded(r"\b(?:the|that|this|a|an|other|which|another) (?:\w+ )?ones?\b", re.I)
_SWEEPING = bounded(
    rf"\b{either('we you they it that this which people everyone life love dance art music words support')} (?:all )?"
    r"(?:can|should|must|need to|has the power)\b"
    rf"|\b{either('everyone everybody people others nobody')} (?:deserves?|needs?|should)\b"
    r"|\bis (?:all about|what|key|everything)\b|\bgot this\b"
    r"|\bmakes? (?:(?:a|the) (?:real |big |huge )?difference|(?:me|us|it) (?:feel|happy|smile|all))\b",
    re.I,
)
_PASSING_WORDS = either("""
    off_to gotta_(?:go|run) have_(?:got_)?to_(?:go|run|head) heading_(?:out|off|to_bed) be_right_back
    talk_(?:soon|later|to_you) let_(?:me|you)_know keep_(?:me|you)_posted going_to_(?:bed|keep|try_my_best)
    (?:try|do)_my_best check_(?:it_|this_|them_|that_)?out show_you tell_you hear_(?:about|from)
    as_(?:i|we)_(?:said|mentioned)
""")
_PASSING = bounded(rf"\b{_PASSING_WORDS}\b", re.I)
_HOLLOW_PHRASES = either(r"""
    (?:work|practi[cs]|try|push)(?:e|ing)?_hard dig_deep make_everything give_up come_true hopes_up lost_track
    keep_(?:going|trying|pushing|at_it|improving) move_forward do_better hit_it_off
    make_(?:it_)?(?:happen|a_change|an_impact|a_difference|the_most) (?:new|my|your|our)_goals?
    be_(?:myself|better|there) something_(?:stupid|exciting|new|special|great|big|different)
    feel(?:ing|s)?_(?:at_one|so|really) look(?:ing)?_forward_to_(?:seeing|it|that|this|what|how)
    stay_(?:positive|strong|motivated|focused|determined|true)
""")
_HOLLOW = bounded(
    rf"\b{_HOLLOW_PHRASES}\b|\bha(?:d|ve|ving) {either('a an so such lots tons')}\b[^,]{{0,20}}? "
    rf"{either('time fun blast laugh day ride feeling vibe in_common')}\b",
    re.I,
)
_SO = r"(?:\w+ )?(?:so|really|such|very|pretty|super|quite)"
_IMPRESSION = bounded(
    rf"\b(?:is|are|was|were|looks?|looked|seems?|seemed|sounds?|sounded|feels?|felt) {_SO}\b"
    r"|\b(?:looks?|looked|seems?|seemed|sounds?|sounded|feels?) (?:\w+ )?(?:like|as if|great|good|amazing)\b",
    re.I,
)
_GOOD_OR_BAD = either("""
    great good awesome amazing nice cool fun key important hard tough best wonderful incredible fantastic beautiful
    lovely special powerful inspiring rewarding perfect crazy wild blast crucial worth okay fine stunning cute sweet
    challenge challenging exciting gorgeous tasty delicious relaxing therapeutic joy treat delight
""")
_INTENSELY = either("so really very super pretty such a an the")
_VERDICT = bounded(rf"\b(?:is|was|are|were|been|be)(?: \w+)? (?:{_INTENSELY} )*{_GOOD_OR_BAD}\b", re.I)
_GERUND = bounded(r"[a-z]{2,}ing\b(?! to\b)", re.I)
_ANOTHERS = bounded(r"(?:his|her|its|their)\b|(?:this|that|these|those|there) (?:is|was|are|were)\b", re.I)


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
    if evidence.clause is None and not evidence.standing:
        return 0.0
    plain = expand(evidence.text)
    concrete = _concrete_words(evidence)
    strong = any(claim.relation in _STRONG and not _is_bare_plan(claim) for claim in evidence.claims)
    return _substance(evidence, plain, concrete, strong) - _emptiness(evidence, plain, concrete, strong)


def _substance(evidence: Evidence, plain: str, concrete: list[str], strong: bool) -> float:
    """What speaks for a statement: a person, an act, a value, a time, a name."""
    clause = evidence.clause
    personal = bool(_FIRST_PERSON.search(plain)) or (clause is not None and clause.owner != "it" and not clause.thing)
    acting = clause is not None and clause.verb in _informative() and not clause.thing and clause.owner != "it"
    liked = any(claim.relation in {"affinity", "habit"} and claim.topic - _generic() for claim in evidence.claims)
    return (
        3 * evidence.standing
        + 2 * strong
        + 1.5 * liked
        + 1 * personal
        + 1 * evidence.placed
        + 1.5 * acting
        + min(1.5, 0.5 * len(concrete))
        + 1 * bool(evidence.moments)
        + 0.5 * min(len(proper_nouns(evidence.text)), 2)
        + 1 * bool(_DURATION.search(plain))
        + 0.5 * bool(_NUMBERED.search(plain))
        + 1.5 * (evidence.kind in {"decision", "requirement"})
        + 1.5 * bool(personal and _VITAL.search(plain))
    )


def _emptiness(evidence: Evidence, plain: str, concrete: list[str], strong: bool) -> float:
    """What speaks against it: talk to the listener, feelings and verdicts, pronouns that stand for nothing."""
    clause = evidence.clause
    named = any(claim.relation == "attribute" for claim in evidence.claims)
    loose = clause is not None and clause.owner == "it" and not (evidence.placed or named)
    indefinite = clause is not None and bool(clause.thing) and not clause.definite and not strong
    hoping = clause is not None and clause.time == "wish" and not evidence.moments and len(concrete) < 3
    return (
        2 * is_addressed(evidence.text)
        + 1.5 * bool(_EMOTIVE.match(plain))
        + 1 * (_is_verdict(plain, clause) and not strong)
        + 1.5 * (clause is not None and clause.verb in _weak() and len(concrete) < 2)
        + 1.5 * (_dangles(plain) and not evidence.placed)
        + 1.5 * (bool(_SOME_ONE.search(plain)) and not evidence.placed)
        + 1.5 * (bool(_POINTING.search(plain)) or _stands_for_nothing(plain, _HANDLED_IT.search(plain)))
        + 0.5 * bool(_THAT_THING.search(plain))
        + 1 * bool(_UNNAMED.search(_bare(evidence)))
        + 2 * bool(_ANOTHERS.match(plain))
        + 1.5 * bool(_SWEEPING.search(plain))
        + 1.5 * bool(_PASSING.search(plain))
        + 1.5 * bool(_HOLLOW.search(plain))
        + 2 * bool(_GERUND.match(plain) and not (clause and clause.thing))
        + 1.5 * (indefinite and evidence.kind != "requirement")
        + 2 * loose
        + 1 * (not concrete and not strong)
        + 0.5 * (hoping and evidence.kind != "requirement")
    )


def _bare(evidence: Evidence) -> str:
    """A statement without its times."""
    text = evidence.text
    for moment in evidence.moments:
        text = text.replace(moment.phrase, " ")
    return text


def _concrete_words(evidence: Evidence) -> list[str]:
    """The words of a statement that name something in particular, its verb and its times aside."""
    verb = evidence.clause.verb if evidence.clause else ""
    return [word for word in content_words(_bare(evidence)) if word not in _vague() and stem(word) != verb]


def _is_verdict(plain: str, clause: Clause | None) -> bool:
    """Whether a statement mainly says how good something was."""
    if clause is not None and clause.thing and _IMPRESSION.search(plain):
        return True
    about_thing = clause is None or clause.owner != "self" or bool(clause.thing) or clause.verb == "be"
    return about_thing and bool(_VERDICT.search(plain))


def _dangles(plain: str) -> bool:
    """Whether a pronoun stands before anything that it could stand for."""
    return _stands_for_nothing(plain, _DANGLING.search(plain))


def _stands_for_nothing(plain: str, pronoun: re.Match[str] | None) -> bool:
    if pronoun is None:
        return False
    return sum(word not in lexicon.GENERIC_NOUNS for word in content_words(plain[: pronoun.start()])) < 2


def _is_bare_plan(claim: Claim) -> bool:
    """Whether a plan names nothing that one could tell it by ("planning a trip there")."""
    return claim.relation == "plan" and len(claim.topic) < 2


@cache
def _vague() -> frozenset[str]:
    return lexicon.GENERIC_NOUNS | lexicon.EMOTIONS | lexicon.ADVERBS | frozenset(lexicon.NUMBERS) | lexicon.TIME_WORDS


@cache
def _informative() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.INFORMATIVE)


@cache
def _weak() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.WEAK_VERBS)


@cache
def _generic() -> frozenset[str]:
    return frozenset(stem(word) for word in lexicon.GENERIC_NOUNS)
