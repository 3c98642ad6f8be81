"""Reads one clause: whose it is, what is said of them, and how surely.

No parser of English: it finds the subject, the main verb and the small words that turn a claim round (not, no longer,
used to, maybe, now), which is what claims need, and gives up on the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.text import canon, expand, stem

Time = Literal["now", "past", "ahead", "wish"]

_PART = re.compile(r"[$€£¥]?\d[\d,.:/]*\d[a-z%]*|[$€£¥]?\d[a-z%]*|[^\W\d_][\w'&+#./-]*[\w+#]|[^\W_]|[,;:&]", re.I)
_ASIDE = re.compile(r"\s*\(([^()]*)\)")
_DATE_ASIDE = re.compile(
    r"(?:(?:around|week of|weekend of|spring|summer|autumn|winter) )?(?:\d{1,2} )?(?:[A-Z][a-z]+ )?\d{4}$"
)
_SPEAKER = re.compile(r"^([A-Z][\w'-]+(?: [A-Z][\w'-]+)?): ")
_LEAD_IN = re.compile(
    r"^(?:in|on|since|at|as of|last|next|this|starting|beginning|from|after|before|yesterday|today|tomorrow|during|with"
    r"|over|by|until|for|these days|nowadays|right now|at the moment|currently|recently|lately|growing up|currently"
    r"|once|every|two|three|a few|a couple|a week|a month|a year)\b[^,]{0,45}?,?\s+"
    r"(?=(?:i|we|my|our|the|he|she|it|user)\b)", re.I
)  # fmt: skip
_LEAD_TOPIC = re.compile(r"^(?:for|regarding|about|as for|on) ([^,]{2,40}), ", re.I)
_REPORTED = re.compile(
    r"^(?:(?P<self>i|we)(?: have)? )?(?:just |also |kind of |really |still )?(?P<verb>think|guess|believe|suppose|feel like|figure|decided|agreed|confirmed"
    r"|found out|learned|realised|realized|heard|mean|know|said|mentioned|should mention|should add|must say"
    r"|have to say|wanted to (?:say|mention|tell you|add|let you know)|am (?:so |really |very )?(?:sure|afraid|happy"
    r" to say|excited to say|glad to say|pretty sure|not sure|proud to say|happy to report))(?: that)? "
    r"(?=(?:i|we|my|our|the|it|he|she|they|this|that)\b)", re.I
)  # fmt: skip
_DOUBTING = {"think", "guess", "believe", "suppose", "feel", "figure", "am not"}
_BE = frozenset("am is are was were be been being".split())
_HAVE = frozenset("have has had".split())
_DO = frozenset("do does did".split())
_PRONOUNS = frozenset("it this that these those they he she there".split())
_POSSESSIVES = frozenset("my our mine".split())
_DETERMINERS = frozenset("the a an this that these those each every some any no".split())
_KIN_ADJECTIVES = frozenset("older younger elder little big best eldest youngest new old twin step late future ex "
                            "two three four five other oldest close good high-school childhood dear direct".split())  # fmt: skip
_STATE_STARTS = frozenset("allergic vegetarian vegan pescatarian based single married divorced retired born intolerant "
                          "lactose diabetic celiac left-handed currently originally".split())  # fmt: skip
_TRAILING = {
    "any more": "change", "anymore": "change", "now": "change", "right now": "change", "these days": "change",
    "nowadays": "change", "instead": "change", "currently": "change", "from now on": "change", "as of now": "change",
    "again": "change", "too": "additive", "as well": "additive", "also": "additive", "though": "", "at all": "",
    "at the moment": "change", "lately": "", "recently": "", "already": "", "actually": "", "for sure": "",
    "so far": "", "by the way": "", "btw": "", "either": "", "altogether": "", "completely": "", "entirely": "",
    "for good": "", "really": "", "a lot": "", "very much": "", "so much": "", "today": "", "i think": "hedged",
    "i guess": "hedged", "maybe": "hedged", "i believe": "hedged", "please": "", "thanks": "", "haha": "", "lol": "",
    "probably": "hedged", "since then": "", "of course": "", "to be honest": "", "in fact": "",
}  # fmt: skip
_EXTRA_PARTICIPLES = frozenset("been got gotten become come run put cut hit hurt let quit read set cost".split())


@dataclass(frozen=True, slots=True)
class Clause:
    """What a clause says, taken apart.

    Attributes:
        owner: Whose it is: "self", "self.sister", a lower-case name, or "it" for a pronoun.
        thing: The subject's own words when the subject is no person ("budget for the Hawaii trip").
        definite: Whether the thing is a particular one (my, our, the), not any (a, some).
        verb: The stem of the main verb, "" if there is none.
        rest: The words after it, in their own case.
        asides: What stood in brackets or was set in front as the topic.
    """

    owner: str
    thing: tuple[str, ...]
    definite: bool
    verb: str
    rest: tuple[str, ...]
    time: Time = "now"
    negative: bool = False
    change: bool = False
    hedged: bool = False
    additive: bool = False
    asides: tuple[str, ...] = ()

    @property
    def after(self) -> str:
        """The words after the verb as lower-case text."""
        return " ".join(self.rest).lower()


@dataclass(slots=True)
class _Marks:
    """The flags that are gathered while a clause is read."""

    negative: bool = False
    change: bool = False
    hedged: bool = False
    additive: bool = False
    time: Time = "now"

    def note(self, mark: str) -> None:
        if mark:
            setattr(self, mark, True)


def parse(sentence: str) -> Clause | None:
    """Takes a clause apart; None if it has no subject that could own a claim."""
    marks = _Marks()
    text, asides = _take_asides(expand(sentence).strip().rstrip(".!"))
    speaker = _SPEAKER.match(text)
    if speaker and not _is_thing(speaker[1].split()[-1].lower()):
        text = text[speaker.end() :]
    else:
        speaker = None
    text, lead = _strip_lead(text, marks)
    if lead:
        asides.append(lead)
    words = _strip_trailing(_PART.findall(text), marks)
    if not words:
        return None
    owner, thing, definite, rest = _subject(words)
    if speaker and owner.split(".")[0] == "self":
        owner = speaker[1].split()[0].lower() + owner.removeprefix("self")
    verb, rest = _verb(rest, marks, person=not thing)
    if not verb and not thing:
        return None
    return Clause(owner, tuple(thing), definite, verb, tuple(rest), marks.time, marks.negative, marks.change,
                  marks.hedged, marks.additive, tuple(asides))  # fmt: skip


def _take_asides(text: str) -> tuple[str, list[str]]:
    """The text without what stands in brackets, and that; a date in brackets only spells out another one."""
    return _ASIDE.sub("", text), [aside for aside in _ASIDE.findall(text) if not _DATE_ASIDE.match(aside)]


def is_past(word: str) -> bool:
    """Whether a lower-case verb form stands for the past (a base that looks like its past does not)."""
    base = stem(word)
    if word in lexicon.BASE_OR_PAST:
        return False
    if word.endswith("ed") and len(word) > 4 and word not in {"need", "feed", "speed", "breed", "succeed", "bleed"}:
        return True
    return word != "does" and word not in _BE and base != _regular_stem(word) and not word.endswith("s")


@cache
def _regular_stem(word: str) -> str:
    import snowballstemmer

    return str(snowballstemmer.stemmer("english").stemWord(word))


@cache
def _connectives() -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, lexicon.CONNECTIVES | _expanded(lexicon.CONNECTIVES)), key=len, reverse=True)
    return re.compile(r"^(?:" + "|".join(longest_first) + r")\b[\s,.!:;-]*(?=\S)", re.I)


def _expanded(entries: frozenset[str]) -> frozenset[str]:
    return frozenset(expand(entry) for entry in entries)


def strip_connectives(text: str) -> str:
    """A sentence without the words that only lead into it ("Actually, …", "By the way …")."""
    while True:
        match = _connectives().match(text)
        if match is None or re.match(r"(?:so|still|right|same|cool|well|great|nice|important)\s+\w+ing?\b|(?:right|same|"
                                     r"important|still|cool|great|nice)\s", text, re.I):  # fmt: skip
            return text
        text = text[match.end() :]


def _strip_lead(text: str, marks: _Marks) -> tuple[str, str]:
    """Drops connectives, reporting verbs and leading times; returns a topic that stood in front ("For Hawaii, …")."""
    topic = ""
    for _ in range(4):
        before = text
        text = strip_connectives(text)
        reported = _REPORTED.match(text)
        if reported:
            marks.hedged |= " ".join(reported["verb"].lower().split()[:2]) in _DOUBTING or (
                reported["verb"].split()[0].lower() in _DOUBTING
            ) or "not sure" in reported["verb"].lower()  # fmt: skip
            text = text[reported.end() :]
        front = _LEAD_TOPIC.match(text)
        if front and not topic:
            topic, text = front[1], text[front.end() :]
        leading = _LEAD_IN.match(text)
        if leading:
            marks.change |= bool(re.match(r"as of|starting|from|these days|nowadays|right now|currently|at the moment",
                                          leading[0], re.I))  # fmt: skip
            text = text[leading.end() :]
        if text == before:
            break
    return text, topic


def _strip_trailing(words: list[str], marks: _Marks) -> list[str]:
    while words:
        for size in (3, 2, 1):
            mark = _TRAILING.get(" ".join(words[-size:]).lower()) if len(words) > size else None
            if mark is not None:
                marks.note(mark)
                words = words[:-size]
                break
        else:
            if words[-1] not in {",", ";", ":"}:
                return words
            words = words[:-1]
    return words


Subject = tuple[str, list[str], bool, list[str]]


def _subject(words: list[str]) -> Subject:
    """(owner, thing, definite, what follows)."""
    first = words[0].lower()
    if first in {"i", "we", "user"} and len(words) > 1:
        return "self", [], True, words[1:]
    if first == "let" and len(words) > 2 and words[1].lower() == "us":
        return "self", [], True, words[2:]
    if first == "the" and len(words) > 1 and words[1].lower() == "user":
        return "self", [], True, words[2:]
    if first in _POSSESSIVES or (
        first in {"user's", "the"} and len(words) > 2 and "user's" in (first, words[1].lower())
    ):
        return _possessed("self", words[2 if first == "the" else 1 :])
    if first.endswith("'s") and words[0][0].isupper() and first not in {"it's", "that's", "here's"}:
        if _is_thing(first.removesuffix("'s")):
            return _noun_phrase(words, definite=True)
        return _possessed(first.removesuffix("'s"), words[1:])
    if first in _PRONOUNS:
        following = [word.lower() for word in words[1:4]]
        if first in {"this", "that", "these", "those"} and following and following[0] not in lexicon.FINITE:
            return _noun_phrase(words[1:], definite=True)
        return "it", [], True, words[1:]
    if first in _DETERMINERS:
        return _noun_phrase(words[1:], definite=first == "the")
    name = _leading_name(words)
    if name:
        return name[0], [], True, words[name[1] :]
    if first in _STATE_STARTS:
        return "self", [], True, ["am", *words]
    if first.endswith("ing") and any(word.lower() in lexicon.AUXILIARIES for word in words[1:]):
        return _noun_phrase(words, definite=False)
    if is_past(first) or (first.endswith("ing") and len(first) > 4) or first in {"been", "not"}:
        return "self", [], True, words if first != "been" else ["have", *words]
    return _noun_phrase(words, definite=first in {"user's"})


def _possessed(owner: str, words: list[str]) -> Subject:
    """What follows a possessive: one of the owner's people, or a thing of the owner's."""
    at = 0
    while at < len(words) - 1 and words[at].lower() in _KIN_ADJECTIVES:
        at += 1
    head = words[at].lower() if at < len(words) else ""
    bare = head.removesuffix("'s")
    following = words[at + 1].lower() if at + 1 < len(words) else ""
    if bare in lexicon.KIN and (head != bare or not _continues_noun(following)):
        person = f"{owner}.{canon(bare)}"
        if head != bare:
            return _noun_phrase(words[at + 1 :], definite=True, owner=person)
        rest = words[at + 1 :]
        if rest and rest[0][0].isupper() and rest[0].lower() not in lexicon.FINITE:
            rest = rest[1:]
        if rest and rest[0] == ",":
            rest = rest[rest.index(",", 1) + 1 :] if "," in rest[1:] else rest[1:]
        thing = [words[at]] if rest and rest[0].lower() in _BE and bare in _all_attributes() else []
        return person, thing, True, rest
    return _noun_phrase(words, definite=True, owner=owner)


def _continues_noun(word: str) -> bool:
    """Whether a word after a noun makes it part of a longer noun phrase ("team budget", "dog food")."""
    return bool(word) and word.isalpha() and (word in _all_attributes() or word in lexicon.TOPIC_HEADS)


@cache
def _all_attributes() -> frozenset[str]:
    return frozenset().union(*lexicon.ATTRIBUTES.values())


def _noun_phrase(words: list[str], *, definite: bool, owner: str = "self") -> Subject:
    """The words up to the first that may be the sentence's verb."""
    for at, word in enumerate(words):
        if at and (word in {":", "="} or (word == "," and at + 1 < len(words) and words[at + 1][0].isdigit())):
            return owner, words[:at], True, ["is", *words[at + 1 :]]
        if at and word.lower() in lexicon.FINITE and not _is_noun_here(words, at):
            return owner, words[:at], definite, words[at:]
    return owner, words, definite, []


