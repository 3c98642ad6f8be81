import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from agent_memory.language.answer_text import UnusableAnswer, parse_json
from agent_memory.language.answers import read_answer
from agent_memory.language.tasks import (
    EXTRACT,
    PROFILE,
    RECONCILE,
    SUMMARIZE,
    ExtractInput,
    FactView,
    ProfileInput,
    ProfileView,
    ReconcileInput,
    SummarizeInput,
    SummaryView,
    TurnView,
)

WHEN = datetime(2026, 3, 10, 9, tzinfo=UTC)


def talk(*contents: str) -> ExtractInput:
    turns = [
        TurnView(ref=f"t{n}", role="user", name="Maya", content=text, created_at=WHEN)
        for n, text in enumerate(contents, 1)
    ]
    return ExtractInput(turns=turns)


TALK = talk("My budget for Hawaii is $10,000.", "I'm vegetarian.", "Leo is allergic to peanuts. He is my partner.")
BUDGET = {
    "type": "fact",
    "kind": "fact",
    "content": "Maya's budget for Hawaii is $10,000",
    "quote": "My budget for Hawaii is $10,000",
    "turns": ["t1"],
    "confidence": 0.95,
    "importance": 0.9,
    "valid_from": None,
    "valid_to": None,
    "time_phrase": None,
    "tags": ["money"],
}
DIET = {**BUDGET, "content": "Maya is vegetarian", "quote": "I'm vegetarian", "turns": ["t2"]}
PEANUTS = {**BUDGET, "content": "Leo is allergic to peanuts", "quote": "Leo is allergic to peanuts", "turns": ["t3"]}


def answer(*memories: object, **more: object) -> str:
    return json.dumps({"worth_extracting": True, "memories": memories, **more})


def extracted(text: str, data: ExtractInput = TALK, **options: bool):
    output, rejected = read_answer(EXTRACT, text, data, **options)
    return output.memories, rejected


@pytest.mark.parametrize(
    "dress",
    [
        "{}",
        "```json\n{}\n```",
        "```\n{}```\nLet me know if [more] is needed.",
        "I found [one] thing {{so far}}: {} Good luck!",
        '<think>maybe {{"memories": []}}?</think>{}',
    ],
)
def test_an_answer_is_found_inside_any_wrapping(dress):
    memories, rejected = extracted(dress.format(answer(BUDGET)))
    assert [memory.content for memory in memories] == [BUDGET["content"]]
    assert rejected == []


@pytest.mark.req("S3-52")
@pytest.mark.req("S0-056", "S3-52")
def test_a_bad_item_of_three_is_dropped_and_the_others_stay():
    memories, rejected = extracted(answer(BUDGET, {**DIET, "content": 14}, PEANUTS))
    assert [memory.content for memory in memories] == [BUDGET["content"], PEANUTS["content"]]
    assert rejected == ["memories 2: content: Input should be a valid string"]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({**DIET, "type": "reflective"}, "memories 1: type: Input should be 'fact', 'procedural' or 'episodic'"),
        ({**DIET, "content": ""}, "memories 1: content: String should have at least 1 character"),
        ({**DIET, "content": None}, "memories 1: content: Field required"),
        (7, "memories 1: it is not an object"),
        ({**DIET, "quote": "I'm vegan"}, "memory 1: its quote is not in the turns that it cites"),
    ],
)
def test_reasons_are_one_line_and_name_the_field(bad, reason):
    memories, rejected = extracted(answer(bad))
    assert memories == []
    assert len(rejected) == 1
    assert rejected[0].startswith(reason)
    assert "\n" not in rejected[0]


def test_a_bad_value_of_a_field_that_may_be_null_costs_only_the_value():
    memories, rejected = extracted(answer({**DIET, "valid_from": "the other day", "time_phrase": None}))
    assert [(memory.content, memory.valid_from) for memory in memories] == [("Maya is vegetarian", None)]
    assert rejected[0].startswith("memories 1: kept without valid_from: Input should be a valid datetime")
    dated = extracted(answer({**DIET, "valid_from": "2026-03-01"}))[0]
    assert dated[0].valid_from == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "name", "kept"),
    [
        ({"confidence": "95%"}, "confidence", 0.95),
        ({"confidence": "0.6"}, "confidence", 0.6),
        ({"confidence": 95}, "confidence", 1.0),
        ({"confidence": "high"}, "confidence", 0.8),
        ({"confidence": -1}, "confidence", 0.8),
        ({"importance": [7]}, "importance", 0.5),
        ({"importance": 10**400}, "importance", 0.5),
        ({"kind": "Preference "}, "kind", "preference"),
        ({"kind": "rumour"}, "kind", "fact"),
        ({"kind": ["fact"]}, "kind", "fact"),
        ({"type": "user_info"}, "type", "fact"),
        ({"tags": "food"}, "tags", ["food"]),
        ({"tags": ["food", 7, ["x"], None]}, "tags", ["food"]),
        ({"tags": {"food": True}}, "tags", []),
        ({"content": ["Maya is vegetarian"]}, "content", "Maya is vegetarian"),
        ({"content": "Maya is vegetarian \ud83d"}, "content", "Maya is vegetarian "),
    ],
)
def test_what_stands_beside_the_content_in_another_form_is_read_or_gets_its_default(given, name, kept):
    memories, rejected = extracted(answer({**DIET, **given}))
    assert [getattr(memory, name) for memory in memories] == [kept]
    assert rejected == []


