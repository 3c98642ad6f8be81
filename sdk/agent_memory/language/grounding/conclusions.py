"""Checks that merged facts, procedures and insights follow from the memories that they were drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import why_unsaid
from agent_memory.language.tasks import Conclusion, FactView, Group, Insight, ReflectInput, ReflectOutput
from agent_memory.text.figures import figures

C = TypeVar("C", bound=Conclusion)


class Ungrounded(ValueError):
    """The input does not support an item; the message says why."""


def ground_conclusions(
    conclusions: Sequence[Conclusion], groups: Sequence[Group], rejected: list[str], *, keep_all: bool = False
) -> list[Conclusion]:
    """Keeps the conclusions that rest on memories of one group, use each memory once, and add no figure.

    With `keep_all` they must not lose a figure either, since they replace their memories.
    """
    kept: list[Conclusion] = []
    used: set[str] = set()
    for number, conclusion in enumerate(conclusions, 1):
        try:
            group = next((one for one in groups if any(f.ref in conclusion.refs for f in one.facts)), Group(facts=[]))
            facts = {fact.ref: fact for fact in group.facts}
            grounded = _resting_on(conclusion, facts)
            if taken := used & set(grounded.refs):
                raise Ungrounded(f"{', '.join(sorted(taken))} is in an earlier one")
            if keep_all and (lost := _figures_of(grounded, facts) - figures(grounded.content)):
                raise Ungrounded(f"it loses {', '.join(sorted(lost))}")
        except Ungrounded as reason:
            rejected.append(f"conclusion {number}: {reason}")
        else:
            kept.append(grounded)
            used.update(grounded.refs)
    return kept


def ground_insights(output: ReflectOutput, data: ReflectInput, rejected: list[str]) -> list[Insight]:
    """Keeps the insights that rest on at least two memories; a count in them must be the number of these memories."""
    memories = {memory.ref: memory for memory in data.memories}
    earlier = {insight.ref for insight in data.earlier}
    kept: dict[str, Insight] = {}
    for number, insight in enumerate(output.insights, 1):
        try:
            grounded = _resting_on(insight, memories, counted=True)
        except Ungrounded as reason:
            rejected.append(f"insight {number}: {reason}")
        else:
            replaces = [ref for ref in dict.fromkeys(insight.replaces) if ref in earlier]
            kept.setdefault(grounded.content, grounded.model_copy(update={"replaces": replaces}))
    return list(kept.values())


def _resting_on(conclusion: C, facts: Mapping[str, FactView], *, counted: bool = False) -> C:
    refs = [ref for ref in dict.fromkeys(conclusion.refs) if ref in facts]
    if len(refs) < 2:
        raise Ungrounded("it names fewer than two memories of one group")
    grounded = conclusion.model_copy(update={"refs": refs})
    known = _figures_of(grounded, facts) | ({str(len(refs))} if counted else set())
    if not figures(grounded.content) <= known:
        raise Ungrounded("it has a figure that none of its memories has")
    heard = [Spoken(f"{facts[ref].content} {facts[ref].quote or ''}", facts[ref].said_at) for ref in refs]
    if why := why_unsaid(grounded.content, [*heard, Spoken(" ".join(known), heard[0].said_at)]):
        raise Ungrounded(why)
    return grounded


def _figures_of(conclusion: Conclusion, facts: Mapping[str, FactView]) -> set[str]:
    return figures(" ".join(facts[ref].content for ref in conclusion.refs))
