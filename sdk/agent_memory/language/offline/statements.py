"""Cuts a turn into the statements that its author made, each in the turn's own characters."""

from __future__ import annotations

import re
import string
from functools import lru_cache

from agent_memory.language.offline import orders, speech
from agent_memory.language.offline.grammar import Clause, parse
from agent_memory.language.offline.text import (
    LONGEST_TURN,
    Sentence,
    content_words,
    openings,
    sentences,
    stem,
    straighten,
)
from agent_memory.language.offline.verbs import is_known, is_past
from agent_memory.text.patterns import Bounded, bounded, either, is_short, linear, plain_words

_MOST_SENTENCES = 80

_FENCE = linear(r"```.*?(?:```|\z)|~~~.*?(?:~~~|\z)", re.S)
# One class each: they read every character once.
_SIGN = re.compile(r"\S")
_PASTED_LINE = linear(
    r"^\s*(?:>|\||\$ |#!|at [\w.$]+\(|File \"|Traceback|Caused by|import \w|from \w+ import|def \w+\(|class \w+[:(]"
    rf"|{either('const let var public private function return SELECT INSERT UPDATE DELETE CREATE')}\b .*[;({{]"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d[,. ]"
    rf"|\[?{either('ERROR WARN(?:ING)? INFO DEBUG FATAL TRACE')}\b[\]: ]"
    r"|[{}\[\]();<>/]+\s*$|<\/?\w+[^>]*>|[\"']?[\w.-]+[\"']?\s*[:=]\s*[\"'{\[].*[,;]?$|https?://\S+\s*$)"
)
_SYMBOLS = re.compile(r"[{}\[\]()<>=;|\\/_*#@^~]")
_ME = r"(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur|[Ii]'m|[Ii]'ve|[Ww]e're|[Ww]e've)\b"
_GREETED = bounded(
    r"(?:[Hh]ey|[Hh]i|[Hh]ello|[Tt]hanks|[Tt]hank you|[Ww]ow|[Yy]eah|[Ss]orry|[Yy]up|[Yy]ep|[Oo]k|[Oo]kay),? "
    r"[A-Z][a-z]+\s*[,!.-]+\s*(?=\S)"
    rf"|(?:[Ss]ince|[Aa]fter) (?:we|our) (?:last )?(?:we )?{either('talked spoke chatted met chat talk conversation')}"
    r"(?: last)?,?\s+"
)
_ANNOUNCED = bounded(
    r"(?:i(?: just| also| really)? (?:wanted|have|need) to|wanted to|i (?:gotta|should|must)|gotta) "
    r"(?:tell you|let you know|say|mention|add|share|admit)(?: that|,)?\s+"
    rf"|i(?:'m| am)(?: so| really| very)? {either('happy excited thrilled glad proud pleased sad sorry')} to "
    r"(?:say|share|tell you|report|announce)(?: that)?\s+"
    r"|(?:the|one|another)(?: \w+){1,3} is(?: that|,)?\s+"
    r"|(?:[a-z]+ ){0,3}[a-z]+:\s+",
    re.I,
)
_PARTS = bounded(
    r"\s*(?P<join>,?\s+(?:and|but)\s+|,\s+so\s+|;\s+|:\s+|\s+-\s+|\.{3}\s+|,\s+)(?:(?:also|now|then)\s+)?"
    r"(?=(?:i|we|my|our|i'm|i've|we're|we've|i'll|we'll|i'd|we'd)\b)",
    re.I,
)
_SPLICED = bounded(r"(?:i'm|i am) [A-Z][a-z]+$|(?:it|that|this)(?:'s| is| was)\b", re.I)
_BOUND = bounded(
    rf"^{either('so because since although though while until unless before after which that even when if as')}\b", re.I
)
_LEANING = bounded(rf"\b{either('it them him her he she they this that there too either one so')}\b", re.I)
_LEANING_OBJECT = bounded(
    rf"\b{either('do did does doing done use about of for with to in on at from than like love make')} "
    r"(?:it|them|that|this|there)\b",
    re.I,
)
_ASKED_TAIL = bounded(
    rf"[,;-]\s+(?:so |and |but )?"
    rf"{either('can could would will do does did is are was should may what how when where why')}\b[^,.]*\?$"
    r"|,\s+(?:right|ok|okay|no|yes)\?$",
    re.I,
)
_FILLER_TAIL = bounded(
    rf",?\s+{either('by_the_way btw haha lol though honestly anyway of_course you_know to_be_honest i_guess')}[.!]*$",
    re.I,
)
_VERDICT_TAIL = bounded(
    r"\s*(?:,|;|\s-|\band\b|\bbut\b|\.{3}){1,4}\s*(?:it|that|this)"
    r"(?:'s| is| was| has| felt| feels|'ll| will| made| makes)\b(?!.*\b(?:\d|i|we|my|our)\b).{0,60}$"
    r"|\s+-\s+(?:\w+ ){0,2}\w+\b.{0,40}$|\s*[-,]\s*can't wait.*$",
    re.I,
)
_PRAISE_WORDS = """
    fun great good awesome amazing best exciting excited blast cool nice incredible stoked thrilled wow
    happy proud wait feel feels felt wonderful fantastic lovely special powerful hard tough crazy worth rewarding
"""
_PRAISE = bounded(rf"\b{either(_PRAISE_WORDS)}\b", re.I)
_LOOSE_END = f"{string.whitespace}\u00a0\u2028\u2029\u3000,;:-"


def own_sentences(content: str) -> list[Sentence]:
    """The sentences of a turn that its author wrote as talk, up to where planted orders or a text to work on begin.

    Code, logs, quotations, tables and sentences that are too long for the rules are left out; very long turns are read
    from their beginning only.
    """
    return list(_own_sentences(content))


