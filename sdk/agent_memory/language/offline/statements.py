"""Cuts a turn into the statements that its author made, each in the turn's own characters."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache

from agent_memory.language.offline import lexicon, speech
from agent_memory.language.offline.grammar import parse
from agent_memory.language.offline.text import LONGEST_TURN, Sentence, content_words, openings, sentences, straighten
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import bounded, either, is_short, linear, plain_words

_MOST_SENTENCES = 400
"""Sentences of a turn that are read. Prose as long as the longest turn that is read has about 200. A choice."""

_FEWEST_OF_PAPER, _LENGTH_IN_PAPER, _OWN_OF_PAPER = 20, 80, 0.05
"""A turn of so many sentences, of so many characters on average, is a paper that somebody pasted if fewer than this
share of the sentences have "I" or "we". Choices: of the sentences that people type, a third have, and the lines of
their own notes and briefs are half as long as the sentences of an article."""

_FENCE = linear(r"```.*?(?:```|\z)|~~~.*?(?:~~~|\z)", re.S)
_TWO = r"(?:[^{0}]*[.!?]\s[^{0}]*[.!?][^{0}]*|[^{0}]*\n[^{0}]*)"
_QUOTED = linear(
    r"(^|[\s(:])(?:"
    + "|".join(f"{start}{_TWO.format(end)}[{end}]" for start, end in (('"', '"'), ("“", "”"), ("„", "“”"), ("«", "»")))
    + ")",
    re.S,
)
"""Quotation marks around more than one sentence or line: what somebody else wrote."""
_QUOTED_SINGLY = linear(r"(?:^|[\s(:])['‘](?:[^'‘’\n]|\w['’]\w)*[.!?]\s(?:[^'‘’\n]|\w['’]\w)*['’](?:\W|\z)")
"""The same in single quotation marks. An apostrophe between letters ends nothing."""
_SHORTENED = linear(r"^.?['‘’](?:\d|(?:tis|twas|cause|em|til|n)\b)", re.I | re.S)
"""Words that begin with an apostrophe: "'90s"."""
_OPENING_QUOTES = tuple('"“„«')
# One class: it reads every character once.
_SIGN = re.compile(r"\S")
_PASTED_LINE = linear(
    r"^\s*(?:>|\||\$ |#!|at [\w.$]+\(|File \"|Traceback|Caused by|import \w|from \w+ import|def \w+\(|class \w+[:(]"
    rf"|{either('const let var public private function return SELECT INSERT UPDATE DELETE CREATE')}\b .*[;({{]"
    r"|[{\[].*[}\]][,;]?$|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d[,. ]"
    rf"|\[?{either('ERROR WARN(?:ING)? INFO DEBUG FATAL TRACE')}\b[\]: ]"
    r"|[{}\[\]();<>/]+\s*$|<\/?\w+[^>]*>|[\"']?[\w.-]+[\"']?\s*[:=]\s*[\"'{\[].*[,;]?$|https?://\S+\s*$)"
)
_GREETED = bounded(
    r"(?:hey|hi|hello|thanks|thank you|yeah|sorry|ok|okay),? "
    r"(?:(?-i:[A-Z])[a-z]+|bot|assistant|all|everyone|folks|guys|team)\s*[,!.-]+\s*(?=\S)"
    r"|i(?: just| also)? (?:wanted|have|need) to (?:tell you|let you know|say|mention|add)(?: that|,)?\s+"
    r"|(?:the|one|another)(?: \w+){1,3} is(?: that|,)?\s+(?=(?:i|we|my|our|i'm|i've)\b)",
    re.I,
)
_ORDERED = either("use include add write suggest recommend contact call text email send put mention give tell show")
_PARTS = bounded(
    r"\s*(?:,?\s+(?:and|but)\s+|,\s+so\s+|;\s+|\s+-\s+)(?:(?:also|now|then)\s+)?"
    r"(?=(?:i|we|my|our|i'm|i've|we're|we've|i'll|we'll)\b|(?-i:[A-Z])[a-z]+(?:'s| is| has) [a-z])"
    rf"|\s*[,;]\s+(?:so |and |but )?(?=(?:please |pls )?(?:don't|dont|do not) {_ORDERED}\b)",
    re.I,
)
_BOTH = bounded(
    rf"(?:,|\b{either('that whether if because when while since as so where how what why until before after')}"
    r"|\b(?:remember|think|know|hope))\s+"
    r"(?:(?-i:[A-Z])[\w'-]+|(?:my|our) [\w-]+)$",
    re.I,
)
"""What stands before "and I" if both are the subject: "whether Tom and I would move"."""
_OPEN = bounded(r"\([^)]*$|(?:^|[\s(])'(?:[^']|\w'\w)*$")
"""A bracket or a quotation that is still open: what follows belongs to it."""
_LEANING = bounded(r"\b(?:it|them|him|her|he|she|they|this|that|there|too|either|ones?)\b", re.I)
_ASKED_TAIL = bounded(
    r"[,;-]\s+(?:so |and |but )?(?:"
    rf"{either('can could would will do does did is am are was should may has have what how when where why any')}"
    r"\b(?! (?:i|you|he|she|it|we|they)\?$)[^.]*\?$"
    # not "…, which is 60% of my goal"
    rf"|so which\b[^.]*\?$|which (?!{either('i we you he she it they my our the is are was were has have')}\b)"
    r"(?:\w+ ){1,3}(?:do|does|should|would|is|are|has|have|can)\b[^.]*\?$"
    r"|(?:can|could|would|will|do) you\b[^.]*$)"
    r"|,?\s+(?:and|but|so) (?:(?:i|we) )?(?:am|are|was|were|have been)(?: just| also)? wondering\b.*$",
    re.I,
)
"""A question behind a statement, but no tag that only doubts it ("…, is it?")."""
_OWN = bounded(r"(?:i|we|my|our)\b", re.I)
_OF_ONESELF = linear(r"\b(?:i|we|my|our|me|(?-i:us)|mine|ours)\b", re.I)
_ORDER_TAIL = bounded(rf",? so (?:please |pls )?{plain_words(lexicon.COMMANDS)} (?!with\b|on\b|is\b|was\b).*$", re.I)
"""What somebody is to do because of what a sentence tells: "I am allergic to nuts, so remind me if …"."""
_FILLER_TAIL = bounded(
    rf",?\s+{either('by_the_way btw haha lol though honestly anyway of_course you_know to_be_honest i_guess')}[.!]*$"
    r"|[,;]?\s+(?:nice|pleased|good|great) to meet you[.!]*$"
    r"|(?:,|;|\s-)\s+you(?: [\w']+){2,6}[.!]*$"
    r"|\s*(?:,|;|\s-|\band\b|\bbut\b){1,3}\s*(?:it|that|this)(?:'s| is| was| has been)"
    r" (?:\w+ )?(?:fun|great|good|awesome|amazing|nice|incredible|wonderful|fantastic|lovely|hard|tough)[.!]*$",
    re.I,
)
_LOOSE_END = f"{string.whitespace}\u00a0\u2028\u2029\u3000,;:-"


@lru_cache(maxsize=256)  # a summary asks for those of a turn several times
def own_sentences(content: str) -> tuple[Sentence, ...]:
    """The sentences of a turn that its author wrote as talk, up to where planted orders or a text to work on begin.

    Code, logs, quotations, tables and sentences that are too long for the rules are left out; very long turns are read
    from their beginning only.
    """
    kept: list[Sentence] = []
    for sentence in sentences(_blanked(content[:LONGEST_TURN])):
        if speech.is_planted(sentence.text):
            break
        if speech.hands_over(sentence.text):
            if content[sentence.start + len(sentence.text) :].lstrip()[:1] in _OPENING_QUOTES:
                continue  # the quotation ends where its marks do
            break
        if is_short(sentence.text):
            kept.append(sentence)
    return tuple(kept[:_MOST_SENTENCES])


def of_sender(own: Sequence[Sentence]) -> Sequence[Sentence]:
    """The sentences of a user's turn that the user wrote: of a paper in English only those with "I" or "we"."""
    if len(own) < _FEWEST_OF_PAPER or sum(len(one.text) for one in own) < _LENGTH_IN_PAPER * len(own):
        return own
    if is_foreign(max((one.text for one in own), key=len)):
        return own
    written = [one for one in own if _OF_ONESELF.search(one.text)]
    return written if len(written) < _OWN_OF_PAPER * len(own) else own