@pytest.mark.parametrize(
    ("given", "day"),
    [
        (2026, "2026-01-01"),
        ("2026", "2026-01-01"),
        ("2026-03", "2026-03-01"),
        (20260301, "2026-03-01"),
        ("20260301", "2026-03-01"),
        (1_772_323_200, "2026-03-01"),
    ],
)
def test_a_date_that_is_written_as_a_number_is_no_second_of_1970(given, day):
    memories, rejected = extracted(answer({**DIET, "valid_from": given}))
    assert [str(memory.valid_from)[:10] for memory in memories] == [day]
    assert rejected == []


@pytest.mark.parametrize("given", [3, "14", 202, 20261301, 0.5, True])
def test_a_small_number_is_no_date(given):
    memories, rejected = extracted(answer({**DIET, "valid_from": given}))
    assert [memory.valid_from for memory in memories] == [None]
    assert rejected[0].startswith("memories 1: kept without valid_from")


@pytest.mark.parametrize("refs", [2, "2", [2], "T2", ["turn 2"], "[t2]", [{"ref": "t2"}], {"turn": 2}, "t2, t9"])
def test_refs_are_read_however_they_are_written(refs):
    memories, rejected = extracted(answer({**DIET, "turns": refs}))
    assert [memory.turns for memory in memories] == [["t2"]]
    assert rejected == []


def test_a_turn_of_the_context_is_no_turn_of_the_range():
    assert extracted(answer({**DIET, "turns": "b2"}))[0] == []


LOCKER = talk("Hello. My locker code is 4711 and I am allergic to peanuts. Thanks!")


@pytest.mark.parametrize(
    "quote",
    [
        "My locker code is 4711 and I'm allergic to peanuts",
        "My locker code is ... allergic to peanuts",
        "**My locker code** is 4711",
        ["My locker code", "allergic to peanuts"],
    ],
)
def test_a_tidied_quote_becomes_the_sentence_that_it_quotes(quote):
    memories, rejected = extracted(answer({**BUDGET, "content": "Maya's locker code is 4711", "quote": quote}), LOCKER)
    assert [memory.quote for memory in memories] == ["My locker code is 4711 and I am allergic to peanuts"]
    assert rejected == []


@pytest.mark.parametrize(
    ("content", "quote", "said", "reason"),
    [
        (
            "Maya's locker code is 4712",
            "My locker code is ... 4712",
            "My locker code is 4711.",
            "its quote is not in the turns that it cites",
        ),
        (
            "Maya is allergic to peanuts",
            "I'm allergic to peanuts",
            "I am not allergic to peanuts.",
            "kept in the user's own words, because it leaves out a",
        ),
        ("Maya bought a boat", "I **bought** a boat", "Should I have bought a boat?", "it was asked, not stated"),
    ],
)
def test_a_tidied_quote_is_no_evidence_for_what_was_not_said(content, quote, said, reason):
    memories, rejected = extracted(answer({**BUDGET, "content": content, "quote": quote}), talk(said))
    assert [memory.content for memory in memories if content in memory.content] == []
    assert reason in rejected[0]


@pytest.mark.req("S3-10")
def test_not_worth_extracting_means_no_memories_and_is_assumed_otherwise():
    assert extracted('{"worth_extracting": false, "memories": []}') == ([], [])
    assert extracted(answer(BUDGET, worth_extracting=False))[0] == []
    assert len(extracted(json.dumps({"memories": [BUDGET]}))[0]) == 1


@pytest.mark.req("S0-048")
def test_the_bare_array_with_type_and_content_is_read_and_grounded_in_a_single_turn():
    text = "Hello! My budget for Hawaii is $10,000. What do you think?"
    memories, rejected = extracted('[{"type": "semantic", "content": "The Hawaii budget is $10,000"}]', talk(text))
    assert [(memory.type, memory.kind, memory.turns, memory.quote) for memory in memories] == [
        ("fact", "fact", ["t1"], "My budget for Hawaii is $10,000")
    ]
    assert rejected == []
    assert extracted("[]", talk(text)) == ([], [])


