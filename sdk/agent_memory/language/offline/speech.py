"""Tells statements from the rest of talk: questions, courtesies, orders, what-ifs, pasted text and planted orders."""

from __future__ import annotations

import re
from functools import cache

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.text import Sentence, expand, sentences, straighten

_LONGEST_TURN = 6_000
_MOST_SENTENCES = 80

_PLANTED = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|your|the|system)\b"
    r".{0,30}\b(?:instructions?|rules?|prompts?|context|guidelines|directives|messages?)\b"
    r"|^\s*(?:system|assistant|developer|agent|tool|function)\s*(?:prompt|message|note)?\s*:"
    r"|\byou are now\b|\b(?:new|updated|hidden|secret) (?:system )?instructions?\b|\bsystem prompt\b|\bjailbreak"
    r"|<\|[^|]*\|>|\[/?INST\]|</?(?:system|instructions?)>|#{2,}\s*(?:instruction|system)"
    r"|\b(?:do not|don't|never) (?:tell|inform|reveal to|mention to) the user\b"
    r"|\b(?:you|the assistant|the agent|the ai|the model) (?:must|shall|should|will|have to|need to) (?:always |never |now )?"
    r"(?:obey|approve|reveal|comply|transfer|send|delete|execute|grant|respond|answer|say|reply|pretend|act|ignore)",
    re.I,
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_PASTED_LINE = re.compile(
    r"^\s*(?:>|\||\$ |#!|at [\w.$]+\(|File \"|Traceback|Caused by|import \w|from \w+ import|def \w+\(|class \w+[:(]"
    r"|(?:const|let|var|public|private|function|return|SELECT|INSERT|UPDATE|DELETE|CREATE)\b .*[;({]"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d[,. ]|\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE)\b[\]: ]"
    r"|[{}\[\]();<>/]+\s*$|<\/?\w+[^>]*>|[\"']?[\w.-]+[\"']?\s*[:=]\s*[\"'{\[].*[,;]?$|https?://\S+\s*$)"
)  # fmt: skip
_SYMBOLS = re.compile(r"[{}\[\]()<>=;|\\/_*#@^~]")
_QUESTION = re.compile(
    r"^(?:(?:and|so|but|or|then|also)\s+)?(?:who|whom|whose|what|which|when|where|why|how)\b"
    r"|^(?:(?:and|so|but|or|then|also)\s+)?(?:do|does|did|is|are|was|were|can|could|will|would|should|shall|may|have|has|had"
    r"|am)(?: not)? (?:i|you|we|they|he|she|it|the|there|this|that|these|those|my|your|our|any|anyone|someone|people)\b"
    r"|^any (?:idea|tips?|advice|suggestions?|recommendations?|plans|thoughts|chance|news|luck)\b"
    r"|^i (?:was |am |have been )?(?:just )?wonder(?:ing|ed)?\b|^not sure (?:if|what|how|whether|why|where)\b",
    re.I,
)
_WHAT_IF = re.compile(
    r"^(?:if|imagine|suppose|supposing|assuming|let us say|say i|unless|in case|what if|as if|hypothetically)\b"
    r"|\bif (?:i|we|you|they|it|he|she|only)\b|\bi wish\b|\b(?:would|could|should|might) have\b"
    r"|\b(?:i|we|it|that|this|they|he|she|you) would(?! (?:love|like|prefer|rather|also love|really love|really like))\b"
    r"|\b(?:would|could) be\b|\bas though\b",
    re.I,
)
_STANDING = re.compile(
    r"^(?:please )?(?:(?:from now on,? )?(?:please )?(?:always|never|do not ever) (?!(?:love|like|enjoy|hate|know|think|forget)\b)(?:"
    + "|".join(sorted(lexicon.STANDING_VERBS | lexicon.INFORMATIVE | lexicon.CHANGING))
    + r")\b.*"
    r"|from now on,? (?:please )?(?:" + "|".join(sorted(lexicon.STANDING_VERBS)) + r")\b.*"
    r"|(?:only )?(?:answer|reply|respond|write|speak|talk)(?: to me)?(?: only| always)? (?:in|with)\b.*"
    r"|(?:keep|make) (?:your |the |all )?(?:answers|replies|responses|explanations|summaries|messages)\b.*"
    r"|use (?:the )?(?:metric|imperial|celsius|fahrenheit|kilomet\w+|miles|euros?|dollars|british|american|24-hour)\b.*"
    r"|call me [A-Z]?\w+(?: from now on)?|address me as .*"
    r"|(?:make|be) sure (?:that |to )?(?:always |never |it |the |every )?.*)$",
    re.I,
)
_ADDRESSED = re.compile(r"\b(?:you|your|yours|yourself|ya|u)\b(?! know\b)", re.I)
_ORDER_WORDS = re.compile(r"^(?:please |kindly |just |now |then |also )*(?P<verb>[a-z]+)\b", re.I)
_GREETED = re.compile(
    r"(?:[Hh]ey|[Hh]i|[Hh]ello|[Tt]hanks|[Tt]hank you|[Ww]ow|[Yy]eah|[Ss]orry|[Yy]up|[Yy]ep|[Oo]k|[Oo]kay),? [A-Z][a-z]+\s*[,!.-]+\s*(?=\S)"
    r"|(?:[Ii](?: just| also| really)? (?:wanted|have|need) to|[Ww]anted to|[Ii] (?:gotta|should|must)|[Gg]otta) "
    r"(?:tell you|let you know|say|mention|add|share|admit)(?: that|,)?\s+(?=(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur)\b)"
    r"|[Ii](?:'m| am)(?: so| really| very)? (?:happy|excited|thrilled|glad|proud|pleased|sad|sorry) to "
    r"(?:say|share|tell you|report|announce)(?: that)?\s+(?=(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur)\b)"
)  # fmt: skip
_BROKEN_OFF = re.compile(r"\b(?:and|but|or|i|we|the|an?|to|of|so|my|because|with|for)\W*$", re.I)
_EMPTY_END = re.compile(r"[\s,;:\-]+$")


