"""Sorts a statement: which kind of fact it is, how sure, and how much it matters."""

from __future__ import annotations

import re

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.speech import is_rule, is_standing_order
from agent_memory.language.offline.text import expand
from agent_memory.language.offline.verbs import is_past
from agent_memory.models import FactKind
from agent_memory.text.patterns import bounded, either, linear, plain_words

_WORD = re.compile(r"[\w'-]+")  # one repeat of one class with nothing after it: it never goes back
_VERY_MUCH = "(?:so|such|really|very|quite|pretty|truly|incredibly|amazingly|extremely|absolutely|particularly)"
_IMPRESSIONS = lexicon.EMOTIONS - {"ok", "okay", "fine", "ready", "right", "sure", "certain", "here", "back", "done"}
_GUESSED = bounded(
    r"\b(?:it|that|this|there|he|she|they) must(?: not)? (?:be|have)(?: (?:a|an|the|at|in|so|really|very)\b|$)"
    r"|\bmust(?: not)? (?:seem|mean|involve|make (?:for|it|you|them|him|her|us|me))\b"
    rf"|\bmust(?: not)? (?:be|feel|look|taste|smell|sound) (?:{_VERY_MUCH} )?(?:(?:an?|one) )?(?:{_VERY_MUCH} )?"
    rf"(?:{plain_words(_IMPRESSIONS)}|surreal)\b"
    rf"|\bmust(?: not)? be (?:(?:quite|such) an?\b|{_VERY_MUCH} [a-z]+ing\b)"
    r"|\b(?:how|what) [\w' ]{3,40} must\b|^must (?:be|feel|have)\b|^\w+ing\b[^,]* must (?:be|have)\b"
    r"|^(?:it|that|this|those|these) (?:has|have)(?: got)? to be\b(?! [a-z]+ed\b)"
    r"|\bmust(?: not)? (?:have (?P<done>[a-z]+)\b|be (?P<state>[a-z]+)\b)",
    re.I,
)
_OTHERS_RULE = bounded(
    r"^(?!i |we |you )(?:[\w'&-]+ ){1,3}(?:wants?|requires?|insists?|demands?|needs?) [^?]*"
    rf"\b{either('kept stored signed sent approved filed delivered encrypted reviewed at_least at_most only every')}\b"
    rf"|\b{either('doctor doc gp physio dentist')} (?:said|says|told|wants|recommended|advised) "
    r"(?!(?:that )?(?:it|that|this|there|he|she|they)\b).*\b(?:no|not|avoid|only|at least)\b"
    r"|\b(?:does|do|will|did) not (?:allow|support|permit|accept)\b"
    r"|, never (?!been\b|had\b|went\b|got\b|left\b|did\b|again\b|[a-z]+ed\b)[a-z]+",
    re.I,
)
_REQUIRED = either(r"""
    must(?:_not)?_(?!-) has_to_be have_to_be
    (?<!would_)needs?_to_be needs?_to_(?:have|include|support|fit|stay|run|finish|cover)
    needs_to_work need_to_work(?!_on_(?:my|our))
    no_more_than no_less_than not_more_than within_budget not_(?:want_to_)?(?:\w+_)?more_than under_[$€£]
    (?:is|are|be)_(?:required|mandatory|not_allowed|forbidden|non-negotiable) requirements?_(?:is|are|:) as_long_as_it
    can_not_(?:be|exceed|go_over)\b should_(?:always|never|not_exceed) only_(?:works?|accept|allowed) deal-?breaker
    should_(?:not_)?be_(?:under|no|more|over|above|less|later|at_most|at_least|in_the) (?:i|we)_need_(?:it|them|this)_to
    (?:i|we)_(?:want|need)_(?:the|our|my)_\w+_to_(?:be|have)
""")
_REQUIREMENT = bounded(rf"\b{_REQUIRED}", re.I)
_OWN_NEED = bounded(
    r"^(?:i|we) (?:have to|must|can not|am not allowed to|are not allowed to|need to) "
    rf"{either('be have leave use stay avoid follow work keep eat drink')}\b|^no \w+ing\b.* (?:until|till|for)\b"
    rf"|^(?:(?:i|we) )?(?:can not|do not) do (?:{plain_words(lexicon.WEEKDAYS)}|morning|evening|night|weekend)s\b",
    re.I,
)
_FAVOURITE = bounded(r"\bfavou?rite\b", re.I)
_HAS_TO_BE = bounded(r"\b(?:has|have) to [a-z]+ ", re.I)
_DECIDED = either(r"""
    decided agreed_(?:on|to|that|with) settled_on chose have_chosen picked(?!_up) opted_for going_ahead_with
    (?:i|we|they|and|just|finally|eventually|have)_went_with(?!_(?:my|our|him|her|them|friends|family)\b)
    (?:i|we|am|are|will|let_us)(?:_be|_just)?_(?:go|going)_with (?:i|we)_will_(?:take|use|go_for)
    (?:i|we)_(?:go|went)_for_the booked signed_up_for enrolled confirmed finali[sz]ed committed_to made_up_my_mind
    approved ruled_out let_us_(?:use|do|book|stick|go) ended_up_(?:choosing|going|picking|buying) (?:i|we|have)_reserved
    accepted_(?:the|an|a|their) turned_down called_off cancell?ed (?:i|we)(?:_have)?(?:_\w+)?_reached_an_agreement
    signed_(?:the|an?|our|my)_(?:lease|contract|agreement|offer) postponed rescheduled
""")
_DECISION = bounded(
    rf"\b{_DECIDED}\b|^(?:we|i|they) (?:have )?(?:just )?(?:moved|pushed|shifted|changed|switched|bumped|delayed) "
    r"(?:the|our|my|it)\b.* (?:to|from|till|until|by|back|forward)\b",
    re.I,
)
_UNDECIDED = bounded(
    rf"\b{either('not nothing never nobody no_one yet_to still')} (?:\w+ ){{0,2}}"
    rf"{either('decided chosen picked booked agreed confirmed deciding approved finali[sz]ed accepted')}\b"
    r"|\b(?:decided|chosen|picked|booked|agreed|confirmed|approved|accepted) (?:on )?(?:nothing|nobody|no one)\b"
    r"|\bdecision (?:is |was )?(?:postponed|deferred|pending)\b",
    re.I,
)
_FOND = either(r"""
    prefer prefers preferred favou?rite would_rather
    would_never(?!_(?:been|had|felt|seen|known|thought|done|gone|heard|met|[a-z]+ed)\b)
    (?:can_not|could_not|will_not)_(?:stand|bear|tolerate)
    not_a_(?:big_|huge_)?fan a_(?:big_|huge_)?fan_of fond_of obsessed_with (?:am|are|really)_into passionate_about
    keen_on sick_of not_into would_love go-to (?:learn|work|study|sleep|focus)_(?:best|better)
    not_(?:really_|quite_|much_)?appeal_to_me not_(?:really_)?my_(?:thing|cup_of_tea|style)
""")
_VERY = r"(?:(?:[a-z]+ly|also|still|just|always|very|so|quite|usually|often|never|do|tend to) ){0,3}"
_TASTES = either("aversion dislike distaste hatred preference objection fondness passion phobia fear weakness bias")
_CONSUMING = either("eat drink wear watch read buy use consume play drive listen shop cook ride fly purchase consider")
_PREFERENCE = bounded(
    rf"\b(?:{_FOND}"
    rf"|(?:^|i |we |not |and |but ){_VERY}(?:love|like|enjoy|hate)s?"
    r"(?! (?:an?|the|this|that|these|it|them|how|i|my|when|both|and)\b(?! good))"
    # "the people I love are getting older", "we have a life we like", "love is patient"
    r"(?! (?:are|was|were|has|have|will)\b(?!-)|[.!,;]*$)(?:(?! is\b)|(?<=[ie] like))"
    r"|(?:^|i |we )want [\w -]{3,40}? (?:with|in|for) (?:all|each|every) (?:answer|explanation|reply|response)s?"
    # A plural without an article is about all of them: "I want detailed explanations", not "I want some examples".
    r"|(?:^|i |we )want (?!(?:some|more|other|better|any|these|those|the|your|my|no|two|three|four|several)\b)[a-z-]+ "
    r"(?:answers|explanations|solutions|examples|replies|responses)(?=[.!]|$)"
    rf"|(?:^|i |we ){_VERY}(?:(?:dislike|despise|detest|loathe|avoid)(?! (?:this|that|these|it|them|how|when)\b)"
    r"|refuse to(?! (?:admit|think (?:about|of|that)|give (?:up|in)|be [a-z]+ed (?:by|about|at|when)"
    r"|(?:believe|accept|let) (?:that|it|this|the|he|she|they|him|her|them))\b)"
    rf"|(?:only|exclusively) {_CONSUMING}|do not {_VERY}(?:wear|watch)"
    rf"|have (?:an?|no) (?:[a-z-]+ ){{0,2}}(?:{_TASTES} (?:of|to|for|against|towards?)|interest in)"
    rf"|(?:am|are) {_VERY}(?:not {_VERY}(?:comfortable with|interested in)"
    r"|comfortable with|interested in(?! (?:the|your|this|that|more|it|them|[a-z]+ing)\b)"
    r"|uncomfortable with|uninterested in|averse to|opposed to|against)))\b",
    re.I,
)
_PASSING_KIND = either(r"""
    planning plan_to working_on currently at_the_moment right_now these_days trying_to preparing looking_(?:for|into|to)
    searching_for going_to about_to wants?_to need_to thinking_(?:of|about) getting_ready hop(?:ing|e)_to
    saving_(?:up|for) training_for studying_for waiting_(?:for|on) will_be (?:i|we)_will learning upcoming
    need_(?:a|an|some) (?:am|are)_(?:building|migrating|using|writing)
""")
_CONTEXT = bounded(rf"\b{_PASSING_KIND}\b", re.I)
_NAME = linear(
    r"\b(?:my (?:\w+ )?name is|call me|^name:)\b"
    r"|^(?:i am|i'm|im) (?-i:\p{Lu}\p{Ll}+)(?: (?:from|of|at|with)\b|[,.!]|$)",
    re.I,
)
_UNSURE = bounded(r"\b(?:maybe|perhaps|possibly|might|not sure|tentatively|could(?! not))\b", re.I)
_HEDGED = bounded(
    r"\b(?:probably|(?-i:may)|likely|kind of|sort of|apparently|considering|thinking (?:of|about)|hopefully|roughly"
    r"|i (?:think|guess|suppose|believe|feel like))\b",
    re.I,
)


