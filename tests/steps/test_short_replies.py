"""A short reply is indexed with the question that it answers."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.forgetting.tombstones import bury, of_words
from agent_memory.models import Memory
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import from_document
from agent_memory.text.replies import is_short, question_in

DAY = datetime(2026, 3, 5, tzinfo=UTC)
ASKED = "I could raise the coverage gate to 80. Shall I?"


async def chunks(memory: AsyncMemory) -> dict[str, Memory]:
    rows = await memory.runtime.store.query(MEMORIES, "SELECT * FROM c WHERE c.kind = 'chunk'", ("ann",))
    return {chunk.quote or "": chunk for chunk in (from_document(Memory, row) for row in rows)}


async def talk(memory: AsyncMemory, *turns: tuple[str, str], each: bool = False) -> dict[str, Memory]:
    chat = memory.user("ann").thread("t")
    for number, (role, text) in enumerate(turns):
        await chat.add(role, text, id=f"t{number}", created_at=DAY + timedelta(minutes=number))
        if each:
            await chat.process("index")
    await chat.process("index")
    return await chunks(memory)


@pytest.mark.parametrize("each", [False, True])
async def test_a_reply_carries_the_question_in_one_run_and_over_two(memory: AsyncMemory, each: bool):
    found = await talk(memory, ("agent", ASKED), ("user", "k do it"), each=each)
    assert found["k do it"].content == f'[5 March 2026] user: k do it (asked: "{ASKED}")'
    assert found["k do it"].source_turn_ids == ["t1", "t0"]
    assert found["k do it"].source == "user"
    hits = await memory.user("ann").search("What is the coverage gate?")
    assert "k do it" in [hit.memory.quote for hit in hits]


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("who", ["agent", "user"])
@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("Noted. The hall on Elm Road has 12 chairs for you.", "make it 11 instead"),
        ("The hall on Elm Road is yours on Saturday! See you there.", "actually move that to Sunday"),
        ("I rented twelve chairs in the hall on Elm Road.", "we're back to ten"),
        ("Der Saal an der Elm Road hat 12 Plätze.", "mach doch 8 draus"),
    ],
)
async def test_a_reply_carries_the_value_that_it_corrects(
    memory: AsyncMemory, said: str, reply: str, who: str, each: bool
):
    found = await talk(memory, (who, said), ("user", reply), each=each)
    corrected = next(
        part for part in said.replace("!", "!|").replace("Noted.", "|").split("|") if "Elm" in part
    ).strip()
    assert found[reply].content == f'[5 March 2026] user: {reply} (after: "{corrected}")'
    assert found[reply].source_turn_ids == ["t1", "t0"]
    hits = await memory.user("ann").search("Which hall on Elm Road?")
    assert reply in [hit.memory.quote for hit in hits]


@pytest.mark.parametrize(
    ("before", "reply"),
    [
        (("agent", "The coverage gate is 70 percent."), "go for it please"),
        (("agent", "The coverage gate is 70 percent."), "my locker is number 12"),
        (("agent", "The coverage gate is high."), "make it 60 instead"),
        (("agent", "The gate is 70 percent, " + "as we said before, " * 20 + "is it not."), "make it 60 instead"),
        (("agent", ASKED), "Not yet, first I want to see how long the tests take."),
        (("agent", ASKED), "what is the gate now?"),
        (("user", "Shall we raise the coverage gate?"), "Forget that for now."),
        (("tool", ASKED), "Thanks for that."),
    ],
)
async def test_what_answers_no_question_stands_alone(memory: AsyncMemory, before: tuple[str, str], reply: str):
    found = await talk(memory, before, ("user", reply), each=True)
    assert found[reply].content == f"[5 March 2026] user: {reply}"
    assert found[reply].source_turn_ids == ["t1"]


async def test_a_reply_goes_with_the_question_that_is_forgotten(memory: AsyncMemory):
    await talk(memory, ("user", "My gate is at 70."), ("agent", ASKED), ("user", "k do it"))
    await memory.user("ann").forget(query="raise the coverage gate to 80")
    rows = await memory.runtime.store.query(MEMORIES, "SELECT VALUE c.content FROM c WHERE c.kind = 'chunk'", ("ann",))
    assert not [text for text in rows if "80" in text]


async def test_a_question_that_was_forgotten_is_not_carried_by_a_later_reply(memory: AsyncMemory):
    await talk(memory, ("agent", ASKED))
    tombstone = of_words("ann", ASKED, DAY + timedelta(hours=1), None, "")
    await bury(memory.runtime.store, "ann", [tombstone])
    chat = memory.user("ann").thread("t")
    await chat.add("user", "go for it please", created_at=DAY + timedelta(minutes=1))
    await chat.process("index")
    assert (await chunks(memory))["go for it please"].content == "[5 March 2026] user: go for it please"


async def test_a_question_that_may_not_be_kept_is_not_carried(memory: AsyncMemory):
    key = "AKIA" + "QWERTYUIOP123456"
    found = await talk(memory, ("agent", f"Shall I store the key {key} for you?"), ("user", "yes please"), each=True)
    assert key not in found["yes please"].content


async def test_a_question_off_the_record_is_not_carried(memory: AsyncMemory):
    chat = memory.user("ann").thread("t")
    await chat.update_settings(auto_store=False)
    await chat.add("agent", ASKED, created_at=DAY)
    await chat.update_settings(auto_store=True)
    await chat.add("user", "go for it please", created_at=DAY + timedelta(minutes=1))
    await chat.process("index")
    assert (await chunks(memory))["go for it please"].content == "[5 March 2026] user: go for it please"


def test_the_question_has_what_it_is_about():
    assert question_in("Fine. I can move you to 400 Mbit. Shall I?") == "I can move you to 400 Mbit. Shall I?"
    assert question_in("Hello. Which size of the white one do you want? It comes in S or M.") == (
        "Which size of the white one do you want? It comes in S or M."
    )
    assert question_in("How are you? I was at the market. It rained. We went home.") is None
    assert question_in("Soll ich den Port auf 8123 umstellen?") == "Soll ich den Port auf 8123 umstellen?"
    assert question_in("Do you want " + "really " * 60 + "this?") is None


def test_short_is_a_few_words_on_one_line():
    assert is_short("ja mach")
    assert not is_short("one two three four five six seven")
    assert not is_short("one\ntwo")
    assert not is_short("really?")
    assert not is_short("")
