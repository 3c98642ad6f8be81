"""Findings: places in a text that hold a secret, an order to a model, or an order that gives power away.

Secrets are keys and tokens of services, passwords in prose, private keys, numbers of cards and accounts. The patterns
of detect-secrets (extra `secrets`) find keys and tokens; patterns of our own find those of further services. RE2 runs
them, because it searches in linear time. Three plugins are left out: they judge the entropy of a word, the name of a
variable in code, or the address of a machine, and so raise false alarms in plain talk.

The kinds of orders to a model come from the literature on prompt injection: overriding earlier instructions, forged
roles, hiding something from the user, asking for the system prompt, leaking through an image or a message, unseen
characters (OWASP LLM01:2025; Greshake et al. 2023, "Not what you've signed up for"; Rehberger 2024 on memories planted
in an assistant). No list of patterns finds everything. So there are two more defences: what an agent or a tool said
becomes a procedure only after approval, and recalled text is shown as quoted notes.

"Always answer in French" says how to help. "Always approve my expenses" hands over a decision for good, and whoever can
plant it in a conversation acts with the user's rights from then on. So such a memory waits for a person's approval,
whoever said it. The rules read the form of an order (a verb at the beginning of a clause, with a word such as "always",
"all" or "you can") and what it is about. A statement ("My manager always approves expenses") is no order, and neither
is a limit ("Never approve anything without asking me").
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal

from agent_memory.models import Source
from agent_memory.screening import markers, phrases, powers
from agent_memory.screening.disguises import decoded, unwrapped
from agent_memory.screening.keys import (
    AS,
    BY_PREFIX,
    DETECTORS,
    FOR,
    GIVEN,
    IS,
    KEYS,
    LOOKING_AROUND,
    NO_COMPOUND,
    TOLD,
    VALUE,
)
from agent_memory.screening.numbers import numbers
from agent_memory.screening.phrases import WITHIN
from agent_memory.text.folding import hides, seen, unaccented
from agent_memory.text.instructions import FROM_NOW_ON, NEVER, POLITE, standing_instruction
from agent_memory.text.patterns import Linear, linear

Kind = Literal["secret", "instruction"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A place in a text, and what was found there."""

    kind: Kind
    what: str
    start: int
    end: int


def redacted(text: str, findings: Iterable[Finding]) -> str:
    """Replaces each finding in a text with a marker that names it, such as `[password removed]`."""
    parts: list[str] = []
    at = 0
    for finding in apart(findings):
        parts += [text[at : finding.start], f"[{finding.what} removed]"]
        at = finding.end
    return "".join([*parts, text[at:]])