@lru_cache(maxsize=256)  # a summary asks for those of a turn several times
def _own_sentences(content: str) -> tuple[Sentence, ...]:
    kept: list[Sentence] = []
    for sentence in sentences(_blanked(content[:LONGEST_TURN])):
        if speech.is_planted(sentence.text) or speech.hands_over(sentence.text):
            break
        if is_short(sentence.text):
            kept.append(sentence)
    return tuple(kept[:_MOST_SENTENCES])


def statements(sentence: Sentence, names: frozenset[str]) -> list[Sentence]:
    """The statements in a sentence, without what only leads in or out of them."""
    bare = opened(sentence, names)
    if speech.is_not_meant(sentence.text) or speech.is_foreign(sentence.text):
        return []
    if speech.is_standing_order(bare.text) or orders.as_statement(bare.text):
        return [bare]
    asked = _ASKED_TAIL.search(straighten(bare.text))
    if asked and len(bare.text[: asked.start()].split()) > 3:
        bare = Sentence(bare.text[: asked.start()], bare.start)
    return [without_tail(part) for part in parts(bare)] if speech.is_statement(bare.text) else []


def _blanked(content: str) -> str:
    """The content with pasted parts turned into spaces, so that places in it stay the same."""
    text = _FENCE.sub(lambda match: _SIGN.sub(" ", match[0]), content)
    lines = text.splitlines(keepends=True)
    return "".join(_SIGN.sub(" ", line) if _is_pasted(line) else line for line in lines)


def _is_pasted(line: str) -> bool:
    bare = line.strip()
    if not bare:
        return False
    crowded = len(bare) > 40 and len(_SYMBOLS.findall(bare)) > len(bare) / 12
    unspaced = len(bare) > 60 and max(map(len, bare.split())) > 60
    return crowded or unspaced or bool(_PASTED_LINE.match(straighten(line)))


def opened(sentence: Sentence, names: frozenset[str]) -> Sentence:
    """A sentence without the courtesies and the names that only open or close it ("Wow, Mel, …", "…, Caroline")."""
    text = straighten(sentence.text)
    start = 0
    while match := _lead_in(text, start, names):
        start = match.end()
    end = len(text)
    closing = bounded(rf",\s*{plain_words(names)}\s*[.!]*$").search(text) if names else None
    if closing and closing.start() > start:
        end = closing.start()
    return Sentence(sentence.text[start:end].strip(), sentence.start + start)


def _lead_in(text: str, start: int, names: frozenset[str]) -> re.Match[str] | None:
    announced = _ANNOUNCED.match(text, start)
    if announced and bounded(_ME).match(text[announced.end() :]):
        return announced
    return _GREETED.match(text, start) or openings().match(text, start) or _vocative(names).match(text, start)


@lru_cache(maxsize=256)
def _vocative(names: frozenset[str]) -> Bounded:
    return bounded(rf"{plain_words(names)}\s*[,!.-]+\s*(?=\S)" if names else r"(?!)")


def parts(sentence: Sentence) -> list[Sentence]:
    """A compound sentence cut into the statements that stand alone; those that lean on another stay with it."""
    text = straighten(sentence.text)
    cuts = [0]
    ends: list[int] = []
    for match in _PARTS.finditer(text):
        behind, ahead = text[cuts[-1] : match.start()], text[match.end() :]
        following = ahead[: cut.start()] if (cut := _PARTS.search(ahead)) else ahead
        spliced = not match["join"].strip(" ,")
        if _stands_alone(behind, following) and (not spliced or _SPLICED.match(behind)):
            ends.append(match.start())
            cuts.append(match.end())
    ends.append(len(text))
    pieces = [
        Sentence(sentence.text[begin:end].strip(), sentence.start + begin)
        for begin, end in zip(cuts, ends, strict=True)
    ]
    return [piece for piece in pieces if speech.is_statement(piece.text)]


def _stands_alone(behind: str, following: str) -> bool:
    """Whether a sentence may be cut between two of its clauses."""
    return (
        (len(behind.split()) >= 3 or bool(_SPLICED.match(behind)))
        and len(following.split()) >= 3
        and len(content_words(following)) >= 2
        and not _LEANING.search(" ".join(following.split()[:4]))
        and not _LEANING_OBJECT.search(following)
        and not _BOUND.match(behind)
        and parse(behind) is not None
        and _tells(following, parse(following))
    )


def _tells(text: str, clause: Clause | None) -> bool:
    """Whether a clause says something of its subject: "my little sister Mia in Hamburg" only goes on with a list."""
    if clause is None or not bounded(r"(?:my|our)\b", re.I).match(text):
        return clause is not None
    inflected = [word for word in text.lower().split() if word.endswith("s") or is_past(word)]
    return is_known(clause.verb) or any(stem(word) == clause.verb for word in inflected)


def without_tail(sentence: Sentence) -> Sentence:
    """A statement without a tail that only says how it was ("…, and it was amazing!", "…, by the way")."""
    text = straighten(sentence.text)
    for pattern in (_FILLER_TAIL, _VERDICT_TAIL):
        tail = pattern.search(text)
        if tail and len(text[: tail.start()].split()) >= 4 and (pattern is _FILLER_TAIL or _PRAISE.search(tail[0])):
            text = text[: tail.start()].rstrip(" ,;-")
    return Sentence(sentence.text[: len(text)], sentence.start)


def trimmed(text: str) -> str:
    """A text without dangling punctuation at its end."""
    return text.rstrip(_LOOSE_END)