def _is_noun_here(words: list[str], at: int) -> bool:
    """Whether a word that may be a verb is a noun at this place ("the move is", "the work budget was")."""
    following = words[at + 1].lower() if at + 1 < len(words) else ""
    return words[at].lower() in {"move", "end", "start", "run", "use", "work", "cost", "visit", "study", "play", "drive",
                                 "drinks", "lives", "changes", "moves"} and (
        following in lexicon.AUXILIARIES or following in _all_attributes() or following in lexicon.TOPIC_HEADS
    )  # fmt: skip


def _is_thing(word: str) -> bool:
    return (
        word in _all_attributes() or word in lexicon.TOPIC_HEADS or word in lexicon.KIN or word in lexicon.STOPWORDS
        or word in lexicon.CONNECTIVES or word in lexicon.FOODS or word in {"update", "note", "correction", "user"}
    )  # fmt: skip


def _leading_name(words: list[str]) -> tuple[str, int] | None:
    """A person's name at the start, and how many words it takes."""
    size = 0
    while size < min(2, len(words)) and words[size][0].isupper() and words[size].isalpha() and len(words[size]) > 1:
        size += 1
    if size == 0 or size >= len(words) or _is_thing(words[0].lower()) or is_past(words[0].lower()):
        return None
    if words[0].lower() in _not_names() or words[0].lower().endswith("ing"):
        return None
    following = words[size].lower()
    if size == 1 and words[0].endswith("s") and following in {"are", "have", "were", "do", "can", "make"}:
        return None
    if following in lexicon.FINITE or following in lexicon.ADVERBS or following.endswith(("s", "ed")):
        return words[0].lower(), size
    return None


