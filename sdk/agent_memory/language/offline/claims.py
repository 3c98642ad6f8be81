"""What a statement claims, in a form in which two of them can be compared: whose, about what, with which values.

The same frame with another value is a change, the same frame denied is a contradiction. The rules prefer silence: a
topic named on one side only is not enough, and what a person may have several of (hobbies, pets, trips) never excludes
another. What is not read is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Literal

from agent_memory.language.offline import endings, lexicon, statements, values
from agent_memory.language.offline.grammar import NAMED_KIN, Clause, parse
from agent_memory.language.offline.text import canons, content_stems, sentences, stem, stems
from agent_memory.language.offline.topics import is_attribute
from agent_memory.language.offline.values import Value
from agent_memory.text.patterns import bounded, plain_words

Verdict = Literal["update", "contradict"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim.

    Attributes:
        owner: Whom it is about: "self", "self.sister", "self.friend.tom", a lower-case name.
        topic: Canonical stems that say what is claimed about: the attribute and what it belongs to, or verb and object.
        values: What it is: an amount, a time, a name; none where only yes or no is claimed.
        lasting: Whether it is about a thing or a state with one value at a time, rather than about one act of several.
        replaced: The value that the sentence itself says is no longer so ("from A to B").
    """

    owner: str
    topic: frozenset[str]
    values: tuple[Value, ...] = ()
    lasting: bool = True
    negative: bool = False
    change: bool = False
    hedged: bool = False
    additive: bool = False
    replaced: Value | None = None


_SHARED_SUBJECT = bounded(
    r"^(?P<subject>i|we|user|[A-Z][a-z]+)\b(?P<first>.*?)(?:,| )\s*(?:and|but)\s+(?P<second>(?:also |now )?"
    r"(?:live|work|love|hate|like|prefer|have|use|drive|study|play|speak|eat|drink|own|am|are|moved|do not)s?\b.*)$",
    re.I,
)
_MONTHS = lexicon.MONTHS | lexicon.WEEKDAYS
_NAME = bounded(
    rf"\b(?!(?:I|{'|'.join(name.capitalize() for name in _MONTHS)})\b)[A-Z][\w&.'-]*(?: (?:& )?[A-Z][\w&.'-]*)*"
    r"(?: v?\d+(?:\.\d+)*(?=[ ,]*$| (?:now|and|on|in|over|at|since|last|this|yesterday|today)\b))?"
)
_FROM_TO = bounded(r"\bfrom (?P<old>.+?) to (?P<new>.+)|(?P<old2>.+?) (?:with|by) (?P<new2>.+)")
_NOT = bounded(
    r"^(?P<new>[^,]{1,40}?) ?,? (?:(?:and )?not|instead of|rather than) (?!to\b)(?P<old>[^,;]{1,30}?)(?= ?[,;]|$)"
)
_LONG_FIGURE = bounded(r"(?<![\w,.])(?P<said>\+?\d[\d ()/-]{5,}\d)(?![\d,.:]*\d)")
"""A telephone number, or another figure that is a name rather than an amount."""
_WHAT_TO = bounded(
    r"(?:(?:the|my|our) (?P<what>.+?)|(?P<bare>(?!(?:to|from|back|over|in|out|on|off|up|away|jobs)\b)[\w&-]+)) "
    r"(?:over )?(?:to|till|until) (?P<new>.+)"
)
_TITLE = bounded(r"^[A-Z][\w'&.-]*(?: (?:of|the|and|in|[A-Z][\w'&.-]*))* [A-Z][\w'&.-]*$")
"""A name of several words, such as that of a book."""
_KIN_BEFORE = bounded(rf"^(?:my|our) (?:\w+ )?{plain_words(lexicon.KIN)} (?=[A-Z])")
"""Who somebody is to the speaker, before the name: "my best man is my brother Ewan"."""
_V = bounded(r"\bv(?=\d)")
_VERSION = bounded(r"^(?P<what>[^\W\d_][\w.+#-]*) (?:from \S+ )?to (?P<version>v?\d[\d.]*)$")
_VERSIONED = bounded(r"\b(?P<what>[A-Z][\w.+#-]*) v?\d+(?:\.\d+)*\b")
_ADDED = bounded(r" ?, (?!\d)(?!(?:and|or|from|to|not)\b).*")
_OFTEN = bounded(
    r",? ?\b(?:(?:every|each) (?:\w+ )?\w+|weekly|often|usually|all the time|a lot|at home|always"
    r"|for (?:breakfast|lunch|dinner|good)|in the (?:morning|evening)s?|(?:since|next|last|this) \w+)(?=[ ,.]|$)"
    r"|,? (?:so|because|which|as it|though|although)\b.*",
    re.I,
)
_TAIL = bounded(r"^(?:.*?\b)?(?:(?:of|for|in) (?P<what>(?:(?:the|our|my) )?[\w-]+(?: [a-z]+)?))")
_EATING = bounded(r"^(?:to )?(?:(?:eating|drinking|having|good) )+")
_LISTED = bounded(r",|\band\b|\bor\b|&")
_RATHER = bounded(r"\b(?:over|rather than|instead of|to)\s")
_SAME_VERB = {"join": "work"} | dict.fromkeys(("resid", "settl", "reloc", "based", "located", "living"), "live")
_SWITCHING = stems(lexicon.SWITCHING)
_CHANGING = stems(lexicon.CHANGING | lexicon.words("leave quit sell")) | _SWITCHING
_PLAIN_VERBS = stems(lexicon.CHANGING | lexicon.words("be have cost plan set hold take get pay book arrange cancel"))
"""Verbs that only give a thing its value, and are no part of what is claimed."""
_FRAME = canons("thing venue place held set now new instead still date day scheduled back anything nothing".split())
_FRAME |= canons(name for name in _MONTHS if len(name) > 3)
_ENDING = stems(lexicon.words("sell cancel drop ditch fire sack"))
"""Verbs that end something whose value was the name after them: "we cancelled Huber"."""
_THE = bounded(r"^(?:the|my|our) ", re.I)
_WITH_WHOM = bounded(r"\bwith (?:(?:the|our|my|all) )?(?-i:[a-z])[\w-]+", re.I)
_AGE = bounded(
    r"^(?:(?:an?|now|only|already) )?(?P<age>\d{1,3})"
    r"(?:[ -]years?[ -]old\b(?! [a-z])| ?(?=[,.;]|and\b(?! (?:\d|a half))|so\b|now\b|$))",
    re.I,
)
_HOW_MANY = bounded(r"^we(?: are|'re) (?:now )?\d+(?=[,.;!]| now\b|$)", re.I)
"""How many people there are, which looks like an age: "we're 5, two adults and three kids"."""
_OLDEST = 120
"""The highest number that is read as an age."""
ENDED = frozenset({"ended"})
"""The topic of a claim that only says that what it replaces is over."""
ONE_AT_A_TIME = lexicon.words("live work drive manag role name")
_BACK = bounded(r"\b(?:from|back|out)\b", re.I)
BACK = frozenset(("back",))
"""The part of a topic by which the flight from Oslo is not the one to Oslo, nor the check-out the check-in."""
_MARITAL = lexicon.words("single married engaged divorced widowed separated")
_STATUS = {"diet": frozenset(lexicon.DIETS), "marit": _MARITAL}
"""States of which a person has one at a time."""


