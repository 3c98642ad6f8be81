"""Budget: which lines of a context fit into its tokens, the most valuable first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_memory.models import ContextFormat
from agent_memory.recall.render import STATIC, Line, joins, laid_out, quoted, render
from agent_memory.text.tokens import TokenCounter

TURNS = "turns"
"""The part that is not rendered: turns are separate messages."""
HINTS = "hints"
"""The part that never takes more than its share, because nobody asked for it."""
SHARES = {
    "nothing": 0.2,
    "standing": 0.15,
    "memories": 0.45,
    TURNS: 0.25,
    HINTS: 0.2,
    "archive": 0.2,
    "state": 0.1,
    "summary": 0.15,
    "profile": 0.04,
    "static": 0.1,
}
"""How the budget is first divided, in the order of value. What a part leaves goes to the others, in this order."""
_LONGEST_SHARE = 0.4
"""The share of the budget above which a line is cut, so that one pasted page does not displace everything else."""
_CHARACTERS_PER_TOKEN = 12
"""More than any language has on average. A text is cut to this length before its tokens are counted: counting is
slow."""
_ROOMY = 200
"""In tokens. From this budget on, static knowledge is placed first."""
_SECTION_TOKENS = 6
"""A section's title with the blank line before it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What fits of each part, best first; what does not fit; and the cost of the rendered text."""

    kept: dict[str, list[Line]]
    left_out: list[Line]
    text: str
    tokens: int


def fit(parts: Mapping[str, Sequence[Line]], tokens: TokenCounter, budget: int, form: ContextFormat) -> Fit:
    """Chooses lines, best first within each part, until the budget is full, and renders them.

    Static knowledge comes first (unless the budget is small). Then the best memory may use the whole budget, then every
    part gets its share, and the rest goes to the parts in the order of their value. If a line does not fit, a shorter
    one may, but turns stay the newest ones without a gap. Nothing is shown twice, except that a turn may repeat a line.
    """
    longest = max(1, int(budget * _LONGEST_SHARE))
    lines = {name: [_shortened(line, tokens, longest) for line in parts.get(name, ())] for name in SHARES}
    packing = _Packing(
        {name: [line for line in part if line.text] for name, part in lines.items()},
        tokens,
        budget - tokens.count(render([Line(STATIC, "")], form)) + _SECTION_TOKENS,
    )
    shares = {name: int(budget * share) for name, share in SHARES.items()}
    if budget >= _ROOMY:
        packing.take("static", shares["static"])
    packing.take("nothing", budget)
    packing.take("memories", budget, most=1)
    for name, share in shares.items():
        packing.take(name, share)
    for name in SHARES:
        if name != HINTS:
            packing.take(name, budget)
    return packing.rendered(budget, form)


class _Packing:
    """Lines on their way from waiting to kept."""

    def __init__(self, waiting: dict[str, list[Line]], tokens: TokenCounter, room: int) -> None:
        self._waiting = waiting
        self._tokens = tokens
        self._room = room
        self._kept: dict[str, list[Line]] = {name: [] for name in waiting}
        self._spent = dict.fromkeys(waiting, 0)
        self._order: list[tuple[str, Line]] = []
        self._texts: dict[str, Line] = {}
        self._sections = {TURNS}

    def take(self, name: str, share: int, most: int | None = None) -> None:
        """Keeps what fits of a part, which may cost `share` tokens in all, and adds at most so many lines."""
        for line in self._waiting[name][:most]:
            same = self._texts.get(line.text.casefold())
            if same is not None and name != TURNS:
                # The line that says the same counts for both in `used`.
                same.used.update(line.used | same.used)
                self._waiting[name].remove(line)
                continue
            alone = not any(joins(line, other) for other in self._kept[name])
            said = line.dated if alone else line.dated.removeprefix(line.talk.head if line.talk else "")
            cost = self._tokens.count(f"- {said}\n") + _SECTION_TOKENS * (line.section not in self._sections)
            if cost > min(self._room, share - self._spent[name]):
                if name == TURNS:
                    return
                continue
            self._waiting[name].remove(line)
            self._kept[name].append(line)
            self._order.append((name, line))
            self._texts[line.text.casefold()] = line
            self._sections.add(line.section)
            self._spent[name] += cost
            self._room -= cost

    def rendered(self, budget: int, form: ContextFormat) -> Fit:
        """The text of what was kept. If it is over the budget after all, the lines added last are dropped."""
        while True:
            text = render([line for name, lines in self._kept.items() if name != TURNS for line in lines], form)
            spent = self._tokens.count(text) + sum(self._tokens.count(line.text) for line in self._kept[TURNS])
            if spent <= budget or not self._order:
                left_out = [line for lines in self._waiting.values() for line in lines]
                _number(line for name, lines in self._kept.items() if name != TURNS for line in lines)
                return Fit(self._kept, left_out, text, spent)
            name, line = self._order.pop()
            self._kept[name].remove(line)
            self._waiting[name].insert(0, line)


def _number(lines: Iterable[Line]) -> None:
    """Notes which line of the text shows which memory: lines of one conversation are joined."""
    for number, line in enumerate(laid_out(lines), 1):
        for part in line.parts or (line,):
            part.used["line"] = number


def _shortened(line: Line, tokens: TokenCounter, longest: int) -> Line:
    """The line, or its beginning if it takes more than `longest` tokens. Turns keep their own line breaks."""
    most = longest * _CHARACTERS_PER_TOKEN
    head = line.text[:most] if line.section == TURNS else quoted(line.text[:most])
    cut = tokens.truncate(head, longest)
    if cut == head and len(line.text) <= most:
        return replace(line, text=head)
    return replace(line, text=cut.rstrip() + "…", used=line.used | {"cut": True})