def kind_of(text: str, clause: Clause | None) -> FactKind:
    """Which kind of fact a statement is."""
    plain = expand(text)
    time = clause.time if clause else "now"
    if is_standing_order(plain) or is_rule(plain) or is_required(plain, clause):
        return "requirement"
    if _DECISION.search(plain) and not _UNDECIDED.search(plain) and not (clause and clause.hedged):
        return "decision"
    if _PREFERENCE.search(plain):
        return "preference"
    if time != "past" and (time in {"ahead", "wish"} or _CONTEXT.search(plain)):
        return "context"
    return "fact"


def is_required(plain: str, clause: Clause | None) -> bool:
    """Whether a statement sets a condition; "I sleep at least eight hours" tells a habit instead."""
    if is_guess(plain) or _FAVOURITE.search(plain):
        return False
    if _OWN_NEED.search(plain) or _OTHERS_RULE.search(plain):
        return True
    if clause is not None and clause.thing and clause.definite and _HAS_TO_BE.search(plain):
        return True
    return bool(_REQUIREMENT.search(plain)) and not (clause is not None and clause.time == "past")


def is_guess(plain: str) -> bool:
    """Whether "must" concludes instead of demanding: "must have been", "must be tired", "it must be the fuse"."""
    found = _GUESSED.search(plain)
    if found is None:
        return False
    done, state = (found["done"] or "").lower(), (found["state"] or "").lower()
    if done:
        return is_past(done) or done == "been" or done in lexicon.BASE_OR_PAST
    return not state or state.endswith("ing") or state in lexicon.EMOTIONS | {"so", "really", "very"}


def confidence_of(text: str) -> float:
    """How sure the speaker is: plain words 0.9, hedged ones less. A choice."""
    plain = expand(text)
    if _UNSURE.search(plain):
        return 0.5
    return 0.65 if _HEDGED.search(plain) else 0.9


def tells_name(text: str) -> bool:
    """Whether a statement says what somebody is called."""
    return _NAME.search(text) is not None


def importance_of(text: str, kind: FactKind) -> float:
    """How much a statement matters, by what it touches. A choice."""
    words = set(_WORD.findall(text.lower()))
    score = {"decision": 0.65, "requirement": 0.65, "preference": 0.5, "fact": 0.5, "context": 0.4}[kind]
    score += 0.25 * bool(words & lexicon.IMPORTANT["health"])
    score += 0.15 * bool(words & lexicon.IMPORTANT["money"] or bounded(r"[$€£]\d").search(text))
    score += 0.1 * bool(words & lexicon.IMPORTANT["deadline"])
    score += 0.15 * bool(words & lexicon.IMPORTANT["life"])
    return round(min(score, 0.95), 2)