@lru_cache(maxsize=4096)
def read(text: str, said_at: datetime) -> tuple[Claim, ...]:
    """The claims of a text of one or more sentences."""
    text = endings.restated(text)
    pieces = (piece for one in sentences(text) for piece in statements.parts(one, reasons=False) or [one])
    clauses = filter(
        None, (parse(clause) for piece in pieces for clause in _clauses(piece.text) if not _HOW_MANY.match(clause))
    )
    found = [claim for one in clauses for claim in _claims(one, said_at) if claim.topic]
    if over := endings.ending(text):
        found.append(Claim(over.owner, ENDED, change=True, replaced=values.text(over.what)))
    return tuple(dict.fromkeys(found))


def _clauses(sentence: str) -> list[str]:
    """A sentence cut where a further verb of the same subject begins."""
    shared = _SHARED_SUBJECT.match(sentence)
    return [f"{shared[1]}{shared['first']}", f"{shared[1]} {shared['second']}"] if shared else [sentence]


def _claims(clause: Clause, said_at: datetime) -> list[Claim]:
    changing = clause.verb in _CHANGING
    ended = _NAME.match(_THE.sub("", clause.after)) if clause.verb in _ENDING and not clause.thing else None
    ended = None if ended and ended[0].endswith("'s") else ended
    over = clause.time == "past" and not (changing or ended or clause.verb in {"join", "get", "marri"})
    wished = clause.time == "wish" and (clause.hedged or clause.verb != "fli")
    if over or wished or (clause.time == "ahead" and not clause.thing):
        return []
    thing = " ".join(clause.thing) or (clause.aside if clause.owner == "it" else "")
    # What follows a comma tells why or where, and no value.
    plain = _ADDED.sub("", clause.after) if changing or clause.verb in ONE_AT_A_TIME else clause.after
    old, after = _replaced(plain) if changing else (None, plain) if clause.negative else _contrasted(plain, said_at)
    additive = clause.additive and clause.verb != "move"  # who "also moved" lives in one place
    base = Claim("", frozenset(), (), True, clause.negative, clause.change, clause.hedged, additive, old)
    if not clause.thing and (told := _of_person(clause, base)):
        return told
    age = _AGE.match(after) if clause.verb == "be" and not thing else None
    if age and int(age["age"]) <= _OLDEST:
        value = Value("number", frozenset({(age["age"], "")}), age["age"], shown=age["age"])
        return [replace(base, owner=clause.owner, topic=frozenset({"age"}), values=(value,))]
    if clause.verb == "upgrad" and (version := _VERSION.match(after)):  # "upgraded Kubernetes to 1.30"
        after = f"{version['what'].capitalize()} {version['version']}"
    what = _WHAT_TO.match(after) if changing else None
    if thing and _TITLE.match(after):
        found, bare = [values.text(after)], ""
    else:
        found, bare = _values(f"to {what['new']}" if what else _KIN_BEFORE.sub("", after), said_at)
    bare = f"{what['what'] or what['bare']} {bare}" if what else bare
    if not thing and clause.verb in {"plan", "book", "cancel", "organ"}:  # The trip to Hawaii, not a value Hawaii.
        found, bare = [], _OFTEN.sub("", after)
    first = clause.rest[0].lower() if clause.rest else ""
    verb = _SAME_VERB.get(first if clause.verb == "be" else clause.verb, clause.verb)
    bare = bare.removeprefix(first) if verb == "live" and clause.verb == "be" else bare
    named = [value for value in found if value.kind == "text"]
    if clause.verb == "start" and first == "at" and named:
        verb = "work"
    elif named and not thing and clause.verb == "move":
        verb = "use" if what else "live"
    elif named and not thing and (first == "on" if clause.verb == "be" else clause.verb in _SWITCHING):
        verb = "use"
    elif clause.verb in _PLAIN_VERBS and verb == clause.verb:
        verb = ""
    married = "marri" in content_stems(clause.after) or clause.verb == "marri"
    topic = (content_stems(f"{thing} {bare} {clause.aside}") | ({verb} if verb else set())) - _FRAME
    if verb in {"use", "chat"} and (others := _WITH_WHOM.search(after)):  # Slack with clients is not Slack for all.
        topic |= content_stems(others[0])
    if _BACK.search(thing):
        topic |= BACK
    topic = topic or content_stems(thing) - {"thing"}  # "Tobiah's thing is on Fly" names no topic.
    if thing or married:  # The wedding of my sister is my sister's wedding.
        topic |= content_stems(" ".join(clause.owner.split(".")[1:]))
        if topic & NAMED_KIN:
            topic -= {"name"}  # the name of my vet is my vet
        owner = clause.owner.split(".")[0]
    else:
        owner = "self" if clause.owner == "it" or what else clause.owner  # Whoever raised it, it is my dose.
    lasting = bool(thing or married or changing or topic & ONE_AT_A_TIME) or all(one.kind == "number" for one in found)
    units = {str(entry[1]) for value in found if value.kind == "number" for entry in value.core}
    of_many = bool(named) or "percent" in units
    if topic == {verb} and of_many and not (thing or changing or topic & ONE_AT_A_TIME):
        # A bare verb does not say what its value is of: one uses several tools, and achieves several shares.
        version = _VERSIONED.search(after)
        topic |= content_stems(version["what"]) if version else set()
        lasting, base = False, replace(base, change=base.change and version is not None)
    leaving = clause.verb in {"leav", "quit"} or (clause.verb == "move" and after.startswith("out of"))
    if leaving and named and not named[0].said.endswith("'s"):
        topic, found = frozenset({"live" if clause.verb == "move" else "work"}), named
        base = replace(base, negative=True, change=True)
    elif clause.verb == "cancel":
        base = replace(base, negative=True, change=True)
    if ended and not clause.negative:
        topic, found, base = frozenset({"tool"}), [], replace(base, replaced=values.text(ended[0]), negative=False)
    if not topic and found and found[0].kind == "number":
        topic = frozenset({str(entry[1]) for entry in found[0].core}) - {""}
    valued = "favorit" in topic or (clause.thing and is_attribute(clause.thing[-1].lower()))
    if not found and valued and (said := values.head(after)):
        found = [values.text(said)]
        lasting = "favorit" in topic  # "My job is fun" says nothing against "My job is hard".
        topic -= content_stems(said)
    if "favorit" in topic:
        topic = content_stems(thing)  # what it is a favourite of, though the value may have that word
    if not topic and (old is not None or (changing and named)):
        topic = frozenset({"tool"})
    begun = verb in {"work", "live"} and clause.verb not in {verb, "be"}
    change = base.change or changing or begun or clause.verb == "marri" or "new" in clause.rest[:2]
    return [replace(base, owner=owner, topic=frozenset(topic), values=tuple(found), lasting=lasting, change=change)]


