"""Sorts a statement: which kind of fact it is, how sure, and how much it matters."""

from __future__ import annotations

import re

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.phrases import attribute_kind
from agent_memory.language.offline.speech import is_standing_order
from agent_memory.language.offline.text import canon, expand
from agent_memory.models import FactKind

_REQUIREMENT = re.compile(
    r"\b(?:must(?: not)?(?! (?:be|have)(?: been)? (?:so|such|really|very|a|great|nice|hard|tough|amazing|awesome|fun|the))|has to be|have to be|needs? to (?:be|have|include|support|work|fit|stay|run|handle|finish|cover)"
    r"|(?:is|are|be) (?:required|mandatory|not allowed|forbidden|non-negotiable)|requirement|requirements|requires?"
    r"|no more than|no less than|at most|at least|not more than|within (?:budget|\d|one|two|three)|as long as it"
    r"|can not (?:be|exceed|go over|have)|should (?:always|never|not exceed|be under|be no)|i need (?:it|them|this) to"
    r"|we need (?:it|them|this) to|only (?:works?|accept|allowed)|under (?:[$€£]|\d)|dealbreaker|deal-breaker|constraint)\b",
    re.I,
)
_LOOSE_REQUIREMENT = re.compile(r"\b(?:at least|at most|under|requires?|only)\b", re.I)
_NEEDS_THING = re.compile(
    r"^(?:i|we) need (?:a|an|something|one|some) .*\b(?:with|that|which|under|for|near|without)\b", re.I
)
_OBLIGED = re.compile(r"^(?:i|we) (?:have to|must|can not|am not allowed to|are not allowed to|need to) (?:be|have|leave|use|stay|"
                      r"avoid|follow|work|keep|get .* approv|submit)\b", re.I)  # fmt: skip
_DECISION = re.compile(
    r"\b(?:decided|have decided|agreed (?:on|to|that|with)|settled on|chose|have chosen|picked|opted for|went with"
    r"|(?:i|we|am|are|will|let us)(?: be| just| definitely)? (?:go|going) with|i will take|i will go for|we will take|we will use|booked|have booked|signed up for|enrolled"
    r"|confirmed|finali[sz]ed|committed to|going ahead with|made up my mind|final decision|approved|ruled out"
    r"|let us (?:use|do|book|stick|go)|ended up (?:choosing|going|picking|buying)|reserved|accepted (?:the|an|a|their)"
    r"|turned down|called off|cancell?ed|postponed|rescheduled)\b",
    re.I,
)
_MOVED = re.compile(
    r"^(?:we|i|they) (?:have )?(?:just )?(?:moved|pushed|shifted|changed|switched|bumped|delayed) (?:the|our|my|it)\b",
    re.I,
)
_PREFERENCE = re.compile(
    r"\b(?:prefer|prefers|preferred|favou?rite|fave|would rather|(?:^|i |we |not )(?:(?:really|also|still|just|absolutely|totally"
    r"|do|would|truly|always|simply|all|both) )*(?:love|like|enjoy|adore|hate|dislike|loved|hated|enjoyed|enjoying|loving)\b|can not stand|not a (?:big |huge )?fan|a (?:big |huge |massive )?"
    r"fan of|fond of|crazy about|obsessed with|(?:am|are|been|really|so|totally|got) into|passionate about|keen on|hooked on|sick of|not into|allergic to the idea|"
    r"looking forward|would love|would like|top pick|go-to|interested in|dream (?:is|of|job|car|house|trip)|bucket list)\b",
    re.I,
)
_NOT_LIKING = re.compile(r"\b(?:look|looks|feel|feels|felt|looked|sounds?|something|stuff|things|is|was|more|just) like\b|\blike (?:a|an|the|this"
                         r"|that|these|i|my|when|crazy)\b(?! (?:lot|bit|idea))|\binto (?:the|a|an|my|our|it|it|this|his|her)\b", re.I)  # fmt: skip
