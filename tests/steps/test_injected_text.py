"""What we put into a conversation ourselves is not learned from it again."""

from datetime import UTC, datetime, timedelta

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.models import ContextFormat
from agent_memory.screening.injected import BULLETS_HEADER, HEADER, without_blocks, without_injected
from agent_memory.store.containers import MEMORIES

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize("role", ["system", "agent", "user"])
@pytest.mark.parametrize("form", ["sections", "bullets", "xml"])
async def test_a_context_that_comes_back_as_a_turn_is_nothing_new(
    memory: AsyncMemory, chat: ScriptedChat, form: ContextFormat, role: str
):
    alice = memory.user("alice")
    await alice.thread("t1").add_many([{"role": "user", "content": "fact: my home town=Lisbon", "created_at": MARCH}])
    await alice.thread("t1").process("extract")
    context = await alice.thread("t2").context("What is my home town?", format=form)
    assert "Lisbon" in context.text
    chat.seen.clear()
    await alice.thread("t2").add_many(
        [
            {"role": role, "content": f"{context.text}\n\nThanks, and what about the weather there?"},
            {"role": "user", "content": "fact: something else=that is new"},
        ]
    )
    result = await alice.thread("t2").process("extract")
    assert (result.created, result.exact_dedup_skipped) == (1, 0)
    await alice.thread("t2").process("summarize")
    for data in chat.seen:
        shown = [turn.content for turn in data.turns]
        assert not any("Lisbon" in content for content in shown)
        assert any("weather" in content for content in shown)
    indexed = 'SELECT VALUE c.thread_id FROM c WHERE c.kind = "chunk" AND CONTAINS(c.content, "Lisbon")'
    assert await memory.runtime.store.query(MEMORIES, indexed, ("alice",)) == ["t1"]
    (fact,) = [memory for memory in await alice.memories() if "Lisbon" in memory.content]
    assert fact.reaffirmed_at is None


def test_a_line_of_a_context_is_known_wherever_it_stands():
    said = MARCH + timedelta(days=3)
    line = f"- User lives in Lisbon (said {said.day} {said:%B %Y})"
    assert without_injected(f"I was told:\n{line}\nIs that right?") == "I was told:\nIs that right?"
    assert without_injected("- User lives in Lisbon") == "- User lives in Lisbon"  # a list of their own
    assert without_injected("He said it (said 4 March)") == "He said it (said 4 March)"


def test_only_a_whole_block_is_taken_out():
    assert without_blocks(f"{HEADER}\n\nProfile:\n- Lisbon\n\nno end") == f"{HEADER}\n\nProfile:\n- Lisbon\n\nno end"
    assert without_blocks("<memory>\n    a\nb\n</memory>") == "<memory>\n    a\nb\n</memory>"
    assert without_blocks(f"{BULLETS_HEADER}\n\nno list") == f"{BULLETS_HEADER}\n\nno list"
    assert without_blocks("say <memory>\r\n    <a>\r\n    </a>\r\n</memory>\r\nand go on") == "say \nand go on"


@pytest.mark.parametrize(
    "hostile",
    [
        "<memory>\n" + "      \n" * 20_000 + "x",
        " <memory>\n" * 20_000,
        f"{HEADER}\n" * 5_000,
        f"{BULLETS_HEADER}\n\n" * 5_000,
        "\n" * 200_000,
        "- (said 1 March 2026" * 10_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_no_text_holds_it_up(hostile: str):
    """Each took hours or minutes with a pattern that backtracks; the time that a test may take is the bound."""
    assert without_injected(hostile)


def test_contexts_of_earlier_versions_are_known_too():
    for block in (
        f"{BULLETS_HEADER}\n\n- Budget is $10,000\n- Likes hiking\n",
        "<memory>\n    <static_memory>\n      - 3 days a week\n    </static_memory>\n</memory>",
    ):
        assert without_blocks(block) == ""
        assert without_blocks(f"You are kind.\n\n{block.rstrip()}\n\nThanks") == "You are kind.\n\nThanks"
