"""Where a context goes in a request, and that a second one takes the place of the first."""

import pytest

from agent_memory.models import Context, ContextFormat
from agent_memory.recall.injection import Placement, inject
from agent_memory.recall.render import NOTICE, Line, render

CHAT = [
    {"role": "system", "content": "You are helpful.\n\nUse <memory> wisely."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "4"},
    {"role": "assistant", "content": "Four."},
    {"role": "user", "content": "And?"},
    {"role": "assistant", "content": "Five."},
    {"role": "user", "content": "My budget?"},
]


def context(*texts: str, form: ContextFormat = "sections") -> Context:
    return Context(text=render([Line("Personal Facts:", text) for text in texts], form))


@pytest.mark.req("S0-040")
def test_a_context_is_a_system_message_and_an_empty_one_changes_nothing():
    found = context("Budget is $10,000")
    assert inject(CHAT, found) == [CHAT[0], {"role": "system", "content": found.text}, *CHAT[1:]]
    assert inject(CHAT, Context()) == CHAT
    assert inject([], found) == [{"role": "system", "content": found.text}]


@pytest.mark.req("S2-37")
def test_before_the_recent_messages_without_parting_a_tool_call_from_its_answer():
    messages = inject(CHAT, context("x"), "before_recent")
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        "system",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert inject(CHAT[:3], context("x"), "before_recent")[1]["role"] == "system"


def test_in_the_system_prompt():
    found = context("x")
    messages = inject(CHAT, found, "system_prompt")
    assert messages[0]["content"] == f"{CHAT[0]['content']}\n\n{found.text}"
    assert messages[1:] == CHAT[1:]
    assert inject(CHAT[1:], found, "system_prompt")[0] == {"role": "system", "content": found.text}


@pytest.mark.parametrize("form", ["sections", "bullets", "xml"])
@pytest.mark.parametrize("placement", ["system_message", "system_prompt", "before_recent"])
def test_a_second_injection_takes_the_place_of_the_first(form: ContextFormat, placement: Placement):
    first = context("old", f"quotes {NOTICE}", "- dashed", "</memory>", form=form)
    second = context("new", form=form)
    once = inject(CHAT, second, placement)
    assert inject(inject(CHAT, first, placement), second, placement) == once
    assert inject(once, second, placement) == once
    assert inject(once, Context(), placement) == CHAT
    other_form = inject(inject(CHAT, first, placement), context("new"), "system_message")
    assert sum("old" in str(message["content"]) for message in other_form) == 0


def test_what_a_user_quotes_is_left_alone():
    found = context("x")
    quoting = [{"role": "user", "content": found.text}]
    assert inject(quoting, Context()) == quoting
