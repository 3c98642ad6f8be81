"""What users say in German, Spanish, French, Italian, Portuguese and Dutch, if they say it plainly.

The rules do not parse these languages. They know how a plain sentence begins ("ich wohne in …"). They keep any other
sentence only if its first words show whom it is about, and if it has something that people ask for later: an illness,
somebody's name, a figure, a change or a certain day. Wishes, requests, conditions and guesses stay in the raw turns
alone.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from agent_memory.language.offline import foreign_words as forms
from agent_memory.language.offline.text import straighten
from agent_memory.models import FactKind
from agent_memory.text import dates
from agent_memory.text.calendar_words import FOREIGN_TIMES, with_english_calendar, with_english_near_times
from agent_memory.text.dates import Moment
from agent_memory.text.instructions import standing_instruction
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import WORD, Linear, bounded, either, linear
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS
from agent_memory.text.wishes import wish

_LONGEST = 200
"""In characters. A choice."""
_LEAST = 3
"""The fewest words besides the time with which a sentence makes sense by itself. A choice."""
_SHORTEST, _STEM = 4, 6
"""Letters of a word that two sentences can share, and how many of them are compared. Choices."""
_MOST_LEFT = 2
"""Words of an instruction that a withdrawal need not repeat: its verb, and how much. A choice."""
_IMPORTANCE = {"vital": 0.75, "requirement": 0.65, "decision": 0.65, "fact": 0.5, "preference": 0.5}
"""As in English (`kinds.importance_of`)."""
_EXACT = frozenset({"day", "week", "weekend"})
_DAYS = {day.removesuffix("s") for day in FOREIGN_TIMES}
_SUBJECTS = ("name", "home", "work")
_AND = bounded(
    r",? (?:und|y|et|e|en) (?=(?P<verb>wohne|lebe|arbeite|bin|woon|werk|ben)\b"
    r"|(?:ich|ik|j'|je|vivo|trabajo|soy|abito|lavoro|sono|moro|trabalho|sou)\b)",
    re.I,
)
"""Where a second statement of the same speaker begins. A German or Dutch verb lacks its subject there."""
_DUTCH = ("woon", "werk", "ben")
_MOVED = linear(
    r"verschob|verschieb|verscheb|verleg|cambi|aplaz|déplac|report|repouss|spost|rinvi|mudou|mudaram|adi(?:ou|ad)|remarc"
    r"|verzet|verplaats|verschov",
    re.I,
)
"""Signs that something was moved to another time: a sentence with one may name the old time and the new one."""
_NO_VERBS = linear(r"\b(?:aqu|all|ah|as)í|\b(?:caf|beb)é", re.I)
"""Spanish words with the ending of a verb in the past."""
_HIER = linear(r"^hier\b", re.I)
_PARTICULAR = linear(r"\d|\s\p{Lu}")


class _Patterns(NamedTuple):
    words: frozenset[str]
    unsure: Linear
    mine: Linear
    past: Linear
    other: Linear
    denied: Linear


def _patterns(language: forms.Language) -> _Patterns:
    def anywhere(form: str) -> Linear:
        return linear(rf"(?:^|[^\p{{L}}'-])(?:{form})(?:[^\p{{L}}]|$)", re.I)

    unsure, other, denied = (either(one) for one in (language.unsure, language.other, language.denied))
    found = map(anywhere, (unsure, language.mine, language.past, other, denied))
    return _Patterns(frozenset(language.words.split()), *found)


_PATTERNS = [_patterns(language) for language in forms.LANGUAGES]


class Told(NamedTuple):
    """A memory of one sentence.

    Attributes:
        text: Its words, as they stand in the sentence.
        said: The same, with the subject if that comes before an "and".
        subject: What has one value at a time ("name", "home", "work"); empty for all else.
        happens: The day of an event.
    """

    kind: FactKind
    importance: float
    text: str
    said: str
    subject: str = ""
    happens: Moment | None = None


@lru_cache(maxsize=1024)
def told(text: str, said_at: datetime) -> tuple[Told, ...]:
    """The memories of a sentence; none if it says nothing plainly, or is English."""
    if len(text) > _LONGEST or text.rstrip().endswith("?"):
        return ()
    if is_foreign(text) and (order := _order(text)):
        return (Told("requirement", _IMPORTANCE["requirement"], order, order),)
    if forms.WITHDRAWN.search(straighten(text)) and forms.FORM.search(text) and not forms.QUOTED.search(text):
        return (Told("requirement", _IMPORTANCE["requirement"], text, text),)
    whole = text[: contrast.start()] if (contrast := forms.CONTRAST.search(text)) else text
    joint = _AND.search(straighten(whole))
    if joint is not None:
        first, second = whole[: joint.start()], whole[joint.end() :]
        pronoun = "" if joint["verb"] is None else "Ik " if joint["verb"].lower() in _DUTCH else "Ich "
        both = [_plain(first, first), _plain(second, f"{pronoun}{second}")]
        if all(both):
            return tuple(one for one in both if one is not None)
    one = _plain(whole, whole) or _other(text, said_at) or _other(whole, said_at)
    return () if one is None else (one,)


def _order(text: str) -> str:
    """The standing instruction that a sentence gives; empty if it gives none."""
    order = text.partition(",")[0]
    if is_over(order):
        return ""
    if standing_instruction(order):
        return order
    return text if standing_instruction(text) or wish(text) else ""


def answers(reply: str, question: str) -> bool:
    """Whether a reply in one of these languages tells a figure, a habit or a name that a question asks for."""
    plain, [language, *_] = straighten(reply).strip(), _languages(f"{question} {reply}")
    idle = any(form.search(question) for form in (forms.OFFERING, forms.AT_HAND, forms.PASSING))
    if (
        idle
        or not is_foreign(question)
        or _is_idle(plain)
        or forms.PASSING.search(plain)
        or language.other.search(plain)
    ):
        return False
    return any(form.search(plain) for form in (forms.HABIT, forms.EVER, forms.TELLING, _particular(language)))


def _is_idle(plain: str) -> bool:
    """Whether a sentence is a guess, a tale or a joke, or is about the text at hand."""
    unsure = any(one.unsure.search(plain) for one in _languages(plain))
    return unsure or any(form.search(plain) for form in (forms.QUOTED, forms.AT_HAND))


def _plain(text: str, said: str) -> Told | None:
    """The memory of a sentence whose beginning shows what it is about ("ich wohne in …")."""
    plain = straighten(said).strip()
    name = next((name for name, form in forms.BEGINS.items() if form.search(plain)), "")
    if not name or _is_idle(plain):
        return None
    if name == "cannot":
        return None if forms.AT_ONCE.search(plain) else Told("fact", _IMPORTANCE["vital"], text, said)
    if name == "preference":
        return None if forms.DANGLING.search(plain) else Told("preference", _IMPORTANCE[name], text, said)
    return Told("fact", _IMPORTANCE.get(name, _IMPORTANCE["fact"]), text, said, name if name in _SUBJECTS else "")


def _languages(plain: str) -> list[_Patterns]:
    """The languages of which a sentence has most small words; mostly one."""
    words = WORD.findall(plain.casefold())
    likeness = [sum(word in one.words for word in words) for one in _PATTERNS]
    return [one for like, one in zip(likeness, _PATTERNS, strict=True) if like == max(likeness)]


def _has_small_words(plain: str, language: _Patterns) -> bool:
    """Whether a sentence has more small words of the language than of English: "Die Miete ist am 3. fällig"."""
    words = set(WORD.findall(plain.casefold()))
    theirs, ours = words & (language.words - SMALL_WORDS), words & (SMALL_WORDS - language.words)
    return len(theirs) > max(len(ours), 1)


def is_over(text: str) -> bool:
    """Whether the verb of a sentence in one of these languages is a perfect or a preterite."""
    plain = straighten(text)
    return any(one.past.search(plain) for one in _languages(plain))


def _other(text: str, said_at: datetime) -> Told | None:
    """The memory of any other sentence."""
    plain = straighten(text).strip()
    language, *others = _languages(plain)
    if _is_idle(plain) or not (is_foreign(plain) or _has_small_words(plain, language)):
        return None
    if any(one.other.search(plain) for one in (language, *others)):
        return None
    if happens := _event(plain, said_at, language):
        return Told("fact", _IMPORTANCE["fact"], text, text, happens=happens)
    if forms.PASSING.search(plain) or (forms.SOMEBODY.search(plain) and not forms.OWN.search(plain)):
        return None
    if forms.ILL.search(plain):
        return Told("fact", _IMPORTANCE["vital"], text, text)
    if forms.DECIDED.search(plain) and not forms.SOMEBODY.search(plain):
        return Told("decision", _IMPORTANCE["decision"], text, text)
    turns = forms.CHANGED.search(plain) or forms.NOW_SO.search(plain)
    if not turns and not forms.NAMED.search(plain) and not bounds(plain, said_at):
        english = with_english_near_times(with_english_calendar(forms.HABIT.sub(" ", plain)))
        if any(moment.grain in _EXACT for moment in dates.find(english, said_at, "future")):
            return None  # later, nobody would know which day it was
    return Told("fact", _IMPORTANCE["fact"], text, text) if _is_told(plain, language) else None


def _is_told(plain: str, language: _Patterns) -> bool:
    """Whether a sentence names somebody, or tells a figure, a habit or a change of the speaker's or their people's."""
    mine, thing = language.mine.search(plain) or forms.I_DO.search(plain), forms.THING.search(plain)
    by_name = not thing and forms.NOW_SO.match(plain) is None and forms.BY_NAME.search(plain) is not None
    own = bool(mine or by_name or forms.OWN.search(plain))
    words = WORD.findall(plain.casefold())
    measured = any(map(str.isdigit, plain)) or any(word.removesuffix("s") in _DAYS for word in words)
    if thing and forms.TURNED.search(plain):
        return True
    if forms.CHANGED.search(plain) or (mine and forms.ONWARD.search(plain)):
        return own or bool(thing and measured)
    if forms.NOW_SO.search(plain):
        of_person = by_name or forms.OWNER.search(plain) is not None
        return (measured and bool(own or thing)) or of_person or bool(mine and forms.LASTING.search(plain))
    if language.past.search(plain):
        return False
    named = _particular(language)
    if own and (
        forms.TELLING.search(plain)
        or (forms.HABIT.search(plain) and forms.LASTING.search(plain))
        or (forms.STEADY.search(plain) and named.search(plain))
    ):
        return True
    kin, whose = forms.OWNER.search(plain), forms.OWN.search(plain)
    acting = kin is None or ((kin["verb"] or "").casefold() not in forms.SAYING and kin["verb"])
    subject = kin or whose
    rest = plain[subject.end() :] if subject else ""
    particular = _PARTICULAR.search(rest) if kin and kin["name"] else named.search(rest)
    if forms.NAMED.search(plain) or (acting and particular and (kin or not particular[0].isdigit())):
        return True
    listed = forms.PRICED.search(plain) and not forms.MONTHLY.search(plain)
    return bool(own or (thing and not listed)) and forms.FIGURE.search(plain) is not None


def _particular(language: _Patterns) -> Linear:
    return forms.GERMAN_PARTICULAR if language is _PATTERNS[forms.GERMAN] else forms.PARTICULAR


def _event(plain: str, said_at: datetime, language: _Patterns) -> Moment | None:
    """The day of an event that a sentence tells, if it is certain."""
    if _MOVED.search(plain) or forms.NOW_SO.search(plain) or language.denied.search(plain):
        return None
    # "Hier" is "here" in German and Dutch, so the calendar words leave it out.
    day = _HIER.sub("yesterday", plain) if language is _PATTERNS[forms.FRENCH] else plain
    english = with_english_near_times(with_english_calendar(day))
    told = _NO_VERBS.sub(" ", plain)
    moments = dates.find(english, said_at, "past" if language.past.search(told) else "future")
    if len(moments) != 1:
        return None
    [moment] = moments
    before, behind = english[: moment.start], english[moment.start + len(moment.phrase) :]
    clause = f"{before.rpartition(', ')[2]} {behind.partition(', ')[0]}".strip()  # "So ein Sonntag, ich liebe es"
    to_come = any(map(str.isdigit, moment.phrase)) and moment.first is not None and moment.first > said_at
    of_thing = to_come and forms.DATED.search(plain)
    if not (language.mine.search(_NO_VERBS.sub(" ", clause)) or of_thing):
        return None
    # "Guten Morgen" and "por la mañana" are no days; at the start, the words are.
    sure = moment.phrase != "today" and (moment.phrase != "tomorrow" or not before) and not forms.ASIDE.search(before)
    tells = len(WORD.findall(f"{before} {behind}")) >= _LEAST
    return moment if sure and tells and moment.first and moment.grain in _EXACT else None


def bounds(text: str, said_at: datetime) -> list[Moment]:
    """The times from or to which a sentence says that something is so: "seit Montag", "bis März"."""
    said = forms.UNTIL.sub(r"\1until ", forms.FROM.sub(r"\1from ", forms.SINCE.sub(r"\1since ", straighten(text))))
    if _MOVED.search(said):
        return []
    english = with_english_near_times(with_english_calendar(said))
    since = [moment for moment in dates.find(english, said_at, "past") if moment.role == "since"]
    return since + [one for one in dates.find(english, said_at, "future") if one.role in {"from", "until"}]


def replaces(newer: Told, older: Told) -> bool:
    """Whether a memory says that what an older one told is no longer so. A memory that claims more stays."""
    new, old = straighten(newer.said), straighten(older.said)
    if older.kind == newer.kind == "requirement":
        wanted = _words(forms.FOR_GOOD.sub(" ", old))
        said = _words(new.partition(",")[0]) & wanted
        return forms.WITHDRAWN.search(new) is not None and bool(said) and len(wanted - said) <= _MOST_LEFT
    whose, of_whom = _owner(new), _owner(old)
    if older.kind != "fact" or ((whose or of_whom) and not whose & of_whom):
        return False
    changed = (forms.CHANGED.search(new) or forms.NOW_SO.search(new)) is not None
    told = {word for word in _words(old) if not forms.LASTING.search(word)}  # who works less still works there
    shared = _words(new) & told
    left = len(told - shared)
    if older.subject and newer.subject == older.subject:
        of_more = forms.WITH_KIN.search(old) and not forms.WITH_KIN.search(new)
        return _words(new) != _words(old) and (changed or newer.subject == "name") and not of_more
    if forms.LEFT.search(new):
        return bool(shared) and (left <= 1 or older.subject == "work")
    figures = [{*forms.NUMBER.findall(one)} for one in (new, old)]
    measured = forms.FIGURE.search(new) and forms.FIGURE.search(old)
    moved = changed and _MOVED.search(new)
    return bool(shared and left <= 1 and (measured or moved) and all(figures) and figures[0] != figures[1])


def _owner(plain: str) -> frozenset[str]:
    """Whom a sentence is about, by its first words: the relation and the name of somebody; empty if nobody."""
    found = forms.OWNER.search(plain)
    owners = [found["kin"], found["name"] or ""] if found else []
    if not found and not forms.THING.search(plain) and forms.BY_NAME.search(plain):
        owners = plain.split()[:1]
    return frozenset(owner.casefold() for owner in owners if owner)


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    """The words that carry a sentence, without their endings and without those that say that something changed."""
    for change in (forms.LEFT, forms.CHANGED, forms.NOW_SO):
        text = change.sub(" ", text)
    words = (word.casefold() for word in WORD.findall(text) if word.isalpha())
    dull = FUNCTION_WORDS | forms.UNSAID | FOREIGN_TIMES
    return frozenset(word[:_STEM] for word in words if len(word) >= _SHORTEST and word not in dull)
