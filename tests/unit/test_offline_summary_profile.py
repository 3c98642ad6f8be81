"""Summaries and profiles made by rules: merged, bounded, and without what no longer holds."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from agent_memory.language.offline import reconcile
from agent_memory.language.offline.profile import MOST, profile
from agent_memory.language.offline.reconcile import Statement
from agent_memory.language.offline.summarize import MOST_POINTS, summarize
from agent_memory.language.tasks import (
    FactView,
    ProfileInput,
    ProfileView,
    SummarizeInput,
    SummarizeOutput,
    SummaryView,
    TurnView,
)

WHEN = datetime(2026, 5, 8, 10, tzinfo=UTC)

TALK = [
    ("user", "Hi! I'm planning a trip to Hawaii with my wife next March."),
    ("agent", "Lovely! What can you spend?"),
    ("user", "My budget for the Hawaii trip is $10,000. I'm allergic to peanuts."),
    ("agent", "Flights from Denver start at $890 per person in March."),
    ("user", "Do we need a visa for the islands?"),
    ("agent", "No, Hawaii is part of the United States."),
    ("user", "I still need to ask my boss about the dates."),
    ("user", "We decided to stay on Kauai."),
    ("agent", "Good choice."),
    ("user", "The budget for the Hawaii trip is now $15,000."),
    ("user", "I'll book the flights next week."),
    ("user", "Which hotel near Poipu has a pool?"),
]


def turns(rows: list[tuple[str, str]] = TALK, start: int = 0) -> list[TurnView]:
    return [
        TurnView(ref=f"t{at}", role=role, content=content, created_at=WHEN + timedelta(minutes=start + at))
        for at, (role, content) in enumerate(rows)
    ]


def earlier(output: SummarizeOutput) -> SummaryView:
    return SummaryView(**output.model_dump(exclude={"state"}))


@pytest.mark.req("S1-09")
def test_a_summary_has_topic_points_decisions_open_issues_and_next_steps() -> None:
    summary = summarize(SummarizeInput(turns=turns()))
    assert "Hawaii" in summary.topic
    assert "I'm allergic to peanuts." in summary.key_points
    assert summary.decisions == ["We decided to stay on Kauai."]
    assert summary.open_issues == [
        "I still need to ask my boss about the dates.",
        "Which hotel near Poipu has a pool?",
    ]
    assert summary.next_steps == ["I'll book the flights next week (week of 11 May 2026)."]


@pytest.mark.req("S0-096")
def test_state_is_data_with_the_latest_values() -> None:
    state = summarize(SummarizeInput(turns=turns())).state
    assert json.loads(json.dumps(state)) == state
    assert set(state) == {"topic", "values", "decisions", "open"}
    assert "$15,000" in state["values"].values()
    assert "$10,000" not in state["values"].values()


@pytest.mark.req("S0-096")
def test_the_state_of_the_example() -> None:
    rows = [
        ("user", "We're planning a Hawaii vacation."),
        ("agent", "Lovely! What is your budget?"),
        ("user", "The budget is $10K."),
        ("agent", "Direct or with a stop?"),
        ("user", "We decided to fly direct. Which hotel?"),
    ]
    state = summarize(SummarizeInput(turns=turns(rows))).state
    assert state == {
        "topic": "Hawaii vacation",
        "values": {"budget": "$10K"},
        "decisions": ["We decided to fly direct."],
        "open": ["Which hotel?"],
    }
    settled = [*rows, ("user", "We booked the hotel in Lahaina.")]
    assert summarize(SummarizeInput(turns=turns(settled))).state["open"] == []
    vague = summarize(SummarizeInput(turns=turns([*rows, ("user", "Which one? Why?")])))
    assert vague.state["open"] == ["Which hotel?"]


@pytest.mark.req("S0-096")
def test_a_value_of_the_state_has_its_hour() -> None:
    summary = summarize(SummarizeInput(turns=turns([("user", "My meeting with Ann is on 20 May at 11:30.")])))
    assert list(summary.state["values"].values()) == ["20 May 2026, 11:30"]


@pytest.mark.req("S1-09")
@pytest.mark.parametrize("line", ["I must not deploy on Fridays.", "I won't book the flights before June."])
def test_what_somebody_will_not_do_is_no_next_step(line: str) -> None:
    assert summarize(SummarizeInput(turns=turns([("user", line)]))).next_steps == []


def test_what_was_replaced_leaves_the_points() -> None:
    points = summarize(SummarizeInput(turns=turns())).key_points
    assert any("$15,000" in point for point in points)
    assert not any("$10,000" in point for point in points)


def test_what_an_agent_said_is_marked_as_its() -> None:
    points = summarize(SummarizeInput(turns=turns())).key_points
    assert "Assistant: Flights from Denver start at $890 per person in March." in points


def test_a_long_answer_is_an_answer_and_gives_points() -> None:
    answer = " ".join(
        f"The gate of the town of Brzeg{n} dates from {1200 + n} and its council pays for the repairs by law each year."
        for n in range(30)
    )
    talk = turns([("user", "Who pays for the gates of the towns?"), ("agent", answer)])
    output = summarize(SummarizeInput(turns=talk))
    assert output.open_issues == []
    assert any(point.startswith("Assistant: The gate of the town") for point in output.key_points)


def test_marks_of_emphasis_are_left_out_of_what_an_agent_said() -> None:
    talk = turns([("user", "How do I keep cookies?"), ("agent", "**Fridge**: they are good for 10 days in a tin.")])
    assert "Assistant: Fridge: they are good for 10 days in a tin." in summarize(SummarizeInput(turns=talk)).key_points


@pytest.mark.req("S1-11")
@pytest.mark.parametrize("cut", range(1, len(TALK)))
def test_merging_in_two_steps_gives_what_one_step_gives(cut: int) -> None:
    at_once = summarize(SummarizeInput(turns=turns()))
    first = summarize(SummarizeInput(turns=turns()[:cut]))
    merged = summarize(SummarizeInput(earlier=earlier(first), turns=turns()[cut:]))
    assert merged.decisions == at_once.decisions
    assert merged.next_steps == at_once.next_steps
    assert merged.open_issues == at_once.open_issues
    assert set(merged.key_points) == set(at_once.key_points)
    assert merged.state["values"] == at_once.state["values"]


def test_an_answer_that_comes_with_the_next_turns_closes_the_question() -> None:
    first = summarize(SummarizeInput(turns=turns([("user", "Which form do I need for remote work?")])))
    assert len(first.open_issues) == 1
    reply = turns([("agent", "You need form HR-101.")], start=10)
    assert summarize(SummarizeInput(earlier=earlier(first), turns=reply)).open_issues == []


def test_what_was_to_be_done_leaves_when_it_is_done() -> None:
    first = summarize(SummarizeInput(turns=turns([("user", "I still need to submit the travel form.")])))
    done = turns([("user", "I submitted the travel form this morning.")], start=10)
    assert first.open_issues == ["I still need to submit the travel form."]
    assert summarize(SummarizeInput(earlier=earlier(first), turns=done)).open_issues == []


def test_points_are_bounded_and_nothing_is_said_twice() -> None:
    rows = [("user", f"My cousin Ana{n} works at Company{n}.") for n in range(20)] * 2
    points = summarize(SummarizeInput(turns=turns(rows))).key_points
    assert len(points) == len(set(points)) == MOST_POINTS
    assert points[-1] == "My cousin Ana19 works at Company19."


def test_of_many_lines_before_only_some_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is compared with all others. A file of 36 kB with 3,000 points kept a processor busy for minutes."""
    read: list[str] = []

    def counted(fact: FactView) -> Statement:
        read.append(fact.content)
        return reconcile.read(fact)

    monkeypatch.setattr("agent_memory.language.offline.summarize.read", counted)
    monkeypatch.setattr("agent_memory.language.offline.profile.read", counted)
    many = [f"The box {number} is here." for number in range(3000)]
    told = summarize(SummarizeInput(earlier=SummaryView(key_points=many, decisions=many), turns=turns()))
    assert "The budget for the Hawaii trip is now $15,000." in told.key_points
    assert 200 < len(read) < 300
    read.clear()
    known = FactView(ref="f", kind="fact", content="I live in Oslo", said_at=WHEN)
    assert "I live in Oslo" in str(profile(ProfileInput(earlier=ProfileView(personal=many), facts=[known])))
    assert 100 < len(read) < 110


