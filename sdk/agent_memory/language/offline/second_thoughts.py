"""What speakers take back in the next breath: "It costs 1200. Sorry, 1500." says 1500."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from agent_memory.language.grounding.corrections import corrected, first_clause, revised
from agent_memory.language.offline import lexicon, statements
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.text import Sentence, expand, straighten
from agent_memory.text.patterns import bounded, either

_SURE = either("""
    scratch_that strike_that no_wait i_meant(?!_to\\b) make_(?:it|that) i_misspoke
    ich_meinte quería_decir je_voulais_dire volevo_dire queria_dizer ik_bedoelde
""")
_LIGHT = either("""
    no nope oh oops h+m+ wait sorry actually hang_on hold_on my_mistake my_bad correction i_mean nein entschuldigung
    ich_meine perdona perdón quiero_decir pardon non je_veux_dire scusa voglio_dire desculpa nee ik_bedoel
""")
_OPENING = bounded(rf"(?:(?!{_SURE}\b){_LIGHT}\b[ ,.:!…-]+){{0,3}}(?P<sure>{_SURE}\b[ ,.:!…-]*)?", re.I)
_GONE = bounded(r"(?:scratch|strike) ", re.I)
_NO = bounded(r"(?:no|nope|non|nein|nee)[ ]*$", re.I)
"""An opening that takes nothing back unless a comma or the like follows it: "No more than 3"."""
_TRAILING = bounded(r"[ ,;(-]+(?:sorry|i meant?|typo|rather)\b[^.!?]{0,20}[.!)]*$", re.I)
_AMID = bounded(
    rf" ?[,;.…-]+ ?(?:(?:{_LIGHT}[ ,.…-]+){{0,2}}(?P<sure>{_SURE})[ ,:;.…-]+|(?:{_LIGHT}[ ,.…-]+){{1,2}}(?<=[,.…-] ))",
    re.I,
)
_OPEN = bounded(
    r"(?:but )?(?:(?:it|that|this) is |(?:i|we) (?:am|are|have) )?(?:still )?(?:not (?:yet )?|nothing (?:is )?)"
    r"(?:\w+ )?(?:decided|sure|certain|settled|final|fixed)(?: yet)?[.! ]*|(?:i|we) will see[.! ]*",
    re.I,
)
"""A sentence that says of the one before it that nothing is decided."""
_FEWEST = 3
"""The fewest words of a clause. A choice."""


class Meant(NamedTuple):
    """A sentence as its speaker finally meant it, and the words of the turn that say so."""

    sentence: Sentence
    quote: str


def meant(own: Sequence[Sentence], content: str, said: Sequence[str], *, asked: bool) -> list[Meant]:
    """The sentences of a turn as they are meant in the end, without those that it takes back.

    Args:
        own: The sentences.
        content: The turn.
        said: What the same speaker said just before, the last sentence first: a turn may open by correcting it.
        asked: Whether somebody asked something since, which the turn may answer instead.
    """
    kept: list[Meant] = []
    for sentence in own:
        plain = straighten(sentence.text)
        if _OPEN.fullmatch(expand(plain)):
            kept[-1:] = _without_last_clause(kept[-1]) if kept else []
            continue
        again = _again(sentence, plain)
        if again is None:
            kept.append(_in_itself(sentence))
            continue
        sure, rest = again
        last = kept[-1] if kept else None
        earlier = said if sure or not (last or asked) else ()
        before = [*([last.sentence.text] if last else []), *earlier]
        put_right = partial(revised, correction=rest.text, sure=bool(sure) and "wait" not in sure.lower())
        wrong = next(filter(put_right, before), "") if _is_brief(rest) else ""
        new = put_right(wrong)
        if new and last and wrong == last.sentence.text:
            quote = content[last.sentence.start : sentence.start + len(sentence.text)]
            kept[-1] = Meant(Sentence(new, last.sentence.start), quote)
        elif new:
            kept.append(Meant(Sentence(new, sentence.start), sentence.text))
        elif sure and last and (_is_gone(sure, rest) or _says_again(last.sentence, rest)):
            kept[-1:] = [Meant(rest, rest.text)] if rest.text else []
        else:
            kept.append(_in_itself(sentence))
    return kept


def _again(sentence: Sentence, plain: str) -> tuple[str, Sentence] | None:
    """How a sentence takes something back: the words that surely do so (or ""), and what it says instead.

    None if it takes nothing back.
    """
    opening, trailing = _OPENING.match(plain), _TRAILING.search(plain)
    if opening is None or _NO.search(opening[0]):
        return None
    stop = trailing.start() if trailing and trailing.start() > opening.end() else len(plain)
    if not opening[0] and stop == len(plain):
        return None
    return opening["sure"] or "", Sentence(sentence.text[opening.end() : stop], sentence.start + opening.end())


def _without_last_clause(one: Meant) -> list[Meant]:
    told = statements.parts(one.sentence)[:-1]
    end = told[-1].start - one.sentence.start + len(told[-1].text) if told else 0
    return [Meant(Sentence(one.sentence.text[:end], one.sentence.start), one.quote)] if end else []


def _in_itself(sentence: Sentence) -> Meant:
    """A sentence without what it takes back itself: "On Tuesday, no wait, on Wednesday"."""
    amid = _AMID.search(straighten(sentence.text))
    if amid is None:
        return Meant(sentence, sentence.text)
    rest = Sentence(sentence.text[amid.end() :], sentence.start + amid.end())
    if amid["sure"] and _says_again(Sentence(sentence.text[: amid.start()], sentence.start), rest):
        return Meant(rest, rest.text)
    return Meant(Sentence(corrected(sentence.text), sentence.start), sentence.text)


def _is_brief(sentence: Sentence) -> bool:
    """Whether a sentence opens with a value alone, and no clause."""
    words = expand(first_clause(sentence.text)).lower().split()
    return len(words) < _FEWEST or (len(words) <= 2 * _FEWEST and lexicon.FINITE.isdisjoint(words))


def _is_gone(sure: str, rest: Sentence) -> bool:
    """Whether a sentence takes back the one before it and says nothing instead."""
    return _GONE.match(sure) is not None and not rest.text.strip(" .!,:")


def _says_again(old: Sentence, new: Sentence) -> bool:
    """Whether a sentence says another one again, with other words after the same subject and verb."""
    one, other = parse(old.text), parse(new.text)
    if one is None or other is None or not other.verb or "?" in new.text:
        return False
    return (one.owner, one.thing, one.verb) == (other.owner, other.thing, other.verb)