def _of_person(clause: Clause, base: Claim) -> list[Claim]:
    """What somebody is, likes, eats or prefers."""
    verb, after = clause.verb, clause.after
    base = replace(base, owner=clause.owner)

    def claim(topic: Iterable[str], *said: Value, change: bool = False) -> list[Claim]:
        return [replace(base, topic=frozenset(topic), values=said, change=base.change or change)]

    for status, names in _STATUS.items() if verb in {"be", "go", "get", "turn", "becom", "follow"} else ():
        word = next((word for word in after.lower().replace(" free", "-free").split()[:4] if word in names), None)
        if word and not (verb == "get" and _NAME.search(after)):
            return claim({status}, Value("text", frozenset({word}), word, shown=word), change=verb != "be")
    if verb == "prefer" and not clause.negative:
        chosen, _, other = _RATHER.sub("|", after.removeprefix("to ")).partition("|")
        head = values.head(chosen)
        where = content_stems(_OFTEN.sub("", chosen.partition(head)[2]))  # seats on planes are not those on trains
        words = [word for word in head.split() if word not in lexicon.STOPWORDS] or [chosen]
        value = values.text(" ".join(words[:-1] if len(words) > 1 and not other else words))
        return claim(content_stems(f"{chosen} {other}" if other else words[-1]) | where | {"prefer"}, value)
    if verb == "report" and (name := bounded(r"to (.+)").match(after)):
        return claim({"manag"}, values.text(values.head(name[1])))
    sign = {stem(word): way for word, way in lexicon.LIKING.items()}.get(verb, 0)
    if verb == "stand" and clause.negative:
        sign, base = -1, replace(base, negative=False)
    if not (sign or verb in {"eat", "drink", "any"}):
        return []
    plain = _EATING.sub("", _OFTEN.sub("", after))
    base = replace(base, negative=base.negative != (sign < 0))
    topics = [content_stems(part) for part in _LISTED.split(plain)]
    return [replace(base, topic=topic | {"love"}) for topic in topics if 0 < len(topic) <= 5]


