"""Keeps a user's profile: what stays true, sorted by what it is about, newest first, one line a subject."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

from agent_memory.language.offline import kinds, slots
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.reconcile import Statement, contradiction, duplicates, read, same_claim
from agent_memory.language.offline.speech import is_standing_order
from agent_memory.language.offline.text import expand
from agent_memory.language.tasks import FactView, ProfileInput, ProfileOutput, ProfileView
from agent_memory.models import content_hash
from agent_memory.text import dates
from agent_memory.text.figures import NUMBERS
from agent_memory.text.patterns import WORD, bounded, either, linear, plain_words

MOST = 5
"""Lines of a section. The whole profile has a bound of its own (`steps.profile`)."""
_MOST_READ = 100
"""The most lines of a section of the profile before: each is compared with all others. A model, or an imported file,
may give many."""
_LEAST_BEGINNING = 4
"""Words of a line that can be the beginning of another one. A choice."""
_VITAL = 0.75
"""What `importance_of` gives to health. A choice."""
_LONGEST, _LONGEST_VITAL = 160, 100
"""Characters of a line, and of one that stands before others because it is about health; a longer statement is a tale
that mentions it. Choices."""
_STATED = linear(
    r"^I(?:'m| am| (?:work|live|take|teach|study)) (?:an?|as|at|in|for|with|on|\d+ m[gl]|allergic)\b", re.I
)
"""How somebody says who they are or what they take, at whatever length."""
_TROUBLED = linear(r"\b(?:ha(?:ve|s|d)|with|from) (?:\w+ )?(?:depression|anxiety)\b", re.I)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

Section = Literal["personal", "preferences", "current_work", "environment", "constraints"]
SECTIONS: tuple[Section, ...] = ("personal", "preferences", "current_work", "environment", "constraints")

_OWN = linear(r"^(?:[^:]{1,40}: )?(?:i|im|we|my|our)\b|^(?:name|role|job|pronouns|address|timezone|tz): ", re.I)
_IDENTITY = frozenset({"live", "work", "name", "age"})
_YEARLY = linear(r"\b(?:birthday|bday|anniversary|born)\b", re.I)
_FOR_A_TIME = linear(
    rf"\bfor (?:now|the time being|(?:an?|the next|\d+|{plain_words(NUMBERS)}) (?:few |couple of )?"
    r"(?:minute|hour|day|night|week|month)s?)\b",
    re.I,
)
"""Signs that something ends soon, so that it is no part of who somebody is."""
_SEEKING = bounded(
    r"(?<!that )(?<!who )(?<!which )"
    r"\b(?:(?:am|are|is|been) (?:(?!an?\b)\w+ )?(?:(?:looking|searching) (?:for|to|into)|interested in \w+ing|curious"
    r"|considering|thinking (?:of|about)|open to)|would (?:love|like) to|(?:like|love) the idea)\b"
    r"(?! (?:\w+ ){1,3}(?:job|role|position|work|flat|apartment|house|home|place to (?:live|rent|stay))\b)",
    re.I,
)
"""What somebody would like to find, know or try; few of these wishes last, and they change no answer."""
_UNDER_WAY = bounded(r"^(?:[^:]{1,40}: )?\S+ (?:am|are|is) (?:\w+ )?\w+ing\b", re.I)
_AILING = either(r"allerg\w+ intoleran\w+ diabet\w+ c(?:o)?eliac")
_LIMITING = either(rf"""
    {_AILING} vegan vegetarian must can't cannot can_not not_allowed no_more_than at_most budget
    deadline due_(?:date|on|by) required? only_(?:eat|fly|work|use|buy|accept)
""")
_AILS = linear(rf"\b{_AILING}\b", re.I)
_LIMITS = linear(rf"\b{_LIMITING}\b", re.I)
_WORKING = either("""
    work(?:s|ing)? job projects? team manager report(?:s|ing)?_to company clients? customers? office remote(?:ly)?
    meetings? launch release on-call startup business campaign employer department marketing sales engineer(?:ing)?
    interview internship thesis degree exam course research presentation planning preparing looking_for saving_for
    training_for
""")
_WORK = linear(rf"\b{_WORKING}\b", re.I)
_EQUIPMENT_WORDS = either("""
    laptop computer phone windows linux macos docker kubernetes cluster server database cloud python java typescript
    framework editor ide terminal repository repo pipeline ci port api service staging production environment stack
    time_?zone deploy(?:s|ed)? printer router vpn browser app
