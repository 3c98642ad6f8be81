"""What leaves a view, by each strategy, as pure decisions."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from agent_memory.errors import InvalidInput
from agent_memory.text.tokens import ApproximateTokens
from agent_memory.working import ChatMessage, Delete, Flush, Overflow, Summarize, Trim
from agent_memory.working.messages import (
    MESSAGE_TOKENS,
    count_tokens,
    last_exchange,
    read_message,
    to_turn,
    units,
    without_orphans,
)
from agent_memory.working.overflow import MAX_TOKENS, fitting, leaving, limit_of

TOKENS = ApproximateTokens()
TEN = "x" * ((10 - MESSAGE_TOKENS) * 4)
"""Words that make a message of ten tokens."""


def said(role: str, content: str = TEN) -> ChatMessage:
    return read_message({"role": role, "content": content})


def called(*ids: str) -> ChatMessage:
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
    return read_message({"role": "assistant", "content": None, "tool_calls": calls})


def answered(call_id: str) -> ChatMessage:
    return read_message({"role": "tool", "tool_call_id": call_id, "content": TEN})


def talk(exchanges: int) -> list[ChatMessage]:
    return [said(role) for _ in range(exchanges) for role in ("user", "assistant")]


@pytest.mark.req("S2-04", "S2-05", "S4-30", "S4-31", "S4-36", "S4-40", "S4-34")
def test_the_defaults_are_those_of_the_seeds():
    assert (Summarize().threshold_tokens, Summarize().keep) == (10_000, 10)
    assert (Flush().ratio, Trim().max_tokens, MAX_TOKENS) == (0.5, 500, 100_000)
    limits = {limit_of(strategy, MAX_TOKENS) for strategy in (Trim(), Delete(1), Summarize(threshold_tokens=None))}
    assert limits == {100_000}
    assert limit_of(Flush(), MAX_TOKENS) == 50_000
    assert limit_of(Flush(ratio=0.8), MAX_TOKENS) == 80_000
    assert limit_of(Summarize(), 5_000) == 5_000


@pytest.mark.req("S4-45", "S2-16")
def test_tokens_are_counted_over_words_calls_and_frames():
    assert count_tokens([said("user"), said("assistant")], TOKENS) == 20
    assert count_tokens([called("a")], TOKENS) > count_tokens([said("assistant", "")], TOKENS) == MESSAGE_TOKENS


@pytest.mark.req("S2-21", "S2-22", "S4-06")
@pytest.mark.parametrize("strategy", [Summarize(threshold_tokens=100, keep=4), Flush(ratio=0.5, keep=4)])
def test_a_view_overflows_strictly_above_its_limit_and_keeps_the_newest(strategy: Overflow):
    assert leaving(strategy, talk(5), 200, TOKENS) == 0
    assert leaving(strategy, [*talk(5), said("user")], 200, TOKENS) == 7
    assert leaving(strategy, [said("user", TEN * 50) for _ in range(4)], 200, TOKENS) == 0


@pytest.mark.req("S4-08", "S4-36")
def test_trimming_leaves_what_fits_and_at_least_the_last_exchange():
    assert leaving(Trim(max_tokens=50), talk(6), 100, TOKENS) == 7
    assert leaving(Trim(max_tokens=1), talk(6), 100, TOKENS) == 10
    assert leaving(Trim(max_tokens=50), talk(5), 100, TOKENS) == 0
    long = [*talk(1), said("user", TEN * 100), said("assistant")]
    assert leaving(Trim(max_tokens=500), long, 100, TOKENS) == 2


@pytest.mark.req("S4-10")
def test_deleting_takes_the_number_that_was_asked_for_and_spares_the_last_exchange():
    assert leaving(Delete(3), talk(6), 100, TOKENS) == 3
    assert leaving(Delete(3), talk(5), 100, TOKENS) == 0
    assert leaving(Delete(500), talk(6), 100, TOKENS) == 10
    assert leaving(Delete(1), [said("user", TEN * 100), said("assistant")], 100, TOKENS) == 0


@pytest.mark.req("S4-06")
def test_a_tool_call_goes_or_stays_with_all_of_its_results():
    round_trip = [said("user"), called("a", "b"), answered("a"), answered("b"), said("assistant")]
    assert [len(unit) for unit in units(round_trip)] == [1, 3, 1]
    assert leaving(Summarize(threshold_tokens=10, keep=2), round_trip, 1000, TOKENS) == 1
    assert leaving(Summarize(threshold_tokens=10, keep=1), round_trip, 1000, TOKENS) == 4
    assert leaving(Delete(1), [*round_trip[1:], *talk(1)], 10, TOKENS) == 3
    asked_between = [called("a"), said("user"), answered("a"), said("assistant")]
    assert [len(unit) for unit in units(asked_between)] == [3, 1]


def test_a_result_whose_call_is_gone_is_not_shown():
    assert without_orphans([answered("a"), said("user"), called("b"), answered("b")]) == [
        said("user"),
        called("b"),
        answered("b"),
    ]


KINDS = st.sampled_from(["user", "assistant", "call", "result"])


@given(st.lists(KINDS, min_size=1, max_size=30), st.integers(1, 400), st.integers(1, 20))
@pytest.mark.req("S4-06", "S4-41")
def test_no_strategy_ever_tears_a_call_from_its_results(kinds: list[str], room: int, count: int):
    messages: list[ChatMessage] = []
    open_calls: list[str] = []
    for number, kind in enumerate(kinds):
        if kind == "call":
            open_calls.append(f"c{number}")
            messages.append(called(f"c{number}"))
        elif kind == "result" and open_calls:
            messages.append(answered(open_calls.pop()))
        else:
            messages.append(said("user" if kind == "user" else "assistant"))
    strategies = [Summarize(threshold_tokens=room, keep=count), Trim(room), Delete(count), Flush(0.5, keep=count)]
    ends = [0]
    for unit in units(messages):
        ends.append(ends[-1] + len(unit))
    for strategy in strategies:
        gone = leaving(strategy, messages, room, TOKENS)
        assert gone in ends
        assert gone < len(messages)
        if isinstance(strategy, Trim | Delete):
            assert gone <= last_exchange(messages)
        elif gone:
            assert len(messages) - gone >= min(count, len(messages))
    assert fitting(messages, room, TOKENS) in ends[:-1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Summarize(keep=0),
        lambda: Summarize(threshold_tokens=0),
        lambda: Summarize(max_summary_tokens=-1),
        lambda: Trim(max_tokens=0),
        lambda: Delete(count=0),
        lambda: Flush(ratio=0),
        lambda: Flush(ratio=1.1),
        lambda: Flush(keep=0),
    ],
)
def test_a_strategy_that_makes_no_sense_is_refused(make: Any):
    with pytest.raises(InvalidInput):
        make()


def test_messages_of_chat_apis_are_read_whatever_their_shape():
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "…"}}, "here"]
    assert read_message({"role": "human", "content": parts}).content == "look\n[image_url]\nhere"
    assert read_message({"role": "developer", "content": "be kind"}).role == "system"
    kept = to_turn(called("a"))
    assert kept["content"] == "[calls f({})]"
    assert kept["metadata"]["tool_calls"][0]["id"] == "a"
    assert read_message({"role": "user", "content": "x", "annotations": [1]}).metadata == {"annotations": [1]}
    for wrong in ({"role": "wizard", "content": "x"}, {"content": "x"}, "x", {"role": "user", "content": 5}):
        with pytest.raises(InvalidInput):
            read_message(wrong)  # type: ignore[arg-type]