def statements(sentence: Sentence, names: frozenset[str]) -> list[Sentence]:
    """The statements in a sentence, without what only leads in or out of them."""
    bare = opened(sentence, names)
    if speech.is_not_meant(sentence.text) or is_foreign(sentence.text):
        return []
    if speech.is_standing_order(bare.text):
        return [bare]
    asked = _ASKED_TAIL.search(straighten(bare.text))
    asked = asked or (_OWN.match(bare.text) and _ORDER_TAIL.search(straighten(bare.text)))
    if asked:
        bare = Sentence(bare.text[: asked.start()], bare.start)
    return [without_tail(part) for part in parts(bare)] if speech.is_statement(bare.text) else []


def _blanked(content: str) -> str:
    """The content with pasted parts turned into spaces, so that places in it stay the same."""
    text = _FENCE.sub(lambda match: _SIGN.sub(" ", match[0]), content)
    text = _QUOTED.sub(lambda match: _SIGN.sub(" ", match[0]), text)
    text = _QUOTED_SINGLY.sub(
        lambda match: match[0] if _SHORTENED.match(match[0]) else _SIGN.sub(" ", match[0][:-1]) + match[0][-1], text
    )
    lines = text.splitlines(keepends=True)
    return "".join(_SIGN.sub(" ", line) if _PASTED_LINE.match(straighten(line)) else line for line in lines)