def test_a_merge_of_nothing_changes_nothing() -> None:
    first = summarize(SummarizeInput(turns=turns()))
    assert earlier(summarize(SummarizeInput(earlier=earlier(first), turns=[]))) == earlier(first)


def test_a_summary_without_a_named_topic_says_how_the_talk_was_opened() -> None:
    rows = [("user", "Hi!"), ("user", "Thanks, my order 88213 never arrived."), ("agent", "I'm sorry.")]
    assert summarize(SummarizeInput(turns=turns(rows))).topic == "my order 88213 never arrived"
    german = [("user", "Ich brauche Hilfe bei meinem Umzug nach Leipzig.")]
    assert "Umzug nach Leipzig" in summarize(SummarizeInput(turns=turns(german))).topic


@pytest.mark.parametrize(
    ("opened", "topic"),
    [
        ("你好!我对花生过敏,吃了会呼吸困难。", "我对花生过敏,吃了会呼吸困难"),
        ("こんにちは。娘の名前はさくらです。", "娘の名前はさくらです"),
        ("안녕하세요! 사무실을 부산으로 옮겼어요.", "사무실을 부산으로 옮겼어요"),
    ],
)
def test_a_script_without_spaces_opens_a_talk_too(opened: str, topic: str) -> None:
    assert topic in summarize(SummarizeInput(turns=turns([("user", opened)]))).topic


