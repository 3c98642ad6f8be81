"""Sorts a statement: which kind of fact it is, how sure, and how much it matters."""

from __future__ import annotations

import re

from agent_memory.language.offline import lexicon, vocabulary
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.phrases import attribute_kind
from agent_memory.language.offline.speech import is_rule, is_standing_order
from agent_memory.language.offline.text import canon, expand
from agent_memory.language.offline.verbs import is_past
from agent_memory.models import FactKind
from agent_memory.text.patterns import bounded, either

_WORD = re.compile(r"[\w'-]+")  # one repeat of one class with nothing behind it: it never goes back
_WE = r"(?:i|we)"
_GUESSED = bounded(
    r"\bmust(?: not)? (?:have (?P<done>[a-z]+)\b|be (?P<state>[a-z]+)\b)"
    r"|\b(?:it|that|this|there|he|she|they) must(?: not)? (?:be|have)(?: (?:a|an|the|at|in|so|really|very)\b|$)"
    r"|^must (?:be|have)\b",
    re.I,
)
_OTHERS_RULE = bounded(
    r"^(?!i |we |you )(?:[\w'&-]+ ){1,3}(?:wants?|requires?|insists?|demands?|needs?) [^?]*"
    rf"\b{either('kept stored signed sent approved filed delivered encrypted reviewed at_least at_most only every')}\b"
    r"|\b(?:told|advised|ordered|forbade|warned) (?:me|us) (?:not to|no|never|against)\b"
    r"|\b(?:doctor|doc|gp|physio|dentist) (?:said|says|told|wants|recommended|advised) "
    r".*\b(?:no|not|avoid|only|at least)\b"
    r"|\b(?:does|do|will|did) not (?:allow|support|permit|accept)\b"
    r"|, never (?!been\b|had\b|went\b|got\b|left\b|did\b|again\b)[a-z]+",
    re.I,
)
_HAS_TO_BE = bounded(r"\b(?:has|have) to [a-z]+ ", re.I)
_HAS_TO = either("be have include support work fit stay run handle finish cover")
_LIMIT = either(r"""
    no_more_than no_less_than not_more_than at_most at_least within_(?:budget|\d|one|two|three)
    not_(?:want_to_)?(?:\w+_)?more_than under_(?:[$€£]|\d)
""")
_REQUIREMENT_WORDS = either(r"""
    (?:is|are|be)_(?:required|mandatory|not_allowed|forbidden|non-negotiable) requirements? requires? as_long_as_it
    can_not_(?:be|exceed|go_over|have) should_(?:always|never|not_exceed)
    should_(?:not_)?be_(?:under|no|more|over|above|less|later|at_most|at_least) i_need_(?:it|them|this)_to
    we_need_(?:it|them|this)_to only_(?:works?|accept|allowed) deal-?breaker constraint
""")
_REQUIREMENT = bounded(
    rf"\b(?:must(?: not)? (?!-)|has to be|have to be|needs? to {_HAS_TO}|{_LIMIT}|{_REQUIREMENT_WORDS})\b",
    re.I,
)
_OWN_LIMIT = bounded(r"at least|at most|under|requires?|only", re.I)
_NEEDS_THING = bounded(
    rf"^{_WE} need (?:a|an|something|one|some) .*\b{either('with that which under for near without')}\b", re.I
)
_OBLIGED = bounded(
    rf"^{_WE} (?:have to|must|can not|am not allowed to|are not allowed to|need to) "
    rf"{either('be have leave use stay avoid follow work keep submit')}\b",
    re.I,
)
_NEEDED = bounded(rf"^{_WE} (?:really |also |still )?need (?:a|an|some|someone|to find)\b", re.I)
_DECISION_WORDS = either(r"""
    decided agreed_(?:on|to|that|with) settled_on chose have_chosen picked(?!_up) opted_for went_with going_ahead_with
    (?:i|we|am|are|will|let_us)(?:_be|_just|_definitely)?_(?:go|going)_with i_will_take i_will_go_for we_will_take
    we_will_use booked signed_up_for enrolled confirmed finali[sz]ed committed_to made_up_my_mind final_decision
    approved ruled_out let_us_(?:use|do|book|stick|go) ended_up_(?:choosing|going|picking|buying) reserved
    accepted_(?:the|an|a|their) turned_down called_off cancell?ed postponed rescheduled
""")
_DECISION = bounded(rf"\b{_DECISION_WORDS}\b", re.I)
_UNDECIDED = bounded(
    rf"\b{either('not nothing never nobody nothing_was no_one yet_to still')} (?:\w+ ){{0,2}}"
    rf"{either('decided chosen picked booked agreed confirmed deciding approved finali[sz]ed accepted')}\b",
    re.I,
)
_MOVED = bounded(
    rf"^(?:we|i|they) (?:have )?(?:just )?{either('moved pushed shifted changed switched bumped delayed')} "
    r"(?:the|our|my|it)\b",
    re.I,
)
_FONDLY = either("really also still just absolutely totally do would truly always simply all both")
_FOND = either(r"""
    prefer prefers preferred favou?rite fave would_rather would_never can_not_stand not_a_(?:big_|huge_)?fan
    a_(?:big_|huge_|massive_)?fan_of fond_of crazy_about obsessed_with (?:am|are|been|really|so|totally|got)_into
    passionate_about keen_on hooked_on sick_of not_into would_love would_like top_pick go-to
    interested_in dream_(?:is|of|job|car|house|trip) bucket_list
""")
_PREFERENCE = bounded(
    rf"\b(?:{_FOND}|(?:^|i |we |not )(?:{_FONDLY} )*"
    rf"{either('love like enjoy adore hate dislike loved hated enjoyed enjoying')})\b",
    re.I,
)
_NOT_LIKING = bounded(
    rf"\b{either('looks? feels? felt looked sounds? something stuff things is was more just')} like\b"
    rf"|\blike {either('a an the this that these i my when crazy')}\b(?! (?:lot|bit|idea))"
    rf"|\binto {either('the a an my our it this his her')}\b",
    re.I,
)
_CONTEXT_WORDS = either(r"""
    planning plan_to working_on currently at_the_moment right_now these_days
    this_(?:week|month|weekend|year|summer|quarter|semester|morning|evening|afternoon) trying_to preparing
    looking_(?:for|into|to) going_to about_to wants?_to need_to thinking_(?:of|about) considering getting_ready
    hoping_to hope_to researching searching_for saving_(?:up|for) training_for studying_for waiting_(?:for|on)
    struggling next_(?:week|month|weekend|year) tomorrow tonight today soon upcoming will_be i_will we_will
    in_the_middle_of busy deadline stuck debugging learning in_(?:a_few|two|three|\d)_(?:days|weeks|months)
    aiming_to intend_to starting
""")
_CONTEXT = bounded(rf"\b{_CONTEXT_WORDS}\b", re.I)
_UNSURE = bounded(rf"\b{either('maybe perhaps possibly might not_sure tentatively could(?!_not)')}\b", re.I)
_HEDGED_WORDS = either(r"""
    probably (?-i:may) i_think i_guess i_suppose i_believe likely kind_of sort_of apparently considering
    thinking_(?:of|about) i_feel_like hopefully roughly
""")
_HEDGED = bounded(rf"\b{_HEDGED_WORDS}\b", re.I)


