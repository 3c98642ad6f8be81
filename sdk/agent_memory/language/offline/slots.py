"""Chooses the statements worth remembering: those that fill a slot. All else is left to the raw talk.

A slot is something that shapes later help or that people ask for later: who somebody is, where and with whom they
live, work, health, diet, tools, decisions, preferences, requirements, amounts and dated events.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.language.offline import endings, kinds, lexicon
from agent_memory.language.offline.grammar import Clause, is_one_of_many
from agent_memory.language.offline.speech import is_addressed
from agent_memory.language.offline.text import content_words, expand, stem, stems, tokens
from agent_memory.language.offline.verbs import is_gerund, is_past
from agent_memory.models import FactKind
from agent_memory.text.dates import Moment
from agent_memory.text.names import names
from agent_memory.text.patterns import bounded, either, plain_words

_FIRST_PERSON = bounded(r"\b(?:i|me|my|mine|we|us|our|myself|ourselves)\b", re.I)
_VITAL_WORDS = lexicon.IMPORTANT["health"] - {"doctor", "hospital", "depression", "anxiety", "injury"}
VITAL = bounded(
    rf"\b(?:{plain_words(_VITAL_WORDS)}|allerg\w+|intoleran\w+|inhaler|hard of hearing|pre-?diabet\w+|mg|statins?"
    r"|seasick|carsick|migraines?|diet(?! (?:coke|soda|drinks?)\b))\b",
    re.I,
)
_CALENDAR = lexicon.WEEKDAYS - {"sat", "sun"} | {month for month in lexicon.MONTHS if len(month) > 3}
_NUMBERED = bounded(rf"\d|\b{plain_words((set(lexicon.NUMBERS) | _CALENDAR) - {'one', 'once', 'march'})}s?\b", re.I)
_DANGLING = bounded(
    r"^one (?:is|was|of)\b|\b(?:(?<!\bkeep )it|them|him|they|their|her(?=[.,!]|$)|there(?! (?:is|are|was|were)\b)"
    r"|(?:the|that|this|another) (?:\w+ )?ones?|(?:the )?others?(?: two)? (?:options?|choices?|suggestions?)"
    r"|option (?:\d|[a-d])(?=[.!]|$))\b"
    r"|\b(?:this|that|these|those)(?=[.,!]|$| (?:is|was|are|were|at|from|in|for|to|and|with|while)\b)"
    r"|\b(?:at|in|on|of|for|with|about|using|like|love|made|got|took|did|do|use|try|tried|see|saw) "
    r"(?:this|that|those)\b",
    re.I,
)
_TO_ME = bounded(r"\bappeal to me\b|\bnot (?:really )?my (?:thing|cup of tea|style)\b", re.I)
_OF_ANOTHER = bounded(
    r"(?:his|her|its|their|he|she|they|everyone|everybody|people|somebody|someone|nobody|no one|some|any|an?)\b", re.I
)
_ELLIPTIC = bounded(
    r"^(?!(?:i|we) )(?:[\w'-]+ ){1,3}(?:does|do|did|is|are|was|were|can|will|has|have|would|should)(?: not)?"
    r"(?:[,.;!]|$)",
    re.I,
)
"""An answer without the verb of its question: "the Transit does"."""
_EMPTY_PRAISE = lexicon.EMOTIONS - {"ok", "okay", "fine"}
_PRAISED = bounded(
    r"\b(?:am|is|are|was|were|looks?|looked|seems?|seemed|sounds?|sounded|feels?|felt|be|been)(?: \w+)? "
    rf"(?:(?:so|really|very|super|such|pretty|a|an|the) )*{plain_words(_EMPTY_PRAISE)}\b"
    r"(?! (?:of|on|in|at)\b)",
    re.I,
)
_FOR_YEARS = bounded(r"\b(?:have|has) been\b.* for (?:[\w-]+ ){1,3}(?:years?|months?|decades?)\b", re.I)
"""A state that lasts: "I've been here for 2 years"."""
_PASSING_WORDS = either("""
    last_night tonight gotta_(?:go|run) have_to_(?:go|run|head) heading_(?:out|off|to) let_(?:me|you)_know
    talk_(?:soon|later) show_you tell_you as_(?:i|we)_(?:said|mentioned) right_now no_idea no_clue
