"""Tells statements from the rest of talk: questions, courtesies, orders, what-ifs, quotations and planted orders."""

from __future__ import annotations

import re

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.endings import withdrawn
from agent_memory.language.offline.text import expand, straighten
from agent_memory.text.instructions import standing_instruction
from agent_memory.text.languages import LETTERS, is_foreign
from agent_memory.text.patterns import bounded, either, linear, plain_words
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS
from agent_memory.text.wishes import wish

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
    rf"{either('obey approve reveal comply transfer send delete execute grant respond answer say reply pretend act')}",
    re.I,
)
_QUESTION = bounded(
    rf"^(?:(?:and|so|but|or|then|also)\s+)?(?:{either('who whom whose what which when where why how')}\b"
    rf"|{either('do does did is are was were can could will would should shall may have has had am')}(?: not)? "
    rf"{either('i you we they he she it the there this that these those my your our any anyone someone people')}\b)"
    rf"|^(?:any|not sure) {either('idea tips? advice suggestions? thoughts chance news luck if what how whether')}\b"
    r"|^i (?:was |am |have been )?(?:just )?wonder(?:ing|ed)?\b",
    re.I,
)
_SUPPOSING = "if imagine suppose supposing assuming let_us_say unless in_case what_if as_if hypothetically had_(?:i|we)"
_WHAT_IF = bounded(
    rf"^{either(_SUPPOSING)}\b"
    rf"|\bif {either('i we you they it he she only')}\b|\bi wish\b|\b(?:would|could|should|might) have\b|\bas though\b"
    rf"|\b{either('i we it that this they he she you')} would"
    r"(?! (?:(?:also|really) )?(?:love|like|prefer|rather|never))\b"
    r"|^(?:i|we|he|she|they) (?:very |so )?(?:nearly|almost) [a-z]+ed\b"
    r"|\b(?:toying|playing|flirting) with the (?:idea|thought)\b"
    r"|\b(?:would|could) be\b|^(?:i|we) (?:do|did) not (?:think|believe|know|remember)\b"
    r"|\bin my (?:novel|story|book|game|dream|film|play)\b|\bmy (?:\w+ )?(?:character|protagonist)\b",
    re.I,
)
_REPORTED = bounded(
    r"\b(?:said|says|say|told|tells|wrote|writes|reads|asked|goes|quote|claims|lists)\b[^\"]*\"[^\"]+\""
    r"|^(?-i:[A-Z])[\w']{0,20}(?: (?:(?-i:[A-Z])[\w']{0,20}|said|says|wrote))?: (?:i|we|my|our)\b"
    r"|^\"[^\"]+\"|\"(?:[^\" ]+ ){3,}[^\"]+\"",
    re.I,
)
_NOT_MEANT = bounded(
    r"^(?:lol|lmao|rofl|haha+|ugh+|argh+|pff+)\b(?!,? (?:no|nope|nah|yes|yeah|yep)\b)"
    r"|\b(?:jk|just kidding|only kidding)\b|\b(?:haha+|lmao|rofl)\W*$"
    r"|, (?:do|did|am|is|are|can|have|will)(?: not|n't)? (?:i|we|you|it|they)\W*$"
    r"|^(?:for example|for instance|e\.g\.)",
    re.I,
)
_ENGLISH = SMALL_WORDS - FUNCTION_WORDS - {"no", "is", "we"}
"""Function words of English alone."""
_KEEP = bounded(
    r"^(?:(?:please|also|and|so|but|oh|ok|okay),? |when(?:ever)? [^.?]{3,60}?,? ){0,3}"
    r"(?:(?:can|could|will) you )?(?:please )?(?:remember|do not forget|keep in mind|bear in mind|note)(?: that|,|:)? "
    rf"(?!{either('to when how what who why where if me it this that the_time the_day')}\b)\S",
    re.I,
)
_TO_YOU = bounded(
    r"\byoursel(?:f|ves)\b|give up|\blet (?:me|us) know\b"
    r"|\byours?\b(?! (?:answers?|replies|responses?|sources?|messages?|texts|e?mails|summaries|reminders|recaps"
    r"|lists|tables|drafts|notes)\b)"
    r"|\bfeel free\b|\bnot hesitate\b",
    re.I,
)
_RULE = bounded(
    r"^(?:we (?=always (?!look forward|enjoy|love|like|feel|have|get|seem)|never )|i (?=never )"
    r"|(?:we|i) only [a-z]+[^\Wsdg] (?:\S+ )?(?:in|at|from) )",
    re.I,
)
_HANDING_OVER = bounded(
    rf"^(?:(?:please|can you|could you) )*{either('translate summari[sz]e proofread rewrite correct check fix edit')}\b"
    r"(?!-)[^:]*:(?!\d)|^(?:subject|from|betreff|von|oggetto|objet|asunto|assunto|onderwerp): "
    r"|^(?:here|this|below) (?:is|are) [^:]*"
    rf"\b{either('draft letter text story essay e?mail message post article paragraph poem transcript')}\b[^:]*:"
    rf"|^(?!(?:(?:like|as) )?(?:i|we)\b)[^:.]*"
    rf"\b{either('wrote writes sent emailed texted messaged posted replied answered says said')}\b"
    r"[^:.]*:$",
    re.I,
)
_EXERCISE = linear(
    r"\b(?:can|could|would|will) you (?:please |now |also )*(?:translate|rephrase|repeat|say|put)\b[^?.]*\?"
    r"|\bhow (?:do|would) you say\b|^(?:now )?(?:please )?(?:translate|repeat|say|complete|conjugate)\b[^.]*:",
    re.I,
)
_ADDRESSED = bounded(r"\b(?:you|your|yours|yourself|ya|u)\b(?! know\b)", re.I)
_NOTED = r"(?: \([^)]*\))?"
_TAKE_UP = "(?:try|give|use|consider|follow|read|watch|remember|check|take|have|look|think|keep)"
_ADVICE = either(
    "advice suggestions? recommendations? tips? methods? ideas? steps? recipes? books? movies? films? articles?"
)
# A "book club" is no advice.
_ASKED_FOR = rf"(?:{_ADVICE}|inspiration|resources?|guidance)(?=[^\w ]|$| (?:{plain_words(SMALL_WORDS)}|[a-z]+ing)\b)"
_OPTION = either("idea sound suggestion concept theme option approach layout look")
_REASONS = either(r"because since as_(?:i|we|my|our) who whose allerg\w+ intoleran\w+ diabet\w+ vegan my our")
_ALONE = rf"(?!.*(?:\d|\b{_REASONS}\b))"
_THAT = "(?:it|that|this|them|these|those)"
_NEEDS_TO = "(?:(?:have|need|got|had) to|must|should|will)"
_VERY = "(?:(?:a|an|such|so|really|very|quite|pretty|bit|little|kind of|sort of) ){0,3}"
_NOW = "now right_now yet in_mind at_the_moment for_now"
_HOW_A_DAY_WAS = """
    rough good great bad hard tough busy nice lovely tiring exhausting long fine okay ok sunny
    monday tuesday wednesday thursday friday saturday sunday
"""
_OF_THE_MOMENT = bounded(
    # of the conversation itself
    rf"^(?:i|we) {_NEEDS_TO} {either('go leave run head_out head_off log_off sign_off')}(?: now| soon| today| then)?"
    r"[.!,;]*$"
    rf"|^(?:i|we) {_NEEDS_TO} {either('go leave run head_out head_off log_off sign_off')} (?:now|soon)\b"
    r"|^(?:i|we) (?:just )?(?:want|wanted|would like) to (?:(?:talk|chat)(?: to you| with you)? about"
    r"|ask (?:you|about|something|a question)|consult you|share (?:something|this|it|my (?:\w+ )?progress|with you))\b"
    rf"|^(?:today{_NOTED},? )?(?:i|we) have (?:a|an|one|another|some|more|many|two) (?:\w+ )?(?:questions?|news)"
    r"(?:[.!]*$| (?:about|for|on|to|regarding)\b)"
    rf"|^(?:today's|this|our|the) {either('chat conversation talk discussion')} (?:was|is|has been) {_VERY}"
    rf"{either('enjoyable fun nice great good lovely pleasant helpful useful interesting inspiring')}\b"
    rf"|^(?:i|we) (?:am|are|have been) (?:\w+ )?doing {_VERY}"
    rf"{either('well good great fine ok okay alright all_right')}\b"
    rf"|^(?:i|we) (?:would|will|can not wait|am looking forward|are looking forward) (?:love |like |be happy )?to "
    rf"{either('hear see_(?:it|them|how|what|that|you|your|more|some) know help')}\b"
    r"|^(?:i|we) (?:am|are|will)(?: not)? (?:giv(?:e|ing) up|keep(?:ing)? (?:going|pushing|at it|it up))[.!,]*"
    r"(?: i promise[.!]*)?$"
    r"|^(?:i|we) (?:am |are )?(?:keep(?:ing)? my |crossing (?:my|our) )?fingers(?: are)?(?: crossed)?[.!]*$"
    # what they ask for, and how they find what they are offered; what has a reason or a figure or is theirs lasts
    rf"|^{_ALONE}(?:i|we) (?:am|are) (?:\w+ )?(?:looking|searching) for "
    rf"(?:(?:[\w'-]+ ){{0,4}}{_ASKED_FOR}|(?:something|anything)\b)"
    rf"|^{_ALONE}(?:i|we) (?:am|are) (?:(?!an?\b)\w+ )?curious\b(?! by\b)"
    rf"|^(?:i|we) (?:\w+ ){{0,2}}(?:like|love) (?:the|that|this|your) (?:[\w&'-]+ ){{0,4}}{_OPTION}\b"
    r"(?!.* (?:my|our)\b)"
    # of a suggestion that they do not name
    rf"|^(?:i|we) will (?:\w+ly )?{_TAKE_UP} (?:{_THAT}|your|a look)(?: at {_THAT})?"
    rf"(?: (?:into account|in mind|out|a (?:try|go|shot|chance|thought))| (?:\w+ )?{_ADVICE})?"
    r"(?:[.!,]*$|,? (?:and|to)\b)"
    rf"|^(?:i|we) will (?:\w+ly )?{_TAKE_UP} (?:a look )?(?:at|into|about|out) {_THAT}\b"
    # of the hour, or of nothing
    rf"|^(?:today's |the |this )?weather{_NOTED}(?: today)? (?:is|was|has|looks|seems|got|turned)\b"
    r"(?!.* (?:my|our|me|us|because)\b)"
    rf"|^today{_NOTED} (?:is|was) {_VERY}{either(_HOW_A_DAY_WAS)}\b"
    rf"|^(?:i|we) (?:do not have any|have no) [\w ]+ {either(_NOW)}(?: yet| now)?[.!]*$",
    re.I,
)
_ORDER_WORDS = bounded(r"^(?:please |kindly |just |now |then |also )*(?P<verb>[a-z]+)\b", re.I)
_TO_LISTENER = bounded(
    r"(?:you|your|hope|wish|not(?! (?:allergic|a (?:\w+ )?fan)\b)"
    rf"|let us(?! {either('go_with use do book meet stick')}))\b",
    re.I,
)


