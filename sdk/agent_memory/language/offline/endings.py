"""Reads what a sentence says is over, and puts sentences that change something into the words in which it was told.

People rarely deny what they said before in the words in which they said it: "I take warfarin" ends with "my doctor took
me off it", "I work at Siemens" with "I joined Bosch".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.text import expand
from agent_memory.text.patterns import bounded, either, plain_words
from agent_memory.text.wishes import is_form

_END = (
    rf"(?=[,;!]|\.(?!\w)|$"
    rf"| {either('now today yesterday last this next in on at since because after as for so and but')}\b"
    rf"| {either('from to completely altogether anyway entirely')}\b)"
)
_NOTHING = either("it that this them you me us out off up down in on to for")
_WHAT = rf"(?:(?:the|my|our|all) )?(?P<what>(?!{_NOTHING}\b)(?:[^,;.!]|\.\b){{2,40}}?){_END}"
_NO_NAME = rf"(?!{either('i he she it they we you who everyone everybody someone nobody the this that my our a an')}\b)"
_NAME = rf"(?P<what>{_NO_NAME}(?-i:[A-Z])[\w&.'-]*(?: (?-i:[A-Z])[\w&.'-]*)*)"
_WHO = r"(?P<who>i|we|(?-i:[A-Z])\w+)"
_WHOM = r"(?P<who>me|us|him|her|them|(?-i:[A-Z])\w+|my \w+|our \w+)"
_DID = r"(?:have |has |am |are |is |was |were |got |just |finally |also |now |already |both )*"
_OFF_DUTY = either("to on for in at until till this next work duty sick school today tomorrow now the_hook")
_RID_OF = either("ditched dumped dropping scrapped sold cancelled canceled binned got_rid_of")
_PARTED = either("broke_up broken_up split_up divorced separated")
_GONE = either("moved_out died passed_away")
_FOR_A_WHILE = bounded(
    rf"\b(?:today|tonight|tomorrow|until|till|this (?:week|weekend|month|morning|afternoon|evening)|at (?:noon|\d)"
    r"|on (?:my|the|our) \w+|for (?:now|lent|\d+|a (?:while|week|month|day|bit|few)"
    rf"|the (?:week|weekend|month|summer|winter|day)|{plain_words(lexicon.MONTHS)}))\b",
    re.I,
)
"""What ends only for some time, or only in part."""
_OVER = tuple(
    bounded(pattern, re.I)
    for pattern in (
        rf"\b(?:took|taken|taking|takes?) {_WHOM} (?:off|out of) {_WHAT}",
        rf"\b{_DID}(?:came|come|coming|going|gone|went|migrated|moved|switched|weaned) (?:off|away from) {_WHAT}",
        rf"^{_WHO} (?:am|are|is) (?:now )?off (?!{_OFF_DUTY}\b){_WHAT}",
        rf"^{_WHO} {_DID}(?:gave|given|giving) up (?:on )?{_WHAT}",
        rf"^{_WHO} {_DID}(?:dropped|dropping|pulled|pulling|backed) out of {_WHAT}",
        rf"^{_WHO} {_DID}(?:quit|quitting) {_WHAT}",
        rf"^{_WHO} {_DID}{_RID_OF} (?=(?:the|my|our|all)\b|(?-i:[A-Z])){_WHAT}",
        rf"^(?:i|we) {_DID}(?:called off|calling off) {_WHAT}",
        rf"^(?:i|we) {_DID}(?:called|calling) {_WHAT} off\b",
        rf"^(?:i|we) {_DID}(?:traded|swapped) (?:in )?(?:the|my|our) (?P<what>[^,;.!]{{2,30}}?) (?:in )?for\b",
        rf"\b(?:{either('laid_off let_go fired resigned')} (?:from|by|at)|(?:my|our) notice (?:at|to)) {_NAME}",
        rf"^{_NAME} and (?:i|me) {_DID}{_PARTED}{_END}",
        rf"^(?:i|we) {_DID}{either('broke_up broken_up split_up')} with {_NAME}",
        rf"^{_NAME} {_DID}{_GONE}{_END}",
        rf"^(?:i|we) {_DID}(?:had to )?put {_NAME} down\b",
        rf"^{_WHO} {_DID}(?:stopped|quit) (?P<what>[a-z]+ing\b[^,;.!]{{0,25}}?){_END}",
        r"^we (?:have |just |finally )*(?:broke|broken|split) up(?P<what>)(?=[,;.!]|$)",
        rf"\binstead of {_WHAT}",
    )
)
_OWN = bounded(r"^(?:i|we)\b", re.I)
_CHANGED = either("""
    pushed moved put shifted bumped changed raised lowered cut increased reduced gone delayed postponed rescheduled
    topped dropped