@pytest.mark.req("S3-11")
def test_the_object_with_memory_type_and_confidence_score_is_read():
    memory = {
        "content": "Maya is vegetarian",
        "memory_type": "preference",
        "confidence_score": 0.6,
        "metadata": {"a": 1},
    }
    memories, rejected = extracted(answer(memory), talk("I'm vegetarian."))
    assert [(found.type, found.kind, found.confidence) for found in memories] == [("fact", "preference", 0.6)]
    assert rejected == []
    del memory["confidence_score"]
    assert extracted(answer(memory), talk("I'm vegetarian."))[0][0].confidence == 0.8


def test_missing_refs_are_found_by_the_quote():
    again = talk("I'm vegetarian.", "Nice.", "As I said, I'm vegetarian.")
    memories, _ = extracted(answer({**DIET, "turns": []}), again)
    assert memories[0].turns == ["t3"]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"type": "semantic", "content": "Maya is vegetarian"}, "it cites no turn, and none can be found for it"),
        ({**DIET, "turns": None, "quote": "I'm vegan"}, "it cites no turn, and none can be found for it"),
        ({**DIET, "quote": None, "content": "Maya likes jazz"}, "it has no quote, and none can be found for it"),
    ],
)
def test_what_cannot_be_grounded_is_dropped(item, reason):
    assert extracted(answer(item)) == ([], [f"memories 1: {reason}"])


def test_a_cut_off_answer_keeps_its_whole_items_only():
    text = answer(BUDGET, DIET, PEANUTS)
    memories, rejected = extracted(text[: text.index("peanuts")])
    assert [memory.content for memory in memories] == [BUDGET["content"], DIET["content"]]
    assert rejected[0] == "the answer was cut off, and read up to there"
    assert len(rejected) == 2
    with pytest.raises(UnusableAnswer, match="its JSON is broken"):
        extracted(text[: text.index("peanuts")], salvage=False)


@given(st.integers(1, 900))
def test_wherever_an_answer_is_cut_no_half_memory_passes(length):
    text = answer(BUDGET, DIET, PEANUTS)
    whole = {memory["content"] for memory in (BUDGET, DIET, PEANUTS)}
    try:
        memories, _ = extracted(text[:length])
    except UnusableAnswer:
        return
    assert {memory.content for memory in memories} <= whole


@pytest.mark.parametrize("text", ['{"worth_extracting": true, "memories": [{"conte', '{"memories": [{"content": "Ma'])
def test_a_cut_off_answer_of_which_nothing_is_left_is_unusable(text: str):
    with pytest.raises(UnusableAnswer, match="cut off"):
        extracted(text)


def test_a_cut_off_answer_that_says_there_is_nothing_is_good():
    assert extracted('{"worth_extracting": false, "memories": [')[0] == []


def test_half_an_item_is_not_completed_from_the_input():
    cut = '{"memories": [{"content": "Maya has a budget of $10", "type": "fact'
    with pytest.raises(UnusableAnswer, match="cut off"):
        extracted(cut, talk("My budget is $10,000."))
    whole = json.dumps(DIET)
    budget = cut.replace("[", f"[{whole}, ", 1)
    assert [memory.content for memory in extracted(budget)[0]] == [DIET["content"]]


def test_broken_json_is_repaired_and_reported():
    text = answer(BUDGET).replace('"turns": ["t1"],', "turns: ['t1']")
    memories, rejected = extracted(text)
    assert [memory.content for memory in memories] == [BUDGET["content"]]
    assert rejected == ["the answer was broken JSON, and repaired"]


@pytest.mark.req("S0-050")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is no JSON in it"),
        ("I cannot help with that.", "there is no JSON in it"),
        ('{"error": "overloaded"}', "it has none of the fields"),
        ("{}", "it has none of the fields"),
        ('{"memories": "none"}', "memories is not a list"),
        ("[" * 100_000, "its JSON"),
    ],
)
def test_what_is_no_answer_is_unusable(text, reason):
    with pytest.raises(UnusableAnswer, match=reason):
        extracted(text)


def test_an_array_is_no_answer_to_a_task_with_two_lists():
    with pytest.raises(UnusableAnswer, match="array"):
        read_answer(RECONCILE, "[]", ReconcileInput(facts=[]))


def test_reconciliations_lose_bad_items_only():
    facts = [FactView(ref=f"f{n}", kind="fact", content=f"fact {n}", said_at=WHEN) for n in (1, 2)]
    clash = {"refs": ["f1", "f2"], "reason": "update"}
    text = json.dumps({"duplicates": [{"refs": ["f1"], "content": "x"}], "contradictions": [clash]})
    output, rejected = read_answer(RECONCILE, text, ReconcileInput(facts=facts))
    assert [pair.refs for pair in output.contradictions] == [["f1", "f2"]]
    assert output.duplicates == []
    assert rejected == ["duplicates 1: refs: List should have at least 2 items after validation, not 1"]


