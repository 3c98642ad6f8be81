"""A list that is none is refused with a typed error, and a message without text does not empty a context."""

from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput


@pytest.mark.parametrize("bad", [-1, "fact", 2.5])
async def test_what_is_no_list_is_refused(bad: Any):
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        with pytest.raises(InvalidInput, match="types"):
            await alice.memories(types=bad)
        with pytest.raises(InvalidInput, match="tags"):
            await alice.remember("The door is green", tags=bad)
        with pytest.raises(InvalidInput, match="deny_categories"):
            await alice.update_settings(deny_categories=bad)
        with pytest.raises(InvalidInput, match="pieces"):
            await alice.add_document("a", "text", chunk_size=float("nan"))  # type: ignore[arg-type]


async def test_a_message_without_text_does_not_empty_a_context():
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        await alice.remember("Maria's birthday is on 3 May")
        spoken = [{"type": "text", "text": "Let's talk about Maria."}, {"type": "image"}]
        history = [{"role": "user"}, {"role": "user", "content": None}, {"role": "user", "content": spoken}]
        context = await alice.context("When is her birthday?", history=history)
        assert "3 May" in context.text
        assert "type" not in (context.query or "")
