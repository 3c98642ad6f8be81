"""What was said in a stretch of time is found by its time alone."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.models import now
from agent_memory.recall import timed
from agent_memory.recall.dates import with_english_times
from agent_memory.recall.timed import conversation_asked_for, times_asked_for
from agent_memory.scopes import AsyncUserScope

AT = datetime(2026, 11, 27, 12, tzinfo=UTC)
OLD = datetime(2023, 4, 29, 10, tzinfo=UTC)


def ago(days: int) -> datetime:
    return (now() - timedelta(days=days)).replace(hour=9, minute=0)


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("What did we talk about yesterday?", True),
        ("What topics did we discuss on April 29th?", True),
        ("On April 30th, we talked a lot. What topics did we talk about?", True),
        ("What did I do last week?", True),
        ("What happened in May?", True),
        ("What did I say about the boiler yesterday?", False),
        ("What was my mood on May 2nd?", False),
        ("What did we talk about?", False),
        ("What has happened since May?", False),
        ("Who am I?", False),
        ("What do I have planned next week?", True),
        ("What is happening tomorrow?", True),
        ("What do I have on Monday?", True),
        ("Is there anything planned?", False),
        ("What about last week?", False),
        ("Worüber haben wir gestern gesprochen?", True),
        ("Was steht nächste Woche an?", True),
        ("¿De qué hablamos ayer?", True),
        ("¿Qué tengo mañana?", True),
        ("De quoi avons-nous parlé lundi ?", True),
        ("Di cosa abbiamo parlato ieri?", True),
        ("Sobre o que falamos ontem?", True),
        ("Waar hadden we het gisteren over?", True),
        ("Was hat mein Chef gestern gesagt?", False),
        ("¿Cómo estás hoy?", False),
        ("What did I read about Mars?", False),
        ("Bis morgen!", False),
    ],
)
def test_a_question_for_a_time_names_nothing_else(question: str, is_asked: bool):
    assert bool(times_asked_for(question, AT)) is is_asked


def test_a_weekday_is_the_next_one_unless_the_question_speaks_of_the_past():
    [ahead] = times_asked_for("What do I have on Monday?", AT)
    [behind] = times_asked_for("What did I do on Monday?", AT)
    assert (ahead.first, behind.first) == (datetime(2026, 11, 30, tzinfo=UTC), datetime(2026, 11, 23, tzinfo=UTC))


@pytest.mark.parametrize("question", ["What did Noël say?", "Is Mars far?", "Where did Natale go on Monday?"])
def test_english_questions_stay_as_they_are(question: str):
    assert with_english_times(question) == question


def test_german_was_is_no_past():
    [ahead] = times_asked_for("Was steht am Montag an?", AT)
    [behind] = times_asked_for("Was haben wir am Montag besprochen?", AT)
    assert (ahead.first, behind.first) == (datetime(2026, 11, 30, tzinfo=UTC), datetime(2026, 11, 23, tzinfo=UTC))


async def test_yesterday_is_found_in_german():
    async with AsyncMemory.local() as memory:
        jana = memory.user("jana")
        await jana.thread("a").add("user", "Der Balkon wird neu gefliest.", created_at=ago(1))
        await jana.thread("b").add("user", "Meine Schwester zieht nach Graz.", created_at=ago(9))
        await memory.drain(timeout=60)
        context = await jana.context("Worüber haben wir gestern gesprochen?")
        assert "Balkon" in context.text
        assert "Graz" not in context.text


async def test_what_is_to_happen_then_is_found():
    async with AsyncMemory.local() as memory:
        ana = memory.user("ana")
        await ana.remember("The dentist sees me at nine.", valid_from=ago(-1))
        await ana.thread("t").add("user", f"My sister arrives on {ago(-9):%d %B %Y}.", created_at=ago(20))
        await memory.drain(timeout=60)
        tomorrow = (await ana.thread("new").context("What is planned for tomorrow?")).text
        assert "dentist" in tomorrow
        assert "sister" not in tomorrow
        later = (await ana.thread("new").context(f"What happens on {ago(-9):%d %B %Y}?")).text
        assert "sister" in later
        assert "dentist" not in later


async def say(user: AsyncUserScope, at: datetime, *texts: str) -> None:
    turns = [
        {"role": "user" if number % 2 == 0 else "agent", "content": text, "created_at": at + timedelta(minutes=number)}
        for number, text in enumerate(texts)
    ]
    await user.thread(f"on {at:%Y-%m-%d}").add_many(turns)


async def diary(memory: AsyncMemory) -> AsyncUserScope:
    ana = memory.user("ana")
    await say(ana, ago(1), "I finally repaired the bike.", "Well done!", "What shall I cook?")
    await say(ana, ago(9), "The boiler broke down this morning.", "Oh no.")
    await say(ana, OLD, "I saw a heron by the pond.", "How lovely.")
    await memory.drain(timeout=60)
    return ana


async def test_a_context_shows_what_was_said_then():
    async with AsyncMemory.local() as memory:
        ana = await diary(memory)
        context = await ana.thread("new").context("What did we talk about yesterday?")
        assert "bike" in context.text
        assert "cook" in context.text
        assert "Well done" not in context.text
        assert "boiler" not in context.text
        assert "heron" not in context.text
        hits = await ana.search(f"What did we discuss on {ago(9):%d %B %Y}?")
        assert {"boiler" in hit.memory.content for hit in hits} == {True}


async def test_a_day_without_a_year_may_be_of_any_year():
    async with AsyncMemory.local() as memory:
        ana = await diary(memory)
        for question in ("What did we talk about on April 29th?", "What happened in April?"):
            assert "heron" in (await ana.thread("new").context(question)).text
        other = memory.user("bea")
        await say(other, datetime(2022, 12, 31, 10, tzinfo=UTC), "We danced until midnight.")
        await memory.drain(timeout=60)
        assert [hit.memory.source_turn_ids for hit in await other.search("What happened on December 31st?")]


async def test_what_is_not_indexed_yet_counts_if_it_was_said_then():
    async with AsyncMemory.local() as memory:
        ana = await diary(memory)
        await ana.thread("live").add("user", "I ate a peach just now.")
        assert "peach" in (await ana.thread("new").context("What did I do today?")).text
        assert "peach" not in (await ana.thread("new").context("What did I do yesterday?")).text


async def test_of_a_long_day_all_parts_are_shown():
    async with AsyncMemory.local() as memory:
        ana = memory.user("ana")
        await say(ana, ago(1), *(f"number {number}" for number in range(60)))
        await ana.thread(f"on {ago(1):%Y-%m-%d}").process("index")
        hits = await ana.search("What did we talk about yesterday?", limit=3)
        assert [hit.memory.content.split()[-1] for hit in hits] == ["0", "20", "40"]


async def test_of_a_long_time_the_most_important_is_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(timed, "READ", 4)
    async with AsyncMemory.local() as memory:
        ana = memory.user("ana")
        for day in range(9, 1, -1):
            await ana.remember(f"Thing {day} happened.", valid_from=ago(day), importance=0.9 if day % 2 else 0.1)
        hits = await ana.search("What did we talk about today?", limit=8)
        assert sorted(hit.memory.content for hit in hits) == [f"Thing {day} happened." for day in (3, 5, 7, 9)]


@pytest.mark.parametrize("question", ["What did I do today?", "What do you know about me?"])
async def test_fresh_turns_do_not_exceed_the_limit(question: str):
    async with AsyncMemory.local() as memory:
        ana = memory.user("ana")
        for number in range(4):
            await ana.remember(f"I bought item number {number}.")
        await ana.thread("t").add_many([{"role": "user", "content": f"I sold lamp {number}."} for number in range(4)])
        hits = await ana.search(question, limit=3)
        assert [("bought" in hit.memory.content, "sold" in hit.memory.content) for hit in hits] == [
            (True, False),
            (True, False),
            (False, True),
        ]


async def test_filters_hold_for_a_time():
    async with AsyncMemory.local() as memory:
        ana = await diary(memory)
        assert await memory.user("bea").search("What did we talk about yesterday?") == []
        kinds = {hit.memory.kind for hit in await ana.search("What did we talk about yesterday?", types=["episodic"])}
        assert kinds == {"chunk"}
        await ana.thread(f"on {ago(1):%Y-%m-%d}").update_settings(enabled=False)
        assert "bike" not in (await ana.thread("new").context("What did we talk about yesterday?")).text


async def test_an_agent_that_spoke_alone_is_heard():
    async with AsyncMemory.local() as memory:
        ana = memory.user("ana")
        await ana.thread("t").add("agent", "Your parcel is at the depot.", created_at=ago(1))
        await memory.drain(timeout=60)
        assert [hit.memory.source for hit in await ana.search("What did we talk about yesterday?")] == ["agent"]


async def test_a_least_similarity_is_asked_of_similar_memories_only():
    async with AsyncMemory.local() as memory:
        ana = await diary(memory)
        assert await ana.search("What did we talk about yesterday?", threshold=0.99) == []


@pytest.mark.parametrize(
    ("question", "side"),
    [
        ("What did we talk about last time?", "last"),
        ("Where did we leave off in our last conversation?", "last"),
        ("Can you recap our previous session?", "last"),
        ("What was our first conversation about?", "first"),
        ("Worüber haben wir beim letzten Mal gesprochen?", "last"),
        ("¿De qué hablamos la última vez?", "last"),
        ("De quoi avons-nous parlé la dernière fois ?", "last"),
        ("Di cosa abbiamo parlato l’ultima volta?", "last"),
        ("¿De qué fue nuestra última conversación?", "last"),
        ("Qual foi a última sessão?", "last"),
        ("Worum ging es in unserem ersten Gespräch?", "first"),
        ("Quelle était notre dernière discussion ?", "last"),
        ("What did we say about the boiler last time?", None),
        ("When was the last time I saw Ana?", None),
        ("What did we talk about?", None),
    ],
)
def test_a_question_for_a_conversation_names_nothing_else(question: str, side: str | None):
    assert conversation_asked_for(question) == side


async def test_the_last_conversation_is_the_one_before_this():
    async with AsyncMemory.local() as memory:
        ana = memory.user("ana")
        await ana.thread("a").add("user", "The balcony gets new tiles.", created_at=ago(20))
        await ana.thread("b").add("user", "My sister moves to Graz.", created_at=ago(3))
        await ana.thread("b").add("agent", "How nice, when?", created_at=ago(3) + timedelta(minutes=1))
        await memory.user("bea").thread("b").add("user", "The cellar is wet.", created_at=ago(1))
        await memory.drain(timeout=60)
        await ana.thread("c").add("user", "Good morning, the kettle is broken.", created_at=ago(0))
        for is_indexed in (False, True):
            last = await ana.thread("c").context("What did we talk about last time?")
            assert "Graz" in last.text, is_indexed
            assert "tiles" not in last.text
            assert "cellar" not in last.text
            first = await ana.thread("c").context("What was our first conversation about?")
            assert "tiles" in first.text
            assert "Graz" not in first.text
            await memory.drain(timeout=60)


async def test_a_conversation_of_a_moment_ago_is_the_last():
    async with AsyncMemory.local() as memory:
        ana = memory.user("ana")
        await ana.thread("a").add("user", "The balcony gets new tiles.", created_at=ago(20))
        await memory.drain(timeout=60)
        await ana.thread("b").add("user", "My sister moves to Graz.")
        context = await ana.thread("c").context("What did we talk about last time?")
        assert "Graz" in context.text
        assert "tiles" not in context.text
