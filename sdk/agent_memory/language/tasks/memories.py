"""Tasks that read what is remembered of a user: profile, reconciliation, merging, procedures, insights."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent_memory.language.tasks.task import Data, FactView, Task


class ProfileView(Data):
    """A user's profile, in or out."""

    preferences: list[str] = Field(default_factory=list)
    current_work: list[str] = Field(default_factory=list)
    environment: list[str] = Field(default_factory=list)
    constraints: list[str] = Field(default_factory=list)
    personal: list[str] = Field(default_factory=list)


class ProfileInput(Data):
    """Facts to merge into a profile.

    `gone` are facts that the earlier profile may rest on and that are no longer true: they must leave it.
    """

    earlier: ProfileView | None = None
    facts: list[FactView]
    gone: list[FactView] = Field(default_factory=list)


class ProfileOutput(ProfileView):
    """The merged profile."""


class ReconcileInput(Data):
    """Active facts of one user, newest first, in which to find duplicates and contradictions."""

    facts: list[FactView]


class Duplicates(Data):
    """Facts (two or more refs) that make one claim in different words, and the claim in one sentence."""

    refs: list[str] = Field(min_length=2)
    content: str = Field(min_length=1)


class Contradiction(Data):
    """Two facts that cannot both be true now. The library decides which wins: the newer, then the more confident."""

    refs: list[str] = Field(min_length=2, max_length=2)
    reason: Literal["duplicate", "contradict", "update"] = "contradict"


class ReconcileOutput(Data):
    """What a reconciliation found; facts in neither list are kept."""

    duplicates: list[Duplicates] = Field(default_factory=list)
    contradictions: list[Contradiction] = Field(default_factory=list)


class Group(Data):
    """Memories that are about one thing."""

    facts: list[FactView]


class ConsolidateInput(Data):
    """Groups of facts, each about one thing, to be told in fewer sentences.

    Facts that were `named` are to become one, all of them; a figure that a later one replaces may be left out.
    """

    groups: list[Group]
    named: bool | None = None


class Conclusion(Data):
    """One or more sentences that summarise several memories (refs)."""

    refs: list[str] = Field(min_length=2)
    content: str = Field(min_length=1)


class ConsolidateOutput(Data):
    """Sentences that replace several facts and say all that they say; a fact that none of them names stays as it is."""

    merged: list[Conclusion] = Field(default_factory=list)


class SynthesizeInput(Data):
    """Groups of how-tos, each for one purpose, from different conversations."""

    groups: list[Group]


class SynthesizeOutput(Data):
    """One procedure for a group, if its how-tos are for one purpose; the later ones correct the earlier."""

    procedures: list[Conclusion] = Field(default_factory=list)


class Insight(Conclusion):
    """A pattern that several memories show. `replaces` are refs of earlier insights that it brings up to date."""

    kind: Literal["insight", "lesson"] = "insight"
    replaces: list[str] = Field(default_factory=list)


class ReflectInput(Data):
    """What is remembered of one user, newest first, and the insights drawn from it so far (refs r1, r2, …)."""

    memories: list[FactView]
    earlier: list[FactView] = Field(default_factory=list)


class ReflectOutput(Data):
    """What the memories show together that none of them says."""

    insights: list[Insight] = Field(default_factory=list)


PROFILE = Task("profile", ProfileInput, ProfileOutput)
RECONCILE = Task("reconcile", ReconcileInput, ReconcileOutput)
CONSOLIDATE = Task("consolidate", ConsolidateInput, ConsolidateOutput)
SYNTHESIZE = Task("synthesize", SynthesizeInput, SynthesizeOutput)
REFLECT = Task("reflect", ReflectInput, ReflectOutput)