def kind_of(text: str, clause: Clause | None, claims: tuple[Claim, ...]) -> FactKind:
    """Which kind of fact a statement is."""
    plain = expand(text)
    relations = {claim.relation for claim in claims}
    if is_standing_order(plain) or is_rule(plain):
        return "requirement"
    if "allergy" in relations or "diet" in relations:
        return "fact"
    if _NEEDS_THING.search(plain) or _OBLIGED.search(plain) or _is_required(plain, clause):
        return "requirement"
    if (_DECISION.search(plain) or _MOVED.search(plain)) and not _UNDECIDED.search(plain):
        return "decision"
    if relations & {"affinity", "preference"} or (_PREFERENCE.search(plain) and not _NOT_LIKING.search(plain)):
        return "preference"
    if clause is not None and clause.time == "past":
        return "fact"
    if relations & {"attribute", "tool"} and not (clause and clause.time in {"ahead", "wish"}):
        return "fact"
    if (clause is not None and clause.time in {"ahead", "wish"}) or _CONTEXT.search(plain) or _NEEDED.match(plain):
        return "context"
    return "fact"


def is_attribute(word: str) -> bool:
    """Whether a word names an attribute that has a value."""
    return bool(attribute_kind(canon(word)))


def requires(text: str) -> bool:
    """Whether a text says how something has to be."""
    return bool(_REQUIREMENT.search(expand(text)))


def _is_required(plain: str, clause: Clause | None) -> bool:
    """Whether a statement sets a condition; "I sleep at least eight hours" tells a habit instead."""
    if is_guess(plain):
        return False
    if _OTHERS_RULE.search(plain) or (clause and clause.thing and clause.definite and _HAS_TO_BE.search(plain)):
        return True
    match = _REQUIREMENT.search(plain)
    if match is None or (clause is not None and clause.time == "past"):
        return False
    personal = clause is not None and clause.owner == "self" and not clause.thing
    return not (personal and _OWN_LIMIT.fullmatch(match[0].strip().rstrip("$€£0123456789 ")))


def is_guess(plain: str) -> bool:
    """Whether "must" concludes instead of demanding: "must have been", "must be tired", "it must be the fuse"."""
    found = _GUESSED.search(plain)
    if found is None:
        return False
    done, state = found["done"], found["state"]
    if done is None and state is None:
        return True
    if done is not None:
        return is_past(done.lower()) or done.lower() in {
            "been",
            "put",
            "cut",
            "hit",
            "hurt",
            "let",
            "quit",
            "read",
            "set",
        }
    felt = lexicon.EMOTIONS | {"so", "really", "very"}
    return state is not None and (state.lower().endswith("ing") or state.lower() in felt)


def confidence_of(text: str) -> float:
    """How sure the speaker is: plain words 0.9, hedged ones less."""
    plain = expand(text)
    if _UNSURE.search(plain):
        return 0.5
    return 0.65 if _HEDGED.search(plain) else 0.9


def importance_of(text: str, kind: FactKind, claims: tuple[Claim, ...]) -> float:
    """How much a statement matters, by what it touches."""
    words = set(_WORD.findall(text.lower()))
    score = {"decision": 0.65, "requirement": 0.65, "preference": 0.5, "fact": 0.5, "context": 0.4}[kind]
    score += 0.25 * bool(words & vocabulary.IMPORTANT["health"])
    score += 0.15 * bool(words & vocabulary.IMPORTANT["money"] or bounded(r"[$€£]\d").search(text))
    score += 0.1 * bool(words & vocabulary.IMPORTANT["deadline"])
    score += 0.15 * bool(words & vocabulary.IMPORTANT["life"])
    score += 0.1 * any(claim.relation not in {"state", "habit"} for claim in claims)
    return round(min(score, 0.95), 2)
