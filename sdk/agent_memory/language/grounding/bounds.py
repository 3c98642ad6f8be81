"""Bounds: checks that a claim keeps "at least", ranges, "every other" and conditions as they were said."""

from __future__ import annotations

import re

from agent_memory.language.grounding.measures import in_digits
from agent_memory.language.grounding.polarity import HEDGES, NEGATORS, telling, without_may, words_of
from agent_memory.text.patterns import linear
from agent_memory.text.sentences import sentences

_LOW = linear(
    r"\b(?:at least|no less than|not less than|minimum(?: of)?|min\.?|more than|over|above|mindestens|wenigstens|"
    r"mehr als|über|au moins|plus de|al menos|más de|almeno|più di|minstens|meer dan)\s+[€$£¥]?(\d+(?:[.,]\d+)*)",
    re.IGNORECASE,
)
_HIGH = linear(
    r"\b(?:at most|no more than|not more than|maximum(?: of)?|max\.?|less than|fewer than|under|below|up to|höchstens|"
    r"maximal|weniger als|unter|bis zu|au plus|moins de|como máximo|menos de|al massimo|meno di|hoogstens|minder dan)"
    r"\s+[€$£¥]?(\d+(?:[.,]\d+)*)",
    re.IGNORECASE,
)
_BEFORE = linear(r"\b(?:before|vor|avant|antes de|prima de\p{L}*|voor)\s+(?:las? )?(\d+(?:[:.,]\d+)*)", re.IGNORECASE)
_AFTER = linear(r"\b(?:after|nach|après|después de|dopo|na)\s+(?:las? )?(\d+(?:[:.,]\d+)*)", re.IGNORECASE)
_OPPOSITES = ((_LOW, _HIGH), (_BEFORE, _AFTER))
_RANGE = linear(
    r"(?:^|[^\d.,:/–-])(\d+)(?:\s(?:to|or|and|bis|oder|und|à|a|ou|et|o|y)\s|\s?[–-]\s?)(\d+)(?:[^\d.,:/–-]|[.,]\D|[.,]?$)",
    re.IGNORECASE,
)
_FROM = frozenset("from von de da".split())
_CHANGED = frozenset(
    """up down went gone raised rose risen increased grew grown dropped fell cut reduced slashed lowered changed moved
    switched gestiegen gesunken erhöht gesenkt subió bajó pasó passé monté augmenté baissé passato salito
    sceso""".split()
)
"""Words with which "from … to …" is a change, not a range: the second figure is the current one."""
_BETWEEN = frozenset("between zwischen entre tra fra tussen".split())
_LIMITED = frozenset(
    """at least most up to under over below above between from until till by max maximum min minimum about around
    roughly nearly almost some more less than or höchstens mindestens bis zwischen ab etwa rund au moins plus jusqu
    entre al menos hasta como unos almeno circa fino""".split()
)
"""Words with which a claim may give one figure for a range."""
_EVERY = linear(r"\b(?:every|each)\s+(\p{L}+|\d+)", re.IGNORECASE)
_SKIPS = frozenset("other second alternate third fourth few couple two three four five six 2 3 4 5 6".split())
_RARER = frozenset("other second alternate biweekly bi fortnight fortnightly two three alternating".split())
_CONDITION = linear(
    r"(?:^|[.!?;]\s+|,\s+(?:but|and)\s+)(?:if|unless)\s+([^,.;!?]+),\s*(?:then\s+)?([^.;!?]+)", re.IGNORECASE
)
_CONDITION_AHEAD = linear(
    r"^\W*(?:if|unless)\s+((?:my|our|the|I|we|he|she|they|it|this|that)\s[^,.;!?]+?)\s((?:I|we|he|she|they)(?:['’]|\s)[^,.;!?]+)",
    re.IGNORECASE,
)
"""A condition without a comma after it: the clause that depends on it begins with the next pronoun."""
_FOREIGN_CONDITION = linear(
    r"^\W*(?:wenn|falls|sofern|solange|si|als (?:ik|je|jij|we|wij|hij|zij|ze|het|de|mijn|onze)|indien|"
    r"se (?:il|lo|la|l['’]|i|le|mi[oa]|non|tutto|eu|o|a|os|as|não|tudo|der))\s([^,.;!?]+),\s*([^.;!?]+)",
    re.IGNORECASE,
)
_ON_CONDITION = linear(
    r",?\s(?:if|unless|provided|providing|as long as|so long as|on (?:the )?condition|assuming|wenn|falls|sofern|"
    r"solange|vorausgesetzt|es sei denn|siempre que|con tal de que|a menos que|à condition|tant que|a patto che|"
    r"a condizione che|purché|a meno che|desde que|mits|zolang|tenzij)\s",
    re.IGNORECASE,
)
"""The beginning of a condition that comes after what depends on it."""
_ASKING_WHETHER = linear(
    r"\b(?:know|sure|see|ask(?:s|ed)?|asking|check(?:s|ed|ing)?|wonder(?:s|ed|ing)?|decide|matter|mind|care|idea|tell|"
    r"say|remember|as|even|only|what|but|not|or|and|glad|nice|great|help|appreciate it|best|ideal|fine|ok|okay|good|"
    r"better),?$",
    re.IGNORECASE,
)
"""What comes before an "if" that sets no condition."""
_SAYING = frozenset(
    """you remember recall right mistaken possible needed necessary honest anything like ask helps matters erinnere
    fragst irre sbaglio ricordo quieres recuerdo equivoco trompe souviens""".split()
)
_CONDITIONAL = frozenset(
    """if unless once when whenever provided depends depending condition conditional case far remembers long while
    during until wenn falls sofern solange bedingung si siempre caso mientras condición condition tant se purché patto
    finché condizione als mits zolang indien tenzij tijdens bei except""".split()
)
_UNSURE = linear(
    r"\b(?:not sure|unsure|don['’]t know|not know|no idea|wonder|wondering|uncertain)\s+(?:if|whether)\s+([^,.;!?]+)",
    re.IGNORECASE,
)
_WISHED = linear(r"\b(?:I|we|you|he|she|it|they)(?:\s+may|(?:['’]d|\s+would)\s+(?:like|love)\s+to)\s+([^.;!?]+)")
_TELLS_DOUBT = HEDGES | frozenset("whether if uncertain know knows unknown unclear asked asks ask questions".split())


