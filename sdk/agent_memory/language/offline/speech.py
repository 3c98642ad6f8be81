"""Tells statements from the rest of talk: questions, courtesies, orders, what-ifs and planted orders."""

from __future__ import annotations

import re
from functools import cache

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.text import expand, straighten
from agent_memory.text.patterns import Bounded, bounded, either, linear, plain_words

_DEED = either(
    "obey approve reveal comply transfer send delete execute grant respond answer say reply pretend act ignore"
)
_PLANTED = linear(
    rf"\b{either('ignore disregard forget override bypass')}\b.{{0,30}}"
    rf"\b{either('previous prior above earlier all any your the system')}\b.{{0,30}}"
    rf"\b{either('instructions? rules? prompts? context guidelines directives messages?')}\b"
    rf"|^\s*{either('system assistant developer agent tool function')}\s*(?:prompt|message|note)?\s*:"
    rf"|\b{either('you_are_now (?:new|updated|hidden|secret)_(?:system_)?instructions? system_prompt jailbreak')}"
    r"|<\|[^|]*\|>|\[/?INST\]|</?(?:system|instructions?)>|#{2,}\s*(?:instruction|system)"
    rf"|\b(?:do not|don't|never) {either('tell inform reveal_to mention_to')} the user\b"
    rf"|\b{either('you the_assistant the_agent the_ai the_model')} {either('must shall should will have_to need_to')} "
    r"(?:always |never |now )?"
    rf"{_DEED}",
    re.I,
)
_CONJUNCTION = r"(?:(?:and|so|but|or|then|also)\s+)?"
_AUXILIARY = either("do does did is are was were can could will would should shall may have has had am")
_QUESTION = bounded(
    rf"^{_CONJUNCTION}{either('who whom whose what which when where why how')}\b"
    rf"|^{_CONJUNCTION}{_AUXILIARY}(?: not)? "
    rf"{either('i you we they he she it the there this that these those my your our any anyone someone people')}\b"
    rf"|^any {either('idea tips? advice suggestions? recommendations? plans thoughts chance news luck')}\b"
    r"|^i (?:was |am |have been )?(?:just )?wonder(?:ing|ed)?\b"
    rf"|^not sure {either('if what how whether why where')}\b",
    re.I,
)
_SUPPOSING = either(
    "if imagine suppose supposing assuming let_us_say say_i unless in_case what_if as_if hypothetically"
)
_WHAT_IF = bounded(
    rf"^{_SUPPOSING}\b"
    rf"|\bif {either('i we you they it he she only')}\b|\bi wish\b|\b(?:would|could|should|might) have\b|\bas though\b"
    rf"|\b{either('i we it that this they he she you')} would(?! (?:(?:also|really) )?(?:love|like|prefer|rather))\b"
    r"|\b(?:would|could) be\b",
    re.I,
)
_LIKINGS_AND_THOUGHTS = either("love like enjoy hate know think forget")
_STANDING_VERBS = plain_words(lexicon.STANDING_VERBS)
_RULED_VERBS = plain_words(lexicon.STANDING_VERBS | lexicon.INFORMATIVE | lexicon.CHANGING)
_ANSWERS = either("answers replies responses explanations summaries messages")
_UNITS = either(
    "metric imperial celsius fahrenheit kilomet\\w+ miles euros? dollars british american 24-hour short simple plain"
)
_STANDING = bounded(
    r"^(?:(?:but|and|also|so) )?(?:when(?:ever)? you [^,.?]+, )?(?:please )?(?:"
    rf"(?:from now on,? )?(?:please )?(?:always|never|do not ever) (?!{_LIKINGS_AND_THOUGHTS}\b){_RULED_VERBS}\b"
    rf"|from now on,? (?:please )?{_STANDING_VERBS}\b"
    r"|(?:only )?(?:answer|reply|respond|write|speak|talk)(?: to me)?(?: only| always)? (?:in|with)\b"
    rf"|(?:keep|make) (?:your |the |all )?{_ANSWERS}\b"
    rf"|use (?:the )?{_UNITS}\b"
    r"|call me [A-Z]?\w+(?: from now on)?$|address me as\b"
    r"|(?:make|be) sure (?:that |to )?(?:always |never |it |the |every )?)",
    re.I,
)
_TO_YOU = bounded(r"\byours?(?:elf)?\b(?! (?:answers?|repl(?:y|ies)|responses?)\b)|give up", re.I)
_RULE = bounded(rf"^(?:i|we) (?:always|never) (?!{_LIKINGS_AND_THOUGHTS}\b){_RULED_VERBS}\b", re.I)
_ADDRESSED = bounded(r"\b(?:you|your|yours|yourself|ya|u)\b(?! know\b)", re.I)
_ORDER_WORDS = bounded(r"^(?:please |kindly |just |now |then |also )*(?P<verb>[a-z]+)\b", re.I)
_TO_LISTENER = bounded(
    rf"(?:you|your|hope|wish|not(?! allergic)|let us(?! {either('go_with use do book meet stick')}))\b", re.I
)
_BROKEN_OFF = bounded(r"\b(?:and|but|or|i|we|the|an?|to|of|so|my|because|with|for)\W*$", re.I)


def is_planted(text: str) -> bool:
    """Whether a text tries to give the reader orders in somebody else's name."""
    return any(_PLANTED.search(line) for line in straighten(text).splitlines())


def is_standing_order(text: str) -> bool:
    """Whether a text asks for something to be so from now on ("Always answer in metric")."""
    plain = straighten(text).rstrip(".! ")
    asked = plain.endswith("?") or _TO_YOU.search(plain)
    return bool(_STANDING.match(plain)) and not asked and not is_planted(plain)


def is_rule(text: str) -> bool:
    """Whether people state a rule that they keep ("We never deploy on Fridays")."""
    return bool(_RULE.match(straighten(text)))


def is_question(text: str) -> bool:
    """Whether a text asks."""
    return text.rstrip().endswith("?") or bool(_QUESTION.search(expand(text).strip()))


def is_statement(text: str) -> bool:
    """Whether a text states something: no question, order, courtesy or what-if, and not about the listener."""
    plain = expand(text).strip()
    if not plain or is_question(text) or _WHAT_IF.search(plain) or _TO_LISTENER.match(plain):
        return False
    return not (_chatter().match(plain) or _is_order(plain) or _BROKEN_OFF.search(plain))


def is_addressed(text: str) -> bool:
    """Whether a text speaks to or of the listener."""
    return bool(_ADDRESSED.search(expand(text)))


def _is_order(plain: str) -> bool:
    if plain.lower().startswith("let us"):
        return False
    match = _ORDER_WORDS.match(plain)
    return match is not None and match["verb"].lower() in lexicon.ASSISTANT_COMMANDS


@cache
def _chatter() -> Bounded:
    return bounded(plain_words(expand(entry) for entry in lexicon.CHATTER_OPENERS) + r"\b", re.I)