@cache
def _not_names() -> frozenset[str]:
    """Words that open a sentence with a capital without being anybody's name."""
    verbs = lexicon.INFORMATIVE | lexicon.WEAK_VERBS | lexicon.CHANGING | lexicon.HABITS | frozenset(lexicon.LIKING)
    return verbs | lexicon.GENERIC_NOUNS | lexicon.EMOTIONS | lexicon.ADVERBS | frozenset(lexicon.DIETS)


def _verb(words: list[str], marks: _Marks, *, person: bool) -> tuple[str, list[str]]:
    """Walks over auxiliaries, negation and adverbs to the main verb; returns its stem and what follows."""
    at = 0
    auxiliary = ""
    while at < len(words):
        word = words[at].lower()
        following = next(
            (w.lower() for w in words[at + 1 :] if w.lower() not in lexicon.ADVERBS and w.lower() != "not"), ""
        )
        step = _small_word(word, words[at + 1].lower() if at + 1 < len(words) else "", marks)
        if step:
            at += step
        elif word in _BE:
            auxiliary = "was" if word in {"was", "were"} else "be"
            at += 1
        elif word in _HAVE and (_is_participle(following) or following in {"to", "got"}):
            if following == "got" and not (at + 2 < len(words) and words[at + 2].lower() == "to"):
                return "have", words[at + 2 :]
            auxiliary = "have"
            at += 1
        elif word == "to":
            at += 1
        elif word == "got" and auxiliary == "have":
            at += 1
        elif word in _DO and (following and (marks.negative or "not" in (w.lower() for w in words[at + 1 : at + 2]) or
                                             following in _bases())):  # fmt: skip
            if word == "did":
                marks.time = "past"
            auxiliary = "do"
            at += 1
        elif word in {"going", "about"} and auxiliary == "be" and at + 2 < len(words) and words[at + 1].lower() == "to" and (
            words[at + 2][0].islower() and words[at + 2].lower() not in _DETERMINERS
        ):  # fmt: skip
            marks.time = "ahead"
            auxiliary = ""
            at += 2
        else:
            return _main(words, at, auxiliary, marks, person=person)
    return ("be", []) if auxiliary in {"be", "was"} else ("", [])