def is_planted(text: str) -> bool:
    """Whether a text tries to give the reader orders in somebody else's name."""
    return any(_PLANTED.search(line) for line in straighten(text).splitlines())


def is_standing_order(text: str) -> bool:
    """Whether a text asks for something to be so from now on ("Always answer in metric")."""
    plain = expand(text).strip().rstrip(".! ")
    if is_planted(plain):
        return False
    if withdrawn(text) is not None:
        return True
    if _TO_YOU.search(plain):
        return False
    return standing_instruction(text) is not None or wish(plain) is not None


def asks_to_keep(text: str) -> bool:
    """Whether a text asks to remember what it says ("Also remember I sleep until 3 pm")."""
    return bool(_KEEP.match(expand(text).strip())) and not text.rstrip().endswith("?")


def is_rule(text: str) -> bool:
    """Whether people state a rule that they keep ("We never deploy on Fridays")."""
    found = _RULE.match(straighten(text))
    return found is not None and (" only " in found[0] or standing_instruction(text[found.end() :]) is not None)


def is_question(text: str) -> bool:
    """Whether a text is a question."""
    return not asks_to_keep(text) and (text.rstrip().endswith("?") or bool(_QUESTION.search(expand(text).strip())))


def is_not_meant(text: str) -> bool:
    """Whether a text says of itself that it is a joke or an example."""
    return bool(_NOT_MEANT.search(text))


