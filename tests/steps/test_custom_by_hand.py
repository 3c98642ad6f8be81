"""Memories of custom kinds written and corrected by hand: their data fits the schema of the kind."""

from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.language.hashing import HashingEmbeddings

KINDS: dict[str, Any] = {
    "kinds": [
        {
            "name": "invoice",
            "description": "An invoice that somebody sent or got.",
            "data_schema": {
                "type": "object",
                "properties": {"customer": {"type": "string"}, "amount": {"type": "number"}},
                "required": ["customer", "amount"],
                "additionalProperties": False,
            },
        },
        {"name": "promise", "description": "What somebody promised."},
    ]
}
SENT = "Sent Contoso an invoice over 1,200 euros"
DATA = {"customer": "Contoso", "amount": 1200}


async def test_a_memory_of_a_custom_kind_is_written_and_corrected_by_hand():
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        await memory.set_extraction(KINDS)
        ada = memory.user("ada")
        made = await ada.remember(SENT, kind="Invoice", data=DATA)
        assert (made.kind, made.data) == ("invoice", DATA)
        assert (await ada.remember(SENT, kind="invoice", data=DATA)).id == made.id
        assert [hit.memory.data for hit in await ada.search("Contoso", kinds=["invoice"])] == [DATA]
        newer = await ada.update(made.id, data=DATA | {"amount": 1300})
        assert (newer.content, newer.data, newer.supersedes_ids) == (SENT, DATA | {"amount": 1300}, [made.id])
        assert (await ada.update(newer.id, data=newer.data)).id == newer.id
        both = await ada.update(newer.id, content="Sent Contoso an invoice over 1,400 euros", data=DATA)
        assert both.data == DATA
        words = await ada.update(both.id, content="Sent Contoso an invoice over 1,500 euros")
        assert (words.kind, words.data) == ("invoice", None)
        assert (await ada.remember("Promised Contoso a discount", kind="promise")).data is None
        await ada.remember(f"{SENT} again", type="procedural")
        typed = await ada.remember(f"{SENT} again", kind="invoice", data=DATA)
        assert (typed.type, typed.id.partition("_")[0]) == ("fact", "fact")


async def test_what_is_known_as_a_fact_gets_its_kind_and_data_as_a_new_version():
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        await memory.set_extraction(KINDS)
        ada = memory.user("ada")
        plain = await ada.remember(SENT)
        made = await ada.remember(SENT, kind="invoice", data=DATA)
        assert [one.id for one in await ada.history(made.id)] == [plain.id, made.id]
        assert [(one.kind, one.data) for one in await ada.memories()] == [("invoice", DATA)]
        assert (await ada.remember(SENT)).id == made.id


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": "order"}, "'order' is unknown; it is one of fact, .*, invoice, promise"),
        ({"kind": ["invoice"]}, "is unknown"),
        ({"kind": "invoice"}, r"'invoice' needs it \(customer, amount\)"),
        ({"kind": "invoice", "data": {"customer": "Contoso"}}, "does not fit the schema: required"),
        ({"kind": "invoice", "data": DATA | {"amount": "1200"}}, "data.amount does not fit the schema: type"),
        ({"kind": "invoice", "data": [1]}, "data"),
        ({"kind": "invoice", "data": DATA | {"customer": "x" * 9000}}, "more than 8000 bytes"),
        ({"kind": "promise", "data": DATA}, "the kind 'promise' takes no data"),
        ({"data": DATA}, "the kind 'fact' takes no data"),
        ({"type": "procedural", "data": DATA}, "a memory that is no fact takes no data"),
    ],
)
async def test_a_kind_or_data_that_does_not_fit_is_named_and_nothing_is_written(given: dict[str, Any], why: str):
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        await memory.set_extraction(KINDS)
        ada = memory.user("ada")
        with pytest.raises(InvalidInput, match=why):
            await ada.remember(SENT, **given)
        assert await ada.memories() == []


async def test_a_group_has_kinds_of_its_own_and_a_usual_memory_takes_no_data():
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        await memory.set_extraction(KINDS, group_id="sales")
        made = await memory.group("sales").remember(SENT, kind="invoice", data=DATA)
        assert made.data == DATA
        with pytest.raises(InvalidInput, match="'invoice' is unknown"):
            await memory.user("ada").remember(SENT, kind="invoice", data=DATA)
        fact = await memory.user("ada").remember("Likes tea")
        with pytest.raises(InvalidInput, match="the kind 'fact' takes no data"):
            await memory.user("ada").update(fact.id, data=DATA)
        with pytest.raises(InvalidInput, match=r"'invoice'.*amount"):
            await memory.group("sales").update(made.id, data={"customer": "Contoso", "amount": None})


async def test_data_written_by_hand_passes_the_screen():
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        await memory.set_extraction(KINDS)
        key = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1w"
        made = await memory.user("ada").remember(SENT, kind="invoice", data=DATA | {"customer": key})
        assert made.data is not None
        assert key not in made.data["customer"]
