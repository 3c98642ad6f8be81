"""Samples for a person to judge: memories shown for a question, and extracted facts.

The samples of a seed are the same on every run over the same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from agent_memory.evaluation.adapters import AgentMemory
from agent_memory.evaluation.dataset import ADVERSARIAL, Conversation, Question
from agent_memory.models import Memory, Turn, day
from agent_memory.sync import UserScope

About = Literal["memory", "fact"]
"""An injected memory, which should help with its question; or a fact, which should be what was said."""

_MEMORIES = ("fact", "episodic", "procedural", "reflection")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample to judge, with its source turns.

    Attributes:
        about: What is judged.
        conversation: The conversation of the memory.
        question: The question, for an injected memory.
        text: What the memory says.
        said: Its source turns: day, speaker and words.
        machine: The automatic check. For an injected memory: it comes from a turn that is evidence in the data set. For
            a fact: its quote is in one of its turns, letter by letter.
    """

    about: About
    conversation: str
    question: str | None
    text: str
    said: list[str]
    machine: bool


def draw(
    system: AgentMemory, conversations: Sequence[Conversation], count: int, *, seed: int = 0, budget: int = 650
) -> list[Sample]:
    """Draws `count` questions with one memory of each one's context, and `count` facts; fewer if there are no more.

    The conversations must have been ingested. Adversarial questions, which nothing answers, are left out.
    """
    random = Random(seed)
    asked = [(talk, question) for talk in conversations for question in talk.questions]
    answerable = [(talk, question) for talk, question in asked if question.category != ADVERSARIAL]
    random.shuffle(answerable)
    told: list[Sample] = []
    for talk, question in answerable:
        if len(told) == count:
            break
        if sample := _told(system.user(talk), question, random, budget):
            told.append(sample)
    facts = [(talk, fact) for talk in conversations for fact in system.user(talk).memories(types=["fact"])]
    facts.sort(key=lambda pair: (pair[0].name, pair[1].id))
    chosen = random.sample(facts, min(count, len(facts)))
    return [*told, *(_extracted(system.user(talk), fact) for talk, fact in chosen)]


def _told(user: UserScope, question: Question, random: Random, budget: int) -> Sample | None:
    """One memory of the context of a question; None if it holds none."""
    used = [item["id"] for item in user.context(question.text, budget=budget).used if item["type"] in _MEMORIES]
    if not used:
        return None
    found = user.why(random.choice(used))
    relevant = not question.evidence.isdisjoint(turn.id for turn in found.turns)
    return Sample("memory", user.user_id, question.text, found.memory.content, _lines(found.turns), relevant)


def _extracted(user: UserScope, fact: Memory) -> Sample:
    turns = user.why(fact.id).turns
    verbatim = fact.quote is not None and any(fact.quote in turn.content for turn in turns)
    return Sample("fact", user.user_id, None, fact.content, _lines(turns), verbatim)


def _lines(turns: Sequence[Turn]) -> list[str]:
    return [f"{day(turn.created_at)}, {turn.name or turn.role}: {turn.content}" for turn in turns]