def _replaced(after: str) -> tuple[Value | None, str]:
    """The value that a sentence says was before, and the words without it."""
    match = _FROM_TO.search(after)
    if match is None:
        return None, after
    old = match["old"] or match["old2"]
    amount = values.read_number(old) if any(map(str.isdigit, old)) else values.text(values.head(old))
    return amount, f"{after[: match.start()]} to {match['new'] or match['new2']}"


def _contrasted(after: str, said_at: datetime) -> tuple[Value | None, str]:
    """The value that a sentence says is wrong ("the 18th, not the 17th"), and the words before it."""
    match = _NOT.match(after)
    if match is None:
        return None, after
    reads = (values.read_time, lambda text, _: values.read_number(text), lambda text, _: values.text(values.head(text)))
    pairs = ((read(match["new"], said_at), read(match["old"], said_at)) for read in reads)
    old = next((old for new, old in pairs if new and old and new.compare(old) == "different"), None)
    return old, match["new"] if old else after


def _values(after: str, said_at: datetime) -> tuple[list[Value], str]:
    """The values that a predicate gives, and its words before the first of them, with what they are of."""
    if figure := _LONG_FIGURE.search(after):
        digits = "".join(filter(str.isdigit, figure["said"]))
        return [Value("number", frozenset({(digits, "")}), figure["said"], shown=figure["said"])], after[
            : figure.start()
        ]
    found: list[Value] = []
    starts: list[int] = []
    rest = after
    if (time := values.read_time(after, said_at)) is not None:
        found.append(time)
        starts.append(values.place_of_time(after, said_at))
        rest = after[: starts[-1]]
    name = _NAME.search(rest)
    if name is not None:
        found.append(values.text(_V.sub("", name[0]).rstrip(".'")))
        starts.append(name.start())
    number = values.NUMBER.search(rest)
    if time is not None and values.is_bare_hour(time) and (amount := values.read_number(after)) is not None:
        found.append(amount)
    if number is not None and (name is None or number.start() < name.start()) and time is None:
        amount = values.read_number(rest[number.start() :])
        if amount is not None:
            found = [amount, *(value for value in found if value.kind != "text")]
            starts = [number.start()]
            name = None
    if not found:
        return [], _OFTEN.sub("", after)
    end = name.end() if name else number.end("number") if number and time is None else 0
    tail = _TAIL.match(after[end:]) if end else None
    return found, _OFTEN.sub("", f"{after[: min(starts)]} {tail['what'] if tail else ''}")