def opened(sentence: Sentence, names: frozenset[str]) -> Sentence:
    """A sentence without the courtesies and the names that only open or close it ("Wow, Mel, …", "…, Caroline")."""
    text = straighten(sentence.text)
    start = 0
    known = plain_words(names) if names else r"(?!)"
    called, calling = bounded(rf"{known}\s*[,!.-]+\s*(?=\S)"), bounded(rf",\s*{known}\s*[.!]*$")
    while match := (_GREETED.match(text, start) or openings().match(text, start) or called.match(text, start)):
        start = match.end()
    closing = calling.search(text[start:])
    end = start + closing.start() if closing else len(text)
    return Sentence(sentence.text[start:end].strip(), sentence.start + start)


def parts(sentence: Sentence, *, reasons: bool = True) -> list[Sentence]:
    """A compound sentence cut into the statements that stand alone; those that lean on another stay with it.

    With `reasons`, a consequence stays with its reason ("…, so we cancelled Huber").
    """
    text = straighten(sentence.text)
    cuts = [(0, 0)]
    for match in _PARTS.finditer(text):
        if reasons and match[0].strip(" ,").lower() == "so":
            continue
        behind, ahead = text[cuts[-1][1] : match.start()], text[match.end() :]
        both = ahead[:2].lower() == "i " and _BOTH.search(behind)
        if (
            len(behind.split()) >= 3
            and parse(behind)
            and _stands_alone(ahead)
            and not both
            and not _OPEN.search(behind)
        ):
            cuts.append(match.span())
    spans = zip([end for _, end in cuts], [*(start for start, _ in cuts[1:]), len(text)], strict=True)
    pieces = [Sentence(sentence.text[start:end].strip(), sentence.start + start) for start, end in spans]
    return [piece for piece in pieces if speech.is_statement(piece.text)]


def _stands_alone(text: str) -> bool:
    """Whether a clause says something of its own: "my little sister Mia in Hamburg" only goes on with a list."""
    words = text.lower().split()
    if words[:2] in (["i", "are"], ["i", "were"]):  # "Callum and I are getting married"
        return False
    inflected = any(word in lexicon.FINITE or word.endswith("s") or is_past(word) for word in words[1:])
    told = inflected or words[0] not in {"my", "our"}
    return len(words) >= 3 and len(content_words(text)) >= 2 and not _LEANING.search(text) and told


def without_tail(sentence: Sentence) -> Sentence:
    """A statement without a tail that only says how it was ("…, and it was amazing!", "…, by the way")."""
    text = straighten(sentence.text)
    tail = _FILLER_TAIL.search(text)
    if tail and len(text[: tail.start()].split()) >= 2:
        text = text[: tail.start()].rstrip(" ,;-")
    return Sentence(sentence.text[: len(text)], sentence.start)


def trimmed(text: str) -> str:
    """A text without dangling punctuation at its end."""
    return text.rstrip(_LOOSE_END)
