"""Orders that change a value: who says "Make the budget 5,000 euros" has said what the budget is now."""

from __future__ import annotations

import re

from agent_memory.language.offline.phrases import attribute_kind
from agent_memory.language.offline.text import canon, expand
from agent_memory.text.patterns import bounded, either

_WHEN = either("""
    (?:next_|this_)?(?:mon|tues|wednes|thurs|fri|satur|sun)day the_\\d
    (?:(?:the_)?end_of_|mid_)?(?:january|february|march|april|may|june|july|august|september|october|november|december)
""")
_ORDER = bounded(
    r"(?:(?:actually|ok(?:ay)?|no|wait|so|and|then|sorry|hm+)[,:]? )*(?:please,? |let us )*"
    r"(?:(?P<make>make)|set|change|raise|increase|lower|reduce|cut|drop|move|push|update|bump|switch) "
    r"(?P<thing>(?:the|my|our) [^,.;:!?]+?) (?(make)(?:to )?|(?:(?:down|up|back) )?to )"
    rf"(?P<value>(?:[$€£¥]?\d|{_WHEN}\b)[^!?;]*?)(?:,? (?:please|instead|then|now|thanks|thank you))*[.!]*",
    re.I,
)
_OF_WHAT = bounded(r" (?:for|of|in|on|at) .*", re.I)
_OF_TIME = {"date", "day", "time"}
"""Of a launch date, it is the launch that says what it is."""
_SET_BY_VALUE = {"number", "date"}


def as_statement(text: str) -> str | None:
    """What an order states that gives a known attribute a figure or a time; None for any other text.

    "Actually, make the Q4 budget 65k, please." is "The Q4 budget is 65k now."
    """
    match = _ORDER.fullmatch(expand(text).strip())
    if match is None:
        return None
    thing = match["thing"]
    named = _OF_WHAT.sub("", thing).lower().split()
    head = named[-2] if named[-1] in _OF_TIME else named[-1]
    if attribute_kind(canon(head)) not in _SET_BY_VALUE:
        return None
    return f"{thing[0].upper()}{thing[1:]} is {match['value']} now."