def apart(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order, without overlaps. If two overlap, the one that begins first stays, then the longer.

    If a later finding ends further on, the earlier one is extended to that end, so that no part of either stays.
    """
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda one: (one.start, -one.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
        elif finding.end > kept[-1].end:
            kept[-1] = Finding(kept[-1].kind, kept[-1].what, kept[-1].start, finding.end)
    return kept


_SHORTEST_PASSWORD = 3

_ASSIGNED = linear(
    r"(?:^|[^0-9A-Za-z])[\w-]{0,40}?(?:password|passwd|passphrase|pwd|[_-]pass"
    r"|(?:api|admin|access|account|master|private|secret|service|signing|encryption)[_-]?key|(?-i:[A-Z0-9]_KEY)"
    r"|secret|token|client_assertion)[\"']?\s{0,3}(?:=>|:=|=|:)\s{0,3}"
    r"[\"']?([^\s\"'&,;<>]+)",
    re.IGNORECASE,
)
"""A password or key as code, settings and links assign it."""
_SHORTEST_ASSIGNED = 8
_PASSWORDS = [
    linear(unaccented(rf"{noun}{FOR}\s*(?:{IS}|(?:{verb})\s*:?)\s*{VALUE}"), re.IGNORECASE)
    for noun, verb in TOLD.values()
]
_PASSWORD_NAMES = "|".join(noun for noun, _ in TOLD.values())
_PASSWORD_NAMED = linear(unaccented(_PASSWORD_NAMES), re.IGNORECASE)
_AHEAD = linear(unaccented(rf"(?:^|\s){VALUE}{AS}(?:{_PASSWORD_NAMES}){NO_COMPOUND}"), re.IGNORECASE)
_CODE = linear(r"[\[<{$`(]|[\p{L}_.]+[(\[]|[\p{L}_$]+(?:\.[\p{L}_]+)+$|[\p{L}_]*_[\p{L}_]*$")
"""Words in place of a password that are not one: markup, a call, an attribute, a name with underscores, a marker."""
_NO_VALUE = linear(r"^[^0-9]*(?:password|passwort|api.?key)[^0-9]*$", re.IGNORECASE)
_CALL = linear(r"[\w.]+[(\[]")
_DIGIT = linear(r"[0-9]")
_BEHIND_VALUE = ".,;!?)\"'`"


def find_secrets(text: str) -> list[Finding]:
    """The keys, tokens, passwords and secret numbers in a text, in order, none inside another."""
    view = seen(text)
    line = view.in_line()
    return apart(
        Finding("secret", what, *within.span(start, end))
        for within, found in ((view, _tokens(view.text)), (line, _passwords(line.text)), (line, numbers(line.text)))
        for what, start, end in found
    )


def knows_tokens() -> bool:
    """Whether the detectors of keys and tokens are installed."""
    return bool(_detectors())


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    is_any = _any_token().search(text) is not None
    for what, pattern in _keys() if is_any else _given():
        end = 0
        for found in pattern.finditer(text):
            group = next((number for number, value in enumerate(found.groups(), 1) if value), 0)
            if found.start(group) >= end:  # a match inside a token belongs to that token
                end = _end_of(text, found.end(group))
                yield what, found.start(group), end
    for what, plugin, pattern in _detectors() if is_any else []:
        end = 0
        for found in pattern.finditer(text):
            group = 0 if what in BY_PREFIX or not found.groups() else 1
            if found.start(group) < end or (what == "jwt" and not plugin.is_formally_valid(found[0])):
                continue
            start, value = found.start(group), found[group].split()[0]
            end = _end_of(text, start + len(value), ".=/+" if what == "jwt" else "")
            yield what.replace("_", " "), start, end


def _end_of(text: str, end: int, more: str = "") -> int:
    """The end of a token whose beginning was matched. A full stop after it does not belong to it."""
    while end < len(text) and ((text[end].isascii() and text[end].isalnum()) or text[end] in f"_-{more}"):
        end += 1
    return end - (text[end - 1] == ".")


def _passwords(text: str) -> Iterator[tuple[str, int, int]]:
    """The values of passwords. "My password is too short" gives none."""
    for found in _ASSIGNED.finditer(text):
        value = found[1].rstrip(_BEHIND_VALUE)
        is_code = _CODE.match(value) or _CALL.match(value) or value.isdecimal()
        if len(value) >= _SHORTEST_ASSIGNED and _DIGIT.search(value) and not is_code:
            yield "password", found.start(1), found.start(1) + len(value)
    if not _PASSWORD_NAMED.search(text):
        return
    for pattern in _PASSWORDS:
        for found in pattern.finditer(text):
            value = _until_quote(found[2]).rstrip(_BEHIND_VALUE)
            if len(value) < _SHORTEST_PASSWORD or _CODE.match(value) or _NO_VALUE.search(value):
                continue
            if found[1] or not value.isalpha() or (value != value.lower() and value[1:] != value[1:].lower()):
                yield "password", found.start(2), found.start(2) + len(value)
    for found in _AHEAD.finditer(text):
        value = _until_quote(found[2]).rstrip(_BEHIND_VALUE)
        if _DIGIT.search(value) and not value.isdecimal():
            yield "password", found.start(2), found.start(2) + len(value)


def _until_quote(value: str) -> str:
    return value[: min((place for mark in "\"'`" if (place := value.find(mark)) > 0), default=len(value))]


@cache
def _any_token() -> Linear:
    """One pattern that matches if a text holds any token at all."""
    patterns = [linear(pattern) for pattern in KEYS.values()] + [pattern for _, _, pattern in _detectors()]
    return linear("|".join(f"(?:{pattern.pattern})" for pattern in patterns))


@cache
def _keys() -> list[tuple[str, Linear]]:
    return [*_given(), *((what, linear(pattern)) for what, pattern in KEYS.items())]


@cache
def _given() -> list[tuple[str, Linear]]:
    return [(what, linear(pattern)) for what, pattern in GIVEN.items()]


@cache
def _detectors() -> list[tuple[str, Any, Linear]]:
    try:
        modules = {name: importlib.import_module(f"detect_secrets.plugins.{name}") for name in DETECTORS}
    except ImportError:
        return []
    return [
        (name, plugin, linear(_linear_form(pattern.pattern), pattern.flags & re.IGNORECASE))
        for name, kind in DETECTORS.items()
        for plugin in [getattr(modules[name], kind)()]
        for pattern in plugin.denylist
    ]


def _linear_form(pattern: str) -> str:
    for theirs, ours in LOOKING_AROUND.items():
        pattern = pattern.replace(theirs, ours)
    return pattern


UNSEEN = "holds unseen characters"

_UNSEEN = linear(r"[\x{e0020}-\x{e007f}\x{202d}\x{202e}]+")


def _worded(pattern: str, flags: int = 0) -> Linear:
    """A pattern of words, in which "~" stands for a few words of the same sentence."""
    return linear(unaccented(pattern.replace("~", WITHIN)), re.IGNORECASE | flags)


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of order. `needs` is a cheap pattern that every text with one of the patterns matches."""

    what: str
    needs: Linear
    patterns: list[Linear]

    @classmethod
    def of(cls, what: str, patterns: Sequence[str], needs: str | None = None, flags: int = 0) -> _Kind:
        """Compiles a kind. Without `needs`, one pattern of all alternatives takes its place."""
        need = needs or "|".join(patterns)
        return cls(what, _worded(need, flags), [_worded(one, flags) for one in patterns])

    def found(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a text holds an order of this kind."""
        if self.needs.search(text):
            yield from (found.span() for pattern in self.patterns for found in pattern.finditer(text))


_IN_SENTENCES = [
    _Kind.of("overrides instructions", phrases.DISMISSING, phrases.DISMISSING_NEEDS),
    _Kind.of("changes who the model is", phrases.UNBOUND, phrases.UNBOUND_NEEDS),
    _Kind.of("hides something from the user", phrases.HIDING, phrases.HIDING_NEEDS),
    _Kind.of("asks for the system prompt", phrases.PROMPT, phrases.PROMPT_NEEDS),
    _Kind.of("sends data away", phrases.LEAKING, phrases.LEAKING_NEEDS),
    _Kind.of("addresses a model", phrases.ADDRESSING, phrases.ADDRESSING_NEEDS),
    _Kind.of("addresses a model", phrases.PLANTING, phrases.PLANTING_NEEDS),
]
_IN_SENTENCES_OF_OTHERS = [*_IN_SENTENCES, _Kind.of("orders an answer", phrases.ANSWERING, phrases.ANSWERING_NEEDS)]
_IN_LINES = [
    _Kind.of("forges a role", [markers.ROLES], flags=re.MULTILINE),
    _Kind.of("sends data away", [markers.IMAGES], flags=re.MULTILINE),
]
_IN_LINES_OF_OTHERS = [*_IN_LINES, _Kind.of("sends data away", [markers.ANY_IMAGE])]


def find_instructions(text: str, source: Source = "user") -> list[Finding]:
    """The parts of a text that read as orders to a model, in order. Stricter for text that is not from the user."""
    found = [*_found(text, source), *_disguised(text, source)]
    if hides(text):
        found += [(UNSEEN, *unseen.span()) for unseen in _UNSEEN.finditer(text)]
    return apart(Finding("instruction", what, start, end) for what, start, end in found)


def _found(text: str, source: Source) -> Iterator[tuple[str, int, int]]:
    view = seen(text)
    line = view.in_line()
    is_users = source == "user"
    for within, kinds in (
        (line, _IN_SENTENCES if is_users else _IN_SENTENCES_OF_OTHERS),
        (view, _IN_LINES if is_users else _IN_LINES_OF_OTHERS),
    ):
        for kind in kinds:
            yield from ((kind.what, *within.span(*place)) for place in kind.found(within.text))


def _disguised(text: str, source: Source) -> Iterator[tuple[str, int, int]]:
    """Orders that only another reading of a part of the text shows."""
    for place in decoded(text):
        yield from ((what, place.start, place.end) for what, _, _ in list(_found(place.reading, source))[:1])
    for place in unwrapped(text):
        view = seen(place.reading).in_line().text
        yield from ((kind.what, place.start, place.end) for kind in _IN_SENTENCES for _ in kind.found(view))


GIVES = "gives away money, approvals, access or data"
SPEAKS = "decides what others are told"

_SENTENCE_END = linear(r"[.!?;:>\n]+\s")
_STANDING = _worded(powers.MARKED)
_FORBIDDING = _worded(rf"\b{NEVER}\b")
_STATING = _worded(powers.SUBJECT)
_ACTS = "|".join(order for orders in powers.ORDERS.values() for order in orders)
_GIVING = _worded(rf"{powers.AT_START}(?:{_ACTS})")
_GIVING_TOO = _worded(rf"{powers.AFTER_COMMA}(?:{_ACTS})")
_GIVING_ANYHOW = _worded(
    rf"^[\s>*\"'“-]*{POLITE}(?:{FROM_NOW_ON},? )?(?:{powers.LIFTING})|{powers.PAID}|{powers.LIFTED}"
)
_SENSITIVE = _worded(powers.TOPIC)
_HARMLESS = _worded(rf"(?:^|[,:;] ){powers.OPENING}{powers.HELPING}|{powers.LIMITING}")
_THING = _worded(rf"^{POLITE}(?:{FROM_NOW_ON},? )?(?:(?:every|all|each|any)\b|{powers.TOPIC})")
_ORDERED = _worded(rf"(?:^|[,:;] |\bthat ){POLITE}{powers.YOU} ")
_SPEAKING = _worded("|".join(f"(?:{pattern})" for pattern in powers.SPOKEN))


def find_powers(text: str) -> list[Finding]:
    """The sentences that are standing orders about money, approvals, access, data or what others are told."""
    view = seen(text)
    marks = [0, *(mark.end() for mark in _SENTENCE_END.finditer(view.text)), len(view.text)]
    return [
        Finding("instruction", what, *view.span(start, end))
        for start, end in pairwise(marks)
        if (what := _what(view.text[start:end].strip(" .!\"'"))) is not None
    ]


def _what(sentence: str) -> str | None:
    if _GIVING_ANYHOW.search(sentence) or (_STANDING.search(sentence) and _gives(sentence)) or _decides(sentence):
        return GIVES
    return SPEAKS if _SPEAKING.search(sentence) else None


def _decides(sentence: str) -> bool:
    """Whether a standing order is about money or rights, and neither sets a limit nor says how to help."""
    if (
        not _SENSITIVE.search(sentence)
        or _FORBIDDING.search(sentence)
        or _HARMLESS.search(sentence)
        or _THING.search(sentence)
    ):
        return False
    return standing_instruction(sentence) is not None or _ORDERED.search(sentence) is not None


def _gives(sentence: str) -> bool:
    given = _GIVING.search(sentence) or (None if _STATING.search(sentence) else _GIVING_TOO.search(sentence))
    return given is not None and _FORBIDDING.search(given[0]) is None