""")
_PASSING = bounded(
    rf"\b{_PASSING_WORDS}\b|\b(?:error|exception|traceback|warning)s?\b"
    r"|\b(?:\d+|an?|few) ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?) ago\b",
    re.I,
)
_IDENTITY = bounded(
    r"^(?:i|we) (?:am|are|have been|became|become)(?: now| also)? (?:(?:"
    rf"{plain_words(lexicon.STATES | frozenset(lexicon.DIETS))}|from|based|called|named|deaf|blind)\b"
    rf"|(?:an? |the )?(?:[\w-]+ ){{0,2}}[\w-]*{lexicon.ROLE_ENDING}s?(?= (?:at|in|for|with|from|and|of)\b|[,.]|$)"
    r"|(?-i:[A-Z][a-z]+)(?= from| and|,|\.|$)"
    r"|not (?:an? )?(?:married|single|vegetarian|vegan|religious|allergic))"
    rf"|^(?:as|being) an? (?:[\w-]+ ){{0,2}}(?!matter|reminder|starter)[\w-]*{lexicon.ROLE_ENDING}"
    r"(?: [^,]{2,50})?, (?:i|we)\b"
    r"|^(?:i|we) never learn(?:ed|t) to [a-z]+"
    r"|^(?:i|we) am (?:scared|afraid|terrified|fond) of\b"
    r"|^(?:i|we) (?:just |recently )?got (?:married|divorced|engaged|promoted|fired|laid off)\b(?! in\b)"
    r"|^(?:i|we) (?:grew up|was born|were born|come from|am from)\b|^(?:i am |i )?\d{1,2} years old\b|^i am \d{2}\b",
    re.I,
)
_FAVOURITE = bounded(
    r"^(?:my|our) (?:all-time )?favou?rite (?!part|thing|bit|moment|memory|one)[\w -]+ (?:is|are) (?:the |a )?[\w-]+",
    re.I,
)
_HABIT = bounded(
    r"^(?:i|we) (?:also |still |now |usually |always )?(?:keep|store) (?:the|my|our) [\w' -]{3,40}? "
    r"(?:in|on|under|behind|inside|above|at|next to) (?:the|my|our|an?) [a-z]+|"
    r"^(?:i|we) (?:also |still |now )?take (?:the |my |an? )?(?!it\b|them\b|that\b|care\b|time\b|break)[a-z-]{4,}\b.*"
    r"\b(?:every|each|daily|nightly|once|twice|at night|before bed|in the (?:morning|evening)s?)\b|"
    r"^(?:i|we) (?:also |still |usually |often )?(?:play (?:the )?(?!with\b|along\b|it\b|around\b)[a-z]+[.!]*$"
    r"|(?:run|swim|cycle|hike|climb|row|ski|paint|sing|dance|knit|sew|garden|meditate|jog|cook)\b.*"
    r"\b(?:every|daily|weekly|(?:once|twice|times) a|(?:on|at) weekends"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days))",
    re.I,
)
_PURSUED = bounded(
    r"\b(?:planning to|working on|(?:looking|searching) for|learning|training for|studying|preparing|saving (?:up )?for"
    r"|researching|building|migrating|writing|moving to"
    r"|have been trying to(?! (?:figure|get|find|understand|decide|fix|solve|[a-z]+ (?:the|this|that))\b))\b",
    re.I,
)
_USING = bounded(
    rf"^(?:(?:i|we|our \w+|the \w+|ci|prod|staging|everything) )(?:am |are |is |have |now |currently |all )*"
    rf"(?:{plain_words(lexicon.TOOL_VERBS)}|us|deploy|runn|build|track)(?:s|es|ing)?\b.*"
    r"\b(?-i:[A-Z][\w.+#]+|[a-z]+ \d|not [a-z])"
    r"|^(?:i|we) (?:have )?(?:switched|migrated|moved|went|replaced|dropped|ditched)\b.*\b(?:from|to|with|back|for)\b",
    re.I,
)
_SO_FAR = bounded(r"\balready (?:\w+ ){0,2}\d|\w since (?:i|we)\b", re.I)
"""A count that goes on, or what is so since something else is."""
_CODE = bounded(
    r"\b[a-z]+_[a-z_]+\b|\w\(\)|(?:^|\s)/\w|\b\w+\.(?:py|js|ts|go|rs|java|cpp|rb|sh|sql|json|ya?ml|html|css)\b", re.I
)
"""What talk about a program at hand has in it."""
_NO_KEYS = either(
    "subject note notes edit update error question ps re fwd warning example hint todo tldr answer context"
)
_KEYED = bounded(
    rf"^(?!{_NO_KEYS}\b)(?:[A-Za-z][\w./-]*)(?: [\w./-]+){{0,2}}: ?(?!(?:not|none) yet|tb[acd]\b)\S"
    r"(?:[^:?]|:(?=\S)){1,70}$",
    re.I,
)
_SHORT_FORMS = {"bday", "tz", "dob", "appt", "db", "pw", "gate code", "door code", "dentist"}
_NAMED_VALUE = bounded(
    rf"^(?:my |our |the )?(?:[\w-]+ ){{0,2}}{plain_words(lexicon.ATTRIBUTES | _SHORT_FORMS)}"
    r"(?:(?: (?:is|are|for|went up|moved|of)\b|:) ?.*\S| [#]?\d[\w#.,-]*\b.*)",
    re.I,
)
_STACK = bounded(
    r"^(?:[\w.#/-]+(?: v?\d[\w.]*)?(?:,? [+&] )){1,5}[\w.#/-]+(?: v?\d[\w.]*)?$|^[a-z]+ v?\d+\.\d+[\w.]*\b", re.I
)
_WEEKDAY = rf"(?:{plain_words(lexicon.WEEKDAYS)}s?)"
_OF_THE_TALK = bounded(
    rf"\bthe (?:first|second|third|last|other|former|latter)(?: (?!{_WEEKDAY}\b)[a-z]+)?(?=[.,!]|$)"
    r"|\b(?:this|that) (?:one|time|slide|file)\b|\bthe following\b(?!.*: \S)|\blike this(?=[.,:;!]|$)"
    r"|\b(?:option|version|with|like|prefer|pick|choose|take) (?-i:[A-D])(?=[ .,!]|$)"
    r"|\b(?:with|for|about|to|like|prefer) (?:either|both|neither|any|all)(?=[.,!]|$)|, have a look\b"
    r"|\bkeeps? (?:on )?[a-z]+ing\b|\b(?:shows?|says?|throws|returns|displays) (?:an? )?(?:\d|error)",
    re.I,
)
"""What is about something in the talk, or at hand."""
_APPOINTMENT = bounded(
    rf"^(?!same |only |not |maybe |see |till |until |on )[a-z]{{3,}}(?: [a-z]{{3,}})?(?: with [a-z]+(?: [a-z]+)?)?"
    r"(?: is| moved to| every| on| at)* "
    rf"(?:(?:and |on |every )?{_WEEKDAY}\s?){{1,3}}(?:(?:at )?\d{{1,2}}(?:[:.]?\d\d)?\s?(?:am|pm)?)?$",
    re.I,
)
_NO_NOTED = plain_words(lexicon.STOPWORDS | lexicon.EMOTIONS | lexicon.TIME_WORDS)
_DATED_NOTE = bounded(
    rf"^(?:(?:the|my|our) )?(?!{_NO_NOTED}\b)(?:[a-z][\w'-]* ){{1,4}}(?:(?:due|from|until|booked for|on) )?"
    rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{plain_words(lexicon.MONTHS)}\b",
    re.I,
)
"""A note of when something is: "deploy freeze from 14 December"."""
_ALWAYS = bounded(r"^(?:i|we) (?:\w+ )?always [a-z]+ ", re.I)
_FOUND_OUT = bounded(
    r"^(?:the |so )*(?:root |real |actual )?(?:cause|culprit|fix|workaround|solution)"
    r"(?: (?:of|for) [^.,]{2,40})? (?:is|was)\b"
    r"|^(?:it |so it )?turned out(?: that| to be)? ",
    re.I,
)
"""What trouble turned out to come from, or to need: nobody wants to look for it again."""
WEAK = stems(lexicon.WEAK_VERBS)
"""Verbs of mind and speech, which tell nothing themselves."""
_CHANGING, _LASTING = stems(lexicon.CHANGING), stems(lexicon.LASTING)
_LEAVING = stems(lexicon.words("quit retire graduate divorce"))
_FOODS = stems(food for foods in lexicon.FOODS.values() for food in foods)
_FOR_NOW = lexicon.words("asleep awake stuck lost late")
_SEEMING = frozenset({"look", "seem", "sound", "feel"})
_AGREED = bounded(r"\bindeed\b|\b(?:is|are) (?:certainly|truly)\b|\bdo(?:es)? (?:sound|seem|look)\b", re.I)
"""What agrees with somebody about a thing, instead of telling of it."""
_VAGUE = (
    lexicon.GENERIC | lexicon.EMOTIONS | lexicon.ADVERBS | lexicon.WEEKDAYS | lexicon.TIME_WORDS
    | frozenset(lexicon.NUMBERS)
)  # fmt: skip
_LEAST_EVENT = 2
"""Words that name something in particular, without which an event needs a name, a time or a figure. What was just done
is told with more of them: "I just had lunch with Anna" is of the hour. A choice."""


def fills_one(text: str, clause: Clause | None, moments: Sequence[Moment], kind: FactKind) -> bool:
    """Whether a statement fills a slot, and so is worth keeping."""
    plain = expand(text)
    if kinds.is_guess(plain) or _OF_ANOTHER.match(plain) or _ELLIPTIC.match(plain) or _dangles(plain):
        return False
    if kind == "requirement":
        return True
    if _OF_THE_TALK.search(plain) or (clause is not None and _is_for_now(clause, moments)):
        return False
    if clause is None or is_addressed(text):
        return _is_terse(plain)
    if clause.time not in {"wish", "ahead"} and (endings.ending(text) is not None or endings.is_able_again(text)):
        return True
    concrete = _concrete_words(text, clause, moments)
    if _FOUND_OUT.match(plain) and not _PRAISED.search(plain):
        return len(concrete) > _LEAST_EVENT
    if clause.thing and clause.verb and is_verbless(text, clause):
        return _is_terse(plain) or _DATED_NOTE.match(plain) is not None
    of_thing = bool(clause.thing) or clause.owner == "it"
    if of_thing and (clause.verb in _SEEMING or _AGREED.search(plain)):
        return False
    if (of_thing or clause.verb in {"", "be"} | _SEEMING) and _PRAISED.search(plain) and not _FOR_YEARS.search(plain):
        return False
    if not moments and (clause.hedged or (clause.time == "wish" and len(concrete) < _LEAST_EVENT)):
        return False
    if kind == "decision":
        return bool(concrete)
    # What is so today is over tomorrow; what was done today is done.
    dated = any(one.phrase.lower() not in {"today", "tonight"} for one in moments) or (
        bool(moments) and (clause.time != "now" or clause.perfect or clause.change)
    )
    return _is_told(plain, clause, kind, concrete, dated=dated, named=bool(names(text))) or _is_terse(plain)


_LONGEST_KNOWN, _LONGEST_CHANGED, _NEXT = 2, 3, 3
"""In words: a thing without an article known by its name, one that changes, and how near its time is. Choices."""
_NO_THING = (
    lexicon.STOPWORDS
    | lexicon.GENERIC
    | lexicon.ADVERBS
    | lexicon.words("as nothing nobody everyone kids people like unlike despite")
)
"""What opens no noun phrase without an article."""
_NEAR = lexicon.WEEKDAYS | lexicon.MONTHS | lexicon.words("noon midnight tomorrow next")
_UNNAMED = lexicon.TIME_WORDS | lexicon.STOPWORDS | lexicon.GENERIC | lexicon.words("last next")
_NO_KEY = lexicon.COUNTED | lexicon.words("""
    see maybe until till about around only over under took got had ran did love next last this some every each another
    before after since for from with at in on by to plus minus
