"""What an agent answered to a turn that is forgotten: its echo goes with it, and other answers stay."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from store_scan import scan

from agent_memory import AsyncMemory
from agent_memory.language.defaults import default_embeddings
from agent_memory.text import figures
from agent_memory.text.likeness import Likeness, cosine, telling_part

ANSWERS = Path(__file__).parents[1] / "data" / "answers.jsonl"
SPRING = datetime(2026, 3, 1, 12, tzinfo=UTC)
INTERVIEW = "I have a job interview at Fabrikam on Friday."
SALARY = "My salary at Contoso is 84500."

ECHOES = [
    ("the Fabrikam interview", INTERVIEW, "Got it: Fabrikam."),
    ("the Fabrikam interview", INTERVIEW, "Good luck! They say Fabrikam asks about algorithms."),
    ("my job hunt", INTERVIEW, "Good luck! They say that Fabrikam asks about algorithms."),
    ("my skin", "I was diagnosed with psoriasis last month.", "Psoriasis can be treated well. Shall I look it up?"),
    ("my locker", "The locker code is 9-0-2-1-0-7.", "902107, I have it."),
    ("my evenings", "I started playing the cello.", "Which cello pieces do you play?"),
    (
        "the Fabrikam interview",
        INTERVIEW,
        "Great! For Fabrikam prepare algorithms, and a few tales of your last project.",
    ),
    ("salary", SALARY, "Contoso it is, thanks."),
    ("salary", SALARY, "A salary like that is well above the average for data engineers in Lisbon."),
    ("Allergie", "Ich habe eine Allergie gegen Nüsse.", "Notiert: keine Nüsse."),
]
OTHERS = [
    ("the Fabrikam interview", INTERVIEW, "The weather should stay dry on Friday."),
    ("the Fabrikam interview", INTERVIEW, "Here is the function that you asked for: def area(w, h): return w * h"),
    ("my skin", "I was diagnosed with psoriasis last month.", "I have put milk and bread on the list."),
    ("my locker", "The locker code is 9-0-2-1-0-7.", "Sure. The train to Graz takes three hours."),
    ("my evenings", "I started playing the cello.", "Your next meeting is at ten."),
    ("salary", SALARY, "Thanks. By the way, the Contoso office in Porto opens at nine on Mondays."),
    ("salary", SALARY, "The Contoso canteen serves vegetarian dishes every day this week."),
    ("my pet", "We adopted a beagle named Marisol in Porto.", "The Porto museum closes at six, and the ferry is late."),
    (
        "my budget for the trip",
        "My budget for the trip is 2000 dollars.",
        "The weather on your trip will be sunny: pack hats.",
    ),
]


async def taken_up(topic: str, said: str, answer: str) -> bool:
    embeddings = default_embeddings()
    part = telling_part(answer, f"{said} {topic}")
    one, other = (await embeddings.embed([said, part])).vectors
    return Likeness.of(embeddings.model_id).takes_up(topic, said, part, cosine(one, other))


async def test_an_answer_that_repeats_the_talk_is_distinguished_from_one_that_does_not():
    assert [case for case in ECHOES if not await taken_up(*case)] == []
    assert [case for case in OTHERS if await taken_up(*case)] == []


async def test_answers_in_six_languages_are_distinguished():
    """58 pairs, of which the rule was chosen by 22; with one cosine for all languages 45 were told apart."""
    rows = [json.loads(line) for line in ANSWERS.read_text("utf-8").splitlines()]
    wrong = [row for row in rows if await taken_up(row["topic"], row["said"], row["answer"]) is not row["goes"]]
    assert wrong == []


@pytest.mark.req("S0-064")
async def test_the_echo_of_what_is_forgotten_goes_and_other_answers_stay(memory: AsyncMemory):
    lines = [
        ("user", f"{INTERVIEW} And what's the weather like in Graz?", "u1"),
        ("tool", "Fabrikam: 300 employees", "a1"),
        ("assistant", "In Graz it rains all day.", "a2"),
        ("system", "Fabrikam must not be told about others.", "s1"),
        ("user", "fact: pet=a parrot", "u2"),
        ("assistant", "Fabrikam would like parrots.", "a3"),
    ]
    await (
        memory.user("alice")
        .thread("t1")
        .add_many(
            [
                {"role": role, "content": content, "id": turn_id, "created_at": SPRING + timedelta(seconds=number)}
                for number, (role, content, turn_id) in enumerate(lines)
            ]
        )
    )
    await memory.drain(timeout=30)
    alice = memory.user("alice")
    dry = await alice.forget(query="job interview", dry_run=True)
    (echo,) = [item for item in dry.items if item.id == "a1"]
    assert (echo.why, echo.content) == ("an answer that repeats what is deleted", "Fabrikam: 300 employees")
    receipt = await alice.forget(query="job interview")
    assert receipt.deleted["turn"] == ["a1", "u1"]
    assert [turn.id for turn in await alice.thread("t1").turns()] == ["a2", "s1", "u2", "a3"]
    assert await scan(memory, "300 employees") == []


async def test_answers_outside_of_the_place_and_to_talk_that_is_right_stay(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("t1").add_many(
        [
            {"role": "user", "content": INTERVIEW, "id": "u1", "created_at": SPRING},
            {"role": "assistant", "content": "Got it: Fabrikam.", "id": "a1", "created_at": SPRING + timedelta(1)},
        ]
    )
    early = await alice.forget(query="job interview", until=SPRING, dry_run=True)
    assert early.deleted["turn"] == ["u1"]
    derived = await alice.forget(query="job interview", include_sources=False, dry_run=True)
    assert "turn" not in derived.deleted


async def test_a_long_turn_is_read_for_figures_a_few_times_only(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    """Not once for each of its chunks, whose number grows with its length."""
    read: list[str] = []

    def seen(run: str, code_in: Callable[[str], str | None] = figures._code_in) -> str | None:
        read.append(run)
        return code_in(run)

    monkeypatch.setattr(figures, "_code_in", seen)
    user = memory.user("alice")
    said = "Apple pie with cream tastes of home. " * 500
    await user.thread("t").add("user", said)
    await user.thread("t").process("index")
    read.clear()
    receipt = await user.forget(query="apple pie", dry_run=True)
    assert receipt.items
    assert len(read) < 6 * len(said.split())
