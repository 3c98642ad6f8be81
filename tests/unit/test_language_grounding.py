from datetime import UTC, datetime

import pytest

from agent_memory.language.grounding.ground import ground
from agent_memory.language.grounding.quotes import find_quote
from agent_memory.language.tasks import (
    Contradiction,
    Duplicates,
    ExtractedMemory,
    ExtractInput,
    ExtractOutput,
    FactView,
    ProfileInput,
    ProfileOutput,
    ReconcileInput,
    ReconcileOutput,
    SummarizeInput,
    SummarizeOutput,
    SummaryView,
    TurnView,
)

WHEN = datetime(2026, 3, 10, 9, tzinfo=UTC)


def turn(ref: str, role: str, content: str) -> TurnView:
    name = "Ines" if role == "user" else None
    return TurnView(ref=ref, role=role, name=name, content=content, created_at=WHEN)


TALK = ExtractInput(
    before=[turn("t1", "user", "I keep two goats.")],
    turns=[
        turn("t2", "user", "We’re flying to  Oslo\nnext March, “just the two of us”."),
        turn("t3", "agent", "You love snow, so Oslo suits you. Run npm build first, then docker push."),
        turn("t4", "user", "Make the budget 4,000 euros."),
        turn("t5", "system", "The user is on the premium plan."),
        turn("t6", "agent", "Noted: 4,000 euros."),
    ],
)


def memory(content: str = "Ines flies to Oslo in March 2027", quote: str = "flying to Oslo", turns=("t2",), **more):
    return ExtractedMemory(content=content, quote=quote, turns=list(turns), **more)


def kept(*memories: ExtractedMemory, data: ExtractInput = TALK):
    output, rejected = ground(ExtractOutput(memories=list(memories)), data)
    return output.memories, rejected


@pytest.mark.parametrize(
    ("quote", "verbatim"),
    [
        ("We're flying to Oslo next March", "We’re flying to  Oslo\nnext March"),
        ("FLYING TO OSLO", "flying to  Oslo"),
        ('"just the two of us".', "just the two of us"),
        ("  next March…", "next March"),
    ],
)
def test_a_quote_is_found_whatever_its_typography_and_kept_as_it_was_said(quote, verbatim):
    memories, rejected = kept(memory(quote=quote))
    assert [found.quote for found in memories] == [verbatim]
    assert rejected == []


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("a - b", "a — b", "a — b"),
        ("wait... no", "Wait… no!", "Wait… no"),
        ("cafe\u0301", "the CAFÉ", "CAFÉ"),
        ("1+1 (two)?", "is 1+1 (two)?", "1+1 (two)"),
        ("two goats", "three goats", None),
        ("...", "so...", None),
        ("", "anything", None),
    ],
)
def test_find_quote(quote, text, found):
    assert find_quote(quote, text) == found


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (memory(turns=["t9"]), "it cites no turn that may be a source"),
        (memory(quote="two goats", turns=["t1"]), "it cites no turn that may be a source"),
        (memory(quote="premium plan", turns=["t5"]), "it cites no turn that may be a source"),
        (memory(quote="flying to Rome"), "its quote is not in the turns that it cites"),
        (memory(turns=["t4"]), "its quote is not in the turns that it cites"),
        (memory(quote="You love snow", turns=["t2", "t3"]), "it is a fact that no user stated"),
    ],
)
def test_what_cannot_be_pointed_at_is_dropped_with_a_reason(item, reason):
    memories, rejected = kept(item, memory())
    assert [found.content for found in memories] == [memory().content]
    assert rejected == [f"memory 1: {reason}"]


MOVES = [
    turn("t1", "user", "I moved to Lisbon in March. Is it always so windy?"),
    turn("t2", "agent", "It is. You have two cats and a dog, so a house would suit you."),
    turn("t3", "user", "The rent is 900 euros a month."),
]
LISBON = ("Ines moved to Lisbon in March", "I moved to Lisbon in March")