""")
"""Words before a figure or a day that make no note: what is counted through, and what opens no note."""
_UNKEPT = lexicon.words(
    "day days hour hours hr hrs min mins minute minutes sec secs second seconds time times week weeks"
)


def is_verbless(text: str, clause: Clause) -> bool:
    """Whether a sentence has no verb of its own: "python 3.12", "the blue one"."""
    words = [word.lower() for word in tokens(text)]
    return not clause.verb or (clause.verb == "be" and lexicon.BE.isdisjoint(words))


def is_note(plain: str, clause: Clause) -> bool:
    """Whether a text notes the value of something in few words: "locker 88", "bins thu not wed"."""
    words, key = plain.lower().replace(",", " ").split(), [word.lower() for word in clause.thing]
    if clause.verb != "be" or clause.owner != "self" or not key or words[: len(key)] != key:
        return False
    value = words[len(key) : len(key) + 2]
    if value[:1] and value[0] in {"is", "are"}:
        value = words[len(key) + 1 + (value[1:] in (["at"], ["on"])) :][:2]
    is_value = bool(value) and (value[0][0].isdigit() or value[0] in lexicon.WEEKDAYS)
    known = _NO_KEY | lexicon.STOPWORDS | lexicon.EMOTIONS | lexicon.WEEKDAYS | lexicon.MONTHS
    named = (
        not any(word in known or is_past(word) or is_gerund(word) for word in key)
        and "".join(key).replace("-", "").isalpha()
    )
    return is_value and named and not _UNKEPT.intersection(value) and not _CODE.search(plain)


def _is_told(plain: str, clause: Clause, kind: FactKind, concrete: list[str], *, dated: bool, named: bool) -> bool:
    """Whether it says what somebody is, has, likes, does or did."""
    if is_one_of_many(clause.owner):  # little about them is of use later
        return False
    of_thing = bool(clause.thing) or clause.owner == "it"
    if _HABIT.match(plain) or _FAVOURITE.match(plain):
        return not clause.negative
    mine = clause.owner == "self" and not of_thing
    particular = dated or named or bool(_NUMBERED.search(plain))
    telling = len(concrete) >= _LEAST_EVENT
    changing = clause.verb in _CHANGING
    if (VITAL.search(plain) and (not of_thing or _FIRST_PERSON.search(plain))) or (mine and _IDENTITY.match(plain)):
        return True
    if _PASSING.search(plain) and clause.time != "ahead" and not (of_thing and changing):
        return False
    if kind == "preference" and (mine or _TO_ME.search(plain)):
        return bool(concrete)
    if mine and telling and _ALWAYS.match(plain) and clause.verb not in WEAK | {"be"}:
        return clause.time == "now" and not clause.perfect
    if mine and concrete and _PURSUED.search(plain) and (particular or telling):
        return True
    visits = (
        mine and named and clause.verb == "see" and (clause.change or "been seeing" in plain) and clause.time == "now"
    )  # "I see Dr. Bakker now", "I've been seeing Dr. Bakker"
    if (clause.verb in WEAK and not visits) or (mine and clause.verb in {"need", "want"}):
        return False
    if _USING.match(plain) and clause.time != "wish":
        return True
    if _CODE.search(plain):
        return False
    # What happened at no time that anybody named is an anecdote, whatever figures are in it.
    over = clause.time == "past" or clause.perfect
    just = clause.verb not in _LASTING and "just" in plain.lower().split()[:3] and len(concrete) <= _LEAST_EVENT
    told = (
        not over
        or dated
        or (named and not (of_thing or just))
        or changing
        or "used to" in plain
        or _SO_FAR.search(plain) is not None
    )
    if of_thing:
        tells = clause.owner != "it" and told and bool(clause.verb and particular and concrete)
        return tells and _is_known(clause, changing=changing, dated=dated, telling=telling)
    if not mine:
        if clause.time == "wish" and not dated:
            return False
        lasting = clause.verb in {"be", "have", "like", "love", "hate", "stand"} or clause.verb in _LASTING
        # Any word may stand first with a capital.
        named = clause.owner != "it" and (clause.verb in _LEAVING or (clause.perfect and lasting))
        sure = particular or lasting if clause.owner.startswith("self.") else dated or (particular and lasting) or named
        return bool(concrete) and sure
    planned = dated and named and not clause.hedged and clause.rest[:1] != ("sure",)  # "I want to see Kyoto in May"
    if (clause.time == "wish" and not planned) or (clause.verb in {"", "be"} and not particular):
        return False
    consumed = clause.verb == "smoke" or (clause.verb in {"drink", "eat", "consum"} and bool(concrete))
    abstains = clause.negative and clause.time == "now" and consumed
    if clause.negative and not (clause.change or abstains or clause.verb == "have"):
        return False
    if visits or abstains or (clause.negative and clause.change) or (dated and clause.verb == "fli"):
        return True
    subject = bool(_FIRST_PERSON.search(" ".join(plain.split()[:4])))
    has = clause.verb == "have" and clause.time == "now" and telling
    lasting = has or clause.verb in _LASTING or (clause.change and not over)
    moves = dated and clause.verb in {"move", "mov", "leav"}  # "we move in December" has no other word
    return (bool(concrete) or moves) and (subject or dated) and (lasting or (particular and told))


def _is_known(clause: Clause, *, changing: bool, dated: bool, telling: bool) -> bool:
    """Whether the listener can tell which thing is meant: one of the user's, or named with its time or its change."""
    first = clause.thing[0].lower()
    near = any(word[0].isdigit() or word.lower() in _NEAR for word in clause.rest[:_NEXT])
    timed = near and (dated or changing or not {"every", "each"}.isdisjoint(clause.rest))
    changed = clause.change or changing or "not" in clause.rest
    return (
        clause.definite
        or first in lexicon.ATTRIBUTES
        or (timed and len(clause.thing) <= _LONGEST_KNOWN and first not in _UNNAMED)
        or (changed and len(clause.thing) <= _LONGEST_CHANGED and first not in _NO_THING)
        or (telling and clause.verb == "be" and lexicon.WEEKDAYS.issuperset(clause.thing))
    )


