"""Drafts on their way through a history."""

import json
import math

import pytest
from hypothesis import given, strategies as st
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.tasks import Embedded
from agent_memory.models import Usage
from agent_memory.processing.payloads import pack, unpack
from agent_memory.settings import Limits
from agent_memory.store.documents import VECTOR_DECIMALS

DIMENSIONS = 1536
FACT = "The flight to Lisbon on the twelfth of June is too early for the children, so a later one would be better."


@given(st.lists(st.floats(-100, 100), max_size=20))
def test_a_packed_draft_is_the_same_draft(vector: list[float]):
    rounded = [round(value, VECTOR_DECIMALS) for value in vector]
    draft = {"step": "x", "create": [{"id": "1", "embedding": rounded}, {"id": "2"}], "upsert": [{"embedding": []}]}
    again = unpack(json.loads(json.dumps(pack(draft))))
    assert again == draft
    assert [math.copysign(1, v) for v in again["create"][0]["embedding"] if v] == [
        math.copysign(1, v) for v in rounded if v
    ]


def test_drafts_by_their_steps_are_packed_one_by_one():
    draft = {"step": "extract", "create": [{"id": "1", "embedding": [0.5, -0.25]}]}
    packed = pack({"drafts": {"extract": draft, "summarize": None}})
    assert packed == {"drafts": {"extract": pack(draft), "summarize": None}}
    assert isinstance(packed["drafts"]["extract"]["create"][0]["embedding"], str)
    assert unpack(packed["drafts"]["extract"]) == draft


class Wide:
    """Embeddings as long as those of a large model, with nothing in them to compress."""

    model_id = "wide"
    dimensions = DIMENSIONS

    async def embed(self, texts: list[str]) -> Embedded:
        vectors = [[math.sin(n * (row + 1.7)) / 28 for n in range(DIMENSIONS)] for row in range(len(texts))]
        return Embedded(vectors, Usage())

    async def close(self) -> None:
        pass


async def test_a_full_batch_is_half_of_what_a_history_takes(chat: ScriptedChat):
    quiet = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    limits = Limits(batch_memories=50, batch_turns=50)
    async with AsyncMemory.local(chat_model=chat, embedding_model=Wide(), cadence=quiet, limits=limits) as memory:
        turns = [{"role": "user", "content": f"fact: {n} {FACT}"} for n in range(50)]
        await memory.user("u").thread("t").add_many(turns)
        draft = await memory.runtime.activities["extract.think"]({"user_id": "u", "thread_id": "t"})
    assert draft is not None
    assert len(draft["create"]) == 50
    plain, packed = len(json.dumps(draft)), len(json.dumps(pack(draft)))
    print(f"50 memories with {DIMENSIONS} dimensions: {plain} bytes, packed {packed}")
    assert packed < 500_000 < 900_000 < plain
    assert unpack(pack(draft)) == draft


async def test_indexing_leaves_no_talk_in_a_history(memory: AsyncMemory):
    await memory.user("u").thread("t").add_many([{"role": "user", "content": FACT, "id": str(n)} for n in range(5)])
    committed = await memory.runtime.activities["index"]({"user_id": "u", "thread_id": "t"})
    assert committed is not None
    assert committed["result"]["created"] == 5
    assert "flight" not in json.dumps(committed)


def test_vectors_that_are_no_numbers_are_not_hidden():
    with pytest.raises((TypeError, ValueError)):
        pack({"create": [{"embedding": ["x"]}], "upsert": []})