@pytest.mark.parametrize(
    ("opened", "topic"),
    [
        ("Hey Kate. How are you? I tried your tips for curly hair.", "I tried your tips for curly hair"),
        ("Good evening, Kevin! What have you been doing all day?", "I hiked up the Brocken with Lena"),
        ("Guten Morgen, liebe Frau Weber! Ich suche eine Wohnung in Halle.", "Ich suche eine Wohnung in Halle"),
        ("Buenos días. ¿Qué tal? Busco piso en Sevilla.", "Busco piso en Sevilla"),
        ("Budget? Lisbon. In June.", "Budget? Lisbon. In June"),
        ("Hi, my order 88213 never arrived.", "my order 88213 never arrived"),
    ],
)
def test_no_greeting_is_the_topic_of_a_talk(opened: str, topic: str) -> None:
    follows = "I hiked up the Brocken with Lena." if "Kevin" in opened else "Fine."
    assert summarize(SummarizeInput(turns=turns([("user", opened), ("user", follows)]))).topic == topic


def test_a_line_is_shown_in_one_place() -> None:
    rows = [("user", "We decided to stay on Kauai."), ("user", "I'll call the hotel on Friday.")]
    summary = summarize(SummarizeInput(turns=turns(rows)))
    assert (len(summary.decisions), len(summary.next_steps), summary.key_points) == (1, 1, [])


def test_what_is_put_off_or_promised_is_open() -> None:
    rows = [
        ("user", "- Decision postponed: warehouse in Gent or Antwerp\n- Radu to send the contract draft by 20 March"),
        ("user", "What about the 15 euros shipping that I paid?"),
        ("agent", "I will check with my team."),
    ]
    summary = summarize(SummarizeInput(turns=turns(rows)))
    assert summary.decisions == []
    assert summary.open_issues == [
        "Decision postponed: warehouse in Gent or Antwerp",
        "What about the 15 euros shipping that I paid?",
    ]
    assert summary.next_steps == ["Radu to send the contract draft by 20 March"]


def test_what_is_said_in_another_language_is_quoted_where_it_has_figures() -> None:
    rows = [("user", "Wir nehmen Umzug Krause, die machen das für 1.400 Euro. Das finde ich sehr nett von euch.")]
    assert summarize(SummarizeInput(turns=turns(rows))).key_points == [
        "Wir nehmen Umzug Krause, die machen das für 1.400 Euro."
    ]


# ---------------------------------------------------------------------------------------------------- profile


def fact(content: str, day: int = 1, kind: str = "fact") -> FactView:
    return FactView(ref=f"f{day}", kind=kind, content=content, said_at=WHEN + timedelta(days=day))


