"""Chooses the statements worth remembering: those that fill a slot. All else is left to the raw talk.

A slot is something that shapes later help or that people ask for later: who somebody is, where and with whom they
live, work, health, diet, tools, decisions, preferences, requirements, amounts and dated events.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from agent_memory.language.offline import kinds, lexicon
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.speech import is_addressed
from agent_memory.language.offline.text import canons, content_words, expand, stem, stems, tokens
from agent_memory.language.offline.verbs import is_gerund, is_past
from agent_memory.models import FactKind
from agent_memory.text.dates import Moment
from agent_memory.text.names import names
from agent_memory.text.patterns import bounded, either, plain_words

Slot = Literal["rule", "decision", "health", "identity", "liking", "pursuit", "event", "person", "value"]

_FIRST_PERSON = bounded(r"\b(?:i|me|my|mine|we|us|our|myself|ourselves)\b", re.I)
_VITAL_WORDS = lexicon.IMPORTANT["health"] - {"doctor", "hospital", "depression", "anxiety", "injury"}
_VITAL = bounded(
    rf"\b(?:{plain_words(_VITAL_WORDS)}|allerg\w+|intoleran\w+|inhaler|hard of hearing|mg|statins?|seasick|carsick"
    r"|migraines?)\b",
    re.I,
)
_CALENDAR = lexicon.WEEKDAYS - {"sat", "sun"} | {month for month in lexicon.MONTHS if len(month) > 3}
_NUMBERED = bounded(rf"\d|\b{plain_words((set(lexicon.NUMBERS) | _CALENDAR) - {'one', 'once', 'march'})}s?\b", re.I)
_DANGLING = bounded(
    r"\b(?:it|them|him|they|her(?=[.,!]|$)|there(?! (?:is|are|was|were)\b)|(?:the|that|this|another) (?:\w+ )?ones?)\b"
    r"|\b(?:this|that|these|those)(?=[.,!]|$| (?:is|was|are|were|at|from|in|for|to|and|with|while)\b)"
    r"|\b(?:at|in|on|of|for|with|about|using|like|love|made|got|took|did|do|use|try|tried|see|saw) "
    r"(?:this|that|those)\b",
    re.I,
)
_OF_ANOTHER = bounded(
    r"(?:his|her|its|their|he|she|they|everyone|everybody|people|somebody|someone|nobody|no one|some|any|an?)\b", re.I
)
_EMPTY_PRAISE = (lexicon.PRAISE | lexicon.EMOTIONS) - {"ok", "okay", "fine"}
_PRAISED = bounded(
    r"\b(?:am|is|are|was|were|looks?|looked|seems?|seemed|sounds?|sounded|feels?|felt|be|been)(?: \w+)? "
    rf"(?:(?:so|really|very|super|such|pretty|a|an|the) )*{plain_words(_EMPTY_PRAISE)}\b"
    r"(?! (?:of|on|in|at)\b)",
    re.I,
)
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
    r"|(?:an? |the )?(?:[\w-]+ ){0,2}[\w-]*(?:er|or|ist|ian|eer|ant|ent|nurse|chef|lead|head|intern|clerk|coach|mother"
    r"|father|mum|dad|pilot|vet)s?(?= (?:at|in|for|with|from|and|of)\b|[,.]|$)|(?-i:[A-Z][a-z]+)(?= from| and|,|\.|$)"
    r"|not (?:an? )?(?:married|single|vegetarian|vegan|religious|allergic))"
    r"|^(?:i|we) (?:grew up|was born|were born|come from|am from)\b|^(?:i am |i )?\d{1,2} years old\b|^i am \d{2}\b",
    re.I,
)
_PURSUED = bounded(
    r"\b(?:planning to|working on|looking for|learning|training for|studying|preparing|saving (?:up )?for|researching"
    r"|building|writing|moving to)\b",
    re.I,
)
_USING = bounded(
    rf"^(?:(?:i|we|our \w+|the \w+|ci|prod|staging|everything) )(?:am |are |is |have |now |currently |all )*"
    rf"(?:{plain_words(lexicon.TOOL_VERBS)}|us|deploy|runn|build|track)(?:s|es|ing)?\b.*"
    r"\b(?-i:[A-Z][\w.+#]+|[a-z]+ \d|not [a-z])"
    r"|^(?:i|we) (?:have )?(?:switched|migrated|moved|went|replaced|dropped|ditched)\b.*\b(?:from|to|with|back|for)\b",
    re.I,
)
_CODE = bounded(
    r"\b[a-z]+_[a-z_]+\b|\w\(\)|(?:^|\s)/\w|\b\w+\.(?:py|js|ts|go|rs|java|cpp|rb|sh|sql|json|ya?ml|html|css)\b", re.I
)
"""What talk about a program at hand has in it."""
_NO_KEYS = either(
    "subject note notes edit update error question ps re fwd warning example hint todo tldr answer context"
)
_KEYED = bounded(rf"^(?!{_NO_KEYS}\b)(?:[A-Za-z][\w./-]*)(?: [\w./-]+){{0,2}}: ?\S(?:[^:?]|:(?=\S)){{1,70}}$", re.I)
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
_APPOINTMENT = bounded(
    rf"^(?!same |only |not |maybe |see |till |until |on )[a-z]{{3,}}(?: [a-z]{{3,}})?(?: with [a-z]+(?: [a-z]+)?)?"
    r"(?: is| moved to| every| on| at)* "
    rf"(?:(?:and |on |every )?{_WEEKDAY}\s?){{1,3}}(?:(?:at )?\d{{1,2}}(?:[:.]?\d\d)?\s?(?:am|pm)?)?$",
    re.I,
)
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
_CHANGING, _LASTING, _HABITS = stems(lexicon.CHANGING), stems(lexicon.LASTING), stems(lexicon.HABITS) | {"any"}
_FOODS = stems(food for foods in lexicon.FOODS.values() for food in foods)
_VAGUE = (
    lexicon.GENERIC | lexicon.EMOTIONS | lexicon.PRAISE | lexicon.ADVERBS | lexicon.WEEKDAYS | lexicon.TIME_WORDS
    | frozenset(lexicon.NUMBERS)
)  # fmt: skip
_LEAST_EVENT = 2
"""Words that name something in particular, without which an event needs a name, a time or a figure. A choice."""


def slot_of(text: str, clause: Clause | None, moments: Sequence[Moment], kind: FactKind) -> Slot | None:
    """The slot that a statement fills; None if it is not worth keeping."""
    plain = expand(text)
    if kinds.is_guess(plain) or _OF_ANOTHER.match(plain) or _dangles(plain):
        return None
    if kind == "requirement":
        return "rule"
    if clause is None or is_addressed(text):
        return _terse(plain)
    if _FOUND_OUT.match(plain) and not _PRAISED.search(plain):
        return "value" if len(_concrete_words(text, clause, moments)) > _LEAST_EVENT else None
    of_thing = bool(clause.thing) or clause.owner == "it"
    if clause.thing and clause.verb and is_verbless(text, clause):
        return _terse(plain)
    state = clause.rest[0].lower() if clause.rest else ""
    if clause.owner == "self" and not of_thing and state in lexicon.STATES and _IDENTITY.match(plain):
        return "identity"
    if (of_thing or clause.verb in {"", "be", "look", "seem", "sound", "feel"}) and _PRAISED.search(plain):
        return None
    concrete = _concrete_words(text, clause, moments)
    particular = bool(moments or names(text) or _NUMBERED.search(plain))
    if (clause.hedged and not moments) or (clause.time == "wish" and not moments and len(concrete) < _LEAST_EVENT):
        return None
    if kind == "decision":
        return "decision" if concrete else None
    named = bool(names(text))
    return _told(plain, clause, kind, concrete, particular=particular, dated=bool(moments), named=named) or _terse(
        plain
    )


_LONGEST_KNOWN = 2
"""In words: a thing without an article that can be known by its name. A choice."""
_LONGEST_CHANGED = 3
"""In words: a thing without an article of which another value is told. A choice."""
_NO_THING = (
    lexicon.STOPWORDS
    | lexicon.GENERIC
    | lexicon.ADVERBS
    | lexicon.words("as nothing nobody everyone kids people like unlike despite")
)
"""What opens no noun phrase without an article."""
_NEXT = 3
"""Words behind the verb among which the time of a thing is looked for. A choice."""
_NEAR = lexicon.WEEKDAYS | lexicon.MONTHS | lexicon.words("noon midnight tomorrow next")
_UNNAMED = lexicon.TIME_WORDS | lexicon.STOPWORDS | lexicon.GENERIC | lexicon.words("last next")
_NO_KEY = lexicon.words("""
    chapter day episode error exercise figure floor game issue item level lesson line module number option page part
    phase point question round rule scene season section step story table task top unit version vol week year
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
    if clause.verb != "be" or clause.owner != "self" or not key or words[: len(key)] != key or plain.endswith("?"):
        return False
    value = words[len(key) : len(key) + 2]
    if value[:1] and value[0] in {"is", "are"}:
        value = words[len(key) + 1 + (value[1:] in (["at"], ["on"])) :][:2]
    is_value = bool(value) and (value[0][0].isdigit() or value[0] in lexicon.WEEKDAYS)
    known = _NO_KEY | lexicon.STOPWORDS | lexicon.EMOTIONS | lexicon.PRAISE | lexicon.WEEKDAYS | lexicon.MONTHS
    named = (
        not any(word in known or is_past(word) or is_gerund(word) for word in key)
        and "".join(key).replace("-", "").isalpha()
    )
    return is_value and named and not _UNKEPT.intersection(value) and not _CODE.search(plain)


