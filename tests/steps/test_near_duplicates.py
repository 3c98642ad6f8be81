"""What is told anew takes the place of what was told before, and different things stay two."""

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.calibration import MINILM, calibration_of
from agent_memory.language.tasks import Embedded, ExtractedMemory, ExtractInput, ExtractOutput
from agent_memory.models import Usage
from agent_memory.store.containers import MEMORIES
from agent_memory.text.restated import restates

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)
LABELLED = Path(__file__).parents[1] / "data" / "restatements.jsonl"
PAIRS = [json.loads(line) for line in LABELLED.read_text().splitlines()]
TEN, FIFTEEN = "User's budget for Hawaii is $10,000", "User's budget for Hawaii is $15,000"


class Angles:
    """Embeds a text at the angle that a test gives it; all else at right angles."""

    model_id = "angles"
    dimensions = 8

    def __init__(self, **cosines: float) -> None:
        self.cosines = {name.replace("_", " "): value for name, value in cosines.items()}

    async def embed(self, texts: list[str]) -> Embedded:
        vectors = []
        for text in texts:
            value = next((value for name, value in self.cosines.items() if text.endswith(name)), 0.0)
            vectors.append([value, math.sqrt(1 - value * value), *[0.0] * 6])
        return Embedded(vectors, Usage(embedded_texts=len(texts)))

    async def close(self) -> None:
        pass


async def told(memory: AsyncMemory, *lines: str, user: str = "alice") -> list[int]:
    """Tells facts one a day, each in a thread of its own; how many memories each has superseded."""
    found = []
    for day, line in enumerate(lines):
        thread = memory.user(user).thread(f"t{day}")
        await thread.add_many([{"role": "user", "content": f"fact: {line}", "created_at": MARCH + timedelta(days=day)}])
        found.append((await thread.process("extract")).superseded)
    return found


def opened(embeddings: Angles) -> AsyncMemory:
    return AsyncMemory.local(
        chat_model=ScriptedChat(), embedding_model=embeddings, cadence=Cadence(0, 0, 0, 0, idle_seconds=0)
    )


@pytest.mark.req("S0-052", "S0-053", "S0-054", "S0-107")
@pytest.mark.parametrize(("cosine", "active"), [(0.91, 1), (0.89, 2), (0.7, 2), (0.5, 2)])
async def test_above_the_threshold_the_newer_takes_the_place_of_the_older(cosine: float, active: int):
    async with opened(Angles(**{"$10,000": 1.0, "$15,000": cosine})) as memory:
        assert await told(memory, TEN, FIFTEEN) == [0, 2 - active]
        facts = await memory.user("alice").memories()
        assert facts[0].content == FIFTEEN
        assert len(facts) == active
        if active == 1:
            old, new = await memory.user("alice").history(facts[0].id)
            assert (old.content, old.supersede_reason, old.superseded_by) == (TEN, "update", new.id)
            assert old.updated_at is not None
            assert old.valid_to == new.valid_from == MARCH + timedelta(days=1)
            (then,) = await memory.user("alice").memories(as_of=MARCH + timedelta(hours=1))
            assert then.content == TEN


async def test_a_restatement_is_as_old_as_the_first_and_supersedes_it_as_a_duplicate():
    async with opened(Angles(seats=1.0, seat=0.95)) as memory:
        assert await told(memory, "User prefers aisle seats", "User prefers an aisle seat") == [0, 1]
        (fact,) = await memory.user("alice").memories()
        assert fact.content == "User prefers an aisle seat"
        assert fact.valid_from == MARCH
        assert [one.supersede_reason for one in await memory.user("alice").history(fact.id)] == ["duplicate", None]
        (then,) = await memory.user("alice").memories(as_of=MARCH)
        assert then.id == fact.id


@pytest.mark.req("S0-052", "S0-003")
async def test_other_users_and_other_types_are_not_touched():
    async with opened(Angles(**{"$10,000": 1.0, "$15,000": 1.0})) as memory:
        await told(memory, TEN, user="bob")
        assert await told(memory, FIFTEEN) == [0]
        assert [fact.content for fact in await memory.user("bob").memories()] == [TEN]


async def test_two_values_in_one_batch_end_with_the_later_one():
    async with opened(Angles(**{"$10,000": 1.0, "$15,000": 0.95})) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add_many(
            [
                {"role": "user", "content": f"fact: {line}", "created_at": MARCH + timedelta(minutes=n)}
                for n, line in enumerate([TEN, FIFTEEN])
            ]
        )
        result = await thread.process("extract")
        assert (result.created, result.superseded) == (2, 1)
        assert [fact.content for fact in await memory.user("alice").memories()] == [FIFTEEN]


async def test_what_was_said_earlier_and_came_late_does_not_win():
    async with opened(Angles(**{"$10,000": 1.0, "$15,000": 0.95})) as memory:
        for day, line in ((9, FIFTEEN), (1, TEN)):
            thread = memory.user("alice").thread(f"t{day}")
            at = MARCH + timedelta(days=day)
            await thread.add_many([{"role": "user", "content": f"fact: {line}", "created_at": at}])
            assert (await thread.process("extract")).superseded == 0


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["label"])
def test_words_tell_restatements_from_other_facts_however_near_they_are(pair: dict[str, str]):
    wanted = pair["label"] if pair["label"] in ("duplicate", "update") else None
    assert restates(pair["old"], pair["new"]) == wanted


@pytest.mark.req("S0-052", "S0-053")
def test_thresholds_are_kept_per_embedding_model():
    assert calibration_of("all-MiniLM-L6-v2-int8") is MINILM
    assert MINILM.duplicate == calibration_of("text-embedding-3-large").duplicate == 0.9
    assert calibration_of("hashing-384").duplicate < 0.9


async def test_a_candidate_of_the_same_batch_waits_for_review_and_is_not_replaced():
    lines = ["Book aisle seats", "Book an aisle seat"]

    def both(data: ExtractInput) -> ExtractOutput:
        said = [turn for turn in data.turns if turn.content in lines]
        return ExtractOutput(
            memories=[
                ExtractedMemory(type="procedural", content=turn.content, quote=turn.content, turns=[turn.ref])
                for turn in said
            ]
        )

    async with opened(Angles(**{"aisle seats": 1.0, "aisle seat": 0.95})) as memory:
        cast(ScriptedChat, memory.runtime.tools.chat).outputs["extract"] = both
        thread = memory.user("alice").thread("t")
        await thread.add_many(
            [
                {"role": role, "content": line, "created_at": MARCH + timedelta(minutes=n)}
                for n, (role, line) in enumerate(zip(("assistant", "user"), lines, strict=True))
            ]
        )
        result = await thread.process("extract")
        assert (result.created, result.superseded) == (2, 0)
        rows = await memory.runtime.store.query(MEMORIES, 'SELECT * FROM c WHERE c.type = "procedural"')
        assert {row["source"]: row["status"] for row in rows} == {"agent": "candidate", "user": "active"}
        assert [row.get("supersedes_ids") or [] for row in rows] == [[], []]