@pytest.mark.req("S1-14")
@pytest.mark.parametrize(
    ("content", "kind", "section"),
    [
        ("I prefer aisle seats.", "preference", "preferences"),
        ("I love jazz.", "preference", "preferences"),
        ("I work at Nuvela as a data engineer.", "fact", "current_work"),
        ("I'm preparing a conference talk.", "context", "current_work"),
        ("We deploy payment-service with Helm.", "fact", "environment"),
        ("My laptop is an old ThinkPad.", "fact", "environment"),
        ("I'm allergic to peanuts.", "fact", "constraints"),
        ("The hotel must have a ramp.", "requirement", "constraints"),
        ("My budget for Hawaii is $15,000.", "fact", "constraints"),
        ("My sister lives in Oslo.", "fact", "personal"),
        ("I grew up in Phoenix.", "fact", "personal"),
        ("I teach maths at a school in Kassel.", "fact", "personal"),
        ("I play bass in a band, we rehearse on wednesdays", "fact", "personal"),
        ("My birthday is on 3 May.", "fact", "personal"),
        ("Name: Priya Raman", "fact", "personal"),
        ("I've had diabetes since 2019.", "fact", "constraints"),
    ],
)
def test_facts_are_sorted_by_what_they_are_about(content: str, kind: str, section: str) -> None:
    output = profile(ProfileInput(facts=[fact(content, kind=kind)]))
    assert {name: lines for name, lines in output.model_dump().items() if lines} == {section: [content]}


@pytest.mark.req("S1-16")
def test_new_facts_are_merged_before_what_was_there() -> None:
    before = ProfileView(personal=["I grew up in Phoenix."], preferences=["I love jazz."])
    output = profile(ProfileInput(earlier=before, facts=[fact("My sister lives in Oslo.")]))
    assert output.personal == ["My sister lives in Oslo.", "I grew up in Phoenix."]
    assert output.preferences == ["I love jazz."]


def test_what_is_gone_leaves_in_whatever_words_it_was_written() -> None:
    before = ProfileView(
        constraints=["The Hawaii budget is $10k", "I'm allergic to nuts."], personal=["I live in Lisbon."]
    )
    gone = [fact("My budget for Hawaii is $10,000."), fact("I'm living in Lisbon", 2)]
    output = profile(ProfileInput(earlier=before, facts=[fact("I live in Porto.", 3)], gone=gone))
    assert output.constraints == ["I'm allergic to nuts."]
    assert output.personal == ["I live in Porto."]


def test_a_newer_fact_pushes_out_the_line_that_it_replaces() -> None:
    before = ProfileView(personal=["I live in Lisbon."])
    assert profile(ProfileInput(earlier=before, facts=[fact("I moved to Porto.")])).personal == ["I moved to Porto."]


def test_sections_are_newest_first_bounded_and_without_repeats() -> None:
    facts = [fact(f"My cousin Ana{n} lives in Town{n}.", n) for n in range(20)]
    lines = profile(ProfileInput(facts=[*facts, fact("My cousin Ana19 lives in Town19", 19)])).personal
    assert len(lines) == MOST
    assert lines[0].startswith("My cousin Ana19")
    assert lines[1].startswith("My cousin Ana18")


@pytest.mark.parametrize(
    "passing",
    [
        "We had a picnic last week.",
        "I watched a film about bees on Sunday.",
        "I agree completely.",
        "It was great fun.",
        "My order 88213 never arrived.",
        "Offer is €21,400 for the Vaillant.",
        "The rollout is planned for the 14th of April.",
        "I've tested the endpoint with a 201 status.",
        "Femke leads the supplier selection.",
        "Attendees: Radu, Femke, me.",
        "I'm looking for something convenient on the way to my job.",
        "I'm interested in learning more about beekeeping.",
        "I'm looking for some new vegan recipes to try out.",
        "I'd love to camp near the lake.",
    ],
)
def test_events_and_passing_states_are_no_part_of_a_profile(passing: str) -> None:
    output = profile(ProfileInput(facts=[fact(passing), fact("I'm allergic to peanuts.")]))
    assert [line for lines in output.model_dump().values() for line in lines] == ["I'm allergic to peanuts."]


@pytest.mark.parametrize(
    "lasting",
    [
        "I'm looking for recipes, I'm lactose intolerant.",
        "I run a shop for curious kids in Lyon.",
        "I'm a curious person and love museums.",
        "I work for a firm that is looking for water in Chad.",
    ],
)
def test_what_only_tells_of_a_search_too_is_part_of_a_profile(lasting: str) -> None:
    kind = "preference" if "love" in lasting else "fact"
    lines = profile(ProfileInput(facts=[fact(lasting, kind=kind)])).model_dump().values()
    assert [line for section in lines for line in section] == [lasting]