def _told(
    plain: str, clause: Clause, kind: FactKind, concrete: list[str], *, particular: bool, dated: bool, named: bool
) -> Slot | None:
    """The slot of what somebody is, has, likes, does or did."""
    of_thing = bool(clause.thing) or clause.owner == "it"
    # What happened at no time that anybody named is an anecdote, whatever figures are in it.
    over = clause.time == "past" or clause.perfect
    told = not over or dated or (named and not of_thing) or clause.verb in _CHANGING or "used to" in plain
    mine = clause.owner == "self" and not of_thing
    if _VITAL.search(plain) and (not of_thing or _FIRST_PERSON.search(plain)) and not _is_one_of_many(clause):
        return "health"
    if _is_one_of_many(clause):
        return None
    if mine and _IDENTITY.match(plain):
        return "identity"
    if _PASSING.search(plain) and clause.time != "ahead" and not (of_thing and clause.verb in _CHANGING):
        return None
    if mine and kind == "preference":
        wished = clause.time in {"wish", "past"} and not (
            particular or clause.negative or len(concrete) >= _LEAST_EVENT
        )
        return "liking" if concrete and not wished else None
    if mine and _ALWAYS.match(plain) and clause.verb not in WEAK | {"be"} and len(concrete) >= _LEAST_EVENT:
        return "liking" if clause.time == "now" and not clause.perfect else None
    if mine and concrete and _PURSUED.search(plain) and (particular or len(concrete) >= _LEAST_EVENT):
        return "pursuit"
    if clause.verb in WEAK or (mine and clause.verb in {"need", "want"}):
        return None
    if _USING.match(plain) and clause.time != "wish":
        return "value"
    if _CODE.search(plain):
        return None
    if of_thing:
        if clause.owner == "it" or not (told and clause.verb and particular and concrete):
            return None
        ordered = clause.negative and clause.thing[-1] == ","  # "The Damp Towels, don't laugh"
        near = any(word[0].isdigit() or word.lower() in _NEAR for word in clause.rest[:_NEXT])
        named_so = len(clause.thing) <= _LONGEST_KNOWN and not _UNNAMED.intersection(map(str.lower, clause.thing[:1]))
        again = not {"every", "each"}.isdisjoint(clause.rest)
        known = named_so and near and (dated or again or clause.verb in _CHANGING)
        changed = clause.change or clause.verb in _CHANGING or "not" in clause.rest
        corrected = changed and len(clause.thing) <= _LONGEST_CHANGED and clause.thing[0].lower() not in _NO_THING
        of_day = clause.verb == "be" and len(concrete) >= _LEAST_EVENT and lexicon.WEEKDAYS.issuperset(clause.thing)
        stated = clause.definite or clause.thing[0].lower() in lexicon.ATTRIBUTES or known or corrected or of_day
        return "value" if stated and not ordered else None
    if not mine:
        lasting = clause.verb in {"be", "have", "like", "love", "hate", "stand"} or clause.verb in _LASTING
        if not clause.owner.startswith("self."):  # Any word may stand first with a capital.
            return "person" if concrete and (dated or (particular and lasting)) else None
        return "person" if concrete and (particular or lasting) else None
    if clause.time == "wish" or (clause.verb in {"", "be"} and not particular):
        return None
    if clause.negative and not (clause.change or clause.verb in {"have", "drink", "eat", "smoke"}):
        return None
    subject = _FIRST_PERSON.search(" ".join(plain.split()[:4]))
    if concrete and (clause.verb in _LASTING or (clause.change and not over)) and (subject or dated):
        return "event"
    if (clause.negative and clause.change and clause.verb in _HABITS) or (dated and clause.verb == "fli"):
        return "event"
    if clause.verb == "have" and clause.time == "now" and concrete and subject:
        return "value" if particular or len(concrete) >= _LEAST_EVENT else None
    return "event" if concrete and particular and told and (subject or dated) else None


