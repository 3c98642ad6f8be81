"""Recognises how-to messages.

They are numbered lists, "first … then … finally", "to deploy X: run this, then that" and "when deploying, always run
this".
"""

from __future__ import annotations

import re

from agent_memory.language.offline.text import Sentence, sentences, straighten
from agent_memory.text.patterns import either, linear

_LISTED = linear(r"^[ \t]*(?:\d{1,2}[.)]|step \d+[:.)]?)[ \t]+(?P<step>\S.*)$", re.I | re.M)
_HOW = either("steps? process procedure way recipe runbook")
_WE_DO = either("deploy release roll_?back restart build publish onboard set_up make do")
_GOAL = linear(
    rf"^(?:so |and |ok(?:ay)?,? |also,? )?(?:(?:in order )?to [a-z]+\b|(?:the )?{_HOW} (?:to|for|of)\b"
    r"|(?:here's|here is|this is|that's) how\b|how (?:we|i|to)\b|when(?:ever)? (?:we|i|you) (?:need|want|have) to\b"
    r"|when(?:ever)? [^,.?]{2,80}, first,? [a-z]+ "
    rf"|(?:we|i) {_WE_DO}\b"
    r"|(?:the |our |my )?[a-z-]+(?: [a-z-]+){0,2}?(?: is| goes| works| steps?)?(?: like this)?(?:: | = [a-z]))",
    re.I,
)
_FIRST = linear(r"first(?:ly)?,? (?:you |we |i )?\w+", re.I)
_SEQUENCE_WORDS = either("""
    first(?:ly)? then next after_that afterwards finally lastly once_(?:that|it) second(?:ly)? third(?:ly)?
    followed_by before_that and_last
""")
_SEQUENCE = linear(rf"\b{_SEQUENCE_WORDS}\b", re.I)
_STEP_VERBS = either("""
    run push pull build open click check create add copy install restart deploy merge tag bump wait verify test
    start stop apply upgrade set update edit go_to log_in ssh export send submit fill sign get ask mix bake whisk
    stir heat preheat chop boil pour knead let drain turn press hold select call email notify scale delete remove
    clean back_up restore fold rest season fry roast cut attach upload download review approve rotate invalidate
    flush promote switch enable disable disconnect connect
""")
_STEP = linear(
    rf"(?:^|[,:;.]\s+|\b{either('then and first,? finally,? next,? after_that,?')}\s+)(?:you |we |i )?{_STEP_VERBS}\b",
    re.I,
)
_NUMBER_INSIDE = linear(r"(?:^|\s)(\d{1,2})[.)] ?[A-Za-z]")
_STEP_INSIDE = linear(rf"(?:^|\s)\d{{1,2}}[.)] ?{_STEP_VERBS}\b", re.I)
_THEN = linear(r"\bthen ([a-z]+) [a-z]+", re.I)
_RULE = linear(
    rf"(?:when(?:ever)?|before|after|every time|each time) [^,]{{2,80}}, (?:please )?(?:always|never) {_STEP_VERBS}\b"
    rf"|(?:please )?(?:always|never) {_STEP_VERBS}\b[^,]{{2,120}}\b(?:when(?:ever)?|before|after) ",
    re.I,
)
"""What is always done on an occasion: one order is a procedure then."""
_NO_ORDER = frozenset(("i", "we", "you", "the"))
_TOLD = linear(rf"\b(?:i|we) {either('went ran did had was were got saw took made')}\b", re.I)
_LONGEST = 1_500


def find(content: str) -> Sentence | None:
    """The how-to that a turn gives, if it gives one."""
    if content.rstrip().endswith("?") or len(content) > 4 * _LONGEST:
        return None
    return _listed(content) or _in_a_line(content) or _told(content)


def _in_a_line(content: str) -> Sentence | None:
    """A line with its steps numbered inside it: "To rotate: 1) make a key 2) update it"."""
    for line in content.splitlines():
        numbers = [int(match[1]) for match in _NUMBER_INSIDE.finditer(line)]
        quote = line.strip()
        stepwise = len(_STEP_INSIDE.findall(quote)) * 2 >= len(numbers) and len(quote) <= _LONGEST
        if len(numbers) >= 2 and numbers == list(range(1, len(numbers) + 1)) and stepwise:
            return Sentence(quote, content.index(quote))
    return None


def _listed(content: str) -> Sentence | None:
    """Two or more numbered steps, with the line that introduces them."""
    steps = list(_LISTED.finditer(content))
    orders = sum(bool(_STEP.search(step["step"])) for step in steps)
    if len(steps) < 2 or orders * 2 < len(steps):
        return None
    start, above = steps[0].start(), content[: steps[0].start()].rstrip()
    introduction = sentences(above.rpartition("\n")[2])
    if introduction and not introduction[-1].text.endswith((".", "?", "!")):
        start = above.rfind("\n") + 1 + introduction[-1].start
    quote = content[start : steps[-1].end()]
    return Sentence(quote, start) if len(quote) <= _LONGEST else None


def _told(content: str) -> Sentence | None:
    """A run of sentences that give steps in order, from the one that names the goal."""
    pieces = sentences(content)
    plain = [straighten(piece.text) for piece in pieces]
    ends = list(range(len(pieces)))  # where the run of steps that follows each sentence ends
    for at in range(len(pieces) - 1, 0, -1):
        if not plain[at].endswith("?") and (_SEQUENCE.search(plain[at]) or _STEP.match(plain[at])):
            ends[at - 1] = ends[at]
    for at, (piece, text) in enumerate(zip(pieces, plain, strict=True)):
        is_rule = _RULE.match(text) is not None
        if piece.text.endswith("?") or not (is_rule or _GOAL.match(text) or _FIRST.match(text)):
            continue
        last = pieces[ends[at]]
        quote = content[piece.start : last.start + len(last.text)]
        if len(quote) <= _LONGEST and (is_rule or _is_stepwise(straighten(quote))):
            return Sentence(quote, piece.start)
    return None


def _is_stepwise(text: str) -> bool:
    """Whether a text gives at least two orders, in an order that it names."""
    orders = len(_STEP.findall(text)) + sum(word.lower() not in _NO_ORDER for word in _THEN.findall(text))
    return orders >= 2 and bool(_SEQUENCE.search(text) or ":" in text) and not _TOLD.search(text)
