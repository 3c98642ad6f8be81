"""Topics in scripts without spaces are forgotten, and denied words in them are found."""

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import MemoryDisabled


@pytest.mark.parametrize("drained", [True, False])
@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("我爸爸有糖尿病。", "糖尿病"),
        ("私は東京に住んでいます。", "東京"),
        ("我养了一只猫。", "猫"),
        ("我对花生过敏。", "花生"),
        ("ฉันชอบดื่มกาแฟทุกเช้า", "กาแฟ"),
        ("저는 김치를 좋아해요.", "김치"),
        ("Ich wohne in der HAUPTSTRASSE in Bonn.", "Hauptstraße"),
    ],
)
async def test_a_topic_is_forgotten_in_any_script(text: str, topic: str, drained: bool):
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add("user", text, id="said")
        await alice.thread("t1").add("user", "The weather in Oslo is fine.", id="other")
        if drained:
            await memory.drain(timeout=60)
        receipt = await alice.forget(query=topic)
        assert "said" in receipt.deleted["turn"]
        assert [turn.id for turn in await alice.thread("t1").turns()] == ["other"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("東京", "私は東京に住んでいます。"), ("กาแฟ", "ฉันชอบดื่มกาแฟ"), ("straße", "I live at HAUPT STRASSE 5.")],
)
async def test_a_denied_word_is_found_in_any_script(name: str, text: str):
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        await alice.update_settings(deny_categories=[name])
        with pytest.raises(MemoryDisabled):
            await alice.remember(text)
