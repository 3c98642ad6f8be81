"""Finds, among the facts of one user, those that say the same and those that exclude each other."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from agent_memory.language.offline import claims as reading, lexicon
from agent_memory.language.offline.claims import Claim, Verdict
from agent_memory.language.offline.comparison import excludes, presumed_topic, same_claim, topic_key
from agent_memory.language.offline.text import canons, content_stems
from agent_memory.language.tasks import Contradiction, Duplicates, FactView, ReconcileInput, ReconcileOutput
from agent_memory.text import dates
from agent_memory.text.restated import restates

_FILLERS = canons(
    lexicon.ADVERBS | lexicon.CHANGING | lexicon.words("big huge fan name call live base date day report")
)
"""Stems that do not make another statement: adverbs, and what a claim implies ("is named")."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact with what the rules read in it."""

    fact: FactView
    claims: tuple[Claim, ...]
    times: tuple[str, ...]


def reconcile(data: ReconcileInput) -> ReconcileOutput:
    """One pass over all facts. Every loser of a contradiction is named once, with the next fact that replaced it."""
    newest_first = sorted(data.facts, key=lambda fact: fact.said_at, reverse=True)
    statements = _with_presumed_topics([read(fact) for fact in newest_first])
    losers: dict[str, Contradiction] = {}
    for at, older in enumerate(statements):
        for newer in reversed(statements[:at]):
            verdict = contradiction(newer, older)
            if verdict:
                refs = [newer.fact.ref, older.fact.ref]
                losers[older.fact.ref] = Contradiction(refs=refs, reason=verdict)
                break
    standing = [statement for statement in statements if statement.fact.ref not in losers]
    return ReconcileOutput(duplicates=_groups(standing), contradictions=list(losers.values()))


def read(fact: FactView) -> Statement:
    """Reads one fact."""
    times = tuple(moment.label for moment in dates.find(fact.content, fact.said_at))
    return Statement(fact, reading.read(fact.content, fact.said_at), times)


def _with_presumed_topics(statements: list[Statement]) -> list[Statement]:
    """The statements, those that change a bare attribute being about the only one that the others know."""
    known = [claim for statement in statements for claim in statement.claims]

    def completed(claim: Claim) -> Claim:
        topic = presumed_topic(claim, (one for one in known if one.owner == claim.owner))
        return claim if topic == topic_key(claim.topic) else dataclasses.replace(claim, topic=topic)

    return [dataclasses.replace(statement, claims=tuple(map(completed, statement.claims))) for statement in statements]


def contradiction(newer: Statement, older: Statement) -> Verdict | None:
    """Whether two facts cannot both be true now. A fact that claims more than what is excluded stays."""
    verdicts = [[found for one in newer.claims if (found := excludes(one, two))] for two in older.claims]
    return verdicts[0][0] if verdicts and all(verdicts) else None


def duplicates(one: Statement, two: Statement) -> bool:
    """Whether two facts say the same: in the same words but for small ones, or claim for claim with nothing left over.

    Likeness of spelling is no reason: "visits on 14 March" and "visits on 21 March" look the same and are two facts.
    """
    if one.times == two.times and restates(one.fact.content, two.fact.content) == "duplicate":
        return True
    if not one.claims or len(one.claims) != len(two.claims) or _left_over(one) != _left_over(two):
        return False
    return all(same_claim(first, second) for first, second in zip(one.claims, two.claims, strict=True))


def _left_over(statement: Statement) -> frozenset[str]:
    """The stems of a statement that its claims do not cover."""
    values = frozenset[object]().union(*(one.core for claim in statement.claims for one in claim.values))
    covered = values.union(*(claim.topic for claim in statement.claims))
    return frozenset(filter(str.isalpha, content_stems(statement.fact.content))) - covered - _FILLERS


def _groups(statements: list[Statement]) -> list[Duplicates]:
    groups: list[list[Statement]] = []
    for statement in statements:
        known = next((group for group in groups if any(duplicates(statement, other) for other in group)), None)
        if known is None:
            groups.append([statement])
        else:
            known.append(statement)
    return [
        Duplicates(refs=[statement.fact.ref for statement in group], content=group[0].fact.content)
        for group in groups  # the newest first: of two that differ in a word, it is how it is now
        if len(group) > 1
    ]