def _terse(plain: str) -> Slot | None:
    """The slot of a note without a sentence around it: "no dairy", "FastAPI + Postgres 15", "bday is on the 19th"."""
    bare = plain.strip().rstrip(".! ")
    words = bare.lower().replace(",", " ").split()
    if not words or is_addressed(bare) or len(bare) > 120 or is_gerund(words[0]) or bare.endswith("?"):
        return None
    if words[0] == "no" and len(words) > 1 and _FOODS.issuperset(stem(word) for word in words if word not in _JOINTS):
        return "health"
    if _APPOINTMENT.match(bare) and words[0] not in _VAGUE and not is_past(words[0]):
        return "event"
    if (_NAMED_VALUE.match(bare) or _KEYED.match(bare)) and len(words) > 1 and not _PRAISED.search(bare):
        return "value"
    return "value" if _STACK.match(bare) and _NUMBERED.search(bare) and not is_past(words[0]) else None


_JOINTS = frozenset({"no", "and", "or"})


def _concrete_words(text: str, clause: Clause, moments: Sequence[Moment]) -> list[str]:
    """The words of a statement that name something in particular, its verb and its times aside."""
    for moment in moments:
        text = text.replace(moment.phrase, " ")
    return [word for word in content_words(text) if word not in _VAGUE and stem(word) != clause.verb]


def _dangles(plain: str) -> bool:
    """Whether a pronoun stands before anything that it could stand for."""
    pronoun = _DANGLING.search(plain)
    before = content_words(plain[: pronoun.start()]) if pronoun else []
    return pronoun is not None and sum(word not in lexicon.GENERIC for word in before) < 2


def _is_one_of_many(clause: Clause) -> bool:
    """Whether it is about one of those whom one has many of, so that little about them is of use."""
    return clause.owner.rpartition(".")[2] in canons(lexicon.MANY_KIN)