def wrong_bound(content: str, quoted: str) -> str | None:
    """The first bound, range or condition that differs between a claim and its quote; None if all agree.

    Args:
        content: the claim, without its dates.
        quoted: the sentences that it quotes.
    """
    return (
        _turned_bound(content, quoted)
        or _narrowed(content, quoted)
        or _more_often(content, quoted)
        or _unconditional(content, quoted)
    )


def _turned_bound(content: str, quoted: str) -> str | None:
    if NEGATORS.isdisjoint(words_of(content)) != NEGATORS.isdisjoint(words_of(quoted)):
        return None  # "never before nine" is "only after nine"
    for pair in _OPPOSITES:
        for told, other in (pair, pair[::-1]):
            said, opposite = set(told.findall(quoted)), set(other.findall(quoted))
            for figure in told.findall(content):
                if figure in opposite - said:
                    return f"{figure} was said as the opposite bound"
    return None


def _narrowed(content: str, quoted: str) -> str | None:
    """Finds a claim that gives one end of a range as if it were an exact figure."""
    words = words_of(content)
    if not _LIMITED.isdisjoint(words):
        return None
    plain = in_digits(quoted.casefold())
    said = words_of(plain)
    changes = not _CHANGED.isdisjoint(said) and not _FROM.isdisjoint(said)
    told = {word for word in words_of(in_digits(content.casefold())) if word.isdigit()}
    for low, high in _RANGE.findall(plain):
        joined = f" {low} and {high}" in plain or f" {low} y {high}" in plain or f" {low} und {high}" in plain
        if int(low) >= int(high) or (joined and _BETWEEN.isdisjoint(said)):
            continue
        if changes and high in told:  # "went up from 1200 to 1350"
            continue
        if len(told & {low, high}) == 1:
            return f"a range from {low} to {high} was said"
    return None


def _more_often(content: str, quoted: str) -> str | None:
    skips = any(word.casefold() in _SKIPS for word in _EVERY.findall(quoted))
    every = _EVERY.findall(content)
    if skips and every and _RARER.isdisjoint(words_of(content)) and not any(one.casefold() in _SKIPS for one in every):
        return "it was said to be rarer"
    return None


def _on_condition(words: set[str], sentence: str) -> bool:
    """Whether a claim is what a sentence says on a condition that comes after it, or that is not in English."""
    told = telling(words)
    found = [(claim, condition, 1) for condition, claim in _FOREIGN_CONDITION.findall(sentence)]
    gap = _ON_CONDITION.search(sentence)
    if gap is not None and not _ASKING_WHETHER.search(sentence[: gap.start()]):
        found.append((sentence[: gap.start()], sentence[gap.end() :], 2))
    for claim, condition, fewest in found:
        held = telling(words_of(claim))
        if len(told & held) < max(1, min(fewest, len(held) - 1)) or not _SAYING.isdisjoint(words_of(condition)):
            continue
        if told.isdisjoint(telling(words_of(condition)) - held):
            return True
    return False


def _unconditional(content: str, quoted: str) -> str | None:
    """Finds a claim that states as a fact what was said only under a condition or with a doubt."""
    words = set(words_of(without_may(content)))
    if _TELLS_DOUBT.isdisjoint(words) and NEGATORS.isdisjoint(words):
        for rest in (*_UNSURE.findall(quoted), *_WISHED.findall(quoted)):
            if len(telling(words) & telling(words_of(rest.partition(" but ")[0]))) >= 2:
                return "it leaves out a doubt"
    if (_CONDITIONAL | HEDGES).isdisjoint(words):
        for sentence in sentences(quoted):
            if _on_condition(words, sentence):
                return "it leaves out a condition"
            for pattern, fewest in ((_CONDITION, 1), (_CONDITION_AHEAD, 2)):
                for condition, claim in pattern.findall(sentence):
                    shared = telling(words) & telling(words_of(claim))
                    kept = pattern is _CONDITION_AHEAD and telling(words) & telling(words_of(condition))
                    if _SAYING.isdisjoint(words_of(condition)) and len(shared) >= fewest and not kept:
                        return "it leaves out a condition"
    return None