@pytest.mark.parametrize("refs", [["turn-17"], ["t9", "t12"], ["t3"], ["t2"], ["t2", "t3"]])
def test_a_quote_that_no_cited_turn_has_finds_the_turn_that_has_it(refs):
    memories, rejected = kept(memory(*LISBON, turns=refs), data=ExtractInput(turns=MOVES))
    assert [(one.content, one.quote, one.turns) for one in memories] == [(*LISBON, ["t1"])]
    assert rejected == []


@pytest.mark.parametrize(
    ("content", "own"),
    [
        ("Ines moved to Lisbon in April", "Ines: I moved to Lisbon in March."),
        ("Ines never moved to Lisbon in March", "Ines: I moved to Lisbon in March."),
        ("Bob moved to Lisbon in March", "Ines: I moved to Lisbon in March."),
    ],
)
def test_what_its_turn_does_not_support_is_not_kept_either_if_the_quote_found_the_turn(content, own):
    memories, rejected = kept(memory(content, LISBON[1], ["t9"]), data=ExtractInput(turns=MOVES))
    assert ([one.turns for one in memories], len(rejected)) == ([["t1"]], 1)
    assert memories[0].content.startswith(own.rstrip("."))
    assert rejected[0].startswith("memory 1: kept in the user's own words")


def test_of_identical_turns_with_a_quote_the_newest_counts():
    data = ExtractInput(turns=[*MOVES, turn("t4", "user", MOVES[0].content), turn("t5", "agent", MOVES[0].content)])
    assert [one.turns for one in kept(memory(*LISBON, turns=["t9"]), data=data)[0]] == [["t4"]]


SOURCELESS = "it cites no turn that may be a source"


@pytest.mark.parametrize(
    ("item", "more"),
    [
        pytest.param(memory("Ines has two cats", "You have two cats and a dog", ["t9"]), [], id="the agent's words"),
        pytest.param(
            memory("How the house was found", "You have two cats and a dog", ["t9"], type="episodic"),
            [],
            id="the agent's words in an episode",
        ),
        pytest.param(
            memory("Ines has the premium plan", "The user has the premium plan", ["t9"]),
            [
                turn("t4", "system", "The user has the premium plan."),
                turn("t5", "tool", "The user has the premium plan"),
            ],
            id="words of a system and a tool",
        ),
        pytest.param(memory("Ines moved to Lisbon", "to Lisbon", ["t9"]), [], id="two words"),
        pytest.param(
            memory("Ines moved to Lisbon", "to Lisbon", ["t9"]),
            [turn(f"t{n}", "user", f"The {n}th flight to Lisbon was late.") for n in range(4, 9)],
            id="two words that many turns have",
        ),
        pytest.param(
            memory(*LISBON, turns=["t9"]),
            [turn("t4", "user", "Bob said: I moved to Lisbon in March.")],
            id="different turns",
        ),
        pytest.param(
            memory(*LISBON, turns=["t9"]),
            [turn("t4", "user", MOVES[0].content).model_copy(update={"name": "Bob"})],
            id="the same words of another user",
        ),
        pytest.param(memory("Ines moved to Lisbon", "I have moved on to Lisbon", ["t9"]), [], id="nobody's words"),
        pytest.param(memory("Ines keeps two goats", "I keep two goats", ["b1"]), [], id="an earlier turn"),
    ],
)
def test_a_quote_that_finds_no_single_turn_of_a_user_makes_no_memory(item, more):
    data = ExtractInput(before=[turn("b1", "user", "I keep two goats.")], turns=[*MOVES, *more])
    assert kept(item, data=data) == ([], [f"memory 1: {SOURCELESS}"])


def test_procedures_and_episodes_may_quote_an_agent():
    steps = memory(
        "To deploy: npm build, then docker push", "npm build first, then docker push", ["t3"], type="procedural"
    )
    assert [found.type for found in kept(steps)[0]] == ["procedural"]