def _is_terse(plain: str) -> bool:
    """Whether it notes something without a sentence around it: "no dairy", "FastAPI + Postgres 15", "bday: 3 May"."""
    bare = plain.strip().rstrip(".! ")
    words = bare.lower().replace(",", " ").split()
    if not words or is_addressed(bare) or len(bare) > 120 or is_gerund(words[0]) or bare.endswith("?"):
        return False
    if words[0] == "no" and len(words) > 1 and _FOODS.issuperset(stem(word) for word in words if word not in _JOINTS):
        return True
    if (_NAMED_VALUE.match(bare) or _KEYED.match(bare)) and len(words) > 1 and not _PRAISED.search(bare):
        return True
    noted = (_APPOINTMENT.match(bare) and words[0] not in _VAGUE) or (_STACK.match(bare) and _NUMBERED.search(bare))
    return bool(noted) and not is_past(words[0])


_JOINTS = frozenset({"no", "and", "or"})


def _concrete_words(text: str, clause: Clause, moments: Sequence[Moment]) -> list[str]:
    """The words of a statement that name something in particular, its verb and its times aside."""
    for moment in moments:
        text = text.replace(moment.phrase, " ")
    return [word for word in content_words(text) if word not in _VAGUE and stem(word) != clause.verb]


_ADVERBS = ("ally", "fully", "ently", "antly", "ously")
"""Endings of adverbs, and of few nouns."""


def _dangles(plain: str) -> bool:
    """Whether a pronoun stands before anything that it could stand for."""
    pronoun = _DANGLING.search(plain)
    before = content_words(plain[: pronoun.start()]) if pronoun else []
    words = [word for word in before if word not in lexicon.GENERIC and not word.endswith(_ADVERBS)]
    named = [word for word in words if word not in lexicon.LIKING and not is_gerund(word)]
    return pronoun is not None and (len(words) < 2 or not named)


def _is_for_now(clause: Clause, moments: Sequence[Moment]) -> bool:
    """Whether it only says how or where somebody is just now, or what they shopped: "I'm stuck at step 4"."""
    rest = [*(word.lower() for word in clause.rest), "", ""]
    if clause.verb == "buy":  # a name, a figure or a price is no groceries, nor is "a house"
        named = rest[0] in lexicon.STOPWORDS | lexicon.NUMBERS.keys() or any(word[0] in "$€£¥" for word in clause.rest)
        return "".join(clause.rest[:1]).islower() and not named
    counted = rest[0] in {"at", "in", "on"} and rest[1] in lexicon.COUNTED - {"floor"}
    return clause.verb == "be" and (rest[0] in _FOR_NOW or counted or ("until" in rest and not moments))
