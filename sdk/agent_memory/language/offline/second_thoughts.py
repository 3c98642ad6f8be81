"""What speakers take back in the next breath: "It costs 1200. Sorry, 1500." says 1500."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agent_memory.language.corrections import corrected, first_clause, revised
from agent_memory.language.offline import lexicon, statements
from agent_memory.language.offline.text import Sentence, content_stems, expand, straighten
from agent_memory.text.patterns import bounded, either

_SURE = either("""
    scratch_that strike_that no_wait i_meant(?!_to\\b) i_mean make_(?:it|that) i_misspoke
    ich_meint?e quería_decir quiero_decir je_voulais_dire je_veux_dire volevo_dire voglio_dire queria_dizer ik_bedoel
""")
_LIGHT = either("""
    no nope oh oops h+m+ wait sorry actually hang_on hold_on my_mistake my_bad correction nein entschuldigung perdona
    perdón pardon non scusa desculpa nee
""")
_OPENING = bounded(rf"(?:{_LIGHT}\b[ ,.:!…-]+){{0,3}}(?P<sure>{_SURE}\b[ ,.:!…-]*(?:natürlich )?)?", re.I)
_GONE = bounded(r"(?:scratch|strike) ", re.I)
_NO = bounded(r"(?:no|nope|non|nein|nee)[ ]*$", re.I)
"""What takes nothing back without a mark behind it: "No more than 3"."""
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
"""Words of a clause. A choice."""


class Meant(NamedTuple):
    """A sentence in the words that its speaker came to mean, and the turn's own characters that say so."""

    sentence: Sentence
    quote: str


def meant(own: Sequence[Sentence], content: str, said: Sequence[str]) -> list[Meant]:
    """The sentences of a turn as they are meant in the end, without those that it takes back.

    Args:
        own: The sentences.
        content: The turn.
        said: What the same speaker said just before, the last sentence first: a turn may open by correcting it.
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
        before = [*([last.sentence.text] if last else []), *(said if sure or not last else [])]
        wrong = next((one for one in before if revised(one, rest.text)), "") if _is_brief(rest) else ""
        new = revised(wrong, rest.text)
        if new and last and wrong == last.sentence.text:
            quote = content[last.sentence.start : sentence.start + len(sentence.text)]
            kept[-1] = Meant(Sentence(new, last.sentence.start), quote)
        elif new:
            kept.append(Meant(Sentence(new, sentence.start), sentence.text))
        elif sure and last and (_GONE.match(sure) if _is_brief(rest) else _is_about(last.sentence.text, rest.text)):
            kept[-1:] = [] if _is_brief(rest) else [Meant(rest, rest.text)]
        else:
            kept.append(_in_itself(sentence))
    return kept


def _again(sentence: Sentence, plain: str) -> tuple[str, Sentence] | None:
    """The sure words with which a sentence takes something back, if any, and what it says instead."""
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
    if amid["sure"] and not _is_brief(rest) and _is_about(sentence.text[: amid.start()], rest.text):
        return Meant(rest, rest.text)
    return Meant(Sentence(corrected(sentence.text), sentence.start), sentence.text)


def _is_brief(sentence: Sentence) -> bool:
    """Whether a sentence opens with a value alone, and no clause."""
    words = expand(first_clause(sentence.text)).lower().split()
    return len(words) < _FEWEST or (len(words) <= 2 * _FEWEST and lexicon.FINITE.isdisjoint(words))


def _is_about(old: str, new: str) -> bool:
    return not content_stems(old).isdisjoint(content_stems(new))