def test_a_line_that_is_the_beginning_of_another_is_left_out() -> None:
    facts = [fact("I teach pottery at the mill", 2), fact("I teach pottery at the mill of the Kos school.", 1)]
    lines = profile(ProfileInput(facts=facts)).model_dump().values()
    assert [line for section in lines for line in section] == ["I teach pottery at the mill of the Kos school."]


def test_how_old_somebody_is_stands_first() -> None:
    later = [fact(f"My cousin Ana{n} lives in Torun.", n) for n in range(2, 9)]
    lines = profile(ProfileInput(facts=[fact("I'm 32, so I'm in my thirties."), *later])).personal
    assert lines[0].startswith("I'm 32")


def test_lines_about_who_the_user_is_outlast_newer_lines() -> None:
    facts = [fact("I'm allergic to peanuts."), fact("My name is Lena.", 1)]
    newer = [fact(f"I play game {n} in club {n}.", n) for n in range(2, 20)]
    newer += [fact(f"The report must have {n} pages.", n, "requirement") for n in range(20, 40)]
    output = profile(ProfileInput(facts=[*facts, *newer]))
    assert (output.personal[0], output.constraints[0]) == ("My name is Lena.", "I'm allergic to peanuts.")


def test_a_tale_that_mentions_health_does_not_stand_before_who_is_ill() -> None:
    told = (
        "The queue at the bakery on Mill Street is so long on Saturdays that my asthma has time to come, go and return."
    )
    facts = [fact("I'm allergic to wasps.", 1), *(fact(told.replace("Mill", f"Mill {n}"), 10 + n) for n in range(6))]
    facts += [fact("We have more time than my anxiety says.", 20), fact("I have severe anxiety.", 2)]
    output = profile(ProfileInput(facts=facts))
    assert output.constraints[0] == "I'm allergic to wasps."
    assert output.personal[0] == "I have severe anxiety."


@pytest.mark.parametrize(
    "text",
    [
        "I work as a senior data engineer at the Danish Meteorological Institute in Copenhagen, where I look after the "
        "pipelines for radar data, which run on Kubernetes and Airflow.",
        "I take 20 mg of atorvastatin every evening and 5 mg of ramipril every morning, and my next blood test is with "
        "the doctor at the Karolinum, who knows my whole history very well.",
    ],
)
def test_who_somebody_is_and_what_they_take_stays_at_whatever_length(text: str) -> None:
    assert any(profile(ProfileInput(facts=[fact(text)])).model_dump().values())


def test_a_long_tale_and_what_is_over_in_an_hour_are_no_lines() -> None:
    tale = "My neighbour Olek has a printer that " + "jams and hums and " * 8 + "nobody knows why."
    assert not any(profile(ProfileInput(facts=[fact(tale)])).model_dump().values())
    assert not any(profile(ProfileInput(facts=[fact("I am moving the server for an hour.")])).model_dump().values())


def test_a_subject_has_one_line_with_its_newest_value() -> None:
    facts = [fact("My budget for Hawaii is $10,000.", 1), fact("My budget for Hawaii is $15,000.", 2)]
    lines = [line for lines in profile(ProfileInput(facts=facts)).model_dump().values() for line in lines]
    assert lines == ["My budget for Hawaii is $15,000."]


def test_a_day_without_a_month_takes_that_of_the_talk_before() -> None:
    talk = [
        ("user", "When do I come again?"),
        ("agent", "Your next appointment is 14 January at 9:20."),
        ("user", "I won't drive that day. I will have my cataract operation on the 12th."),
    ]
    assert "on the 12th (12 January 2027)" in summarize(SummarizeInput(turns=turns(talk))).next_steps[-1]


def test_the_state_has_values_with_plain_names_only() -> None:
    said = [
        ("user", "My novel's at 41,000 words."),
        ("user", "So we're 9 staff."),
        ("user", "My budget is $10,000."),
        ("user", "Soy celíaca, por eso todo va a ser sin gluten."),
    ]
    output = summarize(SummarizeInput(turns=turns(said)))
    assert output.state["values"] == {"budget": "$10,000"}
    assert output.open_issues == []


@pytest.mark.parametrize("asked", ["Physio says no running for two weeks.", "Keep your answers short for now."])
def test_what_is_asked_for_a_time_is_no_part_of_a_profile(asked: str) -> None:
    data = ProfileInput(facts=[fact(asked, kind="requirement"), fact("Keep your answers polite.", 2, "requirement")])
    assert profile(data).constraints == ["Keep your answers polite."]
