"""Wishes about answers that need no word like "always": "Use metric units", "Please stop suggesting helm".

Their verbs and objects say that they are meant to last. The rules know English, and plain forms in six more languages.
"""

from __future__ import annotations

import re

from agent_memory.text.instructions import Instruction
from agent_memory.text.patterns import either, linear

_NOT = "(?:do not|don't|dont|never)"
_PLEASE = r"(?:(?:please|pls|and|also|oh|but|just|only|one thing[:,]|one more thing[:,]),? )*"
_CALL_ME = (
    rf"^{_PLEASE}call me (?:(?:dr|prof|professor|mrs?|ms)\.? )?\p{{L}}+(?:,? please)?$"
    r"|^i(?:'d| would) like to be called \p{L}"
)
_UNITS = r"metric imperial celsius fahrenheit kilomet\w+ kilos? miles euros? dollars british american 24-hour"
_WAY = either("e-?mails? texts? sms phone calls? chat letters?")
_EXCHANGED = either("ask give send paste write answer explain show list share post reply suggest draft")
_GIVING = either("giving using writing answering replying keeping showing putting quoting stating")
_MANNER = either("formally informally briefly politely plainly casually bluntly concisely")
_TEXTS = either("answers replies responses recaps summaries messages msgs e?mails lists tables drafts notes reminders")
_REACH = either("call text e?mail contact phone ping message")
_STOPPED = either("""
    using including adding writing suggesting recommending contacting calling texting emailing messaging mentioning
    sending asking rounding reminding saying offering proposing apologi[sz]ing repeating starting ending signing
""")
_REFUSED = either("""
    use include add write suggest recommend put mention send remind apologi[sz]e sugarcoat sign
""")
_NEGATED = either("no ne n'\\w+ non não keine?n? geen")
_WRITING = either(
    "benutze? verwende schreibe? nutze usa uses use usare usar utilise\\w* gebruik emplea escribas scrivere"
)
_MINDING = rf"^(?:please,? )?(?:would|do) you mind {_GIVING} [^?]*\b(?:all|every|each|always|never)\b"
_WISHED = linear(
    rf"{_MINDING}|^{_PLEASE}(?:answer|reply|respond|speak|talk)(?: to me)?(?: only| always)? (?:in|like)\b"
    rf"|^{_PLEASE}(?:answer|reply|respond)(?: only| always)? with "
    r"(?:at most|no more than|only|short|brief|full|one|two|\d)"
    rf"|^{_PLEASE}write(?: to me)?(?: only| always)? (?:in|with|like) "
    rf"|^{_PLEASE}(?:keep|make) (?:everything in\b|(?:your |ur |the |all )?"
    rf"{either('answers replies summaries messages msgs texts')}\b)"
    rf"|^{_PLEASE}keep it (?:to|in) [a-z]+ and [a-z]+\b"
    rf"|^{_PLEASE}use (?:the )?{either(_UNITS)}\b|{_CALL_ME}|^{_PLEASE}{_NOT} [^?]+,? ever$"
    rf"|^{_PLEASE}(?:use|prefer) [^?]+?,? (?:not|never|instead of|rather than) \S"
    r"|^(?:and |but |also )?no [^?,]{2,40}? (?:please|pls)(?: ever)?(?:[,.!]|$)"
    rf"|^{_PLEASE}{_NOT} round (?:anything|any|up|down|figures|numbers|amounts)\b"
    r"|^no [^?,]{2,40},? (?:because )?[^?]*\b(?:not|n't) (?:allow|support|permit|accept|want)"
    rf"|^{_PLEASE}{_NOT} {_REFUSED}:? \S"
    rf"|^{_PLEASE}(?:answer|reply|respond|speak|talk|write)(?: (?:to )?(?:me|us|\p{{L}}+s))?"
    rf" {_MANNER}(?:[,.;!]|$| and | please)"
    rf"|^{_PLEASE}(?:write|put|show|give|mark|use|highlight|list|format) [^?,]+ in (?:your|ur|all) {_TEXTS}\b"
    rf"|^when(?:ever)? (?:i|we|you) {_EXCHANGED} [^?,]{{2,40}},? no [a-z]{{3,}}(?: please)?(?:[,.;!]|$)"
    rf"|^{_PLEASE}{_NOT} {_REACH} (?:me|us|my|before|after|on|at|in)\b|^{_PLEASE}(?:stop|quit) {_STOPPED} \S"
    rf"|^{_PLEASE}{_REACH} me (?:only |never )?"
    rf"{either('only never after before between at on by via through any_?time rather_than instead_of')}\b"
    rf"|^{_PLEASE}(?:can|could|would) you (?:please |just )*{_REACH} me (?:rather than|instead of|only) "
    rf"|^{_PLEASE}(?:{_REACH}|write)(?: to)? me,? (?:and )?{_NOT} {_REACH}\b"
    rf"|^{_PLEASE}(?:send|{_REACH}) [^?]+ only(?: please)?$"
    rf"|^{_PLEASE}use [^?]+? (?:while|when(?:ever)?) \p{{L}}"
    rf"|^(?:[^?,]{{2,30}}, )?no [^?,]{{2,30}} please$|\bin {either(_UNITS)}[,]? please$"
    r"|^always (?:in|on|at|by|with|before|after|one|two|three|\d)\b"
    r"|^i (?:always )?(?:want|need|would like|'d like) [^?]+ from now on$"
    rf"|^you (?:can|may) (?:always |now |only )?{_REACH}"
    r" (?:me|us|my|our|at|on|in|by|via|after|before|between|until|again|any ?time)\b"
    r"|^[a-z][\w' -]{2,30}(?: please)?[,.] always$|^(?:give|send|show|tell|write) me [^?]+,? always$"
    rf"|^(?:please )?(?:(?:by|via) )?{_WAY}(?: (?:or|and) {_WAY})? only(?: please)?$"
    r"|^please no (?:more )?[a-z]{3}"
    r"|^no (?:\w+ ){1,3}(?:over|under|above|below|more than|less than) [$€£]?\d"
    rf"|^{_PLEASE}(?:be|stay) {either('brief concise blunt formal informal polite')}(?: with me)?$"
    rf"|^{_PLEASE}(?:you can )?skip (?:the|all) [a-z]+(?: [a-z]+)?\b"
    # the same in German, Spanish, French, Italian, Portuguese and Dutch
    r"|^(?:bitte )?(?:antworte|schreibe?|sprich|erkläre?)(?: mir)?(?: alles)?(?: bitte)? (?:nur )?(?:in|auf|mit) "
    r"|^(?:por favor,? )?(?:responde|contesta|escribe|h[aá]bla|tr[aá]ta)(?:me)? (?:solo |siempre )?"
    r"(?:en|con|de (?:tú|usted)) "
    r"|^(?:s'il (?:te|vous) pla[iî]t,? )?(?:réponds|répondez|écris|parle)(?:-moi)? (?:en|avec) "
    r"|^(?:per favore,? )?(?:rispondi|scrivi|parla)(?:mi)? (?:in|con) "
    r"|^(?:por favor,? )?(?:responda|responde|escreva|fale)(?:-me)? (?:em|com) "
    r"|^(?:graag )?(?:antwoord|schrijf|spreek)(?: me| mij)? (?:in|met) "
    r"|^(?:por favor,? )?(?:usa|utiliza) [^?]+, no \S|^(?:bitte )?(?:benutze?|verwende|nimm) [^?]+,? (?:nicht|keine)\b"
    rf"|^(?:\S+ ){{0,2}}{_WRITING} (?:\S+ ){{0,3}}{_NEGATED} (?:\S+ ){{0,2}}(?:d')?emojis?\b"
    rf"|^(?:\S+ ){{0,2}}{_NEGATED} {_WRITING} (?:\S+ ){{0,3}}(?:d')?emojis?\b|^(?:bitte )?{_NEGATED} emojis?\b",
    re.I,
)
_IN_A_QUESTION = linear(_MINDING, re.I)
_NO_WISH = linear(
    rf"^{_PLEASE}(?:{_NOT} {_REFUSED}|(?:stop|quit) {_STOPPED}) "
    r"(?:(?:it|that|this|them)\b|anything(?:$|[,.;!]| (?:else|yet|now|about|to)\b))"
    r"|^(?:please,? )?(?:would|do) you mind \w+ing all (?:of )?(?:this|that|these|those|them|it)\b"
    rf"|^{_PLEASE}call me (?:back|later|now|again|when|if|tomorrow|tonight|today|soon|asap|any_?time|maybe|please)"
    r"(?:,? please)?$"
    rf"|^{_PLEASE}(?:{_NOT}|stop) call(?:ing)? me (?:an?|the|that|this|it|names)\b"
    rf"|^{_PLEASE}{_NOT} worry\b|^(?:that|it|this) |^{_PLEASE}write [^?]* an? \w"
    rf"|^{_PLEASE}(?:you can )?skip (?:the|all) (?:\w+ )?(?:part|step|test|chapter|meeting)\b",
    re.I,
)
"""What orders something once, or points to what was said before."""
_ONCE = linear(
    r"\b(?:this time|(?:just|right|for) now|today|tomorrow|tonight|later|soon|asap|next (?:time|week|month)"
    r"|this (?:one|message|answer|text|e?mail|file|function|memo))\b",
    re.I,
)
_ADDRESS = linear(
    rf"{_CALL_ME}|^{_PLEASE}(?:h[aá]blame |(?:{_NOT} call|stop calling) me "
    r"|(?:speak|talk)(?: to me)?(?: only| always)? (?:in|like) )",
    re.I,
)
"""How to talk to the user, which holds for all answers, too."""
_FORM = linear(
    rf"\b(?:{either(_UNITS)}|answers?|repl(?:y|ies)|responses?|respond|sentences?|words?|lines?|paragraphs?"
    r"|bullets?|bullet points|emojis?|emoticons?|markdown|tables?|headings?|jargon|slang|essays?|lectures?|units?|brief"
    r"|concise|blunt|formal|informal|polite|greetings?|disclaimers?|pleasantries|sugarcoat|round|apologi[sz]\w+"
    r"|grams?|lit(?:er|re)s?|feet|inches|acres|bushels|antwort\w*|schreibe?|sprich|responde\w*"
    r"|contesta\w*|escribe|réponds|écris|rispondi\w*|scrivi|responda|escreva|antwoord|schrijf|gramos|litros|gramm|grammes?)\b",
    re.I,
)
"""Words about the form of answers, so that a wish with one of them holds for all answers."""


def is_form(text: str) -> bool:
    """Whether a text is about the form of answers."""
    return _FORM.search(text) is not None


def wish(sentence: str) -> Instruction | None:
    """The wish about answers in a user's sentence; None if there is none, or if it is for one time only."""
    text = " ".join(sentence.replace("’", "'").split()).rstrip(".! ")
    asks = text.endswith("?") and _IN_A_QUESTION.search(text) is None
    if asks or _WISHED.search(text) is None or _NO_WISH.search(text) or _ONCE.search(text):
        return None
    return Instruction(text, "", is_general=is_form(text) or _ADDRESS.search(text) is not None)