""")
_EQUIPMENT = linear(rf"\b{_EQUIPMENT_WORDS}\b", re.I)


def profile(data: ProfileInput) -> ProfileOutput:
    """Merges facts into a profile and takes out what is gone."""
    newest_first = [read(fact) for fact in sorted(data.facts, key=lambda fact: fact.said_at, reverse=True)]
    gone = [read(fact) for fact in data.gone]
    earlier = data.earlier or ProfileView()
    sections: dict[Section, list[Statement]] = {section: [] for section in SECTIONS}
    told: set[tuple[str, frozenset[str]]] = set()
    for statement in filter(_lasts, newest_first):
        subjects = _subjects(statement)
        if not subjects or not subjects <= told:
            _add(sections[section_of(statement)], statement)
        told |= subjects
    for section in SECTIONS:
        for line in getattr(earlier, section)[:_MOST_READ]:
            statement = read(FactView(ref="earlier", kind="fact", content=line, said_at=_LONG_AGO))
            foreign = _subjects(statement) if statement.foreign else set()
            is_gone = any(_says(statement, other) for other in gone) or (foreign and foreign <= told)
            if not is_gone and not any(contradiction(newer, statement) for newer in newest_first):
                _add(sections[section], statement)
    lines = {name: [item.fact.content for item in sorted(items, key=_rank)] for name, items in sections.items()}
    return ProfileOutput(**{name: _without_beginnings(told)[:MOST] for name, told in lines.items()})


def _without_beginnings(lines: list[str]) -> list[str]:
    """Lines without those that are only the beginning of another one."""
    words = [WORD.findall(line.casefold()) for line in lines]
    begins = (
        any(len(other) > len(own) >= _LEAST_BEGINNING and other[: len(own)] == own for other in words) for own in words
    )
    return [line for line, is_beginning in zip(lines, begins, strict=True) if not is_beginning]


def _rank(statement: Statement) -> bool:
    """The sort key of a line: who somebody is and their health come first, however long ago that was said."""
    text = statement.fact.content
    is_identity = any(one.subject for one in statement.foreign) or any(
        claim.owner == "self" and claim.topic <= _IDENTITY and claim.values for claim in statement.claims
    )
    is_vital = len(text) <= _LONGEST_VITAL and (slots.VITAL.search(text) or _TROUBLED.search(text)) is not None
    return not (is_identity or kinds.tells_name(text) or is_vital or _is_vital_foreign(statement))


def _is_vital_foreign(statement: Statement) -> bool:
    """Whether a sentence in another language than English is about somebody's health or diet."""
    return any(one.importance >= _VITAL for one in statement.foreign)


def _lasts(statement: Statement) -> bool:
    """Whether a fact says what stays true and shapes help; events, procedures and passing states do not."""
    kind, text = statement.fact.kind, statement.fact.content
    clause, plain = parse(text), expand(text)
    if kind == "procedural":
        return is_standing_order(text)
    if len(text) > _LONGEST and not _STATED.match(text):
        return False
    if any(one.happens for one in statement.foreign) or (_is_dated(statement) and not _YEARLY.search(text)):
        return False
    if _FOR_A_TIME.search(plain) and (kind == "requirement" or statement.foreign or _UNDER_WAY.search(plain)):
        return False
    if kind != "requirement" and _SEEKING.search(plain) and not _AILS.search(plain):
        return False
    if kind == "requirement" or statement.foreign:
        return True
    if clause is None:
        return kind == "preference" or _LIMITS.search(plain) is not None
    own = _OWN.match(text) is not None or _LIMITS.search(plain) is not None
    placed = any(claim.lasting and value.kind == "text" for claim in statement.claims for value in claim.values)
    if clause.thing and clause.definite and placed and clause.time in {"now", "ahead"} and kind != "decision":
        return True  # where or what a thing of the user's is or will be
    if clause.time in {"past", "ahead", "wish"} or clause.perfect:  # A change is how it is since then.
        return own and any(claim.change and claim.values for claim in statement.claims)
    tools = _EQUIPMENT.search(text) is not None
    if kind == "decision":
        return tools and "(asked: " not in text
    if _UNDER_WAY.search(plain):
        return tools or _WORK.search(text) is not None
    return kind == "preference" or tools or (own and clause.verb not in slots.WEAK)


def _is_dated(statement: Statement) -> bool:
    """Whether a fact is of one day or week, and not of all that follows."""
    found = dates.find(statement.fact.content, statement.fact.said_at)
    return any(
        moment.first and moment.grain not in {"month", "season", "year"} and moment.role != "since" for moment in found
    )


def section_of(statement: Statement) -> Section:
    """Where a fact belongs."""
    kind, text = statement.fact.kind, statement.fact.content
    if kind == "requirement" or (kind != "preference" and (_LIMITS.search(text) or _is_vital_foreign(statement))):
        return "constraints"
    if kind == "preference":
        return "preferences"
    if kind == "procedural" or _EQUIPMENT.search(text):
        return "environment"
    if any(one.subject == "work" for one in statement.foreign):
        return "current_work"
    ours = not any("." in claim.owner for claim in statement.claims)
    return "current_work" if ours and (kind in {"context", "decision"} or _WORK.search(text)) else "personal"


def _subjects(statement: Statement) -> set[tuple[str, frozenset[str]]]:
    """The subjects to which a statement gives a lasting value: whose, and what."""
    subjects = {(claim.owner, claim.topic) for claim in statement.claims if claim.values and claim.lasting}
    return subjects | {("self", frozenset([one.subject])) for one in statement.foreign if one.subject}


def _add(section: list[Statement], statement: Statement) -> None:
    if not any(_same(statement, other) for other in section):
        section.append(statement)


def _same(one: Statement, two: Statement) -> bool:
    return content_hash(one.fact.content) == content_hash(two.fact.content) or duplicates(one, two)


def _says(line: Statement, fact: Statement) -> bool:
    """Whether a line of the profile says what a fact says, in whatever words."""
    return _same(line, fact) or any(same_claim(one, two) for one in line.claims for two in fact.claims if one.values)