def test_refs_are_put_in_order_and_an_agents_echo_does_not_settle_a_fact():
    found = kept(memory("The budget for Oslo is 4,000 euros", "4,000 euros", ["t6", "t4", "t2", "t99"]))[0]
    assert [item.turns for item in found] == [["t2", "t4"]]


def test_a_claim_made_twice_is_kept_once():
    memories, rejected = kept(memory(), memory(content="ines flies to  Oslo in March 2027"))
    assert (len(memories), rejected) == (1, ["memory 2: the answer has it already"])


def test_an_invented_time_phrase_and_a_span_that_ends_before_it_begins_are_taken_out():
    good = memory(time_phrase="next March", valid_from=WHEN)
    late = memory(
        "Ines flies soon", time_phrase="next April", valid_from=WHEN, valid_to=datetime(2025, 1, 1, tzinfo=UTC)
    )
    memories, _ = kept(good, late)
    assert [(found.time_phrase, found.valid_from) for found in memories] == [("next March", WHEN), (None, None)]


@pytest.mark.req("S3-10")
def test_nothing_is_kept_when_nothing_is_worth_it():
    output, rejected = ground(ExtractOutput(worth_extracting=False, memories=[memory()]), TALK)
    assert output.memories == []
    assert rejected == ["1 memories: the answer says that nothing is worth extracting"]


FACTS = ReconcileInput(
    facts=[
        FactView(ref=ref, kind="fact", content=content, said_at=WHEN)
        for ref, content in [
            ("f1", "The budget for Oslo is 4,000 euros"),
            ("f2", "Oslo may cost €4000"),
            ("f3", "The budget for Oslo is 3,000 euros"),
            ("f4", "Ines keeps goats"),
            ("f5", "Ines has goats"),
        ]
    ]
)


def same(*refs: str, content: str = "The budget for Oslo is 4,000 euros") -> Duplicates:
    return Duplicates(refs=list(refs), content=content)


def clash(first: str, second: str, reason: str = "update") -> Contradiction:
    return Contradiction(refs=[first, second], reason=reason)


def found(duplicates=(), contradictions=()):
    output, rejected = ground(ReconcileOutput(duplicates=list(duplicates), contradictions=list(contradictions)), FACTS)
    return [group.refs for group in output.duplicates], [pair.refs for pair in output.contradictions], rejected


@pytest.mark.req("S1-32")
def test_duplicates_and_contradictions_are_taken_from_one_answer():
    groups, pairs, rejected = found([same("f1", "f2")], [clash("f1", "f3")])
    assert (groups, pairs, rejected) == ([["f1", "f2"]], [["f1", "f3"]], [])


@pytest.mark.parametrize(
    ("duplicates", "contradictions", "left", "reason"),
    [
        ([same("f1", "f9")], [], ([], []), "duplicates 1: it names fewer than two facts that exist"),
        ([same("f1", "f1")], [], ([], []), "duplicates 1: it names fewer than two facts that exist"),
        ([same("f1", "f2"), same("f2", "f5")], [], ([["f1", "f2"]], []), "duplicates 2: f2 is in an earlier group"),
        ([same("f4", "f5", content="Ines has 7 goats")], [], ([], []), "duplicates 1: its sentence has a figure"),
        ([], [clash("f1", "f9")], ([], []), "contradiction 1: it names a fact that does not exist"),
        ([], [clash("f1", "f1")], ([], []), "contradiction 1: both sides are the same fact"),
        ([], [clash("f4", "f5", "duplicate")], ([], []), "contradiction 1: a duplicate is not a contradiction"),
        (
            [],
            [clash("f1", "f3"), clash("f3", "f1")],
            ([], [["f1", "f3"]]),
            "contradiction 2: the answer has it already",
        ),
        ([same("f1", "f2")], [clash("f2", "f1")], ([], []), "f1 and f2: called duplicates and a contradiction at once"),
    ],
)
def test_findings_that_do_not_hold_are_dropped_with_a_reason(duplicates, contradictions, left, reason):
    groups, pairs, rejected = found(duplicates, contradictions)
    assert (groups, pairs) == left
    assert len(rejected) == 1
    assert rejected[0].startswith(reason)