def _small_word(word: str, following: str, marks: _Marks) -> int:
    """How many words to step over at a negation, modal or adverb, whose meaning is noted."""
    if word in {"not", "never"} or (word == "no" and following == "longer"):
        marks.negative = True
        marks.change |= word == "no"
        return 2 if word == "no" else 1
    if word == "used" and following == "to":
        marks.time = "past"
        return 2
    if word in lexicon.MODALS:
        marks.time = "wish"
        marks.hedged |= word in {"may", "might", "could"}
        return 1
    if word in {"will", "shall"}:
        marks.time = "ahead"
        return 1
    if word in {"can", "must"}:
        return 1
    if word in lexicon.ADVERBS and word != "like":
        marks.change |= word in lexicon.CHANGE_WORDS
        marks.hedged |= word in lexicon.HEDGES
        marks.additive |= word in lexicon.ADDITIVE_WORDS
        return 1
    return 0


@cache
def _bases() -> frozenset[str]:
    return frozenset(lexicon.INFORMATIVE | set(lexicon.LIKING) | lexicon.HABITS | lexicon.WEAK_VERBS | lexicon.STOPPING)


def _is_participle(word: str) -> bool:
    return word in _EXTRA_PARTICIPLES or (len(word) > 3 and is_past(word)) or word in {"not", "been"}