""")
_IT_IS = r"(?:and |so |but )?(?:it is|it stands|it will be)(?: now)?(?: on| at)? "
_VALUE = rf"(?=[$€£]?\d|{plain_words(lexicon.WEEKDAYS | lexicon.MONTHS)}\b)"
_JOB = "(?:a|my) (?:new )?(?:job|position|role|post) (?:at|with|for)"
_WAYS_TO_SAY = (
    # As in "Fraser is my best man now", said of what is known as "my best man is …".
    (
        rf"^{_NAME} is (?P<thing>(?:my|our) [\w' -]{{2,40}}?)(?P<now> now| instead)?[.!]*$",
        r"\g<thing> is \g<what>\g<now>",
    ),
    (
        r"^(?:(?:i|we) (?:am |are |have )?)?(?:putting|put|bringing|brought|taking|took) (?:the |my |our )?"
        r"(?P<thing>(?!(?:it|that|this|them|me|us|you)\b)[\w' -]{3,40}?) (?:back )?(?:up"
        r"|down) (?:from \S+ )?to (?=[$€£]?\d)",
        r"my \g<thing> is now ",
    ),
    (
        rf"^(?P<thing>(?:the|my|our) [\w' -]{{2,40}}?) (?:has |have |had |was |were |is |got |been |just ){{1,3}}"
        rf"{_CHANGED}\b[^,;:]*[,;:] {_IT_IS}{_VALUE}",
        r"\g<thing> is now ",
    ),
    (
        rf"^.{{2,30}}? {_CHANGED} (?:up |back |down )?(?P<thing>(?:the|my|our) [\w' -]{{2,30}}?)[,;:] {_IT_IS}{_VALUE}",
        r"\g<thing> is now ",
    ),
    (
        r"^(?P<who>i|we) (?:have |just |finally )*moved in with [\w' ]{2,40}? in "
        rf"(?!{plain_words(lexicon.MONTHS)}\b)(?=(?-i:[A-Z]))",
        r"\g<who> live now in ",
    ),
    (r"^(?P<who>i|we) (?:am|are) (?:now )?(?:up|down) to (?=\d\S* ?\w* of )", r"\g<who> have now "),
    (r"\b(?:have )?(?:come|grown|learned|learnt) (?:a?round )?to (?P<verb>like|love|enjoy|hate)\b", r"\g<verb>"),
    (r"\bwould rather (?:have|take|get|sit (?:in|on|at))\b", "prefer"),
    (rf"\b(?:started|got|took|accepted|found|landed) {_JOB}(?!.*\bvolunteer)", "joined"),
    (r"^(?:i|we) (?:have |got ){1,2}a new (?P<thing>[\w -]{2,20})[,:] (?=(?-i:[A-Z+\d]))", r"my \g<thing> is now "),
    (
        r"^(?P<thing>(?-i:[A-Z]{2,})|(?:the|our|my) [\w -]{2,20}) (?:now )?(?:runs|lives|sits) on "
        r"(?P<tool>(?-i:[A-Z])[\w ]*?)(?P<now> now)?[.!]*$",
        r"we use \g<tool> for \g<thing>\g<now>",
    ),
    (r"^i (?:am|started) drinking again\b", "I drink alcohol now"),
    (
        rf"^{_NAME} and i (?:have |are )?(?:just |finally )?(?:got |gotten )?"
        r"(?P<state>married|divorced|separated|engaged)\b.*",
        r"I am now \g<state>",
    ),
    (
        rf"^(?P<who>i|we) (?:am|are) (?:an?|the) (?:[\w-]+ ){{0,2}}[\w-]*{lexicon.ROLE_ENDING} (?:at|with|for) "
        r"(?=(?:the )?(?-i:[A-Z]))",
        r"\g<who> work at ",
    ),
    (r"\bwork as an? (?:[\w-]+ ){0,2}[\w-]+ (?:at|for|with) (?=(?-i:[A-Z]))", "work at "),
    (r"\b(?:am|are) (?:down to|up to|at) (?=\d+(?:\.\d+)? ?(?:kg|kilos?|lbs?|pounds?|stone)(?: now)?[.!]*$)", "weigh "),
    (r"^i (?:just )?turned (?P<age>\d{1,2})(?: (?:today|yesterday|(?:last|this|on) \w+))?[.!]*$", r"I am \g<age>"),
)
_RESTATED = tuple((bounded(pattern, re.I), said) for pattern, said in _WAYS_TO_SAY)
_ALLOWED = bounded(
    r"^(?:(?:and|so|ok|okay|now),? )*(?:(?:you|u) (?:can|may) (?P<verb>[a-z]+)\b(?: me\b| us\b)?"
    r"(?: (?:in|at|on|before|after|by)\b.*)? (?:again|now)[.!]*$"
    r"|(?:i|we) (?:do )?(?:like|love|want) (?P<liked>[a-z-]+) (?:after all|now|again)\b"
    r"|(?P<fine>[a-z-]+) (?:is|are) (?:fine|ok|okay|allowed|welcome)(?: again| now)?)",
    re.I,
)
_WITHDRAWN = bounded(
    r"^(?:(?:and|so|ok|okay|now|also),? )*(?:(?:you|u) (?:can|may) (?:now )?(?:stop|drop|forget|skip|ignore) "
    r"|(?:you|u) (?:do not|no longer) (?:need|have) to |(?:there is )?no (?:more )?need (?:for|to) "
    r"|(?P<own>(?:i )?(?:do not|no longer) need ))(?P<what>[^,;.!]+?)(?P<lasting> any ?more| now"
    r"| from now on)?[.!]*(?:,|$)",
    re.I,
)
_LIMITED = bounded(r"\b(?:when|only|unless|except|until|if|today|this time|yet)\b", re.I)
_FORBIDDEN = bounded(r"\b(?:do not|never|avoid|stop|without|no)\b(?P<what>[^,;.]*)", re.I)
_ABLE_AGAIN = bounded(
    r"^(?:i|we|my \w+|(?-i:[A-Z])\w+) can (?:eat|drink|have|walk|run|drive|work|fly|swim|lift|play)\b"
    r".*\b(?:again|now)\b",
    re.I,
)


class Ending(NamedTuple):
    """What is over, in the words of the sentence, and for whom (see `grammar.Clause.owner`).

    Without words, it is the speaker's partnership.
    """

    what: str
    owner: str


@lru_cache(maxsize=4096)
def ending(text: str) -> Ending | None:
    """What a sentence says is over, if it says so of anything."""
    plain = expand(text).strip()
    match = next((match for pattern in _OVER if (match := pattern.search(plain))), None)
    if match is None or _FOR_A_WHILE.search(plain):
        return None
    clause, who = parse(text), match.groupdict().get("who") or ""
    if "instead of" in match[0] and (clause is None or not clause.change or clause.time == "past"):
        return None
    if who[:1].isupper() and who not in {"I", "We"}:
        return Ending(match["what"].rstrip(".'"), who.lower())
    is_own = who.lower() in {"i", "we", "me", "us"} if who else _OWN.match(plain) or match.start("what") == 0
    return Ending(match["what"].rstrip(".'"), "self") if is_own else None


def restated(text: str) -> str:
    """A sentence in the words in which people tell such a thing first: "I joined Bosch", "my best man is Fraser".

    Any other sentence comes back as it is.
    """
    plain = expand(text)
    for pattern, said in _RESTATED:
        plain = pattern.sub(said, plain)
    return text if plain == expand(text) else plain


class Permission(NamedTuple):
    """What a sentence allows: its verb or thing, and whether it says "again"."""

    word: str
    again: bool


def permission(text: str) -> Permission | None:
    """What a sentence allows ("You can call me again", "Tables are fine now")."""
    plain = expand(text).strip()
    found = _ALLOWED.search(plain)
    if found is None:
        return None
    word = found["verb"] or found["liked"] or found["fine"]
    return Permission(word.lower().rstrip("s"), "again" in plain.lower())


def withdrawn(text: str) -> str | None:
    """What a sentence says that is no longer wanted ("no need for the British spelling any more")."""
    plain = expand(text).strip()
    found = None if _LIMITED.search(plain) else _WITHDRAWN.search(plain)
    if found is None:
        return None
    is_lasting = not found["own"] and (found["lasting"] or "no longer" in plain)
    return found["what"] if is_lasting or is_form(found["what"]) else None


def prohibition(text: str) -> tuple[str, ...]:
    """The words after "don't", "never" or "no" in a sentence; none without such a word."""
    found = _FORBIDDEN.search(expand(text))
    return tuple(found["what"].lower().split()) if found else ()


def lifts(allowed: Permission, forbidden: Sequence[str]) -> bool:
    """Whether a permission lifts a prohibition: "You can call me again" after "Please don't call me"."""
    at = next((place for place, one in enumerate(forbidden) if one.rstrip("s") == allowed.word), None)
    if at is None:
        return False
    behind = forbidden[at + 1 :]
    # "Never email my boss" is about somebody else; "not before 9" still holds unless it is allowed "again".
    return not behind or (behind[0] in {"me", "us"} and (len(behind) == 1 or allowed.again))


def is_able_again(text: str) -> bool:
    """Whether somebody can do again what they could not: "Bea can eat eggs now"."""
    return _ABLE_AGAIN.search(expand(text).strip()) is not None
