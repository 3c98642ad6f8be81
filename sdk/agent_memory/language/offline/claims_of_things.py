"""Claims about things: what an attribute is, what it was changed to, and which tool does which work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache

from agent_memory.language.offline import lexicon, values
from agent_memory.language.offline.claims import Claim, Reader
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.phrases import (
    aside_topic,
    attribute_kind,
    head_words,
    kind_mark,
    stems,
    text_value,
    thing_topic,
    typed_value,
)
from agent_memory.language.offline.subjects import all_attributes
from agent_memory.language.offline.text import canon, stem
from agent_memory.language.offline.values import Value
from agent_memory.text.patterns import bounded

_DETERMINED = r"(?:the|my|our|a|an|this|that) (?:new |total )?"
_CHANGED = bounded(
    _DETERMINED + r"(?P<what>[\w' -]+?)(?: back| up| down| forward| out| by [\w$ ]+)?"
    r"(?: from (?P<old>.+?))? (?:to|till|until|at|is|of) (?P<new>.+)",
    re.I,
)
_CHANGED_FOR = bounded(
    _DETERMINED + r"(?P<what>[\w'-]+(?: [\w'-]+)? (?:for|of) [\w' -]+?)(?: from (?P<old>.+?))? (?:to|at) (?P<new>.+)",
    re.I,
)
_TO_NEW = bounded(r"(?:from (?P<old>.+?) )?(?:up |down |back |out )?(?P<new>(?:to|till|until|for) .+)")
_BELONGS_TO = bounded(r"\bfor (?:the |our |my )?([A-Za-z][\w -]*)$")
_SWITCHED = bounded(
    r"(?:everything |over |(?:all |our |the )+(?P<what>[\w -]+?) )?(?:from (?P<old>.+?) )?(?:over )?"
    r"(?:to|with|by) (?P<new>.+)"
)
_REPLACED = bounded(r"(?P<old>.+?) (?:with|by) (?P<new>.+)")
_WITH_TOOL = bounded(
    r"(?P<what>.*?)\b(?:with|using|on|in|via|through|to) (?P<tool>(?:the )?[A-Z][\w.+#-]*(?: [A-Z][\w.+#-]*)*)"
)
_NAME_AND_VERSION = bounded(
    r"\b(?P<name>[A-Z][A-Za-z.+#-]+) (?:from v?(?P<old>\d+(?:\.\d+)*) to )?"
    r"v?(?P<new>\d+(?:\.\d+)*)\b(?! [a-z]+s\b|[%:])"
)
_PURPOSE = bounded(r"\b(?:for|to) (?:the |our |my |all )?([\w -]+)")
_ENDING = {"end", "finish", "expir", "arriv", "land", "close", "return"}


def _attribute(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """My budget for Hawaii is $10,000; the launch is planned for March; it moved to May; our flight leaves at nine."""
    changing = clause.verb in _changes()
    if not clause.thing or (clause.time == "past" and not changing):
        return
    topic, head = thing_topic(clause)
    kind = attribute_kind(head)
    last = clause.thing[-1].lower()
    single = not last.endswith("s") or last.endswith(("ss", "is", "us")) or last in all_attributes()
    planned = clause.verb == "plan" and clause.after.startswith("for ")
    if not (single and (kind or clause.definite)) or not (changing or planned or clause.verb in _stative()):
        return
    after = " ".join(clause.rest)
    replaced = None
    if changing:
        match = _TO_NEW.search(after)
        if match is None:
            return
        after = match["new"]
        replaced = typed_value(match["old"], kind, said_at) if match["old"] else None
        after = after if kind in {"date", ""} else after.partition(" ")[2]
    value = typed_value(after, kind, said_at)
    if value is not None:
        side = frozenset({"end"}) if clause.verb in _ENDING else frozenset[str]()
        if clause.verb == "be" and clause.after.startswith("due "):
            side = frozenset({canon("deadline")})
        owner = clause.owner.removesuffix(f".{canon(last)}")
        yield Claim(owner, "attribute", topic | side, value, clause.negative, changing, replaced=replaced)


def _inverse_attribute(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """Ana is my manager; green is my favourite colour."""
    match = bounded(r"(?:my|our) (?:new )?(.+)").match(clause.after)
    name = " ".join(clause.thing) or clause.owner
    if clause.verb != "be" or clause.time != "now" or clause.negative or match is None:
        return
    if name in {"it", "self"} or "." in name:
        return
    words = match[1].split()
    if canon(words[0]) == "favorit" or attribute_kind(canon(words[-1])) == "name":
        yield Claim("self", "attribute", stems(words), values.read_text(name.split()))


def _changed_attribute(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """We raised the Hawaii budget to $15,000; they moved my interview to Friday; I have a budget of $300 for it."""
    changing = clause.verb in _changes()
    if clause.thing or clause.time == "ahead" or not (changing or clause.verb in {"have", "schedul", "book"}):
        return
    after = " ".join(clause.rest)
    match = _CHANGED_FOR.match(after) or _CHANGED.match(after)
    if match is None:
        return
    topic, head = thing_topic(replace(clause, thing=tuple(match["what"].split())))
    kind = attribute_kind(head)
    new = f"to {match['new']}" if kind in {"date", ""} else match["new"]
    value = typed_value(new, kind, said_at)
    if value is None or (not kind and (not changing or value.kind == "text")):
        return
    belongs = _BELONGS_TO.search(match["new"])
    old = typed_value(match["old"], kind, said_at) if match["old"] else None
    mine = bounded(r"(?:my|our)\b", re.I).match(after)
    owner = "self" if clause.owner == "it" else clause.owner.split(".")[0] if mine else clause.owner
    yield Claim(
        owner, "attribute",
        topic | (stems(head_words(belongs[1].split())) if belongs else frozenset()), value, clause.negative,
        changing and clause.verb != "set", replaced=old,
    )  # fmt: skip


def _pronoun_attribute(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """It is now $15,000 (budget for the Hawaii trip): a pronoun whose topic stands in brackets."""
    topic = aside_topic(clause)
    if clause.owner != "it" or not topic or (clause.time == "past" and clause.verb not in _changes()):
        return
    kind = next((kind for word in topic if (kind := attribute_kind(word))), "number")
    value = typed_value(" ".join(clause.rest), kind, said_at)
    if value and value.kind != "text":
        yield Claim("self", "attribute", topic, value, clause.negative)


def _switched_tool(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """We switched from Helm to Kustomize; we replaced Jenkins with GitHub Actions."""
    if clause.verb not in _switches() or clause.time == "ahead":
        return
    after = " ".join(clause.rest)
    match = (_REPLACED if clause.verb in {"replac", "swap"} else _SWITCHED).match(after)
    if match is None:
        return
    new, purpose = _tool_and_purpose(match["new"])
    named_old = match["old"] or (bounded(r"\bfrom ([A-Z][\w.-]*(?: [A-Z][\w.-]*)?)").findall(after) or [""])[0]
    old = text_value(named_old)
    if new is None or bounded(r"(?:an? |\d|[$€£])").match(match["new"]) or values.read_time(match["new"], said_at):
        return
    kind = kind_mark(new)
    if not kind and clause.verb in {"move", "chang"} and old is None:
        return
    what = stems((match.groupdict().get("what") or "").split())
    topic = purpose | what | kind | stems(clause.thing) | aside_topic(clause)
    yield Claim(clause.owner, "tool", topic or frozenset({"tool"}), new, clause.negative, change=True, replaced=old)


def _used_tool(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """We deploy with Helm; we use Postgres for billing."""
    if clause.time in {"past", "ahead"}:
        return
    after = " ".join(clause.rest)
    named = _WITH_TOOL.match(after)
    if clause.verb not in _uses() and not (named and kind_mark(Value("text", frozenset(), named["tool"]))):
        return
    if clause.verb == "use" or named is None:
        tool, purpose = _tool_and_purpose(after)
    else:
        tool, purpose = values.read_text(named["tool"].split()), stems(head_words(named["what"].split()))
    if tool is None or tool.said.lower().rstrip("s") in lexicon.WEEKDAYS | lexicon.MONTHS:
        return
    if not (kind_mark(tool) or (clause.verb == "use" and tool.said[0].isupper()) or named):
        return
    doing = frozenset[str]() if clause.verb in {"use", "run"} else frozenset({canon(clause.verb)})
    topic = purpose | doing | kind_mark(tool) | stems(clause.thing) | aside_topic(clause)
    yield Claim(clause.owner, "tool", topic or frozenset({"tool"}), tool, clause.negative)
    yield from _version(clause, said_at)


def _version(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """We run on Python 3.11; we upgraded Node from 18 to 22."""
    if clause.verb not in _uses() | _changes():
        return
    match = _NAME_AND_VERSION.search(" ".join(clause.rest))
    if match and match["name"].lower() not in lexicon.WEEKDAYS | lexicon.MONTHS:
        version = Value("number", frozenset({(match["new"], "version")}), match["new"], shown=match["new"])
        old = Value("number", frozenset({(match["old"], "version")}), match["old"]) if match["old"] else None
        topic = stems([match["name"]]) | stems(clause.thing) | {"version"}
        yield Claim(clause.owner, "attribute", topic, version, clause.negative, clause.verb in _changes(), replaced=old)


THINGS: tuple[Reader, ...] = (
    _inverse_attribute, _changed_attribute, _version, _switched_tool, _used_tool, _attribute, _pronoun_attribute,
)  # fmt: skip
"""Readers of what is said of things; the first that finds something has it."""


def _tool_and_purpose(text: str) -> tuple[Value | None, frozenset[str]]:
    """The tool that a phrase names, and what it is used for."""
    words = head_words(text.split())
    tool = values.read_text(words) if 0 < len(words) <= 4 else None
    purpose = _PURPOSE.search(text)
    return tool, stems(head_words(purpose[1].split())) if purpose else frozenset()


@cache
def _changes() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.CHANGING)


@cache
def _switches() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.SWITCHING)


@cache
def _uses() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.TOOL_VERBS)


@cache
def _stative() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.STATIVE)