def test_unknown_refs_leave_a_group_that_still_stands():
    assert found([same("f1", "f9", "f2", "f1")])[0] == [["f1", "f2"]]


def test_other_tasks_pass_unchanged():
    output = ProfileOutput(personal=["Ines keeps goats"])
    assert ground(output, ProfileInput(facts=[])) == (output, [])


def test_a_memory_whose_content_nobody_said_gets_the_words_that_were_said():
    memories, rejected = kept(memory("Ines has a budget of 40,000 euros", "Make the budget 4,000 euros", turns=("t4",)))
    assert [(one.content, one.confidence) for one in memories] == [("Ines: Make the budget 4,000 euros.", 0.5)]
    assert rejected == ["memory 1: kept in the user's own words, because nobody said 40000"]


def test_a_summary_loses_the_lines_that_nothing_it_was_made_of_says():
    earlier = SummaryView(topic="trip", key_points=["Ines takes 2 suitcases"])
    output = SummarizeOutput(
        topic="trip",
        key_points=["Ines takes 2 suitcases", "The budget is 4,000 euros", "The hotel costs 950 euros"],
        next_steps=["Ask Ludwig"],
        state={"budget": "4,000", "hotel": 950},
    )
    grounded, rejected = ground(output, SummarizeInput(earlier=earlier, turns=TALK.turns))
    assert grounded.key_points == ["Ines takes 2 suitcases", "The budget is 4,000 euros"]
    assert (grounded.next_steps, grounded.state) == ([], {"budget": "4,000"})
    assert rejected == ["key_points: nobody said 950", "next_steps: nobody said Ludwig", "state: nobody said 950"]


def test_a_profile_loses_the_lines_that_no_fact_says():
    facts = [FactView(ref="f1", kind="fact", content="Ines lives in Oslo", said_at=WHEN)]
    output = ProfileOutput(personal=["Ines lives in Oslo", "Ines lives in Bergen"])
    grounded, rejected = ground(output, ProfileInput(facts=facts))
    assert (grounded.personal, rejected) == (["Ines lives in Oslo"], ["personal: nobody said Bergen"])


def test_duplicates_whose_sentence_turns_them_round_are_dropped():
    facts = [
        FactView(ref="f1", kind="fact", content="Ines eats fish", said_at=WHEN),
        FactView(ref="f2", kind="fact", content="Ines likes to eat fish", said_at=WHEN),
    ]
    output = ReconcileOutput(duplicates=[Duplicates(refs=["f1", "f2"], content="Ines does not eat fish")])
    grounded, rejected = ground(output, ReconcileInput(facts=facts))
    assert (grounded.duplicates, rejected) == ([], ['duplicates 1: nobody said "not"'])


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        (
            "Summarise this review: 'Best app ever. I use it in my shop in Lyon every day.'",
            "I use it in my shop in Lyon",
        ),
        ("Proofread: I have been a nurse for nine years.", "I have been a nurse for nine years"),
    ],
)
def test_words_of_a_text_at_hand_are_nobodys_own_words(said: str, quote: str):
    memories, rejected = kept(
        memory("Ines lives in Paris", quote, ["t1"]), data=ExtractInput(turns=[turn("t1", "user", said)])
    )
    assert (memories, rejected) == ([], ["memory 1: nobody said Paris"])


def test_a_text_of_the_users_own_may_tell_of_them():
    said = "Proofread my letter: I have been a nurse for nine years."
    data = ExtractInput(turns=[turn("t1", "user", said)])
    memories, rejected = kept(
        memory("Ines has been a nurse for nine years", "a nurse for nine years", ["t1"]), data=data
    )
    assert ([one.content for one in memories], rejected) == (["Ines has been a nurse for nine years"], [])