_CONTEXT = re.compile(
    r"\b(?:planning|plan to|working on|currently|at the moment|right now|these days|this (?:week|month|weekend|year|summer|"
    r"quarter|semester|morning|evening|afternoon)|trying to|preparing|looking for|looking into|looking to|going to|"
    r"about to|want to|wants to|need to|thinking (?:of|about)|considering|getting ready|hoping to|hope to|researching|"
    r"searching for|saving (?:up|for)|training for|studying for|waiting (?:for|on)|struggling|next (?:week|month|weekend|year)|"
    r"tomorrow|tonight|today|soon|upcoming|will be|i will|we will|in the middle of|busy|deadline|stuck|debugging|"
    r"learning|in (?:a few|two|three|\d) (?:days|weeks|months)|aiming to|intend to|starting)\b",
    re.I,
)
_HEDGED = re.compile(r"\b(?:maybe|perhaps|probably|possibly|might|(?-i:may)|i think|i guess|i suppose|i believe|not sure|likely|kind of"
                     r"|sort of|apparently|tentatively|considering|thinking (?:of|about)|could(?! not)|i feel like|hopefully|roughly)\b", re.I)  # fmt: skip
_STRONG_HEDGE = re.compile(r"\b(?:maybe|perhaps|possibly|might|not sure|tentatively|could(?! not))\b", re.I)


def kind_of(text: str, clause: Clause | None, claims: tuple[Claim, ...]) -> FactKind:
    """Which kind of fact a statement is."""
    plain = expand(text)
    relations = {claim.relation for claim in claims}
    if is_standing_order(plain):
        return "requirement"
    if "allergy" in relations or "diet" in relations:
        return "fact"
    undecided = clause is not None and clause.negative and plain.rstrip(".!").endswith("yet")
    if (_DECISION.search(plain) or _MOVED.search(plain)) and not undecided:
        return "decision"
    if _NEEDS_THING.search(plain) or _OBLIGED.search(plain) or _is_required(plain, clause):
        return "requirement"
    if relations & {"affinity", "preference"} or (_PREFERENCE.search(plain) and not _NOT_LIKING.search(plain)):
        return "preference"
    if clause is not None and clause.time == "past":
        return "fact"
    if relations & {"attribute", "tool"} and not (clause and clause.time in {"ahead", "wish"}):
        return "fact"
    if (clause is not None and clause.time in {"ahead", "wish"}) or _CONTEXT.search(plain):
        return "context"
    return "fact"


def is_attribute(word: str) -> bool:
    """Whether a word names an attribute that has a value."""
    return bool(attribute_kind(canon(word)))


def requires(text: str) -> bool:
    """Whether a text says how something has to be."""
    return bool(_REQUIREMENT.search(expand(text)))


def _is_required(plain: str, clause: Clause | None) -> bool:
    match = _REQUIREMENT.search(plain)
    if match is None or (clause is not None and clause.time == "past"):
        return False
    personal = clause is not None and clause.owner == "self" and not clause.thing
    return not (personal and _LOOSE_REQUIREMENT.fullmatch(match[0].strip().rstrip("$€£0123456789 ")))


def confidence_of(text: str) -> float:
    """How sure the speaker is: plain words 0.9, hedged ones less."""
    plain = expand(text)
    if _STRONG_HEDGE.search(plain):
        return 0.5
    return 0.65 if _HEDGED.search(plain) else 0.9


def importance_of(text: str, kind: FactKind, claims: tuple[Claim, ...]) -> float:
    """How much a statement matters, by what it touches."""
    words = set(re.findall(r"[\w'-]+", text.lower()))
    score = {"decision": 0.65, "requirement": 0.65, "preference": 0.5, "fact": 0.5, "context": 0.4}[kind]
    if words & lexicon.IMPORTANT["health"]:
        score += 0.25
    score += 0.15 * bool(words & lexicon.IMPORTANT["money"] or re.search(r"[$€£]\d", text))
    score += 0.1 * bool(words & lexicon.IMPORTANT["deadline"])
    score += 0.15 * bool(words & lexicon.IMPORTANT["life"])
    score += 0.1 * any(claim.relation != "state" and claim.relation != "habit" for claim in claims)
    return round(min(score, 0.95), 2)
