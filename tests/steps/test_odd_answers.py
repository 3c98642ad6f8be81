"""Ten answers that no good model gives: nothing is believed that was not said, and the log says what was left out."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from memories import opened

from agent_memory.language.callable_chat import CallableChat

SAID = "I have €18,000 for the bathroom and my dog Rex is nine."
FACT = {
    "type": "fact",
    "kind": "fact",
    "content": "User has €18,000 for the bathroom",
    "quote": "I have €18,000 for the bathroom",
    "turns": ["t1"],
}
CONTENT = FACT["content"]
BUDGETS = [f"{CONTENT}{' indeed' * (at % 40)}{'!' * (at // 40)}" for at in range(500)]


def answer(*memories: Any) -> str:
    return json.dumps({"worth_extracting": True, "memories": memories})


@pytest.mark.parametrize(
    ("text", "kept", "logged"),
    [
        ('"nothing"', [], "1 × an error that its dead letter names"),
        (answer(1, None, FACT), [CONTENT], "2 items of extract were left out: 2 × it is not an object"),
        (
            answer(FACT | {"content": ""}, FACT | {"content": "  \u200b "}, FACT | {"content": "…!"}),
            [],
            "2 × it has no words; 1 × a field is missing or wrong",
        ),
        (
            answer(FACT | {"content": f"{CONTENT} and {'so on ' * 2_000}"}),
            [SAID],
            "1 × kept in the user's own words, because it has more than 4,000 characters",
        ),
        (answer(FACT | {"id": "x"}, FACT | {"id": "x"}), [CONTENT], "1 × the answer has it already"),
        (
            answer(FACT | {"quote": None}, FACT | {"quote": None, "content": "User has a yacht in Nice"}),
            [CONTENT],
            "1 × it has no quote, and none can be found for it",
        ),
        (answer(FACT | {"confidence": float("nan"), "importance": float("inf")}), [CONTENT], "Stored 1 facts"),
        (
            answer(FACT | {"content": "User has a villa", "quote": "I have a villa on Capri", "turns": ["of-bob"]}),
            [],
            "1 × it cites no turn that may be a source",
        ),
        (answer(*(FACT | {"content": one} for one in BUDGETS)), None, "450 × more than one commit can hold"),
        (
            answer(FACT | {"content": f"<b>{CONTENT}</b><script>alert(1)</script>"}),
            [SAID],
            "1 × kept in the user's own words, because nobody said …",
        ),
        (
            answer(FACT | {"kind": "verdict", "type": 7}),
            [CONTENT],
            "Stored 1 facts",
        ),
    ],
)
async def test_an_odd_answer_leaves_only_what_was_said(
    text: str, kept: list[str] | None, logged: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "agent_memory")
    async with opened(CallableChat(lambda messages: text)) as memory:
        await (
            memory.user("bob")
            .thread("t")
            .add_many([{"id": "of-bob", "role": "user", "content": "I have a villa on Capri."}])
        )
        thread = memory.user("ada").thread("t")
        await thread.add("user", SAID)
        await thread.process("extract")
        facts = [one.content for one in await memory.user("ada").memories(types=["fact"])]
        assert facts == kept if kept is not None else set(facts) <= set(BUDGETS)
        assert (await memory.health()).ok
    assert logged in caplog.text
    assert "bathroom" not in caplog.text