def hands_over(text: str) -> bool:
    """Whether a sentence only introduces a text to work on ("Please translate:"). All that follows is that text."""
    return bool(_HANDING_OVER.match(expand(text)))


def sets_exercise(text: str) -> bool:
    """Whether an agent asks for a text in other words. The answer then says nothing about the person who answers."""
    return bool(_EXERCISE.search(text))


def is_in_doubt(text: str) -> bool:
    """Whether a text has no word by which English can be told from other languages: "Adesso 85"."""
    return not any(word.lower() in _ENGLISH for word in LETTERS.findall(text))


def is_statement(text: str) -> bool:
    """Whether a text states something itself: no question, order, courtesy, what-if, joke or quotation."""
    plain = expand(text).strip()
    if not plain or is_question(text) or _WHAT_IF.search(plain) or _TO_LISTENER.match(plain):
        return False
    if _REPORTED.search(plain) or is_foreign(plain):
        return False
    order = _ORDER_WORDS.match(plain)
    ordered = order is not None and order["verb"].lower() in lexicon.COMMANDS and not plain.lower().startswith("let us")
    return not ordered


def is_of_the_moment(text: str) -> bool:
    """Whether a statement only serves the conversation, or passes with the hour: "I have to go now", "I'll try it"."""
    return bool(_OF_THE_MOMENT.search(expand(text).strip()))


def is_addressed(text: str) -> bool:
    """Whether a text speaks to or of the listener."""
    return bool(_ADDRESSED.search(expand(text)))
