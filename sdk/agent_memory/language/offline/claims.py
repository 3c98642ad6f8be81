"""What a statement claims: of whom, about what, and with which value.

A claim is the part of a sentence that another sentence can repeat or contradict. Most sentences have none that the
rules can read, and that is fine: only what is read is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.values import Value

Relation = Literal[
    "attribute",
    "affinity",
    "habit",
    "diet",
    "allergy",
    "tool",
    "preference",
    "plan",
    "journey",
    "routine",
    "kin",
    "place",
    "trait",
    "state",
]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim.

    Attributes:
        owner: Whom it is about: "self", "self.sister", "self.friend.tom", a lower-case name.
        relation: Which sort of claim; only like sorts are compared, but for food.
        topic: Canonical stems that say what is claimed about (the attribute and what it belongs to, or the object).
        value: What the attribute is; None where only yes or no is claimed.
        replaced: The value that the sentence itself says is no longer so ("from A to B").
        rest: Stems of the sentence that the claim does not cover.
    """

    owner: str
    relation: Relation
    topic: frozenset[str]
    value: Value | None = None
    negative: bool = False
    change: bool = False
    hedged: bool = False
    additive: bool = False
    replaced: Value | None = None
    rest: frozenset[str] = frozenset()


Reader = Callable[[Clause, datetime], Iterator[Claim]]
"""Reads the claims of one sort in a clause."""
