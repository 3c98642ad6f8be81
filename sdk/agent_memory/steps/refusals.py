"""Refusals: what a step knows about turns that it cannot process, kept with its cursor.

A model may refuse one turn of a range, and our own code may fail on one. The range is halved until that turn is
isolated. The results are kept, so that the next run tries no range that is known to be refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ConfigDict, Field

from agent_memory.models import Model, Turn, content_hash

MOST_IN_A_ROW = 2
"""Consecutive refused turns after which whole ranges are given up: then the model refuses everything, and finding the
turn would cost as many calls as there are turns. A choice."""
MOST_KEPT = 20
"""Refused turns that are remembered: more than a model ever sees before a range."""
_NAME = "refusals"


class Refusals(Model):
    """What is known about refused turns of one cursor."""

    model_config = ConfigDict(extra="ignore")  # a newer version may keep more

    within: int = Field(
        default=0, description="How many of the next turns are known to hold a refused one; 0 if none is known."
    )
    in_a_row: int = Field(default=0, description="How many turns were refused one after another, up to now.")
    turns: list[str] = Field(
        default_factory=list, description="Digests of the ids of the newest refused turns; no model sees them again."
    )

    @classmethod
    def of(cls, extra: Mapping[str, Any]) -> Refusals:
        """What a cursor keeps."""
        return cls.model_validate(extra.get(_NAME, {}))

    def to_extra(self) -> dict[str, Any]:
        """What a cursor is to keep; empty if nothing is known."""
        return {_NAME: self.model_dump()} if self != Refusals() else {}

    @property
    def is_everything(self) -> bool:
        """Whether the model seems to refuse everything."""
        return self.in_a_row >= MOST_IN_A_ROW

    @property
    def width(self) -> int | None:
        """How many of the next turns to try; None for a full range."""
        return max(self.within // 2, 1) if self.within else None

    def narrowed(self, covered: int) -> Refusals:
        """After a range of `covered` turns was refused. It will be halved."""
        return self.model_copy(update={"within": covered})

    def passed(self, covered: int) -> Refusals:
        """After `covered` turns were processed: the refused one comes later."""
        return self.model_copy(update={"within": max(self.within - covered, 0), "in_a_row": 0})

    def given_up(self, turns: Sequence[Turn]) -> Refusals:
        """After these turns became a dead letter."""
        refused = [*self.turns, *(content_hash(turn.id) for turn in turns)][-MOST_KEPT:]
        return Refusals(in_a_row=self.in_a_row + 1, turns=refused)

    def hides(self, turn: Turn) -> bool:
        """Whether a turn was refused, so that it must not be shown to a model before others."""
        return content_hash(turn.id) in self.turns