def own_sentences(content: str) -> list[Sentence]:
    """The sentences of a turn that its author wrote as talk, up to where planted orders begin.

    Code, logs, quotations and tables are left out; very long turns are read from their beginning only.
    """
    kept: list[Sentence] = []
    for sentence in sentences(_blanked(content[:_LONGEST_TURN])):
        if _PLANTED.search(straighten(sentence.text)):
            break
        kept.append(sentence)
    return kept[:_MOST_SENTENCES]


def planted(text: str) -> bool:
    """Whether a text tries to give the reader orders in somebody else's name."""
    return any(_PLANTED.search(line) for line in straighten(text).splitlines())


def _blanked(content: str) -> str:
    """The content with pasted parts turned into spaces, so that places in it stay the same."""
    text = _FENCE.sub(lambda match: re.sub(r"\S", " ", match[0]), content)
    lines = text.splitlines(keepends=True)
    return "".join(re.sub(r"\S", " ", line) if _is_pasted(line) else line for line in lines)


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
    while True:
        match = _GREETED.match(text, start) or _opening().match(text, start) or _vocative(names).match(text, start)
        if match is None:
            break
        start = match.end()
    end = len(text)
    closing = re.search(r"[,!]?\s*\b(?:" + "|".join(map(re.escape, names)) + r")\s*[.!]*$", text) if names else None
    if closing and closing.start() > start and "," in closing[0]:
        end = closing.start()
    return Sentence(sentence.text[start:end].strip(), sentence.start + start)


@cache
def _opening() -> re.Pattern[str]:
    words = sorted(map(re.escape, lexicon.OPENINGS), key=len, reverse=True)
    return re.compile(
        r"(?:" + "|".join(words) + r")(?:\s*[,!.:;-]+\s*|\s+(?=(?:i|i'm|i've|we|my|our|the)\b))(?=\S)", re.I
    )


@cache
def _vocative(names: frozenset[str]) -> re.Pattern[str]:
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True)) or r"(?!)"
    return re.compile(rf"(?:{known})\s*[,!.-]+\s*(?=\S)")


def is_standing_order(text: str) -> bool:
    """Whether a text asks for something to be so from now on ("Always answer in metric")."""
    return bool(_STANDING.match(text.rstrip(".! "))) and not _PLANTED.search(text)


def is_statement(text: str) -> bool:
    """Whether a text states something: no question, order, courtesy or what-if, and not about the listener."""
    plain = expand(text).strip()
    if text.rstrip().endswith("?") or _QUESTION.search(plain) or _WHAT_IF.search(plain):
        return False
    if _chatter().match(plain) or _is_order(plain) or _BROKEN_OFF.search(plain):
        return False
    return not re.match(r"(?:you|your|hope|wish|let us(?! go with| use| do| book| meet| stick))\b", plain, re.I)


def is_addressed(text: str) -> bool:
    """Whether a text speaks to or of the listener."""
    return bool(_ADDRESSED.search(expand(text)))


def _is_order(plain: str) -> bool:
    if plain.lower().startswith("let us"):
        return False
    match = _ORDER_WORDS.match(plain)
    return bool(match) and match["verb"].lower() in lexicon.ASSISTANT_COMMANDS  # type: ignore[index]


@cache
def _chatter() -> re.Pattern[str]:
    words = sorted({re.escape(expand(entry)) for entry in lexicon.CHATTER_OPENERS}, key=len, reverse=True)
    return re.compile(r"(?:" + "|".join(words) + r")\b", re.I)


def trimmed(text: str) -> str:
    """A text without dangling punctuation at its end."""
    return _EMPTY_END.sub("", text)