SUMMARY = {
    "topic": "Hawaii",
    "key_points": ["Maya flies in March 2027"],
    "decisions": [],
    "open_issues": ["Which island?"],
    "next_steps": [],
    "state": [{"key": "values", "value": [{"key": "budget", "value": "$10,000"}]}],
}
TURNS = SummarizeInput(earlier=SummaryView(topic="Hawaii", key_points=["Maya flies in March 2027"]), turns=TALK.turns)


def test_a_summarys_state_is_restored():
    output, rejected = read_answer(SUMMARIZE, json.dumps(SUMMARY), TURNS)
    assert output.state == {"values": {"budget": "$10,000"}}
    assert output.open_issues == ["Which island?"]
    assert rejected == []


def test_entries_that_are_not_text_leave_a_document():
    output, rejected = read_answer(SUMMARIZE, json.dumps({**SUMMARY, "key_points": ["a", {"b": 1}, "", " c "]}), TURNS)
    assert output.key_points == ["a", "c"]
    assert rejected == ["key_points: 2 entries that are not text"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"key_points": None}, "it lacks key_points"),
        ({"topic": ["Hawaii"]}, "it is not of the right shape: topic"),
        ({"topic": "", "key_points": [], "open_issues": []}, "it is empty, and what it replaces is not"),
    ],
)
def test_a_document_that_would_lose_something_is_unusable(change, reason):
    with pytest.raises(UnusableAnswer, match=reason):
        read_answer(SUMMARIZE, json.dumps({**SUMMARY, **change}), TURNS)


def test_a_document_that_was_cut_off_is_unusable():
    with pytest.raises(UnusableAnswer, match="cut off"):
        read_answer(SUMMARIZE, json.dumps(SUMMARY)[:-5], TURNS)


def test_a_profile_may_become_empty_only_when_something_is_gone():
    empty = json.dumps({name: [] for name in ProfileView.model_fields})
    earlier = ProfileView(personal=["Maya lives in Denver"])
    gone = [FactView(ref="f1", kind="fact", content="Maya lives in Denver", said_at=WHEN)]
    assert read_answer(PROFILE, empty, ProfileInput(earlier=earlier, facts=[], gone=gone))[0].personal == []
    with pytest.raises(UnusableAnswer, match="empty"):
        read_answer(PROFILE, empty, ProfileInput(earlier=earlier, facts=[]))


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text):
    try:
        parsed = parse_json(text)
    except UnusableAnswer:
        return
    assert isinstance(parsed.value, dict | list)


@pytest.mark.req("S0-048", "S3-10", "S3-52")
@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"type": "preference", "content": "User is vegetarian"}]),  # S0
        json.dumps([{"type": "semantic", "content": "User is vegetarian"}]),
        json.dumps({"worth_extracting": True, "memories": [{"content": "User is vegetarian", "memory_type": "fact"}]}),
        json.dumps({"memories": [{"content": "User is vegetarian", "confidence_score": 0.9, "metadata": {}}]}),  # S3
        json.dumps({"facts": ["User is vegetarian"]}),  # S4
        json.dumps({"facts": [{"fact": "User is vegetarian"}]}),
        json.dumps({"facts": [{"text": "User is vegetarian", "category": "preference", "source": "user"}]}),
        json.dumps(["User is vegetarian"]),
        json.dumps({"type": "fact", "content": "User is vegetarian"}),
        "Here you are:\n```json\n" + json.dumps([{"type": "fact", "content": "User is vegetarian"}]) + "\n```",
    ],
)
def test_an_extraction_is_read_in_every_shape_that_other_systems_ask_for(text: str):
    memories, rejected = extracted(text, talk("I'm vegetarian."))
    assert [(memory.type, memory.content, memory.quote, memory.turns) for memory in memories] == [
        ("fact", "User is vegetarian", "I'm vegetarian", ["t1"])
    ]
    assert rejected == []


@pytest.mark.req("S0-048", "S3-10", "S0-082")
@pytest.mark.parametrize("text", ["[]", '{"memories": []}', '{"worth_extracting": false}', '{"facts": []}'])
def test_nothing_is_a_good_answer_in_every_shape(text: str):
    assert extracted(text) == ([], [])


@pytest.mark.req("S0-048", "S0-050", "S3-10")
def test_nothing_that_is_cut_off_is_nothing_only_if_the_answer_says_so():
    assert extracted('{"worth_extracting": false, "mem') == ([], ["the answer was cut off, and read up to there"])
    with pytest.raises(UnusableAnswer, match="cut off"):
        extracted('{"worth_extracting": true, "memories": [')
