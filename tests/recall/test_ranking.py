"""Terms and fusion: the pure parts of recall."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from memories import fact

from agent_memory import AsyncMemory
from agent_memory.models import Hit, Memory
from agent_memory.recall.fusion import Candidate, Span, asks_of_agent, rank, related, spans_around
from agent_memory.recall.relevance import Bm25, Spot, asks, only_asks, words
from agent_memory.settings import RecallSettings
from agent_memory.store.ids import USER_THREAD
from agent_memory.text.terms import MAX_TERMS, query_terms

DAY = datetime(2026, 3, 5, tzinfo=UTC)


def memory(memory_id: str, **changes: object) -> Memory:
    return fact(memory_id, DAY, **({"kind": "fact"} | changes))


def candidate(memory_id: str, similarity: float | None = None, **changes: object) -> Candidate:
    return Candidate(memory(memory_id, **changes), similarity)


def test_what_no_vector_was_compared_for_is_ranked_by_its_words_alone():
    found = [
        candidate("fresh", content="the red key opens the shed"),
        candidate("near", 0.9, content="a key"),
        candidate("far", 0.1, content="the sea"),
    ]
    first, *_ = rank(found, "which red key opens the shed?", RecallSettings())
    assert (first.memory.id, first.similarity) == ("fresh", None)
    assert first.why["text"] == 1.0


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What's my budget for Hawaii?", ["budget", "hawaii"]),
        ("How do I deploy payment-service?", ["deploy", "payment-service"]),
        ("who am I", ["who", "am", "i"]),
        ("café Zürich 東京", ["café", "zürich", "東京"]),
        ("東京駅で寿司", ["東京", "京駅", "駅で", "で寿", "寿司"]),
        ("我的cat", ["我的", "cat"]),
        ("猫?", ["猫"]),
        ("the the the cat, the CAT", ["cat"]),
        ("$15,000 or v1.2.3?", ["15,000", "v1.2.3"]),
        ("?!", []),
    ],
)
def test_terms_are_what_a_question_is_about(query: str, terms: list[str]):
    assert query_terms(query) == terms


def test_terms_are_bounded():
    assert len(query_terms(" ".join(f"word{n}" for n in range(500)))) == MAX_TERMS


def test_bm25_prefers_rare_words_and_short_texts():
    texts = {
        "rare": "the zebra is here",
        "common": "the cat is here",
        "long": "the zebra " + "and so on " * 30,
        "other": "a cat and a dog",
        "third": "no cat, no bird",
        "none": "nothing of it",
    }
    scores = Bm25(texts).scores(["zebra", "cats"])
    assert scores["rare"] > scores["long"] > 0
    assert scores["rare"] > scores["common"] > 0  # "cats" finds "cat"
    assert scores["none"] == 0
    assert Bm25(texts).scores([]) == dict.fromkeys(texts, 0)
    assert Bm25({}).scores(["x"]) == {}


def fuse(
    found: list[Candidate], query: str = "", threshold: float = 0.3, past: bool = False, **settings: float
) -> list[Hit]:
    return rank(related(found, query_terms(query), threshold), query, RecallSettings(**settings), past=past)


def ids(hits: list[Hit]) -> list[str]:
    return [hit.memory.id for hit in hits]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("東京", "昨日は東京で寿司を食べました"),
        ("猫", "我的猫叫小白"),
        ("김치", "나는 서울에서 김치를 먹었다"),
        ("creme brulee", "J'ai mangé une crème brûlée"),
        ("KÖLN", "Ich wohne in Köln-Ehrenfeld"),
        ("strasse", "die große Straße"),
        ("السمك", "قطتي تحب السمك كثيرا"),
        ("рыбу", "Мой кот любит рыбу"),
    ],
)
def test_words_of_any_script_match(query: str, text: str):
    scores = Bm25({"it": text, "other": "nothing of the sort"}).scores(query_terms(query))
    assert scores["it"] > scores["other"] == 0


async def test_text_of_any_script_is_found(memory: AsyncMemory):
    """By its words alone: the vectors of the test know no meaning."""
    alice = memory.user("alice")
    for text in (
        "昨日は東京で寿司を食べました",
        "قطتي تحب السمك كثيرا",
        "Мой кот любит рыбу",
        "나는 서울에서 김치를 먹었다",
    ):
        await alice.remember(text)
    for query, part in (("東京で何を食べた", "東京"), ("السمك", "السمك"), ("рыбу", "кот"), ("김치", "김치")):
        hits = await alice.search(query, limit=1)
        assert part in hits[0].memory.content


@pytest.mark.req("S1-24")
def test_what_both_signals_favour_comes_first():
    found = [
        candidate("a", 0.9, content="dogs"),
        candidate("b", 0.8, content="a cat"),
        candidate("c", 0.4, content="the cat"),
    ]
    hits = fuse(found, "cat")
    assert ids(hits) == ["b", "a", "c"]
    assert hits[0].similarity == 0.8
    signs = hits[0].why.pop("signs")
    assert hits[0].why == {"text": 0.5, "vector": pytest.approx(0.4)}
    assert hits[0].score == pytest.approx(0.9 + signs)


@pytest.mark.req("S0-037", "S0-109")
def test_the_threshold_holds_for_what_only_the_vectors_found():
    found = [candidate("near", 0.61), candidate("edge", 0.6), candidate("both", 0.1), candidate("uncompared")]
    assert sorted(ids(fuse(found, "both", threshold=0.6))) == ["both", "near"]


def test_what_is_high_by_words_and_by_vectors_shows_where_to_look_around():
    found = [
        candidate("by words", content="a cat and a cat"),
        candidate("neither", 0.2, content="a dog"),
        candidate("third", 0.7, content="a horse"),
        candidate("by both", 0.8, content="a cat"),
        candidate("by vectors", 0.9, content="a lion"),
    ]
    about = [one.memory.id for one in related(found, ["cat"], 0.3)]
    assert about == ["by both", "by words", "by vectors", "third"]


def test_without_vectors_words_rank_alone():
    found = [candidate("x", content="a cat"), candidate("y", content="a dog that saw a cat"), candidate("z")]
    assert ids(fuse(found, "cat")) == ["x", "y"]


def chunk(memory_id: str, similarity: float, position: int, speaker: str | None = None, **changes: object) -> Candidate:
    fields = {
        "type": "episodic",
        "kind": "chunk",
        "metadata": {"position": position} | ({"speaker": speaker} if speaker else {}),
        "source_turn_ids": [memory_id],
    }
    return candidate(memory_id, similarity, **(fields | changes))


def test_a_hit_lifts_its_neighbours_in_the_same_thread():
    found = [
        chunk("found", 0.9, 4),
        chunk("elsewhere", 0.42, 5, thread_id="other"),
        chunk("next", 0.41, 5),
        chunk("next but one", 0.4, 6),
        chunk("far", 0.35, 9),
    ]
    hits = fuse(found, thread_lift=0)
    assert ids(hits) == ["found", "next", "next but one", "elsewhere", "far"]
    gains = {hit.memory.id: hit.why["neighbours"] for hit in hits}
    found = 0.9 * 0.5  # the whole of the vector's half, less what raw talk yields
    assert gains["next"] == pytest.approx(0.5 * found, abs=0.02)
    assert gains["next but one"] == pytest.approx(0.25 * found, abs=0.03)
    assert gains["elsewhere"] == gains["far"] == 0


def test_what_a_user_answers_gains_more_of_the_question_than_what_else_is_beside_it():
    question = "[5 March 2026] agent: Where shall we put the piano?"
    found = [
        chunk("before", 0.45, 3, content="a b"),
        chunk("question", 0.9, 4, content=question),
        chunk("answer", 0.45, 5, content="[5 March 2026] user: in the hall"),
        chunk("low", 0.35, 20),
    ]
    gains = {hit.memory.id: hit.why["neighbours"] for hit in fuse(found, thread_lift=0, question_weight=1)}
    asked = 0.9 * 0.5
    assert gains["before"] == pytest.approx(0.5 * asked, abs=0.03)
    assert gains["answer"] == pytest.approx(0.8 * asked, abs=0.03)
    agents = [replace(one, memory=one.memory.model_copy(update={"source": "agent"})) for one in found]
    gains = {hit.memory.id: hit.why["neighbours"] for hit in fuse(agents, thread_lift=0, question_weight=1)}
    assert gains["answer"] == pytest.approx(0.5 * asked, abs=0.03)
    told = [replace(one, memory=one.memory.model_copy(update={"content": one.memory.id})) for one in found]
    gains = {hit.memory.id: hit.why["neighbours"] for hit in fuse(told, thread_lift=0, question_weight=1)}
    assert gains["answer"] == pytest.approx(0.5 * asked, abs=0.03)


@pytest.mark.parametrize(("question", "of_agent"), [("What did you advise me?", True), ("What helps me?", False)])
def test_what_the_agent_answers_gains_more_if_the_question_is_about_its_words(question: str, of_agent: bool):
    found = [
        chunk("asks", 0.9, 4, content="[5 March 2026] user: Do you have any tips for a bad back?"),
        chunk("agent", 0.45, 5, source="agent", content="[5 March 2026] agent: A warm bath and a walk."),
        chunk("low", 0.35, 20),
    ]
    gains = {hit.memory.id: hit.why["neighbours"] for hit in fuse(found, question, thread_lift=0, question_weight=1)}
    assert gains["agent"] == pytest.approx((0.8 if of_agent else 0.5) * 0.9 * 0.5, abs=0.03)


def test_questions_rank_below_statements():
    found = [
        chunk("asks", 0.8, 0, content="[5 March 2026] user: Wow! What does the kite cost?"),
        chunk("tells", 0.75, 10, content="[5 March 2026] user: Some say that kites cost a lot."),
        chunk("low", 0.35, 20),
    ]
    hits = {hit.memory.id: hit.why for hit in fuse(found)}
    assert list(hits) == ["tells", "asks", "low"]
    assert hits["tells"]["vector"] > hits["asks"]["vector"]
    assert hits["tells"]["signs"] > hits["asks"]["signs"]
    even = {hit.memory.id: hit.why for hit in fuse(found, question_weight=1.0)}
    assert even["tells"]["vector"] < even["asks"]["vector"]


@pytest.mark.parametrize(
    ("question", "of_agent"),
    [
        ("What does the kite cost?", False),
        ("Which kite did you recommend?", True),
        ("What have you told me of kites?", True),
        ("You once taught me to build a kite. How?", True),
        ("The kite that you have already shown me: what is it?", True),
        ("Give me a summary of our talk about kites", True),
        ("What was your advice about kites?", True),
        ("Kannst du zusammenfassen, was wir besprochen haben?", True),
        ("Would you help me to choose a kite?", False),
        ("What do you think of kites?", False),
    ],
)
def test_what_an_agent_said_ranks_below_unless_it_is_asked_for(question: str, of_agent: bool):
    found = [
        chunk("agent", 0.8, 0, source="agent", content="[5 March 2026] agent: A kite for 20 euros flies well."),
        chunk("user", 0.7, 10, content="[5 March 2026] user: My kite was 20 euros."),
        chunk("low", 0.35, 20),
    ]
    assert asks_of_agent(question) == of_agent
    hits = {hit.memory.id: hit.why for hit in fuse(found, question)}
    assert list(hits) == (["agent", "user", "low"] if of_agent else ["user", "agent", "low"])
    assert (hits["agent"].get("agent", 0.0) < 0) == (not of_agent)
    assert [hit.memory.id for hit in fuse(found, question, agent_weight=1.0)] == ["agent", "user", "low"]


@pytest.mark.parametrize(
    ("text", "waits", "only"),
    [
        ("Which kite flies best?", True, True),
        ("Wow, that sounds great! How was the fair in Lisbon?", True, True),
        ("凧はいくらですか？", True, True),
        ("The red one flies best.", False, False),
        ("What should I pack for Lisbon?", True, False),
        ("The fair in Lisbon was a great day out for all of them. And there?", True, False),
        ("Kites come in many shapes and sizes. " * 9 + "Anything else?", False, False),
        ("See https://example.org/?kite=red for more", False, False),
        ("", False, False),
    ],
)
def test_what_counts_as_asking(text: str, waits: bool, only: bool):
    assert (asks(text), only_asks(text)) == (waits, only)


def test_two_parts_of_a_long_turn_are_shown_and_turns_of_other_threads_are_not_its_parts():
    parts = [chunk(f"part {n}", 0.8 - n / 100, 0, source_turn_ids=["1"]) for n in range(4)]
    others = [chunk(f"talk {n}", 0.6 - n / 100, 0, source_turn_ids=["1"], thread_id=f"t{n}") for n in range(3)]
    assert set(ids(fuse([*parts, *others]))) == {"part 0", "part 1", "talk 0", "talk 1", "talk 2"}


def test_a_fact_says_nothing_of_a_turn_of_the_same_id_in_another_thread():
    fact = candidate("fact", 0.9, content="the red kite flies best", source_turn_ids=["1"], thread_id="elsewhere")
    told = chunk("told", 0.5, 4, content="[5 March 2026] user: the red kite flies best", source_turn_ids=["1"])
    found = [fact, told, chunk("next", 0.45, 5), chunk("low", 0.35, 20)]
    hits = fuse(found, thread_lift=0, repeat_overlap=1.1)
    assert {"fact", "told"} <= set(ids(hits))
    assert {hit.memory.id: hit.why for hit in hits}["fact"].get("neighbours") is None
    merged = replace(fact, memory=fact.memory.model_copy(update={"thread_id": USER_THREAD}))
    assert "told" not in ids(fuse([merged, *found[1:]], thread_lift=0, repeat_overlap=1.1))


def test_a_conversation_about_the_question_lifts_all_of_it():
    found = [chunk("a", 0.9, 0), chunk("b", 0.8, 10), chunk("c", 0.5, 20), chunk("d", 0.5, 0, thread_id="x")]
    hits = fuse(found)
    assert ids(hits) == ["a", "b", "c", "d"]
    threads = {hit.memory.id: hit.why["thread"] for hit in hits}
    assert threads["a"] == threads["b"] == threads["c"] > threads["d"]
    for hit in hits:
        assert hit.score == pytest.approx(sum(hit.why.values()))


def test_what_has_no_place_in_the_talk_is_not_left_behind():
    found = [*(chunk(f"c{n}", 0.8, n) for n in range(6)), candidate("given", 0.81), chunk("low", 0.4, 90)]
    hits = fuse(found)
    assert ids(hits)[0] == "given"
    assert hits[0].why["unplaced"] > 0


def test_what_has_no_place_in_the_talk_does_not_overtake_the_best_of_it():
    talk = [chunk("best", 0.9, 0), *(chunk(f"c{n}", 0.1 + 0.4 * (n % 2), n) for n in range(1, 13))]
    hits = fuse([*talk, candidate("fact", 0.8)])
    assert ids(hits)[0] == "best"


def test_turns_of_the_speaker_in_the_question_come_first():
    found = [chunk("ann's", 0.71, 0, "Ann"), chunk("will's", 0.7, 10, "Will"), chunk("low", 0.4, 20, "Ann")]
    assert ids(fuse(found, "Where did Will go?", thread_lift=0))[0] == "will's"
    assert ids(fuse(found, "where did will go?", thread_lift=0))[0] == "will's"
    for nobody in ("When will she go?", "What did Ann and Will say?"):
        hits = fuse(found, nobody, thread_lift=0)
        assert ids(hits)[0] == "ann's"
        assert "speaker" not in hits[0].why
    derived = candidate("fact", 0.7, source_turn_ids=["will's"])
    hits = rank([derived, *found], "Where did Will go?", RecallSettings())
    assert hits[0].memory.id == "fact"
    assert hits[0].why["speaker"] > 0


def test_outdated_talk_ranks_far_below_unless_the_past_is_asked_for():
    found = [chunk("old", 0.9, 0, valid_to=DAY), chunk("new", 0.7, 9), chunk("low", 0.35, 20)]
    assert ids(fuse(found))[0] == "new"
    assert ids(fuse(found, past=True))[0] == "old"


def test_a_turn_and_what_was_derived_from_it_count_once():
    found = [
        chunk("t1", 0.9, 0, content="[2026-03-05] user: my cat is called Tom"),
        candidate("fact-1", 0.86, content="The user's cat is called Tom", source_turn_ids=["t1"]),
        chunk("t2", 0.7, 7),
        candidate("aside", 0.4, source_turn_ids=["t2"]),
    ]
    # The fact says what the turn says; what else was derived from the other turn is beside the point.
    assert set(ids(fuse(found))) == {"fact-1", "t2", "aside"}


def test_stretches_of_talk():
    spots = [Spot("a", 1), Spot("a", 6), Spot("a", 20), Spot("b", 6)]
    assert spans_around(spots, 2) == [Span("a", 0, 8), Span("a", 18, 22), Span("b", 4, 8)]


async def test_the_answer_beside_the_words_that_find_it_is_found(memory: AsyncMemory):
    """Nothing in the answer is in the question: only where it was said brings it in."""
    alice = memory.user("alice")
    talk = alice.thread("t1")
    lines = ["Did Tom ever finish that marathon in Berlin?", "Yes, after four hours and a bit!", "He was so proud."]
    for line in lines:
        await talk.add("user", line)
    for n in range(20):
        await alice.thread(f"t{n + 2}").add("user", f"Something else, number {n}, was said here")
    await memory.drain(timeout=30)
    found = [hit.memory.content for hit in await alice.search("Tom marathon Berlin", limit=3)]
    assert [content.split(": ", 1)[1] for content in found] == lines


def test_a_turn_is_shown_beside_its_facts_if_they_say_little_of_it():
    long = (
        "We talked about the harbour, the old ferry, three gulls, a broken rope and how the tide took the red boat away"
    )
    found = [
        chunk("t1", 0.7, 0, content=f"[2026-03-05] user: {long}. My sister Ann came along."),
        candidate("fact-1", 0.9, content="Ann is my sister", source_turn_ids=["t1"]),
        chunk("t2", 0.7, 9, content="[2026-03-05] user: My sister Ann came along"),
        candidate("fact-2", 0.9, content="Ann, my sister, came along", source_turn_ids=["t2"]),
        candidate("low", 0.4),
    ]
    assert set(ids(fuse(found))) == {"t1", "fact-1", "fact-2", "low"}


@pytest.mark.req("S0-016")
@pytest.mark.parametrize(
    ("weight", "changes"),
    [
        ("recency_weight", {"created_at": DAY}),
        ("importance_weight", {"importance": 1.0}),
        ("use_weight", {"access_count": 20}),
        ("trust_weight", {"source": "user", "confidence": 1.0}),
    ],
)
def test_what_a_memory_is_worth_counts_if_it_is_given_a_weight(weight: str, changes: dict[str, object]):
    old = {"created_at": DAY - timedelta(days=365), "importance": 0.1, "source": "imported", "confidence": 0.5}
    found = [
        candidate("nearer", 0.9, content="an apple", **old),
        candidate("worthier", 0.85, content="a pear", **(old | changes)),
        candidate("low", 0.4, content="a plum", **old),
    ]
    found = related(found, [], 0.3)
    assert ids(rank(found, "", RecallSettings(), at=DAY))[0] == "nearer"
    hits = rank(found, "", RecallSettings(**{weight: 0.5}), at=DAY)
    assert ids(hits)[0] == "worthier"
    name = weight.removesuffix("_weight")
    assert hits[0].why[name] > hits[1].why[name]
    assert hits[0].score == pytest.approx(sum(hits[0].why.values()))


def test_what_is_said_twice_is_shown_once():
    found = [
        candidate("a", 0.9, content="The flight to Oslo leaves on 14 March at noon"),
        candidate("b", 0.8, content="The flight to Oslo leaves on 14 March at noon."),
        candidate("c", 0.7, content="The flight to Oslo leaves on 21 March at noon"),
    ]
    assert ids(fuse(found)) == ["a", "c"]


def test_names_in_programs_are_found_by_their_words():
    assert {"oom", "kill"} <= words("OOMKilled").keys()
    assert {"user", "id"} <= words("user_id").keys()
    assert {"cach", "first"} <= words("cacheFirst").keys()
    assert words("NASA URLs").keys() == {"nasa", "url"}