def _main(words: list[str], at: int, auxiliary: str, marks: _Marks, *, person: bool) -> tuple[str, list[str]]:
    """The main verb at `at`, with verbs that only frame another one (stop, start, want, decide) resolved."""
    word = words[at].lower()
    rest = words[at + 1 :]
    if auxiliary in {"be", "was"}:
        passive = not person and (is_past(word) or word in lexicon.BASE_OR_PAST) and word not in lexicon.RELATIONSHIPS
        progressive = (
            word.endswith("ing") and len(word) > 4 and word not in {"interesting", "amazing", "boring", "missing"}
        )
        if not passive and not progressive:
            if auxiliary == "was" and marks.time == "now":
                marks.time = "past"
            return "be", words[at:]
        if auxiliary == "was" and progressive:
            marks.time = "past"
    elif not auxiliary and is_past(word) and marks.time == "now":
        marks.time = "past"
    return _framed(stem(word), rest, marks)


def _framed(verb: str, rest: list[str], marks: _Marks) -> tuple[str, list[str]]:
    following = rest[0].lower() if rest else ""
    particle = f"{verb} {following}"
    if particle in {"give up", "cut out", "get rid", "lay off", "swear off", "go off"}:
        skip = 2 if particle == "get rid" else 1
        marks.negative, marks.change, marks.time = True, True, _done(marks.time)
        inner = rest[skip:]
        if inner and inner[0].lower().endswith("ing"):
            return stem(inner[0].lower()), inner[1:]
        return "any", inner
    if verb in {"stop", "quit"} and following.endswith("ing"):
        marks.negative, marks.change, marks.time = True, True, _done(marks.time)
        return stem(following), rest[1:]
    if verb in {"start", "begin", "resum", "restart"} and (following.endswith("ing") or following == "to"):
        marks.change, marks.time = True, _done(marks.time)
        inner = rest[1:] if following == "to" else rest
        return (stem(inner[0].lower()), inner[1:]) if inner else (verb, rest)
    if verb in {"keep", "continu"} and (following.endswith("ing") or following == "to"):
        inner = rest[1:] if following == "to" else rest
        return (stem(inner[0].lower()), inner[1:]) if inner else (verb, rest)
    if verb in {"decid", "agre", "choos", "opt"} and following in {"to", "not"}:
        inner = rest[1:]
        if following == "not" or (inner and inner[0].lower() == "not"):
            marks.negative = True
            inner = inner[1:]
        marks.time = _done(marks.time)
        return (stem(inner[0].lower()), inner[1:]) if inner else (verb, rest)
    if verb in _intents() and following == "to" and len(rest) > 1 and not (verb in {"love", "like", "prefer"} and
                                                                          marks.time == "now"):  # fmt: skip
        marks.time = "wish" if marks.time != "past" else "past"
        return stem(rest[1].lower()), rest[2:]
    if verb in {"consid", "think"} and (following in {"about", "of"} or following.endswith("ing")):
        marks.time, marks.hedged = "wish", True
        inner = rest[1:] if following in {"about", "of"} else rest
        return (stem(inner[0].lower()), inner[1:]) if inner else (verb, rest)
    return verb, rest


def _done(time: Time) -> Time:
    """A change that happened holds now; one that is only planned stays planned."""
    return "now" if time == "past" else time


@cache
def _intents() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.INTENDING | {"hope", "try", "wish"})
