"""Whether a pattern of Python's engine can take exponential time, told from the pattern alone.

A backtracking search is exponential if, somewhere in a loop, one text leads back to the same place in two ways
(Weber and Seidl, "On the degree of ambiguity of finite automata", 1991). The pattern becomes the automaton of its
characters, with a count of the ways from each to each; pairs of its states show whether two ways read the same text.

Looks ahead and behind read as if they were not there, which can only find more ways than there are; what stands in
them is a pattern of its own. A repeat of ten times and more reads as one without an end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

ENDLESS = 10
_OTHERS = "\n\x1f\u00a0é猫٣\u0301€’😀"
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)

State = int
Ways = Counter[State]


@dataclass
class Automaton:
    """The characters of a pattern, what each matches, and in how many ways one follows another."""

    signs: str
    labels: list[frozenset[str]] = field(default_factory=list)
    follow: dict[State, Ways] = field(default_factory=lambda: defaultdict(Counter))
    looks: list[tuple[Any, int]] = field(default_factory=list)
    read: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    """What was found out for a label: most characters stand in a pattern many times."""


@dataclass
class Part:
    """Where a part of a pattern begins and ends, and in how many ways it matches nothing."""

    first: Ways
    last: Ways
    empty: int


def exponential(pattern: str, flags: int = 0) -> bool:
    """Whether some text makes the search for a pattern exponential."""
    tree = _parser.parse(pattern, flags)
    waiting = [(tree, tree.state.flags)]
    while waiting:
        body, active = waiting.pop()
        automaton = Automaton("".join(dict.fromkeys([*map(chr, range(32, 127)), *_OTHERS, *_literals(body)])))
        _sequence(automaton, list(body), active, tree.state)
        waiting += automaton.looks
        if any(_is_ambiguous(automaton, loop) for loop in _loops(automaton)):
            return True
    return False


def _literals(items: Iterable[Any]) -> Iterator[str]:
    for op, argument in items:
        if op is _constants.LITERAL:
            yield chr(argument)
        elif op is _constants.SUBPATTERN:
            yield from _literals(argument[-1])
        elif op is _constants.BRANCH:
            for branch in argument[1]:
                yield from _literals(branch)
        elif op in _REPEATS:
            yield from _literals(argument[2])


def _sequence(automaton: Automaton, items: list[Any], flags: int, state: Any) -> Part:
    whole = Part(Counter(), Counter(), 1)
    for item in items:
        whole = _joined(automaton, whole, _part(automaton, item, flags, state))
    return whole


def _joined(automaton: Automaton, one: Part, two: Part) -> Part:
    _connect(automaton, one.last, two.first)
    return Part(
        one.first + _times(two.first, one.empty),
        two.last + _times(one.last, two.empty),
        min(2, one.empty * two.empty),
    )


def _connect(automaton: Automaton, last: Ways, first: Ways) -> None:
    for state, ways in last.items():
        for following, others in first.items():
            automaton.follow[state][following] = min(2, automaton.follow[state][following] + ways * others)


def _times(ways: Ways, count: int) -> Ways:
    return Counter({state: min(2, number * count) for state, number in ways.items() if count})


def _part(automaton: Automaton, item: Any, flags: int, state: Any) -> Part:
    op, argument = item
    nothing = Part(Counter(), Counter(), 1)
    if op in (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN):
        return _character(automaton, item, flags, state)
    if op is _constants.SUBPATTERN:
        _, added, taken, body = argument
        return _sequence(automaton, list(body), (flags | added) & ~taken, state)
    if op is _constants.ATOMIC_GROUP:
        return _sequence(automaton, list(argument), flags, state)
    if op is _constants.BRANCH:
        return _any_of([_sequence(automaton, list(branch), flags, state) for branch in argument[1]])
    if op is _constants.GROUPREF_EXISTS:
        _, there, absent = argument
        return _any_of([_sequence(automaton, list(branch or []), flags, state) for branch in (there, absent)])
    if op in _REPEATS:
        return _repeat(automaton, argument, flags, state)
    if op in (_constants.ASSERT, _constants.ASSERT_NOT):
        automaton.looks.append((argument[1], flags))
        return nothing
    if op is _constants.AT or (op is _constants.FAILURE):
        return nothing
    raise NotImplementedError(f"{op} cannot be judged")


def _character(automaton: Automaton, item: Any, flags: int, state: Any) -> Part:
    written = str(item), flags
    if written not in automaton.read:
        one = _compiler.compile(_parser.SubPattern(state, [item]), flags)
        automaton.read[written] = frozenset(sign for sign in automaton.signs if one.match(sign))
    automaton.labels.append(automaton.read[written])
    here = Counter({len(automaton.labels) - 1: 1})
    return Part(here, Counter(here), 0)


def _any_of(parts: list[Part]) -> Part:
    first: Ways = Counter()
    last: Ways = Counter()
    for part in parts:
        first += part.first
        last += part.last
    return Part(first, last, min(2, sum(part.empty for part in parts)))


def _repeat(automaton: Automaton, argument: Any, flags: int, state: Any) -> Part:
    least, most, body = argument
    whole = Part(Counter(), Counter(), 1)
    for _ in range(min(least, ENDLESS)):
        whole = _joined(automaton, whole, _sequence(automaton, list(body), flags, state))
    if most == least:
        return whole
    if most < ENDLESS:
        rest = Part(Counter(), Counter(), 1)
        for _ in range(most - least):
            more = _joined(automaton, _sequence(automaton, list(body), flags, state), rest)
            rest = Part(more.first, more.last, min(2, more.empty + 1))
    else:
        once = _sequence(automaton, list(body), flags, state)
        _connect(automaton, once.last, once.first)
        rest = Part(once.first, once.last, min(2, once.empty + 1))
    return _joined(automaton, whole, rest)


def _loops(automaton: Automaton) -> Iterator[set[State]]:
    """The sets of states that lead to each other."""
    reached = {state: _reached(automaton, state) for state in list(automaton.follow) if automaton.follow[state]}
    seen: set[State] = set()
    for state, others in reached.items():
        if state in others and state not in seen:
            loop = {other for other in others if state in reached.get(other, ())}
            seen |= loop
            yield loop


def _reached(automaton: Automaton, state: State) -> set[State]:
    found: set[State] = set()
    waiting = list(automaton.follow[state])
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += automaton.follow.get(one, ())
    return found


def _is_ambiguous(automaton: Automaton, loop: set[State]) -> bool:
    """Whether two ways around a loop read the same text."""
    ways = {state: {other: n for other, n in automaton.follow[state].items() if other in loop} for state in loop}
    if any(n > 1 for others in ways.values() for n in others.values()):
        return True
    before: dict[tuple[State, State], set[tuple[State, State]]] = defaultdict(set)
    waiting = [(state, state) for state in loop]
    seen = set(waiting)
    while waiting:
        pair = waiting.pop()
        for one in ways[pair[0]]:
            for two in ways[pair[1]]:
                if automaton.labels[one] & automaton.labels[two]:
                    before[one, two].add(pair)
                    if (one, two) not in seen:
                        seen.add((one, two))
                        waiting.append((one, two))
    returning = [(state, state) for state in loop]
    back = set(returning)
    while returning:
        for pair in before[returning.pop()]:
            if pair[0] != pair[1]:
                return True
            if pair not in back:
                back.add(pair)
                returning.append(pair)
    return False
